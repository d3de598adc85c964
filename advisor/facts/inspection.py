"""What the progress of one run tells by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa

from advisor.batches import Batches, Columns, all_lack, kafka_offsets, lacks
from advisor.facts.names import Known
from advisor.facts.trigger import infer_trigger, possible_triggers, real_time
from advisor.facts.versions import COMMIT_OFFSETS_ON_DATABRICKS, version_at_least, version_numbers
from advisor.progress.shapes import FURTHEST
from advisor.stages import CALLS_SHOWN, DELTA_COMMAND, LOG_CHECKPOINT
from advisor.statistics import zero_filled

_CHANGELOG_BATCHES: Final = 5
_MANY_CHANGES: Final = 5000.0
"""Of a partition, on average: with more than 10,000 (Spark 3.5, javap) in one of them a commit with changelogs makes a
snapshot, too."""
_SNAPSHOT_LATENCIES: Final = ("custom:rocksdbCommitCheckpointLatency", "custom:rocksdbCommitFlushLatency")
_DATABRICKS_PHASES: Final = (
    "commit_batch_ms", "collect_source_metrics_ms", "post_add_batch_callback_ms", "post_commit_batch_callback_ms",
)  # fmt: skip
_SINKS: Final = {
    "ForeachBatchSink": "foreach_batch",
    "ForeachWriter": "foreach",
    "ForeachSink": "foreach",
    "FileSink[": "file",
    "DeltaSink": "delta",
    "MemorySink": "memory",
    "NoopTable": "noop",
    "Console": "console",
    "kafka": "kafka",
}
_SOURCES: Final = {
    "Kafka": "kafka",
    "FileStreamSource": "file",
    "DeltaSource": "delta",
    "RatePerMicroBatch": "rate_micro_batch",
    "Rate": "rate",
    "TextSocket": "socket",
    "MemoryStream": "memory",
    "LowLatencyMemoryStream": "memory",
    "ContinuousMemoryStream": "memory",
    "Kinesis": "kinesis",
    "EventHub": "event_hubs",
    "CloudFilesSource": "auto_loader",
    "PythonMicroBatchStream": "python",
}
_SCHEME: Final = re.compile(r"\[(\w[\w+.-]*):/")
_DISPLAY: Final = "display_query_"
"""How `display()` in a notebook of Databricks names its query."""
_ON_DATABRICKS: Final = ("dbfs:/", "CloudFilesSource[")
"""What paths and descriptions show that only Databricks has."""
_STREAM_JOIN: Final = "StreamingSymmetricHashJoin"
_MATCHES: Final = 10
"""Rows that such a join makes of each: with so many it works on these rather than on its state."""
_COUNTED: Final = re.compile(r" \([\d,]+ rows?\)")
_PYTHON_CALLS: Final = re.compile(r"(?:Python|InPandas|InArrow|InPySpark) calling ([^()]{1,400})")
_CALLED: Final = re.compile(r"\b(\w{1,80}) (?:once|\d{1,4} times|on each|for each)\b")
_MOST_OF: Final = 0.5
_OF_KAFKA: Final = f"metrics:{FURTHEST}"
"""A metric that only Kafka's source reports: it tells the kind where the description was left out."""
_METRICS_ON_DATABRICKS: Final = (
    "metrics:estimatedTotalBytesBehindLatest", "metrics:numBytesOutstanding", "metrics:numFilesOutstanding",
)  # fmt: skip
"""Metrics of Kafka's and Delta's sources that open-source Spark does not report."""
_FIRST_PHASES: Final = {"commit_offsets_ms": "3.4", "latest_offset_ms": "3.0", "get_end_offset_ms": "2.4"}
"""Phases and the first version of open-source Spark that times them."""
_FIRST_METRICS: Final = {
    "numRowsIncrementallyRemoved": "4.3",
    "forceSnapshotCount": "4.2",
    "rocksdbForceSnapshotCount": "4.2",
    "rocksdbLoadLatencyMs": "4.1",
    "rocksdbNumExternalColumnFamilies": "4.0",
    "rocksdbTotalBytesWrittenByFlush": "3.5",
    "rocksdbCommitFlushLatency": "3.2",
}
"""State metrics and the first version of open-source Spark that reports them."""
_FIRST_OPERATORS: Final = {"transformWithState": "4.0", "dedupeWithinWatermark": "3.5"}
"""How the names of state operators begin, and the first version of open-source Spark that has them."""
_LIMITED_SINCE_3: Final = frozenset(("kafka", "file"))
"""Sources that since 3.0 are asked with a limit, timed as latestOffset; before as getOffset or getEndOffset."""


