"""What the progress of one run tells by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pandas as pd

from advisor.facts.names import Known
from advisor.facts.trigger import infer_trigger

_LOOKED_AT: Final = 500
"""Batches of a run that are looked into; what they tell does not change within a run."""
_CHANGELOG_BATCHES: Final = 5
_SNAPSHOT_LATENCIES: Final = ("rocksdbCommitCheckpointLatency", "rocksdbCommitFlushLatency")
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
}
_NEWER_METRICS: Final = {
    "numRowsIncrementallyRemoved": "4.3",
    "forceSnapshotCount": "4.2",
    "rocksdbForceSnapshotCount": "4.2",
    "rocksdbLoadLatencyMs": "4.1",
    "rocksdbNumExternalColumnFamilies": "4.0",
    "rocksdbTotalBytesWrittenByFlush": "3.5",
}
"""State metrics and the first version of open-source Spark that reports them."""


def computed(frame: pd.DataFrame) -> dict[str, Known]:
    """Facts from the batches of one run (rows of the table of batches, idle ones included), by name."""
    if frame.empty:
        return {}
    frame = frame.sort_values("timestamp", kind="stable")
    executed = frame[~frame["idle"].astype(bool)]
    operators = _list_of(executed, "operators")
    told = {
        **_sink_and_source(frame),
        **_state(executed, operators),
        **_versions(executed, operators),
        "kafka_partitions": _kafka_partitions(frame),
        "changelog": _changelog(operators),
        "watermarked": _watermarked(executed),
        "platform": "databricks" if _has_any(executed, _DATABRICKS_PHASES) else None,
        "trigger": "real_time" if bool(frame["real_time"].fillna(value=False).any()) else None,
    }
    found = {name: Known(value, "progress") for name, value in told.items() if value is not None}
    return {**infer_trigger(executed), **found}


def sink_kind(description: str) -> str:
    """The kind of sink behind `sink.description`, matched by what every version writes."""
    return next((kind for mark, kind in _SINKS.items() if mark in description), "other")


def source_kind(description: str) -> str:
    """The kind of source behind `sources[].description`."""
    head = description.partition("[")[0]
    return next((kind for mark, kind in _SOURCES.items() if head.rpartition(".")[2].startswith(mark)), "other")


def _sink_and_source(frame: pd.DataFrame) -> dict[str, Any]:
    sinks = frame["sink"].dropna()
    described = [source["description"] for source in _last(frame, "sources") if source.get("description")]
    kinds = {source_kind(text) for text in described}
    return {
        "sink": sink_kind(str(sinks.iloc[-1])) if len(sinks) else None,
        "source": (kinds.pop() if len(kinds) == 1 else "several") if kinds else None,
    }


def _state(executed: pd.DataFrame, operators: list[list[Mapping[str, Any]]]) -> dict[str, Any]:
    if executed.empty:
        return {}
    names = list(dict.fromkeys(str(op["name"]) for batch in operators for op in batch if op.get("name")))
    stateful = any(operators)
    return {
        "stateful": stateful,
        "state_operators": ",".join(names) if names else None,
        "state_store": _state_store(_custom_keys(operators)) if stateful else None,
    }


def _state_store(keys: Iterable[str]) -> str | None:
    known = tuple(keys)
    if any(key.startswith("rocksdb") for key in known):
        return "rocksdb"
    return "hdfs" if any(key.startswith("loadedMapCache") for key in known) else None


def _changelog(operators: list[list[Mapping[str, Any]]]) -> bool | None:
    """Without changelogs every commit flushes and makes a snapshot; with them only every tenth does.

    Told by the median over the batches that updated state; None with too few of them. Metrics with changelog in their
    name do not tell, and rocksdbFilesCopied keeps its value after a snapshot was uploaded in the background.
    """
    told = sorted(work for batch in operators if (work := _snapshot_work(batch)) is not None)
    return told[len(told) // 2] == 0 if len(told) >= _CHANGELOG_BATCHES else None


def _snapshot_work(batch: list[Mapping[str, Any]]) -> float | None:
    """Time of a batch's RocksDB operators for flush and snapshot; None when the batch updated no RocksDB state."""
    customs = [_custom(op) for op in batch if (op.get("rows_updated") or 0) > 0]
    rocks = [custom for custom in customs if _SNAPSHOT_LATENCIES[0] in custom]
    return sum(custom.get(name) or 0 for custom in rocks for name in _SNAPSHOT_LATENCIES) if rocks else None


def _watermarked(executed: pd.DataFrame) -> bool | None:
    return None if executed.empty else bool(executed["watermark"].notna().any())


def _versions(executed: pd.DataFrame, operators: list[list[Mapping[str, Any]]]) -> dict[str, Any]:
    """The oldest open-source Spark that reports these phases and metrics; the version itself stays unknown."""
    keys = _custom_keys(operators)
    newer = next((version for key, version in _NEWER_METRICS.items() if key in keys), None)
    if newer is None and _has_any(executed, ("commit_offsets_ms",)):
        newer = "3.4"
    elif newer is None and _has_any(executed, ("latest_offset_ms",)):
        newer = "3.0"
    return {"spark_version_at_least": newer}


def _kafka_partitions(frame: pd.DataFrame) -> int | None:
    kafka = [source for source in _last(frame, "sources") if source_kind(source.get("description") or "") == "kafka"]
    return sum(_partitions(source.get("end_offset")) for source in kafka) or None


def _partitions(offsets: Any) -> int:
    try:
        topics = json.loads(offsets)
    except (TypeError, ValueError):
        return 0
    if not isinstance(topics, dict):
        return 0
    return sum(len(partitions) for partitions in topics.values() if isinstance(partitions, dict))


def _has_any(frame: pd.DataFrame, columns: Iterable[str]) -> bool:
    return any(bool(frame[column].notna().any()) for column in columns if column in frame)


def _list_of(frame: pd.DataFrame, column: str) -> list[list[Mapping[str, Any]]]:
    """The column's lists of records of the last batches, an absent list as an empty one."""
    return [[] if value is None else list(value) for value in frame[column].tail(_LOOKED_AT)]


def _last(frame: pd.DataFrame, column: str) -> list[Mapping[str, Any]]:
    """The last list that is not empty."""
    lists: Iterator[list[Mapping[str, Any]]] = reversed(_list_of(frame, column))
    return next((records for records in lists if records), [])


def _custom(operator: Mapping[str, Any]) -> dict[str, float]:
    return dict(operator.get("custom") or {})


def _custom_keys(operators: list[list[Mapping[str, Any]]]) -> set[str]:
    return {key for batch in operators for op in batch for key in _custom(op)}
