"""The state: its partitions, rows and growth, and what its operators take of a batch (Spark sums it over tasks)."""

from __future__ import annotations

import numpy as np

from advisor.metrics.event_time import watermark_stands_still_ms
from advisor.metrics.flow import passed_ms
from advisor.metrics.metric import Batchwise, Bounds, Estimate, batch_metric, bounded_metric, remembered, window_metric
from advisor.metrics.missing import NO_SLOTS, NOT_SEEN, Missing, MissingError, needed
from advisor.metrics.operators import (
    AGGREGATIONS,
    arbitrary,
    computed_times,
    largest,
    largest_told,
    partitions,
    per_batch,
    task_ms,
)
from advisor.metrics.phases import share_of
from advisor.metrics.slopes import trend
from advisor.metrics.tasks import least_slots, of_kind, slots, slots_are_shared, spread
from advisor.metrics.tasks import per_batch as stages_ms
from advisor.regime import outer_thirds, steady_rise
from advisor.statistics import above_zero, any_above_zero, known, middle, zero_filled
from advisor.window import Window

NO_STORES = Missing("no operator reports its state stores")
DAY_MS = 86_400_000.0
MAY_REMOVE = Missing("there is a watermark, which may still remove rows of the state")
UNTOLD_WATERMARK = Missing("whether there is a watermark is not known", "watermarked")
SIZE = "custom:stateOnCurrentVersionSizeBytes"
NO_SIZE = Missing("the state store does not tell how large the state is")
READ = "custom:rocksdbTotalBytesRead"
NO_VALUES = Missing("the state store does not tell how much it reads")
NO_LONGER = Missing("what the state holds for each key grows ever more slowly")
ALL_KEPT = 0.98
"""Of the rows that were added: a row that is added and changed within one batch counts once."""
SLOWS_DOWN = Missing("the growth of the state slows down, as where there are only so many keys")
STILL_GROWS = 0.8
"""Of its pace in the first half: a set of keys that fills up grows ever more slowly."""
SNAPSHOT_PARTS = (
    "custom:rocksdbCommitFlushLatency",
    "custom:rocksdbCommitCompactLatency",
    "custom:rocksdbCommitCheckpointLatency",
    "custom:rocksdbCommitFileSyncLatencyMs",
)
NO_OPERATORS = Missing("partial record: state operators missing")
NO_COMMIT_TIME = Missing("these batches do not report commitTimeMs")
TASKS_AROUND = 2.0
_AROUND_A_COMMIT = ("state_update_ms", "scheduling_ms")
"""Parts of addBatch between which and the commit stages draw no line."""
GET_MS, GETS, PUTS = "custom:rocksdbGetLatency", "custom:rocksdbGetCount", "custom:rocksdbPutCount"
UNTOLD = Missing("no operator reports the time of RocksDB's lookups")


@batch_metric("count", "count")
def state_partitions(window: Window) -> np.ndarray:
    """State partitions of the operator that has most."""
    return largest_told(window, partitions(window))


@window_metric("count", "count", label="state stores of a batch")
def state_stores(window: Window) -> float | Missing:
    """State stores that a batch opens, of all operators together (median)."""
    found = known(per_batch(window, window.operators["store_instances"]))
    return middle(found) if len(found) else NO_STORES


@window_metric("ratio", "count", label="state stores in each partition")
def state_stores_per_partition(window: Window) -> float | Missing:
    """State stores in each partition, of the operator that has most: four of a join, else one."""
    ratio = known(window.operators["store_instances"] / partitions(window))
    return float(ratio.max()) if len(ratio) else NO_STORES


@batch_metric("rows", "count", label="keys in the state")
def state_rows(window: Window) -> np.ndarray:
    """Keys in the state (numRowsTotal), all operators, each counted once."""
    return per_batch(window, window.operators["rows_total"] / computed_times(window))


@batch_metric("rows", "count", label="state keys that a batch changes")
def state_rows_updated(window: Window) -> np.ndarray:
    """Keys that the batch changed (numRowsUpdated), all operators, each counted once."""
    return per_batch(window, window.operators["rows_updated"] / computed_times(window))


