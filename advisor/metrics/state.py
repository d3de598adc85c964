"""What keeping state costs: commits, partitions, rows. Spark sums state times over tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from advisor.metrics.registry import Batchwise, Bounds, Missing, batch_metric, remembered, share_of
from advisor.window import Window

SNAPSHOT_PARTS = (
    "custom:rocksdbCommitFlushLatency",
    "custom:rocksdbCommitCompactLatency",
    "custom:rocksdbCommitCheckpointLatency",
    "custom:rocksdbCommitFileSyncLatencyMs",
)
NO_COMMIT_TIME = Missing("this Spark version does not report commitTimeMs")


def per_batch(window: Window, values: pd.Series[float]) -> pd.Series[float]:
    """A value of each operator, summed over the operators of a batch; 0 for a batch without state."""
    return _joined(window, values, lambda operators: operators.sum(min_count=1))


def _joined(window: Window, values: pd.Series[float], join: Callable[[Any], pd.Series[float]]) -> pd.Series[float]:
    """One value per batch of the values of its operators; 0 where nothing keeps state."""
    if window.operators.empty:
        return pd.Series(0.0, index=window.batches.index)
    return join(values.groupby(window.operators["batch"])).reindex(window.batches.index)


@remembered
def partitions(window: Window) -> pd.Series[float]:
    """State partitions of each operator.

    Before SPARK-45084 numShufflePartitions counted task attempts, so that a retried task made it larger: it is capped
    by the number of state store instances and by the least that the operator showed in this window.
    """
    shown = window.operators["shuffle_partitions"].astype(float)
    shown = shown.fillna(window.operators["store_instances"].astype(float))
    least = shown.groupby(window.operators["name"], dropna=False).transform("min")
    capped: pd.Series[float] = pd.concat([shown, least], axis=1).min(axis=1)
    return capped.where(capped > 0)


def slots(window: Window) -> float | None:
    """Tasks that can run at once, if known."""
    known = window.facts.get("task_slots")
    return None if known is None else float(known.value)


def slots_are_shared(window: Window) -> bool:
    """Whether other queries of the application run in the same slots: then they are an upper bound."""
    known = window.facts.get("slots_shared")
    return known is not None and bool(known.value)


def _reports_commits(window: Window) -> bool:
    return window.operators.empty or bool(window.operators["commit_ms"].notna().any())


@batch_metric("ms", "task")
def state_commit_task_ms(window: Window) -> Batchwise:
    """commitTimeMs of all operators: a sum over tasks, no part of the batch's clock."""
    if not _reports_commits(window):
        return NO_COMMIT_TIME
    return per_batch(window, window.operators["commit_ms"])


@batch_metric("ms", "task")
def state_commit_per_task_ms(window: Window) -> Batchwise:
    """commitTimeMs / numShufflePartitions, summed over operators: the commit of one task."""
    if not _reports_commits(window):
        return NO_COMMIT_TIME
    return per_batch(window, window.operators["commit_ms"] / partitions(window))


@batch_metric("ms", phases=("add_batch_ms",))
def state_commit_wall_ms(window: Window) -> Batchwise:
    """Per-task commit x waves of tasks: what the batch waits for state commits. An interval while slots are unknown."""
    return _in_waves(window, window.operators["commit_ms"])


@batch_metric("ms", phases=("add_batch_ms",))
def snapshot_commit_wall_ms(window: Window) -> Batchwise:
    """Flush, compaction, checkpoint and file sync of RocksDB commits as wall time: together, most of a commit."""
    columns = [name for name in SNAPSHOT_PARTS if name in window.operators]
    parts = window.operators[columns].sum(axis=1, min_count=1)
    return _in_waves(window, pd.concat([parts, window.operators["commit_ms"]], axis=1).min(axis=1).where(parts.notna()))


