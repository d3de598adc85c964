"""The columns of the tables that open addBatch: `stages` and `batch_parts`."""

from __future__ import annotations

import pyarrow as pa

from advisor.column import TIME, Basis, Column

_INT, _FLOAT, _TEXT = pa.int64(), pa.float64(), pa.string()
_TEXTS = pa.list_(_TEXT)


def _ms(name: str, meaning: str, basis: Basis) -> Column:
    return Column(name, _FLOAT, "ms", meaning, basis)


def _task_ms(name: str, meaning: str) -> Column:
    return _ms(name, f"{meaning}, summed over tasks", "task")


def _bytes(name: str, meaning: str) -> Column:
    return Column(name, _INT, "bytes", f"{meaning}, summed over tasks", "bytes")


def _rows(name: str, meaning: str) -> Column:
    return Column(name, _INT, "rows", f"{meaning}, summed over tasks", "count")


def _count(name: str, meaning: str) -> Column:
    return Column(name, _INT, "", meaning, "count")


def _part(name: str, does: str, meaning: str) -> Column:
    return Column(f"{name}_ms", _FLOAT, "ms", meaning, "wall", does=does)


_BATCH = (
    Column("id", _TEXT, "", "the query, across restarts", "key"),
    Column("run_id", _TEXT, "", "one start of the query", "key"),
    Column("batch_id", _INT, "", "the micro-batch", "key"),
)
_WAITED_FOR = Column("waited_for", _TEXTS, "", "the other queries whose tasks held the slots, by name or id", "nested")
_FROM = (
    Column("origin", _TEXT, "", "where it was read: event_log, driver_log or session", "text"),
    Column("log", _TEXT, "", "the log or application", "place"),
)

STAGE_COLUMNS: tuple[Column, ...] = (
    *_BATCH,
    Column("job", _INT, "", "Spark's number of the job", "key"),
    Column("stage", _INT, "", "Spark's number of the stage", "key"),
    Column("attempt", _INT, "", "the stage's attempt, from 0", "key"),
    Column(
        "kind",
        _TEXT,
        "",
        "source_read: it reads the streaming source; state: it holds a state operator; table_log: a job on a table "
        "format's own log; shuffle: it feeds another stage; result: it ends its job; other: no streaming source; "
        "null: one of several that may read the source",
        "text",
    ),
    Column("what", _TEXT, "", "the job's own description, else the operators in the stage; credentials hidden", "text"),
    Column("operators", _TEXT, "", "the operators of its plan in the order of the rows, with those they give", "text"),
    Column("multiplied_by", _TEXT, "", "the operator that makes most rows of each one that it gets", "text"),
    _rows("given_rows", "given to that operator"),
    _rows("made_rows", "made by that operator"),
    Column("last", pa.bool_(), "", "it ends its job", "text"),
    _count("tasks", "its tasks"),
    _count("slots", "task slots of all executors when it was submitted"),
    Column("submitted", TIME, "UTC", "when it was submitted; null where the log's clock knows seconds only", "time"),
    _ms("wall_ms", "from its submission to its end", "wall"),
    _ms("first_task_ms", "from its submission to the launch of its first task", "wall"),
    _ms("slots_wait_ms", "part of that time, and of later pauses, in which others' tasks held all slots", "wall"),
    _ms("slots_overtaken_ms", "part of that wait, from the first slot that became free and went to others on", "wall"),
    _WAITED_FOR,
    _task_ms("task_ms", "from launch to finish"),
    _ms("task_median_ms", "the median task, from launch to finish", "task"),
    _ms("task_p95_ms", "95 % of the tasks are not longer", "task"),
    _ms("task_max_ms", "the longest task", "task"),
    _count("longest_task", "the place of the longest task in its stage, from 0: behind a shuffle, its partition"),
    _task_ms("scheduler_delay_ms", "launch to finish less all that the executor reports"),
    _task_ms("deserialize_ms", "deserialising the task"),
    _task_ms("run_ms", "running in the executor"),
    _task_ms("cpu_ms", "processor time while running"),
    _task_ms("gc_ms", "garbage collection while it ran"),
    _bytes("shuffle_read_bytes", "fetched from shuffles"),
    _rows("shuffle_read_rows", "fetched from shuffles"),
    _task_ms("fetch_wait_ms", "waiting for shuffle blocks"),
    _bytes("shuffle_write_bytes", "written to shuffles"),
    _rows("shuffle_write_rows", "written to shuffles"),
    _task_ms("shuffle_write_ms", "writing to shuffles"),
    _bytes("memory_spilled_bytes", "spilled, as it was in memory"),
    _bytes("disk_spilled_bytes", "spilled, as it lies on disk"),
    _rows("input_rows", "read from sources and tables"),
    _bytes("input_bytes", "read from sources and tables"),
    _rows("output_rows", "written"),
    _bytes("output_bytes", "written"),
    Column("rows_max", _FLOAT, "rows", "rows read by the task that read most, from sources or shuffles", "count"),
    Column("rows_median", _FLOAT, "rows", "rows read by the median task", "count"),
    _task_ms("state_load_ms", "loading state (RocksDB, Spark 4.1 and later)"),
    _task_ms("state_update_ms", "updating and removing state; it may hold the time of what is read and written there"),
    _task_ms("state_commit_ms", "committing state"),
    _task_ms("python_ms", "Python workers"),
    _count("process_local", "tasks beside their data in one process"),
    _count("node_local", "tasks on the machine of their data"),
    _count("rack_local", "tasks in the rack of their data"),
    _count("no_pref", "tasks without a place of their own"),
    _count("any_local", "tasks away from their data"),
    _count("failed", "attempts that failed"),
    _count("killed", "attempts that were killed"),
    _count("speculative", "speculative attempts"),
    *_FROM,
)
"""One row per stage attempt of a micro-batch. Null: where it was read does not say."""

