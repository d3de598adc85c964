"""What keeping state costs: commits, partitions, rows. Spark sums state times over tasks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from advisor.batches import Columns
from advisor.metrics.numbers import any_above_zero, fact_number, known
from advisor.metrics.phases import share_of
from advisor.metrics.registry import (
    Batchwise,
    Bounds,
    Estimate,
    Missing,
    Windowed,
    batch_metric,
    remembered,
    window_metric,
)
from advisor.numbers import middle, zero_filled
from advisor.window import Window

SNAPSHOT_PARTS = (
    "custom:rocksdbCommitFlushLatency",
    "custom:rocksdbCommitCompactLatency",
    "custom:rocksdbCommitCheckpointLatency",
    "custom:rocksdbCommitFileSyncLatencyMs",
)
CACHE_COUNTERS = ("custom:loadedMapCacheHitCount", "custom:loadedMapCacheMissCount")
DEFAULT_PARTITIONS = 200
AGGREGATIONS = ("stateStoreSave", "sessionWindowStateStoreSave", "StatefulStreamlineAggregate")
ARBITRARY = ("flatMapGroupsWithState", "applyInPandasWithState", "transformWithState")
"""How the names of operators begin that run the query's own code."""
TASKS_AROUND = 2.0
_TIMERS = 0.9
"""What may be relied on of tasks that ran at once by their times: an attempt that was made again counts twice."""
NO_COMMIT_TIME = Missing("these batches do not report commitTimeMs")
NO_STORES = Missing("no operator tells its state stores")
NO_OPERATORS = Missing("partial record: state operators missing")


def per_batch(window: Window, values: np.ndarray) -> np.ndarray:
    """A value of each operator, summed over the operators of a batch; 0 for a query without state.

    NaN for a batch of which no operator tells, and where records lack their operators.
    """
    if not len(window.operators):
        return np.full(len(window), _without_operators(window))
    told = ~np.isnan(values)
    batch = window.operators["batch"][told]
    total = np.bincount(batch, values[told], len(window))
    return np.where(np.bincount(batch, minlength=len(window)) > 0, total, np.nan)


def _without_operators(window: Window) -> float:
    """What batches without operators stand for: none, or nobody knows."""
    return np.nan if "stateOperators" in window.lacks else 0.0


@remembered
def partitions(window: Window) -> np.ndarray:
    """State partitions of each operator.

    Before SPARK-45084 numShufflePartitions counted task attempts, so that a retried task made it larger: it is capped
    by the number of state store instances and by the least that the operator showed in this window.
    """
    shown, instances = window.operators["shuffle_partitions"], window.operators["store_instances"]
    shown = np.where(np.isnan(shown), instances, shown)
    shown = np.where(np.isnan(shown), _untold(window), shown) if np.isnan(shown).any() else shown
    capped = np.fmin(shown, least_shown(window, shown))
    return np.where(capped > 0, capped, np.nan)


def _untold(window: Window) -> np.ndarray:
    """Partitions of operators that do not name them (before Spark 3.0): the pinned number, else what caches show."""
    pinned, operators = window.facts.get("shuffle_partitions"), window.operators
    if pinned is not None and pinned.origin == "log":
        return np.full(len(operators), float(pinned.value))
    return shown_by_caches(operators, _with_state_before(window)[operators["batch"]])


def shown_by_caches(operators: Columns, later: np.ndarray) -> np.ndarray:
    """Partitions of operators by the counters of the default store's caches, NaN where these do not tell.

    A partition loads its version at most twice per batch, from a query's second batch on, and the counts begin anew
    with a run: hits and misses over twice the batches that can have loaded one (`later`) are the least number of
    partitions; half of them where the operator loads once. Only multiples of the default are believed.
    """
    counted = [operators[name] for name in CACHE_COUNTERS if name in operators]
    loads = zero_filled(np.array(counted)).sum(axis=0) if counted else np.zeros(len(operators))
    least = np.divide(loads, 2 * later, out=np.full(len(loads), np.nan), where=later > 0)
    rounded = DEFAULT_PARTITIONS * np.ceil(least / DEFAULT_PARTITIONS)
    return np.where(
        (loads > 0) & (loads % DEFAULT_PARTITIONS == 0) & (least % (DEFAULT_PARTITIONS / 2) == 0), rounded, np.nan
    )


def _with_state_before(window: Window) -> np.ndarray:
    """The most batches of this run, up to each one, that can have loaded a version of the state."""
    numbers, ran = window.batches["batch_id"], window.executed
    start_was_seen = len(ran) > 0 and ran["cold"][0]
    least: np.ndarray = numbers - max(ran["batch_id"][0] - 1, 0) if start_was_seen else numbers
    return least


