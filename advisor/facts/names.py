"""What a fact is, where its value can come from, and all facts by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["bool", "int", "number", "str", "version", "choice", "choices"]
Scope = Literal["query", "application"]
Merge = Literal["later", "largest", "pinned"]

ORIGINS: Final = (
    "user", "checkpoint", "log", "event_log", "ui", "session", "progress", "computed", "inferred", "default",
)  # fmt: skip
"""Where a value can come from, the most trusted first."""


class Known(NamedTuple):
    """A value and where it came from (one of `ORIGINS`; printed as "from").

    The value None means "seen, and there is none": unlike an unknown fact, it is knowledge.
    """

    value: Any
    origin: str


@dataclass(frozen=True)
class Fact:
    """One thing that can be known about a run.

    `meaning` and `where` are words for a person: what it is, and where it is found. `origins`: where it can come from
    besides a person, the most trusted first. `settable`: whether a person may give it (`--set`, advisor.yaml).
    """

    name: str
    kind: Kind
    meaning: str
    where: str
    origins: tuple[str, ...]
    values: tuple[str, ...] = ()
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None  # what Spark, Parquet or Kafka take
    nullable: bool = False
    """Whether None ("seen, and there is none") is a value."""
    scope: Scope = "query"
    settable: bool = True
    outcome: bool = False
    """Whether it is an event, not a setting, so that two runs are not compared by it."""
    merge: Merge = "later"
    """Of two sightings of one origin the later is right; or the largest, where each is a lower bound; or what the run
    itself pinned, and what was there before is the wish of the session."""

    asks: str = ""
    """The question that a person can answer, where one is worth asking."""
    usual: str = ""
    """The answer that is right most often, where there is one."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that a person may give, where these are few."""
        return ("true", "false") if self.kind == "bool" else self.values

    def trust(self, origin: str) -> int:
        """The place of an origin in the order of trust, 0 for the most trusted."""
        order = ("user", *self.origins)
        return order.index(origin) if origin in order else len(order) + ORIGINS.index(origin)


_INT: Final = 2**31 - 1
LATE_BATCH: Final = "late_batch"
"""The content of a line about falling behind: [interval, time spent] in ms. By itself it is no fact of a run."""


class Sighting(NamedTuple):
    """What one place of a log revealed besides progress: a row of the table of sightings, `value` as JSON text."""

    id: str | None
    run_id: str | None
    log: str
    fact: str
    value: str
    origin: str
    file: str
    offset: int
    timestamp: Any = None


_ASKED: Final = ("checkpoint", "log", "event_log", "ui", "session")
"""What logs and settings say: what was asked for."""
_SHOWN: Final = ("checkpoint", "progress", "log", "event_log", "ui", "session")
"""Where progress shows what is, its word counts for more than what was asked for."""
_LINES: Final = ("log", "event_log")
_COMPUTED: Final = ("computed",)
_PRINTED: Final = "the plan of an event log, or the one that Spark 4 prints when a query starts"
_TRACED: Final = "what lines of jobs, tables and caches show (rules/traces.yaml)"

_TRIGGERS: Final = ("unspecified", "processing_time", "once", "available_now", "continuous", "real_time")
_SINKS: Final = ("kafka", "console", "memory", "noop", "foreach", "foreach_batch", "file", "delta", "other")
_INPUTS: Final = (
    "kafka", "file", "delta", "rate", "rate_micro_batch", "socket", "memory", "kinesis", "event_hubs", "auto_loader",
    "python", "other", "several",
)  # fmt: skip