@batch_metric("rows", "count", label="unchanged keys that complete mode writes again")
def unchanged_rows_written(window: Window) -> np.ndarray:
    """Keys of aggregations that the batch did not change: what complete mode, which only they have, writes again."""
    unchanged = (window.operators["rows_total"] - window.operators["rows_updated"]) / computed_times(window)
    return per_batch(window, np.where(_of_aggregations(window), unchanged, 0.0))


@batch_metric("rows", "count", label="rows of a batch for each state partition")
def rows_per_state_partition(window: Window) -> np.ndarray:
    """Rows that each state partition works on, of the operator with most: rows read over partitions.

    An aggregation combines its rows before they reach the state: there it is the changed keys, and so it is for an
    operator without a name (before Spark 3.2), most often an aggregation. Elsewhere numRowsUpdated counts keys, not
    rows. A mean: one hot key does not show.
    """
    combined = _of_aggregations(window)
    read = window.batches["input_rows"][window.operators["batch"]]
    changed = window.operators["rows_updated"] / computed_times(window)
    return largest_told(window, np.where(combined, changed, read) / partitions(window))


def _of_aggregations(window: Window) -> np.ndarray:
    """Return which operators are aggregations; those without a name (before Spark 3.2) most often are."""
    return np.array([name is None or name in AGGREGATIONS for name in window.operators["name"].tolist()], bool)


@batch_metric("bytes", "bytes", label="memory of the state")
def state_memory_bytes(window: Window) -> np.ndarray:
    """Memory of the state stores (0 for RocksDB with bounded memory)."""
    return per_batch(window, window.operators["memory_bytes"] / computed_times(window))


@remembered
def _bytes_per_key(window: Window) -> np.ndarray | Missing:
    """Return what the default state store holds for each key, in bytes; RocksDB tells the size of its caches only."""
    size = window.operators[SIZE] if SIZE in window.operators else np.zeros(0)
    if not len(known(size)):  # nor where only another query's operators have it
        return NO_SIZE
    return per_batch(window, size / computed_times(window)) / above_zero(needed(state_rows(window)))


@window_metric("ratio", "count", label="the size of a key's state over that at the start of the window")
def bytes_per_key_growth(window: Window) -> float | Missing:
    """Bytes that the state holds for a key, in the last batch over the first."""
    found = known(needed(_bytes_per_key(window)))
    return float(found[-1] / found[0]) if len(found) and found[0] > 0 else NO_SIZE


@batch_metric("bytes", "bytes", label="the size of a value that RocksDB reads")
def state_value_bytes(window: Window) -> np.ndarray | Missing:
    """Bytes that RocksDB reads for each value that is asked for, of the operator whose values are largest."""
    operators = window.operators
    if READ not in operators or GETS not in operators or not len(known(operators[READ])):
        return NO_VALUES  # also where only another query's operators have it
    gets = operators[GETS]
    return largest_told(window, np.divide(operators[READ], gets, out=np.full(len(gets), np.nan), where=gets > 0))


@batch_metric("bytes", "bytes", label="the size of a row of the state")
def state_row_bytes(window: Window) -> np.ndarray | Missing:
    """Bytes that the state holds for each key, or that RocksDB reads for each value."""
    held = _bytes_per_key(window)
    return state_value_bytes(window) if isinstance(held, Missing) else held


@bounded_metric("ms", phases=("add_batch_ms",), label="updates, removals and commits of the state", share=True)
def state_work_ms(window: Window) -> Batchwise:
    """What operators tell of updates (with what their tasks read), removals and commits, as wall time."""
    return in_waves(window, task_ms(window))


@window_metric("ratio", "count", label="the size of a value over that at the start of the window")
def state_value_growth(window: Window) -> float:
    """The size of a value that RocksDB reads in the last batches over the first, where it rises all along; else 1."""
    found = known(needed(state_value_bytes(window)))
    first, last = outer_thirds(found) if len(found) else (0.0, 0.0)
    return last / first if first > 0 and steady_rise(found) else 1.0