def least_shown(window: Window, values: np.ndarray) -> np.ndarray:
    """For each row of `window.operators` the least value of all rows of that operator's name."""
    if len(set(window.operators["name"])) == 1:
        return np.full(len(values), np.fmin.reduce(values))
    numbers: dict[object, int] = {}
    names = np.array([numbers.setdefault(name, len(numbers)) for name in window.operators["name"]], dtype=int)
    by_name = np.full(len(numbers), np.nan)
    np.fmin.at(by_name, names, values)
    least: np.ndarray = by_name[names]
    return least


def slots(window: Window) -> float | None:
    """Tasks that can run at once, if known."""
    known = fact_number(window, "task_slots")
    return known if known is not None and known > 0 else None


@remembered
def least_slots(window: Window) -> float:
    """Tasks that surely run at once: those that were seen to, where the query has all slots for itself, else 1.

    And as many as it takes to fit the time of an operator's tasks into addBatch, in a typical batch.
    """
    seen = fact_number(window, "task_slots_at_least")
    known_ones = seen if seen is not None and seen >= 1 and not slots_are_shared(window) else 1.0
    add_batch = window.batches["add_batch_ms"][window.operators["batch"]]
    at_once = known(task_ms(window) / np.where(add_batch > 0, add_batch, np.nan))
    return max(known_ones, float(np.ceil(middle(at_once) * _TIMERS))) if len(at_once) else known_ones


def slots_are_shared(window: Window) -> bool:
    """Whether other queries of the application run in the same slots: then they are an upper bound."""
    return bool(window.facts.value("slots_shared"))


def _reports_commits(window: Window) -> bool:
    if not len(window.operators):
        return "stateOperators" not in window.lacks
    return not np.isnan(window.operators["commit_ms"]).all()


@batch_metric("ms", "task")
def state_commit_task_ms(window: Window) -> Batchwise:
    """commitTimeMs of all operators: a sum over tasks, no part of the batch's clock."""
    if not _reports_commits(window):
        return NO_OPERATORS if "stateOperators" in window.lacks else NO_COMMIT_TIME
    return per_batch(window, window.operators["commit_ms"])


@batch_metric("ms", "task")
def state_commit_per_task_ms(window: Window) -> Batchwise:
    """commitTimeMs / numShufflePartitions, summed over operators: the commit of one task."""
    if not _reports_commits(window):
        return NO_OPERATORS if "stateOperators" in window.lacks else NO_COMMIT_TIME
    return per_batch(window, window.operators["commit_ms"] / partitions(window))


@batch_metric("ms", phases=("add_batch_ms",))
def state_commit_wall_ms(window: Window) -> Batchwise:
    """Per-task commit x waves of tasks: what the batch waits for state commits. An interval while slots are unknown."""
    return in_waves(window, window.operators["commit_ms"])


@batch_metric("ms", phases=("add_batch_ms",))
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
        return NO_OPERATORS if "stateOperators" in window.lacks else NO_COMMIT_TIME
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


@batch_metric("count", "count")
def state_partitions(window: Window) -> Batchwise:
    """State partitions of the operator that has most."""
    return _largest_told(window, partitions(window))


@window_metric("count", "count")
def state_stores(window: Window) -> Windowed:
    """State stores that a batch opens, of all operators together (median)."""
    told = known(per_batch(window, window.operators["store_instances"]))
    return Estimate.exactly(middle(told)) if len(told) else NO_STORES


@window_metric("ratio", "count")
def state_stores_per_partition(window: Window) -> Windowed:
    """State stores in each partition, of the operator that has most: four of a join, else one."""
    ratio = known(window.operators["store_instances"] / partitions(window)) if len(window.operators) else np.zeros(0)
    return Estimate.exactly(float(ratio.max())) if len(ratio) else NO_STORES


@batch_metric("count", "count")
def state_waves(window: Window) -> Batchwise:
    """Waves in which the state tasks run: ceil(partitions / task slots)."""
    return _with_slots(window, lambda most, free: np.ceil(most / free))


@batch_metric("ratio", "count")
def state_partitions_per_slot(window: Window) -> Batchwise:
    """State partitions per task slot; at most those on the slots that were seen, while slots are unknown."""
    most = _largest(window, partitions(window))
    if slots(window) is None and any_above_zero(most):
        return Bounds(most * 0, most / least_slots(window), "task_slots")
    return _with_slots(window, lambda most, free: most / free)


@batch_metric("ms", phases=("add_batch_ms",))
def state_waves_excess_ms(window: Window) -> Batchwise:
    """The time of the waves beyond the first: addBatch x (1 - 1 / waves), at most twice what the operators tell of it.

    Other stages of the batch are no waves of state. In six recorded runs the first came to 1.2 to 1.8 x the time of the
    state's own tasks (updates, removals, commit) in these waves: tasks also start, and load their store. The updates of
    arbitrary state are the query's own work, which fewer partitions share: there at least the commits are spared.
    """
    if "stateOperators" in window.lacks and not len(window.operators):
        return NO_OPERATORS
    waves = state_waves(window)
    if not isinstance(waves, np.ndarray):
        return waves
    most = window.batches["add_batch_ms"] * (1 - 1 / np.where(waves > 0, waves, np.nan))
    excess = zero_filled(np.fmin(most, TASKS_AROUND * _beyond_first_wave(window, task_ms(window))))
    if not arbitrary(window).any():
        return excess
    return Bounds(np.fmin(excess, zero_filled(_beyond_first_wave(window, window.operators["commit_ms"]))), excess)