_FACTS = (
    # the query
    Fact("stateful", "bool", "the query keeps state between batches", "progress, printed plan", (*_SHOWN, "computed"),
         asks="Does it aggregate, deduplicate, join streams or keep other state?"),
    Fact("sink", "choice", "what the query writes to", "progress", _SHOWN, values=_SINKS, asks="Where does it write?"),
    Fact("sink_one_of", "choices", "sinks that fit the plan", "a plan without a writer of the newer interface", ("ui",),
         values=_SINKS, outcome=True, settable=False),
    Fact("source", "choice", "what the query reads; 'several' for sources of different kinds", "progress", _SHOWN,
         values=_INPUTS, asks="What does it read?"),
    Fact("source_scheme", "str",
         "file system of the folder that a file source reads (file, hdfs, s3a, abfss, gs, dbfs, ...)", "progress",
         _SHOWN, asks="Which file system holds the folder that it reads?"),
    Fact("trigger", "choice", "kind of trigger", "log, session, progress, or inferred from timestamps",
         (*_ASKED, "progress", "inferred"), values=_TRIGGERS, asks="Did you call .trigger()? If not:",
         usual="unspecified"),
    Fact("trigger_one_of", "choices", "triggers that fit the batches", "shape of the batches", _COMPUTED,
         values=_TRIGGERS, outcome=True, settable=False),
    Fact("trigger_interval_ms", "int", "interval of the trigger",
         "'falling behind' lines, session, or batches that start at its multiples", (*_ASKED, "progress", "inferred"),
         unit="ms", minimum=0, asks="What is the interval of the trigger?"),
    Fact("output_mode", "choice", "output mode",
         "printed plan, session, what the sink takes, or inferred from the rows it was given",
         (*_ASKED, "computed", "inferred"), values=("append", "update", "complete"), asks="Which output mode is set?"),
    Fact("watermarked", "bool", "event time has a watermark", "progress, printed plan", _SHOWN),
    Fact("latency_target_ms", "number", "the record latency that you want", "only you know it", (), unit="ms",
         minimum=1, outcome=True, asks="What record latency do you need?"),
    Fact("latency_target_stat", "choice", "which records the target is for: the median or all but one in a hundred",
         "only you know it; p99 unless you say", (), values=("p50", "p99"), outcome=True),
    Fact("keep_exactly_once", "bool", "no step may weaken what the query guarantees", "only you know it", (),
         outcome=True),
    Fact("keep_checkpoint", "bool", "no step may need a new checkpoint", "only you know it", (), outcome=True),
    Fact("repeated_at_most_ms", "number", "how much may be processed again after a failure", "only you know it", (),
         unit="ms", minimum=0, outcome=True),
    Fact("outage_minutes", "number", "how long the outage lasts of which the report says when it is worked off",
         "only you know it; 30 unless you say", (), unit="min", minimum=1, outcome=True),
    Fact("load_factor", "number", "how many times today's load you ask about", "only you know it", (), minimum=0.01,
         outcome=True),
    Fact("max_offsets_per_trigger", "int", "maxOffsetsPerTrigger of the Kafka source", "printed options", _ASKED,
         unit="rows", minimum=1, nullable=True),
    Fact("min_offsets_per_trigger", "int", "minOffsetsPerTrigger of the Kafka source", "printed options", _ASKED,
         unit="rows", minimum=1),
    Fact("max_files_per_trigger", "int", "maxFilesPerTrigger of the source", "printed options", _ASKED, unit="files",
         minimum=1, nullable=True),
    Fact("kafka_fetch_max_wait_ms", "int", "kafka.fetch.max.wait.ms of the Kafka source; Kafka's own default is 500",
         "settings that Kafka's consumers print", _ASKED, unit="ms", minimum=0, maximum=_INT),
    Fact("kafka_fetch_min_bytes", "int", "kafka.fetch.min.bytes of the Kafka source; Kafka's own default is 1",
         "settings that Kafka's consumers print", _ASKED, unit="bytes", minimum=0, maximum=_INT),
    Fact("kafka_partition_fetch_bytes", "int", "kafka.max.partition.fetch.bytes of the source; by default 1,048,576",
         "settings that Kafka's consumers print", _ASKED, unit="bytes", minimum=0, maximum=_INT),
    Fact("kafka_max_poll_records", "int", "kafka.max.poll.records of the Kafka source; Kafka's own default is 500",
         "settings that Kafka's consumers print", _ASKED, unit="rows", minimum=1, maximum=_INT),
    Fact("kafka_batch_size", "int", "kafka.batch.size of the Kafka sink; Kafka's own default is 16,384",
         "settings that Kafka's producers print", _ASKED, unit="bytes", minimum=0, maximum=_INT),
    Fact("writes_delta", "bool", "the query writes a Delta table, by Delta's sink or in foreachBatch",
         "progress, lines of Delta's commits", ("log", "computed")),
    Fact("file_codec", "str", "how written files are compressed (zstd, gzip, snappy, ...)",
         "the writer's options, configuration", _ASKED),
    Fact("zstd_level", "int", "level of zstd in Parquet files; Parquet's own default is 3",
         "the writer's options, configuration", _ASKED, minimum=1, maximum=22),
    Fact("split_bytes", "int", "bytes of files that one task reads at most",
         "configuration (spark.sql.files.maxPartitionBytes), lines of FileSourceScanExec", _ASKED, unit="bytes",
         minimum=1),
    Fact("kafka_partitions", "int", "partitions of the Kafka topics that are read", "offsets in progress",
         ("progress",), minimum=1),
    # the state
    Fact("state_store", "choice", "state store provider", "state metrics, configuration in the checkpoint", _SHOWN,
         values=("hdfs", "rocksdb"), merge="pinned", asks="Which state store is set? The default is hdfs."),
    Fact("changelog", "bool", "RocksDB commits changelogs, not snapshots",
         "state metrics, session; off where Spark has none yet",
         ("checkpoint", "progress", "computed", "log", "event_log", "ui", "session")),
    Fact("state_operators", "str", "names of the stateful operators, with commas", "progress, printed plan", _SHOWN),
    Fact("shuffle_partitions", "int", "spark.sql.shuffle.partitions as the checkpoint keeps it",
         "configuration in the checkpoint, state operators",
         ("checkpoint", "log", "event_log", "ui", "progress", "session"), minimum=1, merge="pinned"),
    Fact("async_state_checkpoint", "bool", "state is checkpointed asynchronously (Databricks)", "Spark properties",
         (*_ASKED, "default")),
    # progress tracking and the checkpoint
    Fact("async_progress", "bool", "progress is tracked asynchronously",
         "logger of 'Starting', printed options, session; off where Spark would refuse it", (*_ASKED, "computed"),
         asks="Is asynchronous progress tracking on?"),
    Fact("async_progress_interval_ms", "int", "interval of asynchronous log writes", "printed options, session", _ASKED,
         unit="ms", minimum=0),
    Fact("async_progress_before", "bool", "an earlier run of the query tracked progress asynchronously", "earlier runs",
         (*_ASKED, "computed"), outcome=True),
    Fact("async_log_purge", "bool", "old offset and commit logs are deleted outside the batch",
         "configuration, default since 3.4", (*_ASKED, "default")),
    Fact("checkpoint_scheme", "str", "file system of the checkpoint (file, hdfs, s3a, abfss, gs, dbfs, ...)", "log",
         _ASKED),
    Fact("checkpoint_path", "str", "checkpoint location, credentials removed", "log, session", _ASKED),
    Fact("checkpoint_manager", "choice", "how checkpoint files are written",
         "lines of the checkpoint manager, configuration", (*_ASKED, "inferred"),
         values=("rename", "abortable", "other")),
    # Spark, its platform and settings
    Fact("spark_version", "version", "version of Spark", "'Running Spark version'", _ASKED, scope="application",
         asks="Which version of Spark runs it?"),
    Fact("spark_version_at_least", "version", "Spark is at least this version", "progress, log", ("log", "progress"),
         scope="application", outcome=True),
    Fact("spark_version_below", "version", "Spark is older than this version", "progress, log", ("log", "progress"),
         scope="application", outcome=True),
    Fact("databricks_runtime", "version", "version of the Databricks Runtime", "Spark properties", _ASKED,
         scope="application", asks="Which version of the Databricks Runtime runs it?"),
    Fact("databricks_runtime_below", "version", "the Databricks Runtime is older than this version", "progress",
         ("progress",), scope="application", outcome=True),
    Fact("upgrade_to", "version", "the version of Spark that you plan to upgrade to", "only you know it", (),
         scope="application", outcome=True),
    Fact("platform", "choice", "who built this Spark", "Spark properties, phases in progress, log",
         (*_ASKED, "progress", "inferred"), values=("open_source", "databricks", "other"), scope="application",
         asks="Is it open-source Spark or Databricks?"),
    Fact("application", "str", "name of the Spark application", "Spark properties, log", _ASKED, scope="application",
         outcome=True),
    Fact("task_slots", "int", "how many tasks can run at once", "Spark properties, executors, 'Starting task' lines",
         (*_ASKED, "inferred"), unit="tasks", minimum=1, scope="application", merge="largest",
         asks="How many tasks can run at once?"),
    Fact("task_slots_at_least", "int", "how many tasks were seen to run at once", "'Starting task' lines",
         ("inferred",), unit="tasks", minimum=1, scope="application", outcome=True, settable=False, merge="largest"),
    Fact("executors_gone", "int", "executors that were removed or lost", "executors", _ASKED, minimum=1,
         scope="application", outcome=True, settable=False),
    Fact("local_mode", "bool", "the driver runs the tasks itself (local[N])", "Spark properties, log", _ASKED,
         scope="application"),
    Fact("slots_shared", "bool", "several queries run in one application and share its task slots",
         "runs in one log that overlap in time", _COMPUTED, outcome=True),
    Fact("ignored_async_setting", "str",
         "a setting for asynchronous progress tracking that Spark ignores; none: options were seen, none is ignored",
         "printed options, configuration", _ASKED, nullable=True),
    Fact("ignored_dstreams_setting", "str", "a setting that only DStreams read, beside a query of Structured Streaming",
         "configuration", _ASKED, nullable=True),
    Fact("unknown_setting", "str", "a streaming setting that this Spark does not know, and the nearest that it knows",
         "configuration", _COMPUTED, nullable=True, settable=False),
    Fact("pinned_setting", "str",
         "a setting that the session asks for, and the value that the checkpoint keeps instead",
         "configuration beside the checkpoint's own, or beside what the state shows", _COMPUTED, nullable=True,
         settable=False),
    Fact("ignored_databricks_setting", "str",
         "a Databricks setting that open-source Spark ignores; none: settings were seen, and none is ignored",
         "configuration", _ASKED, nullable=True),
    # Delta
    Fact("delta_snapshot_tasks", "int",
         "tasks of the stage that rebuilds Delta's snapshot at each batch's start; none: there is no such stage",
         "stages in the log", (*_ASKED, "inferred"), unit="tasks", minimum=1, nullable=True, outcome=True),
    Fact("delta_command", "str", "the command by which most batches write files of a Delta table again (DELETE, say)",
         "Delta's descriptions of its jobs", _COMPUTED, outcome=True, settable=False),
    Fact("batch_does", "str", "what a batch does besides", _TRACED, _COMPUTED, outcome=True, settable=False),
    Fact("model_loaded", "bool", "a batch loads a machine-learning model", _TRACED, _COMPUTED, settable=False),
    Fact("cache_dropped", "bool", "a batch drops a cache", _TRACED, _COMPUTED, settable=False),
    Fact("cache_read", "bool", "a query of a batch reads a cache, and none reads one twice", _TRACED, _COMPUTED,
         settable=False),
    Fact("cache_read_again", "bool", "a query of a batch reads a cache more than once", _TRACED, _COMPUTED,
         settable=False),
    Fact("table_read", "bool", "a batch reads files that are not the stream's", _TRACED, _COMPUTED, settable=False),
    Fact("own_table_read", "bool", "a batch reads a table that it also writes", _TRACED, _COMPUTED, settable=False),
    Fact("table_files", "int", "files that a batch reads of a table, of the one with most", _TRACED, _COMPUTED,
         outcome=True, settable=False),
    Fact("longest_table", "str", "the folder of files that are not the stream's whose stages take longest in a batch",
         _TRACED, _COMPUTED, settable=False),
    Fact("jdbc_read", "bool", "a batch reads a table by JDBC", _TRACED, _COMPUTED, settable=False),
    Fact("unpruned_read", "bool", "a batch reads all partitions of a table", _TRACED, _COMPUTED, settable=False),
    Fact("table_analyzed", "bool", "a batch runs ANALYZE TABLE", _TRACED, _COMPUTED, settable=False),
    Fact("table_compacted", "bool", "a batch puts a Delta table's files together", _TRACED, _COMPUTED, settable=False),
    Fact("table_repaired", "bool", "a batch runs MSCK REPAIR TABLE", _TRACED, _COMPUTED, settable=False),
    Fact("vacuum", "bool", "a batch runs VACUUM on a Delta table", _TRACED, _COMPUTED, settable=False),
    # what was seen to happen
    Fact("missing_batch", "int", 'N of the error "batch N doesn\'t exist"', "the event that ends a query",
         (*_ASKED, "computed"), minimum=0, nullable=True, outcome=True, settable=False),
    Fact("terminated_error", "str", "first line of the error that ended the run, credentials removed",
         "the event that ends a query", _ASKED, outcome=True, settable=False),
    Fact("known_error", "str", "what a well-known error means that ended the query or refused it",
         "the event that ends a query, or a text that quotes the error", (*_ASKED, "computed"), nullable=True,
         outcome=True, settable=False),
    Fact("known_error_cure", "str", "what to do about a well-known error", "as known_error", _ASKED, outcome=True,
         settable=False),
    Fact("known_error_change", "str", "the line that does it", "as known_error", _ASKED, outcome=True, settable=False),
    Fact("shut_down_in_batch", "bool", "the application was shut down while a batch ran", "as known_error", _ASKED,
         outcome=True, settable=False),
    Fact("loop_join", "bool", "a join compares each row of one side with each of the other",
         "BroadcastNestedLoopJoin or CartesianProduct in an event log; Join without = in a driver log of 4.x", _ASKED,
         settable=False),
    Fact("loop_condition", "str", "the condition of that join", _PRINTED, _ASKED, settable=False),
    Fact("shuffled_join", "bool", "a join sends both sides through a shuffle",
         "SortMergeJoin or ShuffledHashJoin in the plan of an event log", _ASKED, settable=False),
    Fact("repartitioned_to", "int", "partitions of the largest repartition(N) in the code",
         "REPARTITION_BY_NUM in a plan without such a join", _ASKED, minimum=1, settable=False, merge="largest"),
    Fact("sort_of_all", "bool", "all rows of a batch are sorted, not those of each partition",
         "a range partitioning in the plan of an event log", _ASKED, settable=False),
    Fact("windows_per_row", "int", "sliding windows that each row falls into",
         _PRINTED, _ASKED, minimum=2, settable=False, merge="largest"),
    Fact("case_branches", "int", "branches of the longest CASE WHEN", _PRINTED, _ASKED, minimum=2, settable=False,
         merge="largest"),
    Fact("map_keys", "int", "keys of the largest constant map (create_map of literals)", "the plan of an event log",
         _ASKED, minimum=2, settable=False, merge="largest"),
    Fact("plan_columns", "int", "columns of the widest operator, where Spark prints only some of them",
         "the plan of an event log", _ASKED, minimum=2, settable=False, merge="largest"),
    Fact("plan_words", "int", "words of the longest plan, with the columns that Spark cuts off",
         "the plan of an event log", _ASKED, minimum=1, settable=False, merge="largest"),
    Fact("projections", "int", "projections one above the other in the plan",
         "the plan of an event log, or at a query's start (4.0+)", _ASKED, minimum=1, settable=False, merge="largest"),
    Fact("columns_looked_up", "bool", "a CSV file is read without a schema, so Spark looks into it for its columns",
         "the plan of an event log", _ASKED, settable=False),
    Fact("overwrites", "bool", "a batch overwrites a table", "the plan of an event log", _ASKED, settable=False),
    Fact("schema_inferred", "bool", "text of an RDD is read without a schema, which Spark infers in each batch",
         "the plan of an event log", _ASKED, settable=False),
    Fact("pivot_looks", "bool", "pivot() is called without values, which a job looks for in each batch",
         "the plan of an event log", _ASKED, settable=False),
    Fact("joins_own_groups", "bool", "a query of a batch joins the batch with groups of itself",
         "the plan of an event log", _ASKED, settable=False),
    Fact("column_parser", "str", "the function that one operator calls most often on one column",
         "the plan of an event log", _ASKED, settable=False),
    Fact("column_parsed_times", "int", "calls of that function, no two alike", "the plan of an event log", _ASKED,
         minimum=2, settable=False, merge="largest"),
    Fact("longest_stage_runs", "str", "operators of the longest stage without state, with the rows that each gives",
         "plans and sums of an event log", _COMPUTED, outcome=True, settable=False),
    Fact("multiplying_operator", "str", "the operator of that stage that makes most rows of each one that it gets",
         "plans and sums of an event log", _COMPUTED, outcome=True, settable=False),
    Fact("made_rows", "int", "rows that this operator makes in one batch", "as multiplying_operator", _COMPUTED,
         unit="rows", outcome=True, settable=False),
    Fact("rows_multiplied", "int", "rows that this operator makes of each one", "as multiplying_operator", _COMPUTED,
         outcome=True, settable=False),
    Fact("python_calls", "str", "Python functions that the longest stage calls, one of each operator",
         "the plan of an event log", _COMPUTED, outcome=True, settable=False),
    Fact("python_called_again", "str", "a Python function that the plan calls more than once for a row",
         "the same call in several operators of the plan of an event log", _ASKED, settable=False),
    Fact("open_pattern", "str", "a regular expression of rlike that begins with .*",
         _PRINTED, _ASKED, settable=False),
    Fact("distinct_error", "number", "the error that approx_count_distinct is given, 0.05 by default",
         _PRINTED, _ASKED, minimum=0, settable=False),
    Fact("keeps_all_values", "str", "an aggregate that keeps all values of a group (collect_list, say)",
         _PRINTED, _ASKED, settable=False),
    Fact("grouping_sets", "bool", "cube, rollup or GROUPING SETS copies each row",
         "spark_grouping_id in the plan of an event log", _ASKED, settable=False),
    Fact("long_expand", "bool", "the code that copies rows (Expand) is too long for the JVM to compile",
         "lines of CodeGenerator", _LINES, settable=False),
    Fact("runs_python", "bool", "rows pass through Python functions",
         "the plan of a session or an event log, or lines about the times of Python workers", _ASKED, settable=False),
    Fact("python_batches", "bool", "a Python function takes many rows at once (mapInPandas, say)",
         "the plan of an event log, or the class that logs the times of Python workers", _ASKED, settable=False),
    Fact("python_loads", "bool", "a Python worker that stays takes most of its time before the first row of a task",
         "lines about the times of Python workers", _ASKED, settable=False),
    Fact("latest_first", "bool", "a source of files takes the newest first (latestFirst)", "lines of FileStreamSource",
         _LINES, settable=False),
    Fact("listed_files", "int", "files of its own that a source finds in a listing of more than two seconds",
         "lines of FileStreamSource", _LINES, settable=False),
    Fact("reads_gzip", "bool", "a .gz file is read, which Spark cannot split", "lines of FileScanRDD", _LINES,
         settable=False),
    Fact("stopped", "bool", "the run ended without an error",
         "'was stopped' lines, session, or the end of query or application in an event log", _ASKED, outcome=True,
         settable=False),
    Fact("debug_log", "bool", "Spark logs at level DEBUG", "log", ("log",), nullable=True, scope="application",
         outcome=True, settable=False),
    Fact("unheard_batches", "int", "a listener so slow that progress of ended batches waits behind it",
         "session: the newest batch beside the newest progress", ("session",), minimum=1, nullable=True, outcome=True,
         settable=False),
    Fact("records_torn", "bool", "records of the log were torn or could not be read", "reading the log",
         ("log", "session"), scope="application", outcome=True, settable=False),
    Fact("falling_behind", "bool", "Spark said that a batch took longer than the trigger interval", "log", _LINES,
         outcome=True, settable=False),
    Fact("window_in_one_partition", "bool", "a window function without partitionBy gathered all rows in one task",
         "log, plan in an event log", _LINES, outcome=True, settable=False),
    Fact("slots_held_by", "str", "other queries whose tasks held the slots that batches waited for", "jobs in the log",
         _COMPUTED, outcome=True, settable=False),
    Fact("start_time", "str", "when the run started (ISO 8601, UTC)", "event log, log", _ASKED, outcome=True,
         settable=False),
    Fact("query_name", "str", "name of the query", "log, event log", _ASKED, outcome=True, settable=False),
    Fact("scheduled_runs", "str", "what runs of one batch each show together", "the runs of the query", _COMPUTED,
         nullable=True, outcome=True, settable=False),
    Fact("data_problem", "str", "what is wrong with the numbers", "computed from batches", _COMPUTED, nullable=True,
         outcome=True, settable=False),
)  # fmt: skip

FACTS: Final[dict[str, Fact]] = {fact.name: fact for fact in _FACTS}
"""Every fact by name. Beside these, `conf:KEY` holds a configuration value that was seen (credentials removed)."""

APPLICATION_STARTS: Final = "spark_version"
"""What an application says of itself first, in a driver log and in an event log."""
EXECUTOR: Final = "executor:"
"""Prefix of the sightings that hold an executor's cores: 0 when it is removed, None when the log names none."""
