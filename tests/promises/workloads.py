"""The queries on which promises are tried, each made for one run of a trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from advisor.contract import OnTrial
from advisor.trials.setup import Setup
from advisor.trials.workloads import rows
from lab.offsets.queries import Measured

Build = Callable[[Setup], Any]


def stateless(per_batch: int) -> Build:
    """A projection to nowhere."""
    return lambda setup: rows(setup, per_batch).selectExpr("value", "value % 100 AS bucket").writeStream.format("noop")


def aggregation(per_batch: int, keys: int) -> Build:
    """A count by key."""

    def build(setup: Setup) -> Any:
        counts = rows(setup, per_batch).selectExpr(f"value % {keys} AS key").groupBy("key").count()
        return counts.writeStream.format("noop").outputMode("update")

    return build


def deduplication(per_batch: int, keys: int) -> Build:
    """Each key once."""

    def build(setup: Setup) -> Any:
        once = rows(setup, per_batch).selectExpr(f"value % {keys} AS key").dropDuplicates(["key"])
        return once.writeStream.format("noop")

    return build


def join(per_batch: int) -> Build:
    """Two streams by value within ten seconds of event time, ten batches: that much state stays."""

    def build(setup: Setup) -> Any:
        left, right = (
            rows(setup, per_batch)
            .selectExpr(f"value AS {side}", f"timestamp AS {side}_at")
            .withWatermark(f"{side}_at", "10 seconds")
            for side in ("one", "other")
        )
        near = "one = other AND other_at BETWEEN one_at AND one_at + INTERVAL 10 SECONDS"
        from pyspark.sql import functions as f

        return left.join(right, f.expr(near)).writeStream.format("noop")

    return build


def to_delta(per_batch: int) -> Build:
    """Rows to a Delta table by its sink."""
    return lambda setup: rows(setup, per_batch).writeStream.format("delta").option("path", setup.path("table"))


def counted_to_delta(per_batch: int, keys: int) -> Build:
    """A count by key, its changes appended to a Delta table in foreachBatch."""

    def build(setup: Setup) -> Any:
        table = setup.path("table")
        counts = rows(setup, per_batch).selectExpr(f"value % {keys} AS key").groupBy("key").count()
        return counts.writeStream.outputMode("update").foreachBatch(
            lambda batch, _: batch.write.format("delta").mode("append").save(table)
        )

    return build


def every(ms: int, build: Build) -> Build:
    """The query with a trigger interval."""
    return lambda setup: build(setup).trigger(processingTime=f"{ms} milliseconds")


def windowed(per_batch: int, keys: int) -> Build:
    """A count by key and sliding window of event time, with a watermark."""

    def build(setup: Setup) -> Any:
        from pyspark.sql import functions as f

        seen = rows(setup, per_batch).withWatermark("timestamp", "10 seconds")
        counts = seen.groupBy(f.window("timestamp", "20 seconds", "5 seconds"), f.expr(f"value % {keys}")).count()
        return counts.writeStream.format("noop").outputMode("update")

    return build


def sessions(per_batch: int, keys: int) -> Build:
    """A count by key and session, which Spark gives out when the session is over."""

    def build(setup: Setup) -> Any:
        from pyspark.sql import functions as f

        seen = rows(setup, per_batch).withWatermark("timestamp", "5 seconds")
        counts = seen.groupBy(f.session_window("timestamp", "3 seconds"), f.expr(f"value % {keys} AS key")).count()
        return counts.writeStream.format("noop").outputMode("append")

    return build


def outer_join(per_batch: int) -> Build:
    """As `join`, and the left rows that find nobody come out when the watermark has passed them."""

    def build(setup: Setup) -> Any:
        from pyspark.sql import functions as f

        left = rows(setup, per_batch).selectExpr("value AS one", "timestamp AS one_at")
        right = rows(setup, per_batch).selectExpr("value * 2 AS other", "timestamp AS other_at")
        near = "one = other AND other_at BETWEEN one_at AND one_at + INTERVAL 5 SECONDS"
        late = [frame.withWatermark(at, "5 seconds") for frame, at in ((left, "one_at"), (right, "other_at"))]
        return late[0].join(late[1], f.expr(near), "leftOuter").writeStream.format("noop")

    return build


def within_watermark(per_batch: int) -> Build:
    """Each value once within the watermark."""

    def build(setup: Setup) -> Any:
        seen = rows(setup, per_batch).withWatermark("timestamp", "10 seconds")
        return seen.dropDuplicatesWithinWatermark(["value"]).writeStream.format("noop")

    return build


def once_then_counted(per_batch: int, keys: int) -> Build:
    """Two state operators: each value once within the watermark, then a count by key and window."""

    def build(setup: Setup) -> Any:
        from pyspark.sql import functions as f

        seen = rows(setup, per_batch).withWatermark("timestamp", "5 seconds").dropDuplicatesWithinWatermark(["value"])
        counts = seen.groupBy(f.window("timestamp", "5 seconds"), f.expr(f"value % {keys} AS key")).count()
        return counts.writeStream.format("noop").outputMode("append")

    return build


def skewed(per_batch: int, keys: int) -> Build:
    """A count by key where nine of ten rows have one key, each row hashed first in that key's task."""

    def build(setup: Setup) -> Any:
        from pyspark.sql import functions as f

        keyed = rows(setup, per_batch).selectExpr(f"IF(value % 10 < 9, 0, value % {keys}) AS key", "value")
        counts = keyed.groupBy("key").agg(f.expr("approx_percentile(hash(value), 0.5)"), f.count("value"))
        return counts.writeStream.format("noop").outputMode("update")

    return build