def _in_waves(window: Window, task_ms: pd.Series[float]) -> Batchwise:
    """Task time of operators as wall time: per task x ceil(partitions / slots).

    Slots unknown: from all at once to one after another, at most addBatch. Slots shared with other queries: at least
    the waves that all slots would give.
    """
    if not _reports_commits(window):
        return NO_COMMIT_TIME
    each = task_ms / partitions(window)
    at_once, free = per_batch(window, each), slots(window)
    most = pd.concat([per_batch(window, task_ms), window.batches["add_batch_ms"]], axis=1).min(axis=1)
    if free is None:
        return Bounds(at_once, pd.concat([at_once, most], axis=1).max(axis=1)) if at_once.any() else at_once
    waves = per_batch(window, each * np.ceil(partitions(window) / free))
    if slots_are_shared(window) and waves.any():
        return Bounds(waves, pd.concat([waves, most], axis=1).max(axis=1))
    return waves


@batch_metric("count", "count")
def state_partitions(window: Window) -> Batchwise:
    """State partitions of the operator that has most."""
    return _largest(window, partitions(window))


@batch_metric("count", "count")
def state_waves(window: Window) -> Batchwise:
    """Waves in which the state tasks run: ceil(partitions / task slots)."""
    return _with_slots(window, lambda most, free: np.ceil(most / free))


@batch_metric("ratio", "count")
def state_partitions_per_slot(window: Window) -> Batchwise:
    """State partitions per task slot."""
    return _with_slots(window, lambda most, free: most / free)


@batch_metric("ms", phases=("add_batch_ms",))
def state_waves_excess_ms(window: Window) -> Batchwise:
    """addBatch x (1 - 1 / waves): the time of the waves beyond the first."""
    waves = state_waves(window)
    if not isinstance(waves, pd.Series):
        return waves
    return (window.batches["add_batch_ms"] * (1 - 1 / waves.where(waves > 0))).fillna(0.0)


def _with_slots(window: Window, combine: object) -> Batchwise:
    most, free = _largest(window, partitions(window)), slots(window)
    if not most.any():
        return most
    if free is None:
        return Missing("the number of task slots is not known", "task_slots")
    result: pd.Series[float] = combine(most, free)  # type: ignore[operator]
    return result


def _largest(window: Window, values: pd.Series[float]) -> pd.Series[float]:
    return _joined(window, values, lambda operators: operators.max()).fillna(0.0)


@batch_metric("rows", "count")
def state_rows(window: Window) -> Batchwise:
    """Keys in the state (numRowsTotal), all operators."""
    return per_batch(window, window.operators["rows_total"])


@batch_metric("rows", "count")
def state_rows_updated(window: Window) -> Batchwise:
    """Keys that the batch changed (numRowsUpdated), all operators."""
    return per_batch(window, window.operators["rows_updated"])


@batch_metric("rows", "count")
def state_rows_updated_per_partition(window: Window) -> Batchwise:
    """Changed keys per state partition, of the operator that changed most."""
    return _largest(window, window.operators["rows_updated"] / partitions(window))


@batch_metric("bytes", "bytes")
def state_memory_bytes(window: Window) -> Batchwise:
    """Memory of the state stores (0 for RocksDB with bounded memory)."""
    return per_batch(window, window.operators["memory_bytes"])


def _per_operator_share() -> None:
    """`state_commit_share` is the mission's formula, exactly; the other counts waves."""
    share_of(
        "state_commit_per_task_ms",
        "state_commit_share",
        "commitTimeMs / numShufflePartitions / triggerExecution, summed over operators: as if all tasks ran at once",
    )
    share_of(
        "state_commit_wall_ms",
        "state_commit_share_at_slots",
        "commitTimeMs / numShufflePartitions x ceil(numShufflePartitions / task slots) / triggerExecution",
    )
    share_of(
        "snapshot_commit_wall_ms",
        "snapshot_commit_share",
        "RocksDB's flush, compaction, checkpoint and file sync in the commit, as wall time / triggerExecution",
    )


_per_operator_share()