@window_metric("bytes", "bytes", label="what the state grows in a day for each of its keys together")
def state_bytes_growth_per_day(window: Window) -> Estimate | Missing:
    """Bytes that the keys of today hold more after a day; missing where it slows down by the row, or a watermark comes.

    Such are lists and sets without bound. Keys that only become more count nothing here.
    """
    found, watermarked = needed(_bytes_per_key(window)), window.facts.value("watermarked")
    if watermarked is None:
        return UNTOLD_WATERMARK
    if watermarked:
        return MAY_REMOVE
    read = np.cumsum(zero_filled(window.batches["input_rows"]))
    if _slows_down(read, found):
        return NO_LONGER
    keys = known(needed(state_rows(window)))
    return trend(passed_ms(window) / DAY_MS, found * keys[-1]) if len(keys) else NO_SIZE


@window_metric("rows", "count", label="the growth of the state in a day")
def state_growth_per_day(window: Window) -> float | Estimate | Missing:
    """Rows by which the state grows in a day where nothing removes any: Theil-Sen slope with its 95 % interval.

    0 if the state ever shrinks from one batch to the next, or shows no trend (Kendall's test); missing if its growth
    slows down. With a watermark it is known if the watermark stands still while event times advance, and for
    dropDuplicates, whose updates are all new rows.
    """
    rows = state_rows(window)
    if isinstance(rows, Missing) or not len(known(rows)):
        return Missing("the rows of the state are not known")
    if (np.diff(known(rows)) < 0).any():
        return 0.0
    watermarked = window.facts.value("watermarked")
    if watermarked is None:
        return UNTOLD_WATERMARK
    rests = watermark_stands_still_ms(window)
    never_comes = isinstance(rests, Estimate) and rests.safe > 0
    if watermarked and not (never_comes or _kept_in_spite_of_the_watermark(window, rows)):
        return MAY_REMOVE
    return SLOWS_DOWN if _slows_down(passed_ms(window), rows) else trend(passed_ms(window) / DAY_MS, rows)


@window_metric("ms", phases=("add_batch_ms",), label="the growth of the state's own work")
def state_work_growth_ms(window: Window) -> float | Missing:
    """What operators of the state take longer in the last third of the batches than in the first; 0 if a row left it.

    As wall time, where all tasks run at once if the slots are not known.
    """
    rows, work = known(needed(state_rows(window))), in_waves(window, task_ms(window))
    added, took = needed(state_rows_updated(window))[1:].sum(), known(work.low if isinstance(work, Bounds) else work)
    if len(took) < 2 or len(rows) < 2 or not rows[-1] - rows[0] >= ALL_KEPT * added > 0:
        return 0.0
    first, last = outer_thirds(took)
    return max(0.0, last - first)


