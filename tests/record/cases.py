"""The cases to record, as data: a query, the Sparks that run it, and the rules that must find something in it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

Made = dict[str, Any]

MAIN, FOUR, THREE = "4.3.0", "4.0.0", "3.5.9"

RATE = {"format": "rate-micro-batch", "rowsPerBatch": "1000", "numPartitions": "2"}
MANY_ROWS = {**RATE, "rowsPerBatch": "800000"}
KAFKA = {"format": "kafka", "feed": {"kind": "kafka", "rows_per_second": 1000}}
HEAVY = {"name": "work_on_rows", "rounds": 3}
NOOP = {"format": "noop"}
TO_KAFKA = {"name": "to_kafka"}

STATE_STORES = "org.apache.spark.sql.execution.streaming.state"
ROCKSDB = {"spark.sql.streaming.stateStore.providerClass": f"{STATE_STORES}.RocksDBStateStoreProvider"}
CHANGELOG = {**ROCKSDB, "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true"}
EIGHT_PARTITIONS = {"spark.sql.shuffle.partitions": "8"}
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
S3A = {
    "spark.hadoop.fs.s3a.endpoint": "{s3}",
    "spark.hadoop.fs.s3a.access.key": "testing",
    "spark.hadoop.fs.s3a.secret.key": "testing",
    "spark.hadoop.fs.s3a.path.style.access": "true",
    "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
}
PURGE_INLINE = {
    "spark.sql.streaming.asyncLogPurge.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "2",
}
ABORTABLE_MANAGER = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"
DATABRICKS_ASYNC_STATE = {"spark.databricks.streaming.statefulOperator.asyncCheckpoint.enabled": "true"}


def asynchronous(interval_ms: int) -> Made:
    """The writer options of async progress tracking."""
    return {"asyncProgressTrackingEnabled": "true", "asyncProgressTrackingCheckpointIntervalMs": str(interval_ms)}


@dataclass(frozen=True)
class Run:
    """One start of the query: it ends at a batch, or after some seconds."""

    until_batch: int = 80
    seconds: int = 180
    options: Made = field(default_factory=dict)
    conf: Made = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A query and what is kept of it; `keep` names appenders (text, millis, structured, again), eventlog, progress.

    `beside`: what differs in a second query of the same application, which runs as long. `other_writer`: SQL that
    another application runs on the query's table again and again.
    """

    name: str
    says: str
    sparks: tuple[str, ...] = (MAIN,)
    expect: tuple[str, ...] = ()
    facts: Made = field(default_factory=dict)
    source: Made = field(default_factory=lambda: RATE)
    shape: Made = field(default_factory=lambda: {"name": "plain"})
    sink: Made = field(default_factory=lambda: NOOP)
    trigger: str = ""
    output_mode: str = "append"
    options: Made = field(default_factory=dict)
    conf: Made = field(default_factory=dict)
    keep: tuple[str, ...] = ("text",)
    runs: tuple[Run, ...] = (Run(),)
    beside: Made = field(default_factory=dict)
    other_writer: str = ""
    needs: tuple[str, ...] = ()
    rotated_into: int = 0
    submitted: bool = False

    @property
    def folder(self) -> str:
        """The rule's id, or healthy."""
        return self.name.split("/")[0]

    def plain(self) -> Made:
        """As JSON takes it."""
        return dataclasses.asdict(self)


def until(batch: int, seconds: int = 180, **more: Any) -> tuple[Run, ...]:
    """A single run up to this batch."""
    return (Run(batch, seconds, **more),)


