"""The names of all facts, what they mean and which values they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["bool", "int", "number", "str", "version", "choice"]
Scope = Literal["query", "application"]

SOURCES: Final = ("user", "checkpoint", "log", "event_log", "session", "progress", "computed", "inferred", "default")
"""Where a value can come from, the most trusted first."""


class Known(NamedTuple):
    """A value and where it came from (one of `SOURCES`; printed as "from").

    The value None says "seen, and there is none": it is knowledge, other than a fact that is not known at all.
    """

    value: Any
    source: str


@dataclass(frozen=True)
class Fact:
    """One thing that can be known about a run: name, kind, values (of a choice), meaning and where it is found."""

    name: str
    kind: Kind
    meaning: str
    where: str
    values: tuple[str, ...] = ()
    scope: Scope = "query"
    minimum: float | None = None
    nullable: bool = False
    """Whether None ("seen, and there is none") is a value."""


_TRIGGERS = ("unspecified", "processing_time", "once", "available_now", "continuous", "real_time")
_SINKS = ("kafka", "console", "memory", "noop", "foreach", "foreach_batch", "file", "delta", "other")
_INPUTS = (
    "kafka", "file", "delta", "rate", "rate_micro_batch", "socket", "memory", "kinesis", "event_hubs", "other",
    "several",
)  # fmt: skip
_APPLICATION: Final[Scope] = "application"

_ALL = (
    Fact("stateful", "bool", "the query keeps state between batches", "progress, printed plan"),
    Fact("sink", "choice", "what the query writes to", "progress", _SINKS),
    Fact("source", "choice", "what the query reads; 'several' for sources of different kinds", "progress", _INPUTS),
    Fact("trigger", "choice", "kind of trigger", "log, session, or inferred from timestamps", _TRIGGERS),
    Fact("trigger_interval_ms", "int", "interval of the trigger in ms", "'falling behind' lines, session", minimum=0),
    Fact("spark_version", "version", "version of Spark", "'Running Spark version'", scope=_APPLICATION),
    Fact(
        "spark_version_at_least",
        "version",
        "oldest Spark that writes what was seen",
        "progress, log",
        scope=_APPLICATION,
    ),
    Fact("databricks_runtime", "version", "version of the Databricks Runtime", "Spark properties", scope=_APPLICATION),
    Fact(
        "platform",
        "choice",
        "whose Spark runs the query",
        "Spark properties, phases in progress, log",
        ("open_source", "databricks", "other"),
        _APPLICATION,
    ),
    Fact(
        "task_slots",
        "int",
        "tasks that can run at once",
        "Spark properties, executors, 'Starting task' lines",
        scope=_APPLICATION,
        minimum=1,
    ),
    Fact(
        "slots_shared",
        "bool",
        "queries overlap in one application, so that task_slots is an upper bound",
        "times of the runs in one log",
    ),
    Fact("state_store", "choice", "state store provider", "state metrics, pinned configuration", ("hdfs", "rocksdb")),
    Fact("changelog", "bool", "RocksDB commits changelogs, not snapshots", "state metrics, session"),
    Fact(
        "async_progress", "bool", "progress is tracked asynchronously", "logger of 'Starting', printed options, session"
    ),
    Fact(
        "async_progress_interval_ms",
        "int",
        "interval of asynchronous log writes in ms",
        "printed options, session",
        minimum=0,
    ),
    Fact(
        "async_progress_before", "bool", "an earlier run of the query tracked progress asynchronously", "earlier runs"
    ),
    Fact("async_state_checkpoint", "bool", "state is checkpointed asynchronously (Databricks)", "Spark properties"),
    Fact("output_mode", "choice", "output mode", "printed plan, session", ("append", "update", "complete")),
    Fact("checkpoint_scheme", "str", "file system of the checkpoint (file, hdfs, s3a, abfss, gs, dbfs, ...)", "log"),
    Fact("checkpoint_path", "str", "checkpoint location, credentials removed", "log, session"),
    Fact(
        "checkpoint_manager",
        "choice",
        "how checkpoint files are written",
        "lines of the checkpoint manager, configuration",
        ("rename", "abortable", "other"),
    ),
    Fact("latency_target_ms", "number", "record latency that is wanted, in ms", "only you know it", minimum=0),
    Fact(
        "ignored_async_setting",
        "str",
        "a setting for asynchronous progress tracking that Spark ignores; none: options were seen, and none is ignored",
        "printed options, configuration",
        nullable=True,
    ),
    Fact(
        "ignored_databricks_setting",
        "str",
        "a Databricks setting that open-source Spark ignores; none: settings were seen, and none is ignored",
        "configuration",
        nullable=True,
    ),
    Fact("async_log_purge", "bool", "old log entries are purged outside the batch", "configuration, default since 3.4"),
    Fact("missing_batch", "int", 'N of the error "batch N doesn\'t exist"', "termination", minimum=0, nullable=True),
    Fact("terminated_error", "str", "first line of the error that ended the run, credentials removed", "termination"),
    Fact("watermarked", "bool", "event time has a watermark", "progress, printed plan"),
    Fact("state_operators", "str", "names of the stateful operators, with commas", "progress, printed plan"),
    Fact(
        "delta_snapshot_partitions",
        "int",
        "tasks in which Delta rebuilds a table's snapshot (spark.databricks.delta.snapshotPartitions)",
        "configuration",
        minimum=1,
    ),
    Fact(
        "delta_snapshot_tasks",
        "int",
        "tasks of the snapshot stage at each batch's start; none: there is none",
        "stages in the log",
        minimum=1,
        nullable=True,
    ),
    Fact("max_offsets_per_trigger", "int", "maxOffsetsPerTrigger of the Kafka source", "printed options", minimum=1),
    Fact("exchanges", "int", "shuffles in the plan of a batch", "session", minimum=0),
    Fact("shuffle_partitions", "int", "pinned spark.sql.shuffle.partitions", "pinned configuration", minimum=1),
    Fact("kafka_partitions", "int", "partitions of the Kafka topics that are read", "offsets in progress", minimum=1),
    Fact("falling_behind", "bool", "Spark said that a batch outlasted the trigger interval", "log"),
    Fact("executors_changed", "bool", "executors came or went during the run", "event log, log"),
    Fact("start_time", "str", "when the run started (ISO 8601, UTC)", "event log"),
    Fact("spike_phase", "str", "the phase in which every tenth batch is slow", "computed from batches"),
    Fact("data_problem", "str", "what is wrong with the numbers themselves", "computed from batches", nullable=True),
    Fact("query_name", "str", "name of the query", "log, event log"),
    Fact("application", "str", "name of the Spark application", "Spark properties, log", scope=_APPLICATION),
)

FACTS: Final[dict[str, Fact]] = {fact.name: fact for fact in _ALL}
"""Every fact by name. Beside these, `conf:KEY` holds a configuration value that was seen (credentials removed)."""

CONF: Final = "conf:"
"""Prefix of the facts that hold a configuration value."""

EXECUTOR: Final = "executor:"
"""Prefix of the sightings that hold an executor's cores: 0 when it is removed, None when the log names none."""