def _slows_down(when: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the second half of the batches adds rows more slowly than the first."""
    present = ~np.isnan(when) & ~np.isnan(rows)
    when, rows = when[present], rows[present]
    half = len(rows) // 2
    if half < 2:
        return False
    early, late = (rows[half] - rows[0]) * (when[-1] - when[half]), (rows[-1] - rows[half]) * (when[half] - when[0])
    return bool(late < STILL_GROWS * early)


def _kept_in_spite_of_the_watermark(window: Window, rows: np.ndarray) -> bool:
    """Whether dropDuplicates kept all its rows although the watermark has passed those of the first batch."""
    watermark, newest = window.batches["watermark"], window.batches["event_time_max"]
    updated = state_rows_updated(window)
    if set(window.operators["name"]) != {"dedupe"} or isinstance(updated, Missing):
        return False
    added = float(np.nansum(updated[1:]))
    return bool(watermark[-1] > newest[0] and added > 0 and rows[-1] - rows[0] >= ALL_KEPT * added)


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


def as_spark_reports(parts: dict[str, np.ndarray], window: Window) -> dict[str, np.ndarray]:
    """Return the parts of each batch with the state commit by commitTimeMs; the parts around it take the rest."""
    commit, around = state_commit_wall_ms(window), [name for name in _AROUND_A_COMMIT if name in parts]
    if not isinstance(commit, np.ndarray) or "state_commit_ms" not in parts or not around:
        return parts
    seen, of_others = parts["state_commit_ms"], sum((parts[name] for name in around), np.zeros(len(window)))
    told = np.where(~np.isnan(commit) & (seen > 0) & (of_others > 0), np.fmin(commit, seen + of_others), seen)
    left = (seen + of_others - told) / np.where(of_others > 0, of_others, 1.0)
    return (
        parts | {name: parts[name] * np.where(of_others > 0, left, 1.0) for name in around} | {"state_commit_ms": told}
    )


@bounded_metric("ms", phases=("add_batch_ms",), label="RocksDB's snapshots")
def snapshot_commit_wall_ms(window: Window) -> Batchwise:
    """Flush, compaction, checkpoint and file sync of RocksDB commits as wall time: together, most of a commit."""
    commits, parts = _commits(window), [window.operators[name] for name in SNAPSHOT_PARTS if name in window.operators]
    shown = np.array(parts or [np.full(len(commits), np.nan)])
    summed = np.where(np.isnan(shown).all(axis=0), np.nan, zero_filled(shown).sum(axis=0))
    return in_waves(window, np.where(np.isnan(summed), np.nan, np.fmin(summed, commits)))


@bounded_metric("ms", phases=("add_batch_ms",), label="RocksDB's compaction in commits", share=True)
def state_compaction_ms(window: Window) -> Batchwise:
    """Compaction of RocksDB in commits (compactOnCommit) as wall time."""
    name = SNAPSHOT_PARTS[1]
    if name not in window.operators:
        raise MissingError(Missing("no operator reports RocksDB's compaction"))
    return in_waves(window, np.minimum(window.operators[name], _commits(window)))


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
    """Waves in which the state tasks run: ceil(partitions / task slots); one where as many were seen at once."""
    most, free = largest(window, partitions(window)), slots(window)
    if not any_above_zero(most):
        return most
    if free is None and np.nanmax(most) > least_slots(window):
        return NO_SLOTS
    return np.ceil(most / (free or least_slots(window)))


@bounded_metric("ratio", "count", label="state partitions per task slot")
def state_partitions_per_slot(window: Window) -> Batchwise:
    """State partitions per task slot; at most those on the slots that were seen, while slots are unknown."""
    most, free = largest(window, partitions(window)), slots(window)
    if not any_above_zero(most):
        return most
    return Bounds(most * 0, most / least_slots(window), "task_slots") if free is None else most / free


@bounded_metric("ms", phases=("add_batch_ms",), label="state tasks waiting for a slot, at most")
def state_waves_excess_ms(window: Window) -> Batchwise | Missing:
    """At most this long are the waves beyond the first: addBatch x (1 - 1 / waves), or twice what operators tell of it.

    addBatch holds the driver's own time and other stages, too. In six recorded runs that came to 1.2 to 1.8 x the
    time of the state's own tasks (updates, removals, commit) in these waves: tasks also start and load their store. The
    updates of arbitrary state are the query's own work, which fewer partitions share: at least the commits are spared.
    """
    if "stateOperators" in window.lacks and not len(window.operators):
        return NO_OPERATORS
    most = window.batches["add_batch_ms"] * _after_the_first(window)
    excess = zero_filled(np.fmin(most, TASKS_AROUND * _beyond_first_wave(window, task_ms(window))))
    if not arbitrary(window).any():
        return excess
    return Bounds(np.fmin(excess, zero_filled(_beyond_first_wave(window, window.operators["commit_ms"]))), excess)


@bounded_metric("ms", phases=("add_batch_ms",), label="state tasks waiting for a slot")
def state_waves_ms(window: Window) -> Batchwise | Missing:
    """The waves of state tasks beyond the first: their part of the stages with state; the most where none was seen."""
    most, stages = state_waves_excess_ms(window), window.stages
    seen = stages_ms(window, spread(window).wall, of_kind(window, "state")) if len(stages) else NOT_SEEN
    if isinstance(most, Missing) or isinstance(seen, Missing):
        return most
    seen = above_zero(seen) * _after_the_first(window)
    if isinstance(most, Bounds):
        return Bounds(np.fmin(most.low, seen), np.fmin(most.high, seen))
    return np.fmin(most, seen)


def _after_the_first(window: Window) -> np.ndarray:
    """The share of a stage with state that its waves after the first take."""
    return 1 - 1 / above_zero(needed(state_waves(window)))


def _beyond_first_wave(window: Window, task: np.ndarray) -> np.ndarray:
    """Task time of operators as the time of the waves after the first; NaN without any operator's time."""
    shown = partitions(window)
    return per_batch(window, task / shown * (np.ceil(shown / (slots(window) or shown)) - 1))


@bounded_metric("ms", phases=("add_batch_ms",), label="counting the state's rows", share=True)
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