def with_state(per_batch: int, keys: int) -> Build:
    """A running count by key in transformWithState, in Python; it asks for RocksDB."""

    def build(setup: Setup) -> Any:
        from tests.promises.counter import OUT, counter

        keyed = rows(setup, per_batch).selectExpr(f"value % {keys} AS key", "value")
        counted = keyed.groupBy("key").transformWithStateInPandas(counter(), OUT, "update", "none")
        return counted.writeStream.format("noop").outputMode("update")

    return build


def wide(per_batch: int, columns: int) -> Build:
    """A projection of so many columns: Spark plans it anew in every batch."""

    def build(setup: Setup) -> Any:
        made = [f"(value + {number}) % {number + 2} AS c{number}" for number in range(columns)]
        return rows(setup, per_batch).selectExpr(*made).where("c1 >= 0").writeStream.format("noop")

    return build


def compiled(per_batch: int) -> Build:
    """Expressions with the batch's own time as a literal: code is generated and compiled anew in every batch."""

    def build(setup: Setup) -> Any:
        ages = [f"unix_micros(current_timestamp()) - {number} * value AS c{number}" for number in range(8)]
        return rows(setup, per_batch).selectExpr(*ages).where("c1 > c2 - 1").writeStream.format("noop")

    return build


def in_python(per_batch: int) -> Build:
    """Each row through a Python function."""

    def build(setup: Setup) -> Any:
        from pyspark.sql import functions as f

        doubled = f.udf(lambda value: value * 2, "bigint")
        return rows(setup, per_batch).select(doubled("value").alias("doubled")).writeStream.format("noop")

    return build


def small_files(files: int, per_batch: int) -> Build:
    """So many files of ten lines, a few of them in each batch; the source lists all of them every time."""

    def build(setup: Setup) -> Any:
        incoming = Path(unquote(urlsplit(setup.path("in")).path))
        incoming.mkdir(parents=True, exist_ok=True)
        for number in range(files):
            (incoming / f"{number:06}.txt").write_text("a line\n" * 10)
        read = setup.spark.readStream.option("maxFilesPerTrigger", per_batch).text(setup.path("in"))
        return read.selectExpr("length(value) AS size").writeStream.format("noop")

    return build


@contextmanager
def beside(build: Build, setup: Setup) -> Iterator[Measured]:
    """While it lasts another query of the application runs in the same task slots."""
    spark = setup.spark
    other = type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())
    place = setup.path("beside")
    query = build(Setup(other, "beside", place, OnTrial())).option("checkpointLocation", f"{place}/checkpoint").start()
    try:
        yield lambda *_: {}
    finally:
        query.stop()