LOGS = (
    Case(
        "LG001/rate-to-noop",
        "a stateless query whose batches consist mostly of writing the two logs",
        sparks=(MAIN, THREE),
        expect=("LG001",),
    ),
    Case(
        "LG001/structured-log",
        "a stateless query whose batches consist mostly of writing the two logs, in a structured JSON log",
        sparks=(FOUR,),
        expect=("LG001",),
        keep=("structured",),
    ),
    Case(
        "LG001/event-log",
        "a stateless query whose batches consist mostly of writing the two logs, in a rolling event log",
        sparks=(MAIN,),
        expect=("LG001",),
        keep=("eventlog",),
    ),
    Case(
        "LG001/event-log-single-file",
        "a stateless query whose batches consist mostly of writing the two logs, in an event log of one plain file",
        sparks=(THREE,),
        expect=("LG001",),
        keep=("eventlog",),
    ),
    Case(
        "LG001/progress-lines",
        "the query's own recent progress, one JSON object per line",
        sparks=(MAIN,),
        expect=("LG001",),
        keep=("progress",),
        runs=until(90),
    ),
    Case(
        "LG001/kafka-to-kafka",
        "Kafka to Kafka without state, both logs written before and after each batch",
        sparks=(FOUR, MAIN),
        expect=("LG001",),
        source=KAFKA,
        shape=TO_KAFKA,
        sink={"format": "kafka"},
        needs=("kafka",),
    ),
    Case(
        "LG002/interval-0",
        "async progress tracking with interval 0: every batch queues its logs and waits for the queue",
        sparks=(MAIN, THREE),
        expect=("LG002",),
        options=asynchronous(0),
        runs=until(120),
    ),
    Case(
        "LG003/purge-inline",
        "a checkpoint on S3A whose old log entries are purged inside every offset write, as asyncLogPurge is off",
        sparks=(FOUR,),
        expect=("LG003",),
        conf={**S3A, **PURGE_INLINE},
        keep=("text", "eventlog"),
        runs=until(160),
        needs=("s3a",),
    ),
    Case(
        "LG003/purge-inline-abortable-manager",
        "the same where log entries are streamed to S3A without a rename, so that the purge weighs more",
        sparks=(FOUR,),
        expect=("LG003",),
        conf={**S3A, **PURGE_INLINE, "spark.sql.streaming.checkpointFileManagerClass": ABORTABLE_MANAGER},
        keep=("text", "eventlog"),
        runs=until(160),
        needs=("s3a",),
    ),
    Case(
        "LG004/s3a-stateless",
        "a stateless query with its checkpoint on S3A: each log entry is written, then renamed by a copy",
        sparks=(FOUR,),
        expect=("LG004",),
        conf=S3A,
        needs=("s3a",),
    ),
    Case(
        "LG004/s3a-count-by-key",
        "a count by key with its checkpoint on S3A: logs and state are renamed by a copy",
        sparks=(FOUR,),
        expect=("LG004",),
        shape={"name": "count_by_key", "keys": 1000},
        output_mode="update",
        conf=S3A,
        needs=("s3a",),
    ),
    Case(
        "LG005/switched-off",
        "async progress tracking on, then off on the same checkpoint: the second start dies at a gap of its log",
        sparks=(MAIN, THREE),
        expect=("LG005",),
        runs=(Run(150, 60, options=asynchronous(1000)), Run(300, 60)),
    ),
)

STATE = (
    Case(
        "ST001/rocksdb-8-partitions",
        "a count over 20,000 keys in RocksDB: every batch waits for its state to be committed",
        expect=("ST001", "ST002"),
        source={**RATE, "rowsPerBatch": "5000"},
        shape={"name": "count_by_key", "keys": 20000},
        output_mode="update",
        conf={**ROCKSDB, **EIGHT_PARTITIONS},
        keep=("eventlog",),
        runs=until(50),
    ),
    Case(
        "ST002/rocksdb-without-changelog",
        "a count over 20,000 keys in RocksDB without changelog: each commit is a snapshot",
        expect=("ST001", "ST002"),
        source={**RATE, "rowsPerBatch": "5000"},
        shape={"name": "count_by_key", "keys": 20000},
        output_mode="update",
        conf={**ROCKSDB, **EIGHT_PARTITIONS},
        runs=until(50),
    ),
    Case(
        "CF005/misspelt-setting",
        "a stateless query whose session sets minBatchesToRetain with two letters in the wrong order",
        expect=("CF005",),
        conf={"spark.sql.streaming.minBatchesToRetian": "20"},
        keep=("eventlog",),
        runs=until(20),
    ),
    Case(
        "ST002/event-log",
        "a count over 20,000 keys in RocksDB without changelog: each commit is a snapshot, in an event log",
        sparks=(THREE,),
        expect=("ST001", "ST002"),
        source={**RATE, "rowsPerBatch": "5000"},
        shape={"name": "count_by_key", "keys": 20000},
        output_mode="update",
        conf={**ROCKSDB, **EIGHT_PARTITIONS},
        keep=("eventlog",),
        runs=until(50),
    ),
    Case(
        "ST005/8-partitions-on-2-slots",
        "a count over 20,000 keys in 8 state partitions where 2 tasks run at once",
        expect=("ST005",),
        shape={"name": "count_by_key", "keys": 20000},
        output_mode="update",
        conf=EIGHT_PARTITIONS,
        runs=until(50),
    ),
    Case(
        "ST012/200-partitions",
        "a count over 10 keys in the untouched 200 state partitions",
        expect=("ST012",),
        shape={"name": "count_by_key", "keys": 10},
        output_mode="update",
        conf={"spark.sql.shuffle.partitions": ""},
        runs=until(40, 240),
    ),
    Case(
        "ST015/odd-event",
        "one event of ten years hence moves the watermark, and the windows of all later rows are dropped",
        shape={"name": "windowed", "delay": "2 seconds", "odd": 200},
        source={"format": "rate", "rowsPerSecond": "20", "numPartitions": "2"},
        trigger="1 second",
        expect=("ST015",),
        runs=until(25),
    ),
    Case(
        "ST016/five-minutes",
        "windows of two seconds wait for a watermark five minutes behind, though no row comes late",
        shape={"name": "windowed", "delay": "5 minutes"},
        source={"format": "rate", "rowsPerSecond": "20", "numPartitions": "2"},
        trigger="1 second",
        expect=("ST016",),
        runs=until(45),
    ),
)

