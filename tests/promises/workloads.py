"""The queries on which promises are tried, each made for one run of a trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from advisor.bench.lab.broker import topics
from advisor.bench.lab.load import Load
from advisor.bench.offsets.queries import Kafka, Measured
from advisor.bench.setup import Setup
from advisor.bench.workloads import rows

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


class KafkaOnce(Kafka):
    """Topic to topic, each value once: no two are alike, so each gets through and stays in the state."""

    def rows(self, setup: Setup) -> Any:
        """What comes, once."""
        return super().rows(setup).dropDuplicates(["value"])


class KafkaToDelta(Kafka):
    """Records of a topic to a Delta table by its sink; nobody's clock tells when they are there."""

    def build(self, setup: Setup) -> Any:
        """The writer."""
        return self.rows(setup).writeStream.format("delta").option("path", setup.path("table"))

    @contextmanager
    def latency(self, setup: Setup) -> Iterator[Measured]:
        """The load alone."""
        incoming = setup.topic("in")
        with topics(self.address, incoming), Load(self.address, incoming, self.per_second):
            yield lambda *_: {}
