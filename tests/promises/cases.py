"""Which promises are tried: a query with its settings, and one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from lab.offsets.queries import Kafka
from tests.promises import through_kafka, workloads
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
class Servers:
    """Where the lab answers: the broker's address, and a bucket's URI by its delay per request in ms."""

    kafka: str = ""
    buckets: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A step on a query: its session's settings, and the rows of state that must be there before batches count.

    `place`: where its checkpoints lie. `latency`: what measures the latency of records, as `advisor.trial` takes it.
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
    place: str | None = None
    latency: Any = None

    @property
    def name(self) -> str:
        """What the case is called on the command line and in the table."""
        return ", ".join(part for part in (self.workload, self.settings, self.step) if part)


DELAYS = (0, 20)
"""Of each request to the bucket, in ms."""
STATEFUL: dict[str, tuple[Build, int]] = {
    "aggregation, 5,000 keys": (workloads.aggregation(2_000, 5_000), 5_000),
    "aggregation, 20,000 keys": (workloads.aggregation(3_000, 20_000), 20_000),
    "deduplication, 20,000 keys": (workloads.deduplication(3_000, 20_000), 20_000),
    "stream-stream join": (workloads.join(500), 10_000),
}


def cases(servers: Servers) -> Iterator[Case]:
    """Every case on the disk of this machine, the cheapest first; those with Kafka need a broker."""
    yield from _sparse(servers)
    yield from _through_kafka("Kafka to Kafka", Kafka, "async-progress", servers)
    yield from _every_so_often(servers)
    for rows in (100, 1_000, 10_000, 100_000, 400_000):
        yield Case("stateless", workloads.stateless(rows), "async-progress", f"{rows:,} rows per batch")
    for workload, (build, state) in STATEFUL.items():
        yield from _of_state(workload, build, state)
    yield from _other_kinds(servers)
    million = workloads.aggregation(100_000, 1_000_000)
    for partitions in (2, 4):
        yield Case(
            "aggregation, 1,000,000 keys", million, "changelog-checkpointing", f"RocksDB, {partitions} partitions",
            with_partitions(ROCKSDB, partitions), 1_000_000, 10, 120.0,
        )  # fmt: skip


def delta_cases(servers: Servers) -> Iterator[Case]:
    """The cases with a Delta table behind the query, which its jars want another Spark for."""
    yield from _through_kafka(
        "Kafka to Delta", through_kafka.KafkaToDelta, "delta-snapshot-partitions", servers, delta=True
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


def s3a_cases(servers: Servers) -> Iterator[Case]:
    """The cases with the checkpoint in a bucket of S3A's."""
    queries = {"stateless": (workloads.stateless(1_000), None), **STATEFUL}
    for workload in ("stateless", "aggregation, 5,000 keys", "deduplication, 20,000 keys"):
        build, state = queries[workload]
        for delay in DELAYS:
            settings = f"checkpoint on S3A, {delay} ms more per request"
            conf = ROCKSDB if state else {}
            seconds = 240.0 if state else 90.0
            case = Case(workload, build, "abortable-checkpoint-manager", settings, conf, state, 10, seconds)
            yield replace(case, place=servers.buckets.get(delay))


def _through_kafka(
    workload: str, query: type[Kafka], step: str, servers: Servers, *, delta: bool = False
) -> Iterator[Case]:
    for rate in (1_000, 10_000):
        made = query(rate, servers.kafka)
        settings = f"{rate:,} records a second"
        yield Case(workload, made.build, step, settings, delta=delta, latency=made.latency)


def _every_so_often(servers: Servers) -> Iterator[Case]:
    """Intervals that are longer than they need be, and one that no batch keeps."""
    for rate in (1_000, 10_000):
        for ms in (2_000, 4_000):
            yield _at_interval("Kafka to Kafka", Kafka(rate, servers.kafka), "interval-no-longer-than-needed", ms)
    once = through_kafka.KafkaOnce(1_000, servers.kafka)
    case = _at_interval("Kafka to Kafka, each once", once, "interval-no-longer-than-needed", 4_000)
    yield replace(case, state_rows=2_000)
    yield _at_interval("Kafka to Kafka", Kafka(1_000, servers.kafka), "interval-that-holds", 100)


def _at_interval(workload: str, query: Kafka, step: str, ms: int) -> Case:
    settings = f"{query.per_second:,} records a second, every {ms:,} ms"
    return Case(workload, workloads.every(ms, query.build), step, settings, batches=12, latency=query.latency)


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


ASYNC, CHANGELOGS, FEWER = "async-progress", "changelog-checkpointing", "fewer-state-partitions"
FETCHES = "kafka-fetch-wait"
WITHOUT_STATE: dict[str, Build] = {
    "60 columns": workloads.wide(1_000, 60),
    "250 columns": workloads.wide(1_000, 250),
    "code compiled in every batch": workloads.compiled(1_000),
    "Python function": workloads.in_python(1_000),
    "2,000 small files": workloads.small_files(2_000, 4),
}
WITH_STATE: dict[str, tuple[Build, int]] = {
    "sliding windows": (workloads.windowed(1_000, 500), 2_000),
    "session windows": (workloads.sessions(1_000, 200), 200),
    "outer join": (workloads.outer_join(500), 5_000),
    "deduplication within watermark": (workloads.within_watermark(1_000), 8_000),
    "deduplication, then windows": (workloads.once_then_counted(1_000, 200), 4_000),
    "skewed keys": (workloads.skewed(20_000, 2_000), 200),
}
"""Queries, and the rows of state from which on batches count."""
KAFKA = {
    "each once": through_kafka.KafkaOnce,
    "counted by value": through_kafka.KafkaCounted,
    "once within watermark": through_kafka.KafkaWithinWatermark,
    "joined with itself": through_kafka.KafkaJoined,
}

