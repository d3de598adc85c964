"""The two queries of the benchmark, and how the latency of their records is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pandas as pd

from advisor.trials.setup import Setup
from lab import arrivals
from lab.broker import PARTITIONS, topics
from lab.load import Load
from lab.offsets.watch import Watch
from lab.steady import records

OBSERVED: Final = "stat"
SAMPLED_PER_SECOND: Final = 1000
Measured = Callable[[pd.Timestamp, pd.Timestamp], Mapping[str, float]]
_NOW_US: Final = "CAST(java_method('java.lang.System', 'currentTimeMillis') AS BIGINT) * 1000"


class Stat:
    """Steady rows into a sink that keeps nothing; each row's latency is taken in the task that hands it to the sink.

    `current_timestamp` is one moment for a whole batch, hence the call of Java's clock (whole milliseconds) per row.
    Of each second 1,000 rows, evenly chosen, are observed; observed metrics come with the batch's progress event, also
    under asynchronous progress tracking.
    """

    def __init__(self, per_second: int) -> None:
        self.per_second = per_second

    def build(self, setup: Setup) -> Any:
        """The writer."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - of the group lab

        rows = records(setup.spark, self.per_second).withColumn("latency_us", f.expr(f"{_NOW_US} - created_us"))
        every = max(1, self.per_second // SAMPLED_PER_SECOND)
        sample = f.collect_list(f.expr(f"IF(record % {every} = 0, latency_us, NULL)"))
        return rows.observe(OBSERVED, f.count("record").alias("rows"), sample.alias("latency_us")).writeStream.format(
            "noop"
        )

    @contextmanager
    def latency(self, setup: Setup) -> Iterator[Measured]:
        """Record created -> handed to the sink."""
        with Watch(setup, OBSERVED) as watch:
            yield watch.measured


class Kafka:
    """Topic to topic; a record's latency ends when the broker has it in the outgoing topic. `reads`: how it is read."""

    reads: Mapping[str, str] = {}

    def __init__(self, per_second: int, address: str, partitions: int = PARTITIONS) -> None:
        self.per_second, self.address, self.partitions = per_second, address, partitions

    def rows(self, setup: Setup) -> Any:
        """What comes."""
        reader = setup.spark.readStream.format("kafka").options(**self._reached, **self.reads, **setup.reader_options)
        return reader.option("subscribe", setup.topic("in")).option("startingOffsets", "earliest").load()

    def build(self, setup: Setup) -> Any:
        """The writer."""
        writer = self.rows(setup).select("value").writeStream.format("kafka")
        return writer.options(**self._reached, topic=setup.topic("out"))

    @property
    def _reached(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.address}

    @contextmanager
    def latency(self, setup: Setup) -> Iterator[Measured]:
        """Record created -> visible in the outgoing topic."""
        incoming, outgoing = setup.topic("in"), setup.topic("out")
        with (
            topics(self.address, incoming, outgoing, partitions=self.partitions),
            Load(self.address, incoming, self.per_second) as load,
            Watch(setup) as watch,
        ):

            def measured(first: pd.Timestamp, last: pd.Timestamp) -> dict[str, float]:
                span = (first.value // 1000, last.value // 1000)
                return {**arrivals.report(load, self.address, outgoing, *span), **watch.measured(first, last)}

            yield measured