def computed(table: pa.Table | Batches) -> dict[str, Known]:
    """Facts from batches of one run (rows of the table of batches in order of time, idle ones included), by name."""
    batches = Batches.of(table)
    if not len(batches):
        return {}
    events = batches.rows
    ran = ~events["idle"]
    executed, shown = events.where(ran), ran if ran.any() else ~ran
    operators, keys = _of_rows(batches.operators, shown), batches.state_metrics(shown)
    sources, described = _of_rows(batches.sources, ran), _of_rows(batches.sources, shown)["description"]
    kinds = frozenset(source_kind(text or "") for text in set(described))
    told = {
        **_sink_and_source(batches),
        **_state(executed, operators, keys),
        **_version_bounds(events.where(shown), operators, keys, kinds),
        "changelog": _changelog(operators),
        "watermarked": _has_any(executed, ("watermark", "event_time_max")) or _unless_lacking(executed, "eventTime"),
        "platform": "databricks" if _has_any(executed, _DATABRICKS_PHASES) or _databricks_words(batches) else None,
        "trigger": "real_time" if events["real_time"].any() or real_time(executed, sources) else None,
    }
    found = {name: Known(value, "progress") for name, value in told.items() if value is not None}
    if mode := _output_mode(executed, operators):
        found["output_mode"] = Known(mode, "inferred")
    if held_by := _slots_held_by(executed):
        found["slots_held_by"] = Known(held_by, "computed")
    found |= _longest_stage(batches.stages) | _delta_command(batches.stages)
    if len(batches.stages) and (batches.stages["what"].astype(str) == LOG_CHECKPOINT).any():
        found["writes_delta"] = Known(True, "computed")  # who only reads a table writes no checkpoint of its log
    left = possible_triggers(executed, sources, str(told["source"]), source_kind)
    return {**infer_trigger(executed), "trigger_one_of": Known(left, "computed"), **found}


def _slots_held_by(executed: Columns) -> str | None:
    """The other queries whose tasks held the slots for which the batches waited, the most frequent first."""
    if "waited_for" not in executed:
        return None
    names = Counter(name for text in executed["waited_for"] if text for name in text.split(", "))
    return ", ".join(name for name, _ in names.most_common(3)) or None


