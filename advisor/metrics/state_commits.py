"""What state commits take. Spark sums their times over tasks."""

from __future__ import annotations

import numpy as np

from advisor.metrics.numbers import any_above_zero
from advisor.metrics.operators import NO_OPERATORS, partitions, per_batch
from advisor.metrics.phases import share_of
from advisor.metrics.registry import Batchwise, Bounds, Missing, batch_metric
from advisor.metrics.slots import least_slots, slots, slots_are_shared
from advisor.numbers import zero_filled
from advisor.window import Window

SNAPSHOT_PARTS = (
    "custom:rocksdbCommitFlushLatency",
    "custom:rocksdbCommitCompactLatency",
    "custom:rocksdbCommitCheckpointLatency",
    "custom:rocksdbCommitFileSyncLatencyMs",
)
NO_COMMIT_TIME = Missing("these batches do not report commitTimeMs")


def _reports_commits(window: Window) -> bool:
    if not len(window.operators):
        return "stateOperators" not in window.lacks
    return not np.isnan(window.operators["commit_ms"]).all()


@batch_metric("ms", "task", label="state commits, summed over tasks")
def state_commit_task_ms(window: Window) -> Batchwise:
    """commitTimeMs of all operators: a sum over tasks, no part of the batch's clock."""
    if not _reports_commits(window):
        return NO_COMMIT_TIME if len(window.operators) else NO_OPERATORS
    return per_batch(window, window.operators["commit_ms"])


@batch_metric("ms", "task", label="the state commit of one task")
def state_commit_per_task_ms(window: Window) -> Batchwise:
    """commitTimeMs / numShufflePartitions, summed over operators: the commit of one task."""
    if not _reports_commits(window):
        return NO_COMMIT_TIME if len(window.operators) else NO_OPERATORS
    return per_batch(window, window.operators["commit_ms"] / partitions(window))


@batch_metric("ms", phases=("add_batch_ms",), label="state commit")
def state_commit_wall_ms(window: Window) -> Batchwise:
    """Per-task commit x waves of tasks: what the batch waits for state commits. An interval while slots are unknown."""
    return in_waves(window, window.operators["commit_ms"])


@batch_metric("ms", phases=("add_batch_ms",), label="RocksDB's snapshots")
def snapshot_commit_wall_ms(window: Window) -> Batchwise:
    """Flush, compaction, checkpoint and file sync of RocksDB commits as wall time: together, most of a commit."""
    parts = [window.operators[name] for name in SNAPSHOT_PARTS if name in window.operators]
    known = np.array(parts or [np.full(len(window.operators), np.nan)])
    summed = np.where(np.isnan(known).all(axis=0), np.nan, zero_filled(known).sum(axis=0))
    return in_waves(window, np.where(np.isnan(summed), np.nan, np.fmin(summed, window.operators["commit_ms"])))


def in_waves(window: Window, task_ms: np.ndarray) -> Batchwise:
    """Task time of operators as wall time: per task x ceil(partitions / slots).

    Slots unknown: from all at once to one after another, at most addBatch. Slots shared with other queries: at least
    the waves that all slots would give.
    """
    if not _reports_commits(window):
        return NO_COMMIT_TIME if len(window.operators) else NO_OPERATORS
    each = task_ms / partitions(window)
    at_once, free = per_batch(window, each), slots(window)
    waves = per_batch(window, each * np.ceil(partitions(window) / (free or least_slots(window))))
    most = np.fmin(per_batch(window, task_ms), window.batches["add_batch_ms"])
    if free is None:
        in_turn = np.fmax(at_once, np.fmin(waves, most))
        return Bounds(at_once, in_turn, "task_slots") if any_above_zero(at_once) else at_once
    if slots_are_shared(window) and any_above_zero(waves):
        return Bounds(waves, np.fmax(waves, most))
    return waves


state_commit_share = share_of(
    state_commit_per_task_ms,
    name="state_commit_share",
    label="the state commit's share, if all tasks ran at once",
    meaning="commitTimeMs / numShufflePartitions / triggerExecution, summed over operators: if all tasks ran at once",
)
state_commit_share_at_slots = share_of(
    state_commit_wall_ms,
    name="state_commit_share_at_slots",
    label="the state commit's share of the batch",
    meaning="commitTimeMs / numShufflePartitions x ceil(numShufflePartitions / task slots) / triggerExecution",
)
snapshot_commit_share = share_of(snapshot_commit_wall_ms, label="the share of RocksDB's snapshots in the commit")
