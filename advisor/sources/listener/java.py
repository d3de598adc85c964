"""The lean way in: Spark's Java interface of a listener, without PySpark's conversion of each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class JavaListener:
    """What Spark calls through Py4J. PySpark's own makes hundreds of round trips of one event before it is heard."""

    def __init__(self, hear: Callable[[str, Any], None]) -> None:
        self._hear: Callable[[str, Any], None] | None = hear

    def onQueryStarted(self, event: Any) -> None:  # noqa: D102, N802
        self._tell("started", event)

    def onQueryProgress(self, event: Any) -> None:  # noqa: D102, N802
        self._tell("progress", event)

    def onQueryIdle(self, event: Any) -> None:  # noqa: D102, N802
        self._tell("idle", event)

    def onQueryTerminated(self, event: Any) -> None:  # noqa: D102, N802
        self._tell("ended", event)

    def release(self) -> None:
        """Let go of whoever listens: Java may hold this object for as long as it likes."""
        self._hear = None

    def _tell(self, kind: str, event: Any) -> None:
        hear = self._hear
        if hear is not None:
            hear(kind, event)

    class Java:  # noqa: D106 - the name and the attribute are Py4J's
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)


def wrapped(listener: JavaListener) -> Any:
    """The listener as Java knows it; raises where this PySpark has no such way, or where a cluster forbids it."""
    from pyspark import SparkContext  # noqa: PLC0415 - Spark Connect comes without it

    java: Any = SparkContext._jvm
    return java.PythonStreamingQueryListenerWrapper(listener)