def _longest_stage(stages: Columns) -> dict[str, Known]:
    """What the longest working stage of most batches runs, with the rows of such a batch of middle length."""
    if not len(stages):
        return {}
    batch = stages["batch"]
    wall = np.where(holds_only(stages) | np.isnan(stages["wall_ms"]), -1.0, stages["wall_ms"])
    order = np.lexsort((wall, batch))
    longest = order[np.append(np.diff(batch[order]) > 0, True)]
    texts = ["" if wall[at] < 0 else stages["operators"][at] or "" for at in longest]
    plain = [_COUNTED.sub("", text) for text in texts]
    usual, times = Counter(plain).most_common(1)[0]
    if not usual or times < _MOST_OF * len(plain):
        return {}
    work = np.lexsort((wall[longest], np.nan_to_num(stages["made_rows"][longest].astype(float))))
    alike = [at for at in work if plain[at] == usual]  # by the rows first: a cold batch makes few, and takes long
    middle = alike[len(alike) // 2]
    found: dict[str, Any] = {"longest_stage_runs": texts[middle]}
    if calls := [_CALLED.findall(said) for said in _PYTHON_CALLS.findall(texts[middle])]:
        more = " and others" * any(len(names) >= CALLS_SHOWN for names in calls)
        found["python_calls"] = ", ".join(chain.from_iterable(calls)) + more
    operator, made, given = (stages[name][longest[middle]] for name in ("multiplied_by", "made_rows", "given_rows"))
    if operator and made > given > 0:
        found |= {"multiplying_operator": operator, "made_rows": int(made), "rows_multiplied": int(made / given)}
    return {name: Known(value, "computed") for name, value in found.items()}


def holds_only(stages: Columns) -> np.ndarray:
    """Which stages hold state or read a table's log; not those in which a join of streams makes many rows of few."""
    joins = (stages["multiplied_by"] == _STREAM_JOIN) & (stages["made_rows"] >= _MATCHES * stages["given_rows"])
    return np.isin(stages["kind"].astype(str), ("state", "table_log")) & ~joins


def _delta_command(stages: Columns) -> dict[str, Known]:
    """The command by which most batches write files of a Delta table again, by Delta's own description of its jobs."""
    if not len(stages):
        return {}
    texts = zip(stages["batch"].tolist(), stages["what"].tolist(), strict=True)
    found = {(batch, said[1]) for batch, text in texts if (said := DELTA_COMMAND.search(text or ""))}
    usual = Counter(name for _, name in found).most_common(1)
    if not usual or usual[0][1] < _MOST_OF * len(np.unique(stages["batch"])):
        return {}
    return {"delta_command": Known(usual[0][0], "computed")}


def _databricks_words(batches: Batches) -> bool:
    """Whether the query's name, a path or a source's metric is such as only Databricks has."""
    name, sink = (_last(batches.rows[column]) for column in ("name", "sink"))
    of_last = batches.sources.where(batches.sources["batch"] == len(batches) - 1)
    said = [sink or "", *(text or "" for text in of_last["description"])]
    metrics = [of_last[key] for key in _METRICS_ON_DATABRICKS if key in of_last]
    shown = any(mark in text for text in said for mark in _ON_DATABRICKS)
    return shown or any(map(any, metrics)) or (name or "").startswith(_DISPLAY)


def _last(texts: np.ndarray) -> str | None:
    return next((str(text) for text in texts[::-1] if text is not None), None)


def _of_rows(rows: Columns, keep: np.ndarray) -> Columns:
    return rows.where(keep[rows["batch"]])


def sink_kind(description: str) -> str:
    """The kind of sink behind `sink.description`, matched by what every version writes."""
    return next((kind for mark, kind in _SINKS.items() if mark in description), "other")


def source_kind(description: str) -> str:
    """The kind of source behind `sources[].description`."""
    head = description.partition("[")[0]
    return next((kind for mark, kind in _SOURCES.items() if head.rpartition(".")[2].startswith(mark)), "other")


def _sink_and_source(batches: Batches) -> dict[str, Any]:
    sink, last = _last(batches.rows["sink"]), _last_sources(batches)
    behind = last[_OF_KAFKA] if _OF_KAFKA in last else [None] * len(last)
    described = [text or (number and "Kafka") for text, number in zip(last["description"], behind, strict=True)]
    kinds = [source_kind(text or "") for text in described]
    known = {kind for kind, text in zip(kinds, described, strict=True) if text}
    all_told = _tells_all_rows(batches, last)
    kafka = [ends for kind, ends in zip(kinds, last["end_offset"], strict=True) if kind == "kafka" and all_told]
    return {
        "sink": None if sink is None else sink_kind(sink),
        "source": (next(iter(known)) if len(known) == 1 else "several") if known else None,
        "source_scheme": _scheme(last["description"]) if known == {"file"} else None,
        "kafka_partitions": sum(len(kafka_offsets(offsets) or ()) for offsets in kafka) or None,
    }


def _tells_all_rows(batches: Batches, last: Columns) -> bool:
    """Whether the sources of a batch tell all of its rows; somebody left out sources or partitions where they do not.

    Spark's number of rows is the sum over the sources.
    """
    return not len(last) or not last["input_rows"].sum() < batches.rows["input_rows"][last["batch"][0]]


def _last_sources(batches: Batches) -> Columns:
    """The sources of the last batch; where its record was cut, those of the one before it that names all of them.

    Not where the cut one names another.
    """
    sources, batch = batches.sources, batches.sources["batch"]
    last = sources.where(batch == batch[-1:])
    cut = lacks(batches.rows, "sources")[batch]
    if not len(last) or not cut[-1]:
        return last
    before = last if cut.all() else sources.where(batch == batch[~cut][-1])
    others = set(last["description"]) - set(before["description"]) - {None}
    return last if others else before


def _scheme(descriptions: Iterable[str | None]) -> str | None:
    """The one file system of these folders (`FileStreamSource[s3a://bucket/in]`); None where one does not tell it."""
    schemes = {found[1].lower() if (found := _SCHEME.search(text or "")) else None for text in descriptions}
    return schemes.pop() if len(schemes) == 1 else None


_STORES: Final = {"rocksdb": "rocksdb", "loadedMapCache": "hdfs"}
"""State stores, by what the names of their own metrics begin with."""


def _state(executed: Columns, operators: Columns, keys: set[str]) -> dict[str, Any]:
    names = list(dict.fromkeys(str(name) for name in operators["name"] if name))
    stateful = len(operators) > 0 or _unless_lacking(executed, "stateOperators")
    stores = (store for key, store in _STORES.items() if any(one.startswith(key) for one in keys))
    # An aggregation without keys has one partition whatever is set.
    partitions = {int(number) for number in operators["shuffle_partitions"] if number > 1}
    return {
        "stateful": stateful,
        "state_operators": ",".join(names) if names else None,
        "state_store": next(stores, None) if stateful else None,
        "shuffle_partitions": partitions.pop() if len(partitions) == 1 else None,
    }


_ROWS_OF_MODE: Final = {"append": "rows_removed", "update": "rows_updated", "complete": "rows_total"}
"""Which rows of an aggregation's state come out in a batch (tried on Spark 3.5.9 and 4.3.0)."""
_FEWEST_OUTPUTS: Final = 3
"""Batches with output that show a mode."""
_FEWEST_CHANGES: Final = 10
"""Batches that changed the state and show one while the sink got next to nothing."""


def _output_mode(executed: Columns, operators: Columns) -> str | None:
    """The mode in which the rows that the sink got are, in every batch, those rows of the one aggregation's state."""
    if len(operators) != len(executed) or set(operators["name"]) != {"stateStoreSave"}:
        return None
    got = executed["sink_rows"]
    many = (got > 0).sum() >= _FEWEST_OUTPUTS or (operators["rows_updated"] > 0).sum() >= _FEWEST_CHANGES
    if np.isnan(got).any() or not many:
        return None
    fits = [mode for mode, rows in _ROWS_OF_MODE.items() if np.array_equal(operators[rows], got)]
    return fits[0] if len(fits) == 1 else None


def _unless_lacking(executed: Columns, part: str) -> bool | None:
    """False: no batch shows it, though it would; None: none ran (idle triggers hide things), or records lack it."""
    return False if len(executed) and part not in all_lack(executed) else None


def _changelog(operators: Columns) -> bool | None:
    """Without changelogs every commit flushes and makes a snapshot; with them only every tenth does.

    Told by the median over the batches that updated RocksDB state; None with too few of them, and where commits of many
    rows may make the snapshots. Metrics with changelog in their name do not tell, and rocksdbFilesCopied keeps its
    value after a snapshot was uploaded in the background.
    """
    if _SNAPSHOT_LATENCIES[0] not in operators:
        return None
    parts = [operators[name] for name in _SNAPSHOT_LATENCIES if name in operators]
    updated = (operators["rows_updated"] > 0) & ~np.isnan(parts[0])
    batch, changes = operators["batch"][updated], operators["rows_updated"] + zero_filled(operators["rows_removed"])
    most = _MANY_CHANGES * np.fmax(operators["shuffle_partitions"], 1)
    work, many = (
        np.bincount(batch, values[updated])[np.bincount(batch) > 0]
        for values in (zero_filled(np.array(parts)).sum(axis=0), changes > most)
    )
    if len(work) < _CHANGELOG_BATCHES:
        return None
    without = np.sort(work)[len(work) // 2] > 0
    return None if without and np.median(many) > 0 else not without


def _has_any(executed: Columns, columns: Iterable[str]) -> bool:
    return any(not np.isnan(executed[column]).all() for column in columns)


def _version_bounds(
    shown: Columns, operators: Columns, keys: Iterable[str], sources: frozenset[str]
) -> dict[str, str | None]:
    """`spark_version_at_least`, `spark_version_below` and `databricks_runtime_below`, as far as batches show it.

    `shown`: batches of one run, or its idle events where none ran; `operators`: one row per batch and operator of
    these; `keys`: names of their state metrics; `sources`: the kinds of what they read.
    What is there bounds from below on open-source Spark only: Databricks brings phases to older versions, so what is
    missing bounds from above everywhere.
    """
    executed = shown.where(~shown["idle"])
    whole = ~lacks(executed, "durationMs")
    least = max(_present(shown, operators, set(keys)), key=version_numbers, default=None)
    headed = whole & ~np.isnan(executed["timestamp"]) & ~lacks(executed, "id")  # others are cut off
    # few phases of an idle event do not show whether it lacks some
    full = bool((headed if len(executed) else shown["whole"]).any())
    before_commits = _lacks(executed, whole, "commit_offsets_ms")
    lacking = ["3.4"] * before_commits + [*_older(shown, sources), *_missing(executed, operators, headed, full)]
    below = min(lacking, key=version_numbers, default=None)
    if least and below and version_at_least(least, below):
        least = None
    return {
        "spark_version_at_least": least,
        "spark_version_below": below,
        "databricks_runtime_below": COMMIT_OFFSETS_ON_DATABRICKS[1] if before_commits else None,
    }


def _present(shown: Columns, operators: Columns, keys: set[str]) -> Iterator[str]:
    yield from (version for key, version in _FIRST_METRICS.items() if key in keys)
    yield from (version for phase, version in _FIRST_PHASES.items() if not np.isnan(shown[phase]).all())
    names = [str(name) for name in operators["name"] if name]
    yield from (since for mark, since in _FIRST_OPERATORS.items() if any(name.startswith(mark) for name in names))
    if not np.isnan(operators["commit_ms"]).all() or any(operators["name"]):
        yield "3.2"
    if not np.isnan(operators["rows_dropped_by_watermark"]).all():
        yield "3.1"


def _older(shown: Columns, sources: frozenset[str]) -> Iterator[str]:
    """What only old versions write, in idle events, too."""
    newer = ~np.isnan([shown["latest_offset_ms"], shown["commit_offsets_ms"]])
    if not newer.any() and sources and sources <= _LIMITED_SINCE_3 and not np.isnan(shown["get_offset_ms"]).all():
        yield "3.0"
    if not np.isnan(shown["get_end_offset_ms"]).all():
        yield "3.0"
    old = ~np.isnan(shown["get_offset_ms"] + shown["timestamp"]) & np.isnan(shown["batch_id"])
    if old.any():
        yield "2.2" if (shown["run_id"][old] == shown["id"][old]).all() else "2.3"


def _missing(executed: Columns, operators: Columns, headed: np.ndarray, full: bool) -> Iterator[str]:
    if _lacks(executed, headed, "batch_duration_ms"):
        yield "4.0"
    bare = not any(operators["name"]) and np.isnan(operators["commit_ms"]).all()  # names and times came together
    has_rows = not np.isnan(operators["rows_total"]).all()
    if full and not lacks(executed, "stateOperators").any() and has_rows and bare:
        yield "3.2"


def _lacks(executed: Columns, whole: np.ndarray, column: str) -> bool:
    """Whether there are whole events, and none of them has a value there."""
    return bool(whole.any() and np.isnan(executed[column][whole]).all())
