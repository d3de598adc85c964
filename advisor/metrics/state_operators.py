"""What state operators take of a batch: commits, waves of tasks, look-ups. Spark sums their times over tasks."""

from __future__ import annotations

import numpy as np

from advisor.metrics.metric import Batchwise, Bounds, batch_metric, bounded_metric
from advisor.metrics.missing import NO_SLOTS, Missing, MissingError, needed
from advisor.metrics.operators import NO_OPERATORS, arbitrary, largest, partitions, per_batch, task_ms
from advisor.metrics.phases import share_of
from advisor.metrics.slots import least_slots, slots, slots_are_shared
from advisor.statistics import any_above_zero, zero_filled
from advisor.window import Window

SNAPSHOT_PARTS = (
    "custom:rocksdbCommitFlushLatency",
    "custom:rocksdbCommitCompactLatency",
    "custom:rocksdbCommitCheckpointLatency",
    "custom:rocksdbCommitFileSyncLatencyMs",
)
NO_COMMIT_TIME = Missing("these batches do not report commitTimeMs")
TASKS_AROUND = 2.0
GET_MS, GETS, PUTS = "custom:rocksdbGetLatency", "custom:rocksdbGetCount", "custom:rocksdbPutCount"
UNTOLD = Missing("no operator reports the time of RocksDB's lookups")


def _commits(window: Window) -> np.ndarray:
    """The time of each operator's commit, summed over tasks; raises MissingError where batches do not report it."""
    commits = window.operators["commit_ms"]
    if not len(commits) and "stateOperators" in window.lacks:
        raise MissingError(NO_OPERATORS)
    if len(commits) and np.isnan(commits).all():
        raise MissingError(NO_COMMIT_TIME)
    return commits


@batch_metric("ms", "task", label="state commits, summed over tasks")
def state_commit_task_ms(window: Window) -> np.ndarray:
    """commitTimeMs of all operators: a sum over tasks, no part of the batch's clock."""
    return per_batch(window, _commits(window))


@batch_metric("ms", "task", label="the state commit of one task")
def state_commit_per_task_ms(window: Window) -> np.ndarray:
    """commitTimeMs / numShufflePartitions, summed over operators: the commit of one task."""
    return per_batch(window, _commits(window) / partitions(window))


@bounded_metric("ms", phases=("add_batch_ms",), label="state commit")
def state_commit_wall_ms(window: Window) -> Batchwise:
    """Per-task commit x waves of tasks: what the batch waits for state commits. An interval while slots are unknown."""
    return in_waves(window, _commits(window))


@bounded_metric("ms", phases=("add_batch_ms",), label="RocksDB's snapshots")
def snapshot_commit_wall_ms(window: Window) -> Batchwise:
    """Flush, compaction, checkpoint and file sync of RocksDB commits as wall time: together, most of a commit."""
    commits, parts = _commits(window), [window.operators[name] for name in SNAPSHOT_PARTS if name in window.operators]
    shown = np.array(parts or [np.full(len(commits), np.nan)])
    summed = np.where(np.isnan(shown).all(axis=0), np.nan, zero_filled(shown).sum(axis=0))
    return in_waves(window, np.where(np.isnan(summed), np.nan, np.fmin(summed, commits)))


def in_waves(window: Window, task_ms: np.ndarray) -> Batchwise:
    """Task time of operators as wall time: per task x ceil(partitions / slots).

    Slots unknown: from all at once to one after another, at most addBatch. Slots shared with other queries: at least
    the waves that all slots would give.
    """
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


@batch_metric("count", "count", label="waves of state tasks")
def state_waves(window: Window) -> np.ndarray | Missing:
    """Waves in which the state tasks run: ceil(partitions / task slots)."""
    most, free = largest(window, partitions(window)), slots(window)
    if not any_above_zero(most):
        return most
    return NO_SLOTS if free is None else np.ceil(most / free)


@bounded_metric("ratio", "count", label="state partitions per task slot")
def state_partitions_per_slot(window: Window) -> Batchwise:
    """State partitions per task slot; at most those on the slots that were seen, while slots are unknown."""
    most, free = largest(window, partitions(window)), slots(window)
    if not any_above_zero(most):
        return most
    return Bounds(most * 0, most / least_slots(window), "task_slots") if free is None else most / free


@bounded_metric("ms", phases=("add_batch_ms",), label="state tasks waiting for a slot")
def state_waves_excess_ms(window: Window) -> Batchwise | Missing:
    """The time of the waves beyond the first: addBatch x (1 - 1 / waves), at most twice what the operators tell of it.

    Other stages of the batch are no waves of state. In six recorded runs the first came to 1.2 to 1.8 x the time of the
    state's own tasks (updates, removals, commit) in these waves: tasks also start, and load their store. The updates of
    arbitrary state are the query's own work, which fewer partitions share: there at least the commits are spared.
    """
    if "stateOperators" in window.lacks and not len(window.operators):
        return NO_OPERATORS
    waves = needed(state_waves(window))
    most = window.batches["add_batch_ms"] * (1 - 1 / np.where(waves > 0, waves, np.nan))
    excess = zero_filled(np.fmin(most, TASKS_AROUND * _beyond_first_wave(window, task_ms(window))))
    if not arbitrary(window).any():
        return excess
    return Bounds(np.fmin(excess, zero_filled(_beyond_first_wave(window, window.operators["commit_ms"]))), excess)


def _beyond_first_wave(window: Window, task: np.ndarray) -> np.ndarray:
    """Task time of operators as the time of the waves after the first; NaN without any operator's time."""
    shown = partitions(window)
    return per_batch(window, task / shown * (np.ceil(shown / (slots(window) or shown)) - 1))


@bounded_metric("ms", phases=("add_batch_ms",), label="counting the state's rows")
def row_count_wall_ms(window: Window) -> Batchwise | Missing:
    """Wall time of the extra lookup that RocksDB makes for each written row to keep its row count.

    A store that does not count reports 0 rows. Lookups of removed rows are left out.
    """
    operators = window.operators
    found = [operators[name] for name in (GET_MS, GETS, PUTS) if name in operators]
    if len(found) < 3 or np.isnan(found).all(axis=1).any():
        return UNTOLD
    _commits(window)  # raises where tasks report no times
    took, gets, puts = found
    counting = np.where(operators["rows_total"] > 0, np.fmin(puts, gets), 0.0)
    part = np.divide(counting, gets, out=np.zeros(len(gets)), where=gets > 0)
    return in_waves(window, took * part)


row_count_share = share_of(row_count_wall_ms)