def _beyond_first_wave(window: Window, task: np.ndarray) -> np.ndarray:
    """Task time of operators as the time of the waves after the first; NaN where no operator tells."""
    shown = partitions(window)
    return per_batch(window, task / shown * (np.ceil(shown / (slots(window) or shown)) - 1))


def task_ms(window: Window) -> np.ndarray:
    """What each operator's tasks report: updates, removals and commit. Updates hold what the tasks read, too."""
    parts = [window.operators[name] for name in ("all_updates_ms", "all_removals_ms", "commit_ms")]
    untold = np.isnan(parts)
    return np.where(untold.all(axis=0), np.nan, np.where(untold, 0.0, parts).sum(axis=0))


def arbitrary(window: Window) -> np.ndarray:
    """Which operators run the query's own code on its state: mapGroupsWithState, transformWithState and their kin."""
    return np.array([str(name).startswith(ARBITRARY) for name in window.operators["name"]], dtype=bool)


def _with_slots(window: Window, combine: Callable[[np.ndarray, float], np.ndarray]) -> Batchwise:
    most, free = _largest(window, partitions(window)), slots(window)
    if not any_above_zero(most):
        return most
    if free is None:
        return Missing("the number of task slots is not known", "task_slots")
    return combine(most, free)


def _largest(window: Window, values: np.ndarray) -> np.ndarray:
    """The largest value of a batch's operators; 0 where none tells, NaN where records lack them."""
    if not len(window.operators):
        return np.full(len(window), _without_operators(window))
    largest = np.zeros(len(window))
    np.fmax.at(largest, window.operators["batch"], values)
    return largest


def _largest_told(window: Window, values: np.ndarray) -> np.ndarray:
    """The same; NaN, too, where a batch has operators and none of them tells."""
    silent, batch = np.isnan(values), window.operators["batch"]
    told = np.bincount(batch, ~silent, len(window)) > 0
    return np.where(told | (np.bincount(batch, minlength=len(window)) == 0), _largest(window, values), np.nan)


@batch_metric("rows", "count")
def state_rows(window: Window) -> Batchwise:
    """Keys in the state (numRowsTotal), all operators."""
    return per_batch(window, window.operators["rows_total"])


@batch_metric("rows", "count")
def state_rows_updated(window: Window) -> Batchwise:
    """Keys that the batch changed (numRowsUpdated), all operators."""
    return per_batch(window, window.operators["rows_updated"])


@batch_metric("rows", "count")
def unchanged_rows_written(window: Window) -> Batchwise:
    """Keys of the state that the batch did not change: what complete mode writes again."""
    return per_batch(window, window.operators["rows_total"] - window.operators["rows_updated"])


@batch_metric("rows", "count")
def state_rows_updated_per_partition(window: Window) -> Batchwise:
    """Changed keys per state partition, of the operator that changed most."""
    return _largest_told(window, window.operators["rows_updated"] / partitions(window))


@batch_metric("rows", "count")
def rows_per_state_partition(window: Window) -> Batchwise:
    """Rows that each state partition works on, of the operator with most: rows read over partitions.

    An aggregation combines its rows before they reach the state: there it is the changed keys, and so it is for an
    operator without a name (before Spark 3.2), most often an aggregation. Elsewhere numRowsUpdated counts keys, not
    rows. A mean: one hot key does not show.
    """
    names = window.operators["name"].tolist()
    combined = np.array([name is None or name in AGGREGATIONS for name in names], bool)
    read = window.batches["input_rows"][window.operators["batch"]]
    return _largest_told(window, np.where(combined, window.operators["rows_updated"], read) / partitions(window))


@batch_metric("bytes", "bytes")
def state_memory_bytes(window: Window) -> Batchwise:
    """Memory of the state stores (0 for RocksDB with bounded memory)."""
    return per_batch(window, window.operators["memory_bytes"])


state_commit_share = share_of(
    state_commit_per_task_ms,
    "state_commit_share",
    "commitTimeMs / numShufflePartitions / triggerExecution, summed over operators: as if all tasks ran at once",
)
state_commit_share_at_slots = share_of(
    state_commit_wall_ms,
    "state_commit_share_at_slots",
    "commitTimeMs / numShufflePartitions x ceil(numShufflePartitions / task slots) / triggerExecution",
)
snapshot_commit_share = share_of(
    snapshot_commit_wall_ms,
    "snapshot_commit_share",
    "RocksDB's flush, compaction, checkpoint and file sync in the commit, as wall time / triggerExecution",
)