PARTS: tuple[Column, ...] = (
    _part("driver_before", "driver before jobs", "driver before the first job"),
    _part("planning", "planning", "driver planning and generating code, as far as lines show it"),
    _part("scheduling", "scheduling", "in a job without work: submitting stages, shipping and deserialising tasks"),
    _part("slots_wait", "waiting for slots", "waiting for slots that other queries' tasks held"),
    _part("source_read", "read", "tasks that read the source, with what the same stage computes"),
    _part("shuffle", "shuffle", "writing and fetching shuffles, and stages between two of them"),
    _part("state_load", "state load", "loading state"),
    _part("state_update", "state", "state operators, with what the same stage computes"),
    _part("state_commit", "state commit", "committing state"),
    _part("sink_write", "write", "last stages, where they neither read the source nor hold state"),
    _part("result", "results to the driver", "tasks that give their result to the driver, which holds it in memory"),
    _part("table_log", "table log", "jobs on a table format's own log: snapshot, log checkpoint"),
    _part("python", "Python", "Python workers"),
    _part("other", "other jobs", "jobs that are none of these: a static side, say"),
    _part("driver_between", "driver between jobs", "driver between jobs"),
    _part("sink_commit", "sink commit", "the sink's commit, as far as lines show it"),
    _part("driver_after", "driver after jobs", "driver after the last job"),
    _part("driver", "driver", "driver outside jobs, where the log's clock cannot say when"),
    _part("not_visible", "not visible", "the rest: no job, or only jobs that cannot be assigned to a query"),
)
"""The parts of addBatch in the order of a batch's life; those that are not null add up to it."""

PART_COLUMNS: tuple[Column, ...] = (
    *_BATCH,
    Column("timestamp", TIME, "UTC", "start of the trigger", "time"),
    _ms("add_batch_ms", "durationMs.addBatch", "wall"),
    *PARTS,
    Column("together", _TEXTS, "", "parts that cannot be separated, `a+b`: the column of a holds both", "nested"),
    _WAITED_FOR,
    _count("jobs", "jobs of the batch"),
    _count("stages", "stage attempts of the batch"),
    _count("tasks", "tasks of the batch"),
    _count("too_long", "jobs, stages and tasks that are longer than the trigger; then no part of the batch is known"),
    _count("reads", "stages that read the source; null if it is unknown which of several do"),
    _ms("code_generated_ms", "generating code, on the driver and in tasks", "task"),
    _count("code_too_long", "methods that are too long for the just-in-time compiler"),
    _count("code_refused", "plans that run without whole-stage code generation, since their code is too long"),
    _count("writes", "writes of data frames that ended, by their own lines"),
    _count("commit_retries", "commits of the sink that were tried again"),
    _count("files_written", "files that the sink wrote, by its own log"),
    Column("bytes_written", _INT, "bytes", "what the sink wrote, by its own log", "bytes"),
    _ms("writing_ms", "tasks writing files: from the first one on, or once their rows are sorted, if shown", "wall"),
    _count("files_read", "files of the batch, by the log of a file source"),
    _ms("log_compaction_ms", "a file sink writing the list of all its files again, as far as the clock shows", "wall"),
    _ms("since_last_stage_ms", "from its last stage's end to the commit log, by a clock of seconds", "wall"),
    _count("kafka_polls", "polls of Kafka's consumers"),
    _ms("kafka_poll_ms", "Kafka's consumers polling, summed over tasks", "task"),
    Column("traces", _TEXTS, "", "what it does besides: each name of rules/traces.yaml, number and path", "nested"),
    *_FROM,
)
"""One row per micro-batch whose jobs were seen."""

COUNTED_BY_LINES = ("code_generated_ms", "code_too_long", "code_refused", "commit_retries", "writes")
"""Columns from lines of a driver's log: 0 without such a line."""
SELDOM_IN_LINES = ("files_written", "bytes_written", "files_read", "log_compaction_ms", "kafka_polls", "kafka_poll_ms")
"""What is not known without such a line: consumers may write to the executors' logs, few sources read files, and few
sinks tell what they wrote."""
BY_LINES = (*COUNTED_BY_LINES, *SELDOM_IN_LINES, "writing_ms", "since_last_stage_ms")
"""Columns of batch parts that no other origin has."""

STAGES: pa.Schema = pa.schema([(column.name, column.type) for column in STAGE_COLUMNS])
BATCH_PARTS: pa.Schema = pa.schema([(column.name, column.type) for column in PART_COLUMNS])
SCHEMAS = {"stages": STAGES, "batch_parts": BATCH_PARTS}
"""The tables that open addBatch, by name."""
