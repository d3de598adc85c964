"""Which promises are tried: a query with its settings, and one step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from advisor.bench.offsets.queries import Kafka
from tests.promises import workloads
from tests.promises.workloads import Build
from tests.record.cases import CHANGELOG, ROCKSDB
from tests.record.cases import DELTA as EXTENSIONS

DELTA = {"spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0", **EXTENSIONS}
"""Settings of a session with Delta, on PySpark 4.0."""
STORES: dict[str, dict[str, str]] = {
    "default store": {},
    "RocksDB": ROCKSDB,
    "RocksDB, changelogs": CHANGELOG,
}


@dataclass(frozen=True)
class Case:
    """A step on a query: its session's settings, and the rows of state that must be there before batches count.

    `latency`: what measures the latency of its records, as `advisor.trial` takes it.
    """

    workload: str
    build: Build
    step: str
    settings: str = ""
    conf: dict[str, str] = field(default_factory=dict)
    state_rows: int | None = None
    batches: int = 20
    seconds: float = 90.0
    delta: bool = False
    latency: Any = None

    @property
    def name(self) -> str:
        """What the case is called on the command line and in the table."""
        return ", ".join(part for part in (self.workload, self.settings, self.step) if part)


STATEFUL: dict[str, tuple[Build, int]] = {
    "aggregation, 5,000 keys": (workloads.aggregation(2_000, 5_000), 5_000),
    "aggregation, 20,000 keys": (workloads.aggregation(3_000, 20_000), 20_000),
    "deduplication, 20,000 keys": (workloads.deduplication(3_000, 20_000), 20_000),
    "stream-stream join": (workloads.join(500), 10_000),
}


def cases(address: str) -> Iterator[Case]:
    """Every case, the cheapest first; those with Kafka need a broker at that address."""
    yield from _through_kafka("Kafka to Kafka", Kafka, "async-progress", address)
    for rows in (100, 1_000, 10_000, 100_000, 400_000):
        yield Case("stateless", workloads.stateless(rows), "async-progress", f"{rows:,} rows per batch")
    for workload, (build, state) in STATEFUL.items():
        yield from _of_state(workload, build, state)
    million = workloads.aggregation(100_000, 1_000_000)
    for partitions in (2, 4):
        yield Case(
            "aggregation, 1,000,000 keys", million, "changelog-checkpointing", f"RocksDB, {partitions} partitions",
            with_partitions(ROCKSDB, partitions), 1_000_000, 10, 120.0,
        )  # fmt: skip


def delta_cases(address: str) -> Iterator[Case]:
    """The cases with a Delta table behind the query, which its jars want another Spark for."""
    yield from _through_kafka(
        "Kafka to Delta", workloads.KafkaToDelta, "delta-snapshot-partitions", address, delta=True
    )
    for rows in (1_000, 10_000, 100_000):
        settings = f"{rows:,} rows per batch"
        yield Case("to Delta", workloads.to_delta(rows), "delta-snapshot-partitions", settings, delta=True)
    counted = workloads.counted_to_delta(2_000, 5_000)
    for step, partitions in (("changelog-checkpointing", 2), ("fewer-state-partitions", 8)):
        conf = with_partitions(ROCKSDB, partitions)
        settings = f"RocksDB, {partitions} partitions"
        yield Case(
            "aggregation, 5,000 keys, to Delta in foreachBatch", counted, step, settings, conf, 5_000, delta=True
        )


def _through_kafka(
    workload: str, query: type[Kafka], step: str, address: str, *, delta: bool = False
) -> Iterator[Case]:
    for rate in (1_000, 10_000):
        made = query(rate, address)
        settings = f"{rate:,} records a second"
        yield Case(workload, made.build, step, settings, delta=delta, latency=made.latency)


def _of_state(workload: str, build: Build, state: int) -> Iterator[Case]:
    for partitions in (2, 4, 8):
        settings = f"RocksDB, {partitions} partitions"
        yield Case(workload, build, "changelog-checkpointing", settings, with_partitions(ROCKSDB, partitions), state)
    for store, conf in STORES.items():
        for partitions in (4, 8):
            settings = f"{store}, {partitions} partitions"
            yield Case(workload, build, "fewer-state-partitions", settings, with_partitions(conf, partitions), state)


def with_partitions(conf: dict[str, str], partitions: int) -> dict[str, str]:
    """A store's settings with that many state partitions."""
    return {**conf, "spark.sql.shuffle.partitions": str(partitions)}