TRIGGERS = (
    Case(
        "TR001/interval-500-ms",
        "a trigger interval of 500 ms and batches that take longer",
        sparks=(FOUR, MAIN),
        expect=("TR001",),
        source={**MANY_ROWS, "rowsPerBatch": "400000"},
        shape=HEAVY,
        trigger="500 milliseconds",
        runs=until(60),
    ),
    Case(
        "TR001/growing-backlog",
        "Kafka brings 4,000 rows a second, each batch may take 500: the backlog grows",
        expect=("TR001",),
        source={"format": "kafka", "maxOffsetsPerTrigger": "500", "feed": {"kind": "kafka", "rows_per_second": 4000}},
        trigger="500 milliseconds",
        runs=until(80),
        needs=("kafka",),
    ),
    Case(
        "TR002/interval-100-ms",
        "a trigger interval of 100 ms, below what any batch costs; rows vary from second to second",
        expect=("TR002",),
        source={"format": "kafka", "feed": {"kind": "kafka", "levels": [200, 2000, 8000, 20000]}},
        shape={"name": "work_on_rows", "rounds": 2},
        trigger="100 milliseconds",
        runs=until(200, 120),
        needs=("kafka",),
    ),
    Case(
        "TR004/kafka-to-kafka",
        "Kafka to Kafka without state by default trigger, where 20 ms are wanted",
        expect=("TR004",),
        facts={"latency_target_ms": 20},
        source=KAFKA,
        shape=TO_KAFKA,
        sink={"format": "kafka"},
        output_mode="update",
        needs=("kafka",),
    ),
    Case(
        "TR005/kafka-to-kafka",
        "Kafka to Kafka without state by default trigger, where 20 ms are wanted",
        expect=("TR005",),
        facts={"latency_target_ms": 20},
        source=KAFKA,
        shape=TO_KAFKA,
        sink={"format": "kafka"},
        needs=("kafka",),
    ),
    Case(
        "TR006/interval-5-s",
        "batches of a fifth of a second, started every 5 seconds, where 1 second is wanted",
        expect=("TR006",),
        facts={"latency_target_ms": 1000},
        source={"format": "rate", "rowsPerSecond": "1000", "numPartitions": "2"},
        trigger="5 seconds",
        runs=until(18),
    ),
    Case(
        "TR006/varying-load",
        "a load that varies and so shows what a row costs, every 2 seconds, where 1 second is wanted",
        expect=("TR006",),
        facts={"latency_target_ms": 1000},
        source={"format": "kafka", "feed": {"kind": "kafka", "levels": [200, 2000, 8000, 20000]}},
        shape={"name": "work_on_rows", "rounds": 12},
        trigger="2 seconds",
        runs=until(50, 120),
        needs=("kafka",),
    ),
)