BARE = {
    "JSON of sixty fields": through_kafka.KafkaParsed,
    "joined with a table": through_kafka.KafkaWithTable,
    "through a shuffle": through_kafka.KafkaShuffled,
    "exploded": through_kafka.KafkaExploded,
}
"""Queries without state, from topic to topic."""


def _other_kinds(servers: Servers) -> Iterator[Case]:
    """Kinds of queries on which no number of the catalogue was first found."""
    yield from _other_kinds_of_kafka(servers)
    for workload, build in WITHOUT_STATE.items():
        yield Case(workload, build, ASYNC)
    for workload, (build, state) in WITH_STATE.items():
        yield Case(workload, build, FEWER, "default store, 4 partitions", with_partitions({}, 4), state)
        yield Case(workload, build, CHANGELOGS, "RocksDB, 2 partitions", with_partitions(ROCKSDB, 2), state)
    counter = workloads.with_state(1_000, 2_000)
    for step, partitions in ((FEWER, 4), (CHANGELOGS, 2)):
        conf = with_partitions(ROCKSDB, partitions)
        yield Case("transformWithState in Python", counter, step, f"RocksDB, {partitions} partitions", conf, 1_500)
    heavy = partial(workloads.beside, workloads.aggregation(50_000, 5_000))
    yield Case("stateless beside a heavy query", workloads.stateless(1_000), ASYNC, latency=heavy)


def _other_kinds_of_kafka(servers: Servers) -> Iterator[Case]:
    for rate, partitions in ((4, 4), (50, 4), (200, 1), (1_000, 6)):
        settings = f"{rate:,} records a second, {partitions} topic partitions"
        yield _of_kafka("Kafka to Kafka", Kafka(rate, servers.kafka, partitions), ASYNC, settings)
    capped = through_kafka.KafkaCapped(5_000, servers.kafka, 400)
    yield _of_kafka("Kafka to Kafka, falling behind", capped, ASYNC, "5,000 records a second, 400 per batch")
    python = through_kafka.KafkaInPython(1_000, servers.kafka)
    yield _of_kafka("Kafka to Kafka, Python function", python, ASYNC, "1,000 records a second")
    for workload, query in BARE.items():
        yield _of_kafka(f"Kafka to Kafka, {workload}", query(1_000, servers.kafka), ASYNC, "1,000 records a second")
    for workload, query in KAFKA.items():
        for partitions in (4, 8):
            made, conf = query(1_000, servers.kafka), with_partitions({}, partitions)
            settings = f"1,000 records a second, {partitions} state partitions"
            yield replace(_of_kafka(f"Kafka to Kafka, {workload}", made, FEWER, settings), conf=conf)


def kept_aside(servers: Servers) -> Iterator[Case]:
    """Cases on which nothing was chosen that says the latency after a step; each has many batches."""
    in_python = {"Python function": through_kafka.KafkaInPython, "mapInPandas": through_kafka.KafkaInPandas}
    for name, python in in_python.items():
        for rate, partitions, step in ((200, 2, ASYNC), (4_000, 3, ASYNC), (30, 3, FETCHES), (80, 5, FETCHES)):
            yield _with_many_batches(name, python(rate, servers.kafka, partitions), step)
    yield _with_many_batches("", Kafka(3_000, servers.kafka, 3), ASYNC)
    yield _with_many_batches("", Kafka(80, servers.kafka, 5), FETCHES)
    yield _with_many_batches("exploded", through_kafka.KafkaExploded(4_000, servers.kafka, 3), ASYNC)
    yield _with_many_batches("joined with a table", through_kafka.KafkaWithTable(300, servers.kafka, 2), ASYNC)
    for query, name in ((through_kafka.KafkaOnce, "each once"), (through_kafka.KafkaCounted, "counted by value")):
        conf = with_partitions({}, 6)
        yield replace(_with_many_batches(f"{name}, 6 state partitions", query(500, servers.kafka), FEWER), conf=conf)


def _with_many_batches(what: str, query: Kafka, step: str) -> Case:
    workload = ", ".join(filter(None, ("Kafka to Kafka", what)))
    settings = f"{query.per_second:,} records a second, {query.partitions} topic partitions"
    return replace(_of_kafka(workload, query, step, settings), batches=120)


def _sparse(servers: Servers) -> Iterator[Case]:
    """Few records per partition and batch, whose fetches Kafka holds back; and as many that none is."""
    for rate, partitions in ((4, 4), (50, 4), (20, 1), (100, 6), (200, 8), (10_000, 8)):
        settings = f"{rate:,} records a second, {partitions} topic partitions"
        yield _of_kafka("Kafka to Kafka", Kafka(rate, servers.kafka, partitions), FETCHES, settings)
    for workload, query in SPARSE.items():
        made = query(50, servers.kafka, 4)
        settings = "50 records a second, 4 topic partitions"
        yield _of_kafka(f"Kafka to Kafka, {workload}", made, FETCHES, settings)


SPARSE = {
    "each once": through_kafka.KafkaOnce,
    "counted by value": through_kafka.KafkaCounted,
    "Python function": through_kafka.KafkaInPython,
    "counted and written in foreachBatch": through_kafka.KafkaInForeachBatch,
}


def _of_kafka(workload: str, query: Kafka, step: str, settings: str) -> Case:
    return Case(workload, query.build, step, settings, latency=query.latency)
