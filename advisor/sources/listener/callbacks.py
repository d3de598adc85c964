"""The listener that Spark knows: PySpark's public class, with a shorter way underneath where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from advisor.redaction import redact
from advisor.sources.listener.recorder import Recorder


class _Callbacks:
    """Spark's four callbacks as one."""

    _hear: Callable[[str, Any], None] | None

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        self._hand_on("started", event)

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        self._hand_on("progress", event)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        self._hand_on("idle", event)

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        self._hand_on("ended", event)

    def _hand_on(self, kind: str, event: Any) -> None:
        hear = self._hear
        if hear is not None:
            hear(kind, event)


class JavaListener(_Callbacks):
    """What Spark calls through Py4J. PySpark's own makes hundreds of round trips of one event before it is heard."""

    def __init__(self, hear: Callable[[str, Any], None]) -> None:
        self._hear = hear

    def release(self) -> None:
        """Let go of whoever listens: Java may hold this object for as long as it likes."""
        self._hear = None

    class Java:  # noqa: D106 - the name and the attribute are Py4J's
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)


def wrapped(listener: JavaListener) -> Any:
    """Return the listener as Java knows it; raise where this PySpark has no such way, or where a cluster forbids it."""
    from pyspark import SparkContext  # noqa: PLC0415 - Spark Connect comes without it

    java: Any = SparkContext._jvm
    return java.PythonStreamingQueryListenerWrapper(listener)


class SessionListener(_Callbacks, StreamingQueryListener):
    """Hands every event to a recorder. `spark.streams.addListener` takes it as it is, and gets the lean way too.

    `way`: how events come: "lean" (one JSON text of each), "public" (PySpark's own conversion, `because`: why)
    or "connect".
    """

    def __init__(self, recorder: Recorder, way: str = "lean") -> None:
        self.recorder = recorder
        self.way = way
        self.because: str | None = None
        self._hear = recorder.hear
        self._lean: JavaListener | None = None
        self._java: Any = None

    @property
    def _jlistener(self) -> Any:
        """What PySpark registers with Java, the same object every time."""
        if self._java is None and self.way == "lean":
            self._lean = JavaListener(self.recorder.hear)
            try:
                self._java = wrapped(self._lean)
            except Exception as error:  # missing here, or refused by the cluster's security
                self.fall_back(error)
        if self._java is None:
            self._java = super()._jlistener
        return self._java

    def fall_back(self, error: BaseException) -> None:
        """Take PySpark's own way from here on, because of this error of the lean one."""
        self.release()
        self.way, self.because = "public", redact(str(error))

    def release(self) -> None:
        """Let nothing of Java's keep this listener any more."""
        if self._lean is not None:
            self._lean.release()
        self._java = None