SINKS = (
    Case(
        "SK002/row-by-row",
        "foreachBatch collects each batch and sends its rows one by one",
        expect=("SK002",),
        sink={"foreach_batch": "send_row_by_row"},
        runs=until(30),
    ),
    Case(
        "SK001/delta-in-foreachbatch",
        "foreachBatch appends to a Delta table, whose log is checkpointed behind every tenth commit",
        sparks=(FOUR,),
        expect=("SK001",),
        sink={"foreach_batch": "append_once"},
        conf=DELTA,
        runs=until(62),
        needs=("delta",),
    ),
    Case(
        "SK003/delta-sink",
        'format("delta") rebuilds the snapshot of its small table in 50 tasks in every batch',
        sparks=(FOUR,),
        expect=("SK001", "SK003"),
        sink={"format": "delta"},
        conf=DELTA,
        runs=until(45),
        needs=("delta",),
    ),
    Case(
        "SR005/sparse-kafka",
        "twenty records a second: read tasks wait for fetches that Kafka holds back",
        expect=("SR005",),
        source={"format": "kafka", "feed": {"kind": "kafka", "rows_per_second": 20}},
        runs=until(60),
        needs=("kafka",),
    ),
    Case(
        "TR007/nearly-full",
        "batches that take nine tenths of the trigger interval: each row is sent alone",
        expect=("TR007",),
        source={**RATE, "rowsPerBatch": "1350"},
        sink={"foreach_batch": "send_row_by_row"},
        trigger="2 seconds",
        runs=until(25),
    ),
    Case(
        "SR002/kafka-read-twice",
        "foreachBatch writes the batch to two tables without persist: Kafka is read twice",
        sparks=(FOUR,),
        expect=("SR002",),
        source=KAFKA,
        sink={"foreach_batch": "write_twice"},
        runs=until(50),
        needs=("kafka",),
    ),
    Case(
        "SR002/rate-read-twice",
        "foreachBatch writes the batch to two tables without persist: the source is read twice",
        expect=("SR002",),
        sink={"foreach_batch": "write_twice"},
        runs=until(40),
    ),
)

SETTINGS = (
    Case(
        "ER001/async-progress-with-state",
        "async progress tracking of a query with state: start() succeeds, and the first batch ends it",
        sparks=(MAIN, THREE),
        expect=("ER001",),
        shape={"name": "count_by_key", "keys": 1000},
        output_mode="update",
        options=asynchronous(1000),
    ),
    Case(
        "CF001/async-state-checkpoint",
        "a setting that only Databricks knows, on open-source Spark: state is committed as ever",
        expect=("CF001",),
        shape={"name": "count_by_key", "keys": 1000},
        output_mode="update",
        conf={**DATABRICKS_ASYNC_STATE, **ROCKSDB},
        keep=("text", "eventlog"),
        runs=until(60),
    ),
    Case(
        "CF002/option-in-capitals",
        "the option of async progress tracking written in capitals, which Spark does not know",
        sparks=(FOUR,),
        expect=("CF002",),
        options={"ASYNCPROGRESSTRACKINGENABLED": "true"},
        runs=until(60),
    ),
    Case(
        "DQ001/lost-middle",
        "a driver log rotated into three files of which the middle one is lost",
        expect=("DQ001",),
        runs=until(150),
        rotated_into=3,
    ),
)

BOTH = ("text", "eventlog")
FINE = ("millis", "eventlog")
EVENTS = ("eventlog",)
HUDI = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
}
PAIMON = {
    "spark.sql.catalog.lake": "org.apache.paimon.spark.SparkCatalog",
    "spark.sql.catalog.lake.warehouse": "file:{work}/lake",
}
ICEBERG = {
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": "file:{work}/lake",
}


def naps(ms: int, when: str = "true") -> Made:
    """Rows that sleep so long in their task."""
    return {"name": "sleeping", "ms": ms, "when": when}


