"""The columns of the tables of batches and of sightings: name, type, unit, meaning and basis in one place."""

from __future__ import annotations

import re

import pyarrow as pa

from advisor.column import TIME, Column

_INT, _FLOAT, _TEXT = pa.int64(), pa.float64(), pa.string()

CUSTOM = pa.map_(pa.dictionary(pa.int32(), pa.string()), pa.float64())
"""State stores' own metrics. Their long names repeat in every batch: kept once per chunk of the table."""

OPERATOR = pa.struct(
    [
        ("name", _TEXT),
        ("rows_total", _INT),
        ("rows_updated", _INT),
        ("rows_removed", _INT),
        ("rows_dropped_by_watermark", _INT),
        ("all_updates_ms", _INT),
        ("all_removals_ms", _INT),
        ("commit_ms", _INT),
        ("memory_bytes", _INT),
        ("shuffle_partitions", _INT),
        ("store_instances", _INT),
        ("custom", CUSTOM),
    ]
)
"""One state operator of one batch; its times are sums over tasks."""

SOURCE = pa.struct(
    [
        ("description", _TEXT),
        ("start_offset", _TEXT),
        ("end_offset", _TEXT),
        ("latest_offset", _TEXT),
        ("input_rows", _INT),
        ("input_rows_per_second", _FLOAT),
        ("processed_rows_per_second", _FLOAT),
        ("offset_rows", _INT),
        ("backlog_rows", _INT),
        ("metrics", pa.map_(_TEXT, _TEXT)),
    ]
)
"""One source of one batch; offsets as compact JSON, rows between offsets where offsets count rows."""


def _phase(spark: str, does: str, meaning: str) -> Column:
    name = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", spark) + "_ms"
    return Column(name, _INT, "ms", meaning, "wall", spark, does)


def _instant(name: str, meaning: str) -> Column:
    return Column(name, TIME, "UTC", meaning, "time")


PHASES: tuple[Column, ...] = (
    _phase("triggerExecution", "", "the whole trigger, from its start to after both logs"),
    _phase(
        "latestOffset",
        "asks the source what is new",
        "asking the sources how far they reach (Spark 3.0 and later), summed over sources",
    ),
    _phase("getOffset", "asks the source what is new", "the same for sources of the old interface"),
    _phase("getEndOffset", "asks the source what is new", "the same in Spark 2.4"),
    _phase("setOffsetRange", "tells the source what to read", "fixing the range of offsets in Spark 2.4"),
    _phase("walCommit", "writes the offset log", "writing the offset log, source commits, and the purge of the logs"),
    _phase(
        "getBatch",
        "prepares the source's data",
        "preparing the data frame; near zero for sources of the newer interface",
    ),
    _phase("queryPlanning", "plans the batch", "planning the batch"),
    _phase("addBatch", "reads, computes, writes", "the batch's own Spark jobs; null in a trigger that ran no batch"),
    _phase(
        "commitOffsets",
        "writes the commit log",
        "writing the commit log (Spark 3.4 and Databricks Runtime 11 and later)",
    ),
    _phase("commitBatch", "tells source and sink that the batch is done", "Databricks: committing the batch"),
    _phase("collectSourceMetrics", "asks the source for its metrics", "Databricks: collecting the sources' metrics"),
    _phase("postAddBatchCallback", "callbacks after the batch", "Databricks: work after the batch's jobs"),
    _phase("postCommitBatchCallback", "callbacks after the commit", "Databricks: work after the commit"),
)
"""The whole trigger and its phases, in the order of a batch's life. Null: the event has no such key."""

COLUMNS: tuple[Column, ...] = (
    Column("id", _TEXT, "", "the query, across restarts", "key"),
    Column("run_id", _TEXT, "", "one start of the query; the query's id where Spark 2.0 names no run", "key"),
    Column("name", _TEXT, "", "the query's name, null when it has none", "text"),
    Column(
        "batch_id",
        _INT,
        "",
        "the batch; an idle trigger has the next one's number or, before 3.5, the last one's",
        "key",
    ),
    _instant("timestamp", "start of the trigger"),
    Column("idle", pa.bool_(), "", "the trigger ran no batch (no addBatch); state timings are stale then", "text"),
    Column("input_rows", _INT, "rows", "rows read, summed over sources; a source read twice counts twice", "count"),
    Column("input_rows_per_second", _FLOAT, "rows/s", "rows over the time since the trigger before", "rate"),
    Column("processed_rows_per_second", _FLOAT, "rows/s", "rows over the batch's duration", "rate"),
    Column("batch_duration_ms", _INT, "ms", "the trigger and a little more; null in driver logs before 4.0", "wall"),
    *PHASES,
    Column("other_phases", pa.map_(_TEXT, _INT), "ms", "phases that have no column, by Spark's name", "nested"),
    _instant("watermark", "watermark that this batch used"),
    _instant("event_time_max", "latest event time in the batch"),
    _instant("event_time_min", "earliest event time in the batch"),
    _instant("event_time_avg", "mean event time in the batch"),
    Column("sink", _TEXT, "", "the sink's description, credentials hidden", "text"),
    Column("sink_rows", _INT, "rows", "rows written; null where the sink does not count them", "count"),
    Column("operators", pa.list_(OPERATOR), "", "state operators; their times are sums over tasks", "nested"),
    Column("sources", pa.list_(SOURCE), "", "sources with offsets and rates", "nested"),
    Column("real_time", pa.bool_(), "", "the event is of real-time mode: triggerExecution is no latency", "text"),
    Column("e2e_p50_ms", _FLOAT, "ms", "real-time mode on Databricks: median latency of a record, end to end", "wall"),
    Column("e2e_p99_ms", _FLOAT, "ms", "the same, the slowest hundredth", "wall"),
    Column(
        "partial",
        _TEXT,
        "",
        "what a partial record lacks, by Spark's names with commas; empty: only its form; null: the event is whole",
        "text",
    ),
    Column("file", _TEXT, "", "the file that holds the event", "place"),
    Column("offset", _INT, "bytes", "where the event begins in the file, decompressed", "place"),
    Column("log", _TEXT, "", "the log or application that the file belongs to", "place"),
)
"""The table of batches: one row per progress event."""

SCHEMA: pa.Schema = pa.schema([(column.name, column.type) for column in COLUMNS])

SIGHTINGS: pa.Schema = pa.schema(
    [
        ("id", _TEXT),
        ("run_id", _TEXT),
        ("log", _TEXT),
        ("fact", _TEXT),
        ("value", _TEXT),
        ("origin", _TEXT),
        ("file", _TEXT),
        ("offset", _INT),
        ("timestamp", TIME),
    ]
)
"""The table of sightings: what a log revealed besides progress; `value` is JSON text."""
