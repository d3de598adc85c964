"""Streams for benchmarks that need a real Spark, and PySpark's own listener to compare with."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.spark.conftest import settings

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
KINDS = {False: "stateless", True: "RocksDB aggregation"}
REMEMBERED = 20_000
"""Batches whose progress Spark keeps: everything is read at the end, nothing while a turn runs."""


@dataclass
class Cost:
    """Seconds of wall and CPU time for some events."""

    wall: float = 0.0
    cpu: float = 0.0
    events: int = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.thread_time()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.thread_time() - cpu
        self.events += 1

    def __str__(self) -> str:
        return f"{1000 * self.wall / self.events:7.2f} ms wall {1000 * self.cpu / self.events:7.3f} ms CPU per event"


def pysparks(cost: Cost | None = None) -> Any:
    """PySpark's listener with empty callbacks; with `cost`, timed around all that it does with a progress event."""
    from pyspark import SparkContext
    from pyspark.sql.streaming import listener as theirs

    class Empty(theirs.StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None: ...  # noqa: N802
        def onQueryProgress(self, event: Any) -> None: ...  # noqa: N802
        def onQueryIdle(self, event: Any) -> None: ...  # noqa: N802
        def onQueryTerminated(self, event: Any) -> None: ...  # noqa: N802

    class Counted(Empty):
        @property
        def _jlistener(self) -> Any:
            if not hasattr(self, "_made"):
                self._made = SparkContext._jvm.PythonStreamingQueryListenerWrapper(Timed(self))
            return self._made

    class Timed(theirs.JStreamingQueryListener):
        def onQueryProgress(self, jevent: Any) -> None:  # noqa: N802
            with cost.counted():
                super().onQueryProgress(jevent)

        class Java:
            implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)

    return Empty() if cost is None else Counted()


@contextmanager
def spark_session(place: Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    own = {"spark.ui.showConsoleProgress": "false", "spark.sql.streaming.numRecentProgressUpdates": str(REMEMBERED)}
    for key, value in (settings(place) | own).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()


@contextmanager
def running(spark: Any, place: Path, stateful: bool) -> Iterator[Any]:
    """A query that runs as fast as it can: 1,000 rows a batch, default trigger, checkpoint in `place`."""
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "1000").load()
    if stateful:
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        rows = rows.selectExpr("value % 100 AS key").groupBy("key").count()
    writer = rows.writeStream.format("noop").outputMode("update")
    query = writer.option("checkpointLocation", (place / f"checkpoint-{stateful}").as_uri()).start()
    try:
        yield query
    finally:
        query.stop()


@contextmanager
def listening(spark: Any, listener: Any) -> Iterator[None]:
    """With this listener, added to a session whose queries go on; None for no listener."""
    if listener is None:
        yield
        return
    spark.streams.addListener(listener)
    yield
    spark.streams.removeListener(listener)


def wait(query: Any, more: int) -> int:
    """The number of the last batch before so many more are done; asks Java for one number, five times a second."""
    first = number(query)
    while query.isActive and number(query) < first + more:
        time.sleep(0.2)
    assert query.exception() is None, query.exception()
    return first


def number(query: Any) -> int:
    last = query._jsq.streamingQuery().lastProgress()
    return -1 if last is None else int(last.batchId())


def all_progress(query: Any) -> dict[int, dict[str, Any]]:
    """Every progress event that Spark remembers, by batch."""
    events = [json.loads(one.json()) for one in query._jsq.streamingQuery().recentProgress()]
    return {event["batchId"]: event for event in events if "addBatch" in event["durationMs"]}