CAUSES = (
    Case(
        "SR009/60-files-per-batch",
        "each batch takes 60 of many small files, which a Spark job lists again",
        source={
            "format": "files",
            "maxFilesPerTrigger": "60",
            "feed": {"kind": "files", "files": 3000, "rows": 10, "every_seconds": 0},
        },
        expect=("SR009",),
        runs=until(35),
    ),
    Case(
        "TR010/12-files-per-batch",
        "each batch takes 12 files, all that it may, while hundreds wait",
        source={
            "format": "files",
            "maxFilesPerTrigger": "12",
            "feed": {"kind": "files", "files": 2000, "rows": 50, "every_seconds": 0},
        },
        expect=("TR010",),
        runs=until(30),
    ),
    Case(
        "SH005/nine-of-ten-rows",
        "rows put together by a key that nine of ten have",
        source={**RATE, "rowsPerBatch": "20000"},
        shape={"name": "skewed_shuffle", "rounds": 16},
        expect=("SH005",),
        keep=("millis",),
        runs=until(36),
    ),
    Case(
        "SH005/nine-of-ten-rows-by-events",
        "an event log of rows put together by a key that nine of ten have",
        source={**RATE, "rowsPerBatch": "20000"},
        shape={"name": "skewed_shuffle", "rounds": 16},
        expect=("SH005",),
        keep=EVENTS,
        runs=until(20),
    ),
    Case(
        "SK007/delta-in-foreachbatch",
        "foreachBatch appends to a Delta table: an event log of the checkpoints of its log",
        sparks=(FOUR,),
        expect=("SK007", "SK001"),
        sink={"foreach_batch": "append_once"},
        conf=DELTA,
        keep=EVENTS,
        runs=until(42),
        needs=("delta",),
    ),
    Case(
        "SK004/count-check-and-write",
        "foreachBatch asks whether the batch is empty, counts it and writes it twice: the source is read four times",
        sparks=(FOUR,),
        source={**RATE, "rowsPerBatch": "100000"},
        shape={"name": "work_on_rows", "rounds": 2},
        sink={"foreach_batch": "count_check_and_write"},
        expect=("SK004",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "SK004/count-and-write",
        "foreachBatch counts and writes a count over 20,000 keys: each computes and commits the state again",
        source={**RATE, "rowsPerBatch": "5000"},
        shape={"name": "count_by_key", "keys": 20000},
        sink={"foreach_batch": "count_and_write"},
        output_mode="update",
        conf={**ROCKSDB, **EIGHT_PARTITIONS},
        expect=("SK004",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "SK005/slow-commit",
        "a sink that takes the rows at once and 300 ms for its commit",
        sink={"format": "slow_commit", "ms": 300},
        expect=("SK005",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "SK005/iceberg-sink",
        "rows to an Iceberg table by its sink",
        sparks=(FOUR,),
        sink={"format": "iceberg"},
        conf=ICEBERG,
        expect=("SK005",),
        keep=FINE,
        runs=until(25),
        needs=("iceberg",),
    ),
    Case(
        "SK008/iceberg-other-writer",
        "rows to an Iceberg table on which another application commits several times a second",
        sparks=(FOUR,),
        expect=("SK008",),
        sink={"format": "iceberg"},
        conf=ICEBERG,
        other_writer="ALTER TABLE lake.db.events SET TBLPROPERTIES ('turn' = '{turn}')",
        keep=("millis",),
        runs=until(15),
        needs=("iceberg",),
    ),
    Case(
        "SK005/hudi-sink",
        "rows to a Hudi table by its sink",
        sparks=(THREE,),
        sink={"format": "hudi"},
        conf=HUDI,
        keep=("millis",),
        runs=until(15),
        needs=("hudi",),
    ),
    Case(
        "SK005/paimon-sink",
        "rows to a Paimon table by its sink",
        sparks=(THREE,),
        sink={"format": "paimon"},
        conf=PAIMON,
        keep=("millis",),
        runs=until(15),
        needs=("paimon",),
    ),
    Case(
        "SK008/delta-other-writer",
        "rows to a Delta table to which another application appends, too",
        sparks=(FOUR,),
        expect=("SK008",),
        sink={"format": "delta"},
        conf={**DELTA, "spark.databricks.delta.snapshotPartitions": "2"},
        other_writer="INSERT INTO delta.`{work}/table` SELECT current_timestamp(), {turn}L",
        keep=("millis",),
        runs=until(15),
        needs=("delta",),
    ),
    Case(
        "SK008/paimon-other-writer",
        "rows to a Paimon table to which another application appends, too",
        sparks=(THREE,),
        expect=("SK008",),
        sink={"format": "paimon"},
        conf=PAIMON,
        other_writer="INSERT INTO lake.db.events SELECT current_timestamp(), {turn}L",
        keep=("millis",),
        runs=until(40, 100),
        needs=("paimon",),
    ),
    Case(
        "SK009/file-sink-compaction",
        "a file sink with 80 files a batch, which writes the list of all its files again in every tenth batch",
        shape={"name": "in_folders", "folders": 40},
        sink={"format": "json", "partitionBy": "folder"},
        keep=("millis",),
        runs=until(31),
    ),
    Case(
        "SK009/long-file-list",
        "a file sink with 80 files a batch, which writes the list of all its files again in every fourth batch",
        shape={"name": "in_folders", "folders": 40},
        sink={"format": "json", "partitionBy": "folder"},
        conf={"spark.sql.streaming.fileSink.log.compactInterval": "4"},
        expect=("SK009",),
        keep=("millis",),
        runs=until(61),
    ),
    Case(
        "both/deduplication",
        "driver log and event log of one run: duplicates dropped, state in RocksDB",
        source={**RATE, "rowsPerBatch": "50000"},
        shape={"name": "without_duplicates", "rounds": 1},
        conf=ROCKSDB,
        keep=FINE,
        runs=until(8),
    ),
    Case(
        "both/join",
        "driver log and event log of one run: a stream joined with itself",
        source={**RATE, "rowsPerBatch": "20000"},
        shape={"name": "joined", "rounds": 1},
        keep=FINE,
        runs=until(8),
    ),
    Case(
        "both/delta-sink",
        "driver log and event log of one run: rows to a Delta table by its sink",
        sparks=(FOUR,),
        sink={"format": "delta"},
        conf=DELTA,
        keep=FINE,
        runs=until(5),
        needs=("delta",),
    ),
    Case(
        "both/two-queries",
        "driver log and event log of one run: two queries that wait for each other's tasks on three slots",
        source={**RATE, "numPartitions": "5"},
        shape=naps(30, "value % 100 = 0"),
        beside={
            "source": {**RATE, "rowsPerBatch": "2000", "numPartitions": "6"},
            "shape": naps(40, "value % 200 = 0"),
        },
        conf={"spark.master": "local[3]"},
        keep=FINE,
        runs=until(15),
    ),
    Case(
        "CL001/2-tasks-on-8-slots",
        "a source read in two tasks by an executor with eight slots",
        shape=naps(20, "value % 100 = 0"),
        conf={"spark.master": "local[8]"},
        expect=("CL001",),
        keep=EVENTS,
        runs=until(12),
    ),
    Case(
        "CG003/300-branches",
        "a choice among 300 cases, whose code is too long to be compiled: made and thrown away in every batch",
        source={**RATE, "rowsPerBatch": "500"},
        shape={"name": "many_branches", "branches": 300},
        expect=("CG003",),
        keep=("millis",),
        runs=until(15),
    ),
    Case(
        "CG002/600-branches",
        "a choice among 600 cases, in which single methods are too long for the just-in-time compiler",
        shape={"name": "many_branches", "branches": 600},
        expect=("CG002", "CG003"),
        keep=("millis",),
        runs=until(9),
    ),
    Case(
        "ST006/one-partition-on-4-slots",
        "a count over 200,000 keys in one state partition, where four tasks run at once",
        source={**RATE, "rowsPerBatch": "100000"},
        shape={"name": "count_by_key", "keys": 200000},
        output_mode="update",
        conf={"spark.sql.shuffle.partitions": "1", "spark.master": "local[4]"},
        expect=("ST006",),
        keep=EVENTS,
        runs=until(12),
    ),
    Case(
        "SK006/delta-small-files",
        "a Delta sink that writes 16 files of a few rows in every batch",
        sparks=(FOUR,),
        expect=("SK006",),
        source={**RATE, "numPartitions": "16"},
        sink={"format": "delta"},
        conf={**DELTA, "spark.databricks.delta.snapshotPartitions": "2"},
        keep=("text",),
        runs=until(15),
        needs=("delta",),
    ),
    Case(
        "CL002/16-tasks-on-2-slots",
        "a source read in 16 tasks where 2 run at once",
        source={**RATE, "numPartitions": "16", "rowsPerBatch": "160000"},
        shape={"name": "work_on_rows", "rounds": 2},
        expect=("CL002",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "CL003/one-straggler",
        "one of four tasks takes 400 ms longer than the others, with as many rows as they",
        source={**RATE, "numPartitions": "4"},
        shape=naps(400, "value % 1000 = 0"),
        expect=("CL003",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "SR003/skewed-partitions",
        "of two Kafka partitions one gets nine of ten records, and each record takes 1 ms",
        source={
            "format": "kafka",
            "feed": {"kind": "kafka", "rows_per_second": 400, "to": [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]},
        },
        shape=naps(1),
        expect=("SR003",),
        keep=EVENTS,
        runs=until(25),
        needs=("kafka",),
    ),
    Case(
        "SR004/one-partition",
        "Kafka's topic has one partition, so one of two task slots idles; each record is hashed",
        source={"format": "kafka", "feed": {"kind": "kafka", "rows_per_second": 4000, "partitions": 1}},
        shape={"name": "work_on_rows", "rounds": 30},
        expect=("SR004",),
        keep=EVENTS,
        runs=until(25),
        needs=("kafka",),
    ),
    Case(
        "CL004/locality-wait",
        "two Kafka partitions whose consumers sit on one of two executors: one task waits for the other",
        source={
            "format": "kafka",
            "feed": {"kind": "kafka", "rows_per_second": 80, "partitions": 4, "to": [0, 2]},
        },
        shape=naps(8),
        trigger="1 second",
        conf={"spark.master": "local-cluster[2,1,1024]"},
        expect=("CL004",),
        keep=EVENTS,
        runs=until(25),
        needs=("kafka",),
    ),
    Case(
        "CL005/beside-a-heavy-query",
        "a light query waits for the tasks of a heavy one that holds both slots",
        beside={
            "source": {**RATE, "rowsPerBatch": "2000", "numPartitions": "8"},
            "shape": naps(100, "value % 250 = 0"),
        },
        expect=("CL005",),
        keep=EVENTS,
        runs=until(60),
    ),
    Case(
        "CG001/batch-id-in-expressions",
        "foreachBatch with the batch's id in its expressions",
        sink={"foreach_batch": "with_batch_id"},
        expect=("CG001",),
        keep=("text",),
        runs=until(25),
    ),
    Case(
        "PL001/250-columns",
        "a projection of 250 columns, planned in every batch",
        shape={"name": "wide", "columns": 250},
        expect=("PL001",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "BC001/static-side",
        "a table that does not stream is read and broadcast in every batch",
        sparks=(MAIN,),
        shape={"name": "beside_static_side", "rows": 200000},
        expect=("BC001",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "PY001/python-function",
        "each row goes through a Python function",
        source={**RATE, "rowsPerBatch": "20000"},
        shape={"name": "in_python"},
        expect=("PY001",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "PY001/python-in-driver-log",
        "each row goes through a Python function, as the driver log of local mode tells",
        sparks=(MAIN, THREE),
        source={**RATE, "rowsPerBatch": "20000"},
        shape={"name": "in_python"},
        expect=("PY001",),
        keep=("text",),
        runs=until(12),
    ),
    Case(
        "SH002/64-partitions-without-state",
        "rows are scattered over 64 shuffle partitions, without state",
        sparks=(FOUR,),
        expect=("SH002",),
        shape={"name": "shuffled"},
        conf={"spark.sql.shuffle.partitions": "64"},
        keep=EVENTS,
        runs=until(16),
    ),
    Case(
        "SH003/joined-by-adaptive-execution",
        "rows are scattered over the untouched 200 shuffle partitions, which adaptive execution joins",
        expect=("SH003",),
        shape={"name": "shuffled"},
        conf={"spark.sql.shuffle.partitions": "200"},
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "DV001/driver-between-jobs",
        "foreachBatch in which the driver works alone before and after the write",
        sink={"foreach_batch": "write_then_wait"},
        expect=("DV001",),
        keep=EVENTS,
        runs=until(25),
    ),
    Case(
        "DV001/count-then-wait",
        "foreachBatch that counts the batch and writes it; then the driver works alone",
        sink={"foreach_batch": "count_then_wait"},
        expect=("DV001",),
        keep=FINE,
        runs=until(25),
    ),
    Case(
        "ST004/rows-counted",
        "an aggregation that changes 100,000 rows of its state in every batch, counted by RocksDB",
        expect=("ST004",),
        source={**RATE, "rowsPerBatch": "100000"},
        shape={"name": "count_by_key", "keys": 1_000_000},
        output_mode="update",
        conf={**CHANGELOG, "spark.sql.shuffle.partitions": "2"},
        runs=until(25),
    ),
    Case(
        "ST007/no-watermark",
        "each value is kept once, for ever: no watermark ends its row of the state",
        shape={"name": "never_forgotten", "watermark": False},
        trigger="1 second",
        expect=("ST007",),
        runs=until(45),
    ),
    Case(
        "ST007/watermark-is-no-key",
        "each value is kept once, for ever: there is a watermark, but the event time is no key of dropDuplicates",
        shape={"name": "never_forgotten", "watermark": True},
        trigger="1 second",
        expect=("ST007",),
        runs=until(45),
    ),
    Case(
        "ST009/state-reloaded",
        "the default state store may keep no version in memory, so every batch reads its state again",
        shape={"name": "count_by_key", "keys": 20000},
        output_mode="update",
        conf={"spark.sql.streaming.maxBatchesToRetainInMemory": "0"},
        expect=("ST009",),
        keep=BOTH,
        runs=until(25),
    ),
    Case(
        "SH001/little-memory",
        "a count whose tasks may hold a few megabytes, so that they spill to disk",
        source={**RATE, "rowsPerBatch": "300000"},
        shape={"name": "count_by_key", "keys": 300000},
        output_mode="update",
        conf={"spark.memory.fraction": "0.02", "spark.driver.memory": "1500m"},
        expect=("SH001",),
        keep=EVENTS,
        runs=until(14),
    ),
    Case(
        "CL006/small-heap",
        "a count whose state fills the heap, so that garbage is collected all the time",
        source={**RATE, "rowsPerBatch": "200000"},
        shape={"name": "count_by_key", "keys": 1000000},
        output_mode="update",
        conf={"spark.driver.memory": "600m"},
        expect=("CL006",),
        keep=EVENTS,
        runs=until(14, 120),
    ),
)

HEALTHY = (
    Case(
        "healthy/foreachbatch-to-delta",
        "foreachBatch appends to a Delta table every 10 seconds; the work is the rows'",
        sparks=(FOUR,),
        source=MANY_ROWS,
        shape=HEAVY,
        sink={"foreach_batch": "append_once"},
        trigger="10 seconds",
        conf=DELTA,
        runs=until(11),
        needs=("delta",),
    ),
    Case(
        "healthy/long-trigger",
        "a batch every 8 seconds, well within its interval",
        source={**MANY_ROWS, "rowsPerBatch": "1100000"},
        shape=HEAVY,
        trigger="8 seconds",
        runs=until(14),
    ),
    Case(
        "healthy/restart",
        "the same query started twice on its checkpoint, in two applications; both runs are well",
        source=MANY_ROWS,
        shape=HEAVY,
        trigger="15 seconds",
        runs=(Run(8, 180), Run(16, 180)),
    ),
    Case(
        "healthy/idle-night",
        "files arrive for a while, then nothing: many triggers without a batch",
        sparks=(MAIN, THREE),
        source={"format": "files", "feed": {"kind": "files", "files": 10, "rows": 1100000, "every_seconds": 8}},
        shape=HEAVY,
        trigger="8 seconds",
        conf={"spark.sql.streaming.noDataProgressEventInterval": "1000"},
        keep=("text", "progress"),
        runs=until(1000, 120),
    ),
    Case(
        "healthy/rocksdb-changelog",
        "a count by key in RocksDB with changelog, as many state partitions as task slots",
        source=MANY_ROWS,
        shape={"name": "count_by_key", "rounds": 3, "keys": 20000},
        output_mode="update",
        trigger="10 seconds",
        conf=CHANGELOG,
        runs=until(11),
    ),
    Case(
        "healthy/async-progress",
        "async progress tracking with an interval of 1 second: the logs hold no batch",
        options=asynchronous(1000),
        source={**RATE, "rowsPerBatch": "100000"},
        shape=HEAVY,
        runs=until(100),
    ),
    Case(
        "healthy/deduplication",
        "rows of the last 10 seconds are kept once, in two state partitions",
        source=MANY_ROWS,
        shape={"name": "without_duplicates", "rounds": 3},
        trigger="10 seconds",
        runs=until(11),
    ),
    Case(
        "healthy/stream-stream-join",
        "a stream joined with itself over 2 seconds, in two state partitions",
        source={**MANY_ROWS, "rowsPerBatch": "900000"},
        shape={"name": "joined", "rounds": 6},
        trigger="20 seconds",
        runs=until(10, 300),
    ),
    Case(
        "healthy/structured-log",
        "a healthy query in Spark's structured JSON log, where each progress stands twice in its line",
        sparks=(FOUR,),
        source=MANY_ROWS,
        shape=HEAVY,
        trigger="15 seconds",
        keep=("structured",),
        submitted=True,
        runs=until(10, 220),
    ),
    Case(
        "healthy/each-event-twice",
        "a healthy query whose logger has two appenders on one file: every line stands twice",
        source=MANY_ROWS,
        shape=HEAVY,
        trigger="15 seconds",
        keep=("again",),
        runs=until(10, 220),
    ),
)

CASES = (*LOGS, *STATE, *TRIGGERS, *SINKS, *CAUSES, *SETTINGS, *HEALTHY)
