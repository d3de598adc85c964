"""The state operators of a batch: their partitions, the time of their tasks, and sums over them."""

from __future__ import annotations

import numpy as np

from advisor.batches import Columns
from advisor.metrics.metric import remembered
from advisor.progress import FROM_UI
from advisor.statistics import above_zero, zero_filled
from advisor.window import Window

CACHE_COUNTERS = ("custom:loadedMapCacheHitCount", "custom:loadedMapCacheMissCount")
DEFAULT_PARTITIONS = 200
SESSIONS = "sessionWindowStateStoreSaveExec"
AGGREGATIONS = ("stateStoreSave", SESSIONS, "StatefulStreamlineAggregate")
ARBITRARY = ("flatMapGroupsWithState", "applyInPandasWithState", "transformWithState")
"""How the names of operators begin that run the query's own code."""


def per_batch(window: Window, values: np.ndarray) -> np.ndarray:
    """A value of each operator, summed over the operators of a batch; 0 for a query without state.

    NaN for a batch without a value of any operator, and if records lack their operators.
    """
    if not len(window.operators):
        return np.full(len(window), _without_operators(window))
    present, batch, has_any = ~np.isnan(values), window.operators["batch"], _has_operators(window)
    if not present.all():
        batch, values = batch[present], values[present]
        has_any = np.bincount(batch, minlength=len(window)) > 0
    return np.where(has_any, np.bincount(batch, values, len(window)), np.nan)


@remembered
def _has_operators(window: Window) -> np.ndarray:
    return np.bincount(window.operators["batch"], minlength=len(window)) > 0


def _without_operators(window: Window) -> float:
    """What batches without operators stand for: none, or nobody knows."""
    return np.nan if "stateOperators" in window.lacks else 0.0


@remembered
def partitions(window: Window) -> np.ndarray:
    """State partitions of each operator.

    Before SPARK-45084 numShufflePartitions counted task attempts, so that a retried task made it larger: it is capped
    by the number of state store instances and by the least that the operator showed in this window.
    """
    shown = window.operators["shuffle_partitions"]
    shown = np.where(np.isnan(shown), _untold(window), shown) if np.isnan(shown).any() else shown
    return above_zero(np.fmin(shown, least_shown(window, shown)))


def _untold(window: Window) -> np.ndarray:
    """Partitions of operators that do not name them (before Spark 3.0; pages before 4.3, where only the plan does):
    the pinned number, else their stores, else what caches show.
    """
    pinned, operators = window.facts.get("shuffle_partitions"), window.operators
    instances = operators["store_instances"]
    if pinned is not None and pinned.origin in ("log", FROM_UI):
        return np.fmin(float(pinned.value), instances)  # a limit has one
    by_caches = shown_by_caches(operators, _with_state_before(window)[operators["batch"]])
    return np.where(np.isnan(instances), by_caches, instances)


def shown_by_caches(operators: Columns, later: np.ndarray) -> np.ndarray:
    """Return partitions of operators by the counters of the default store's caches, NaN if these do not show them.

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
    return numbers - max(ran["batch_id"][0] - 1, 0) if start_was_seen else numbers


def least_shown(window: Window, values: np.ndarray) -> np.ndarray:
    """For each row of `window.operators` the least value of all rows of that operator's name."""
    numbers: dict[object, int] = {}
    names = np.array([numbers.setdefault(name, len(numbers)) for name in window.operators["name"]], dtype=int)
    least = np.full(len(numbers), np.nan)
    np.fmin.at(least, names, values)
    return least[names]


@remembered
def computed_times(window: Window) -> np.ndarray:
    """How often each operator was computed in its batch, and its keys counted: its stores over its partitions.

    A sort samples its rows in a job of its own, a function of foreachBatch may run several. 1 where that is unknown,
    and for a join, which has four stores in a partition.
    """
    times = np.floor(window.operators["store_instances"] / partitions(window))
    return np.where((times > 1) & ~joins(window), times, 1.0)


def task_ms(window: Window) -> np.ndarray:
    """What each operator's tasks report: updates, removals and commit. Updates hold what the tasks read, too."""
    parts = [window.operators[name] for name in ("all_updates_ms", "all_removals_ms", "commit_ms")]
    untold = np.isnan(parts)
    return np.where(untold.all(axis=0), np.nan, np.where(untold, 0.0, parts).sum(axis=0))


def arbitrary(window: Window) -> np.ndarray:
    """Which operators run the query's own code on its state: mapGroupsWithState, transformWithState and their kin."""
    return np.array([str(name).startswith(ARBITRARY) for name in window.operators["name"]], dtype=bool)


def joins(window: Window) -> np.ndarray:
    """Which operators join two streams: these have four stores in a partition."""
    return np.array([str(name).startswith("symmetricHashJoin") for name in window.operators["name"]], dtype=bool)


def largest(window: Window, values: np.ndarray) -> np.ndarray:
    """Return the largest value of a batch's operators; 0 if none has one, NaN if records lack operators."""
    if not len(window.operators):
        return np.full(len(window), _without_operators(window))
    largest = np.zeros(len(window))
    np.fmax.at(largest, window.operators["batch"], values)
    return largest


def largest_told(window: Window, values: np.ndarray) -> np.ndarray:
    """Return the same; also NaN if a batch has operators and none has a value."""
    if not len(window.operators):
        return largest(window, values)
    silent, batch = np.isnan(values), window.operators["batch"]
    present = np.bincount(batch, ~silent, len(window)) > 0
    return np.where(present | ~_has_operators(window), largest(window, values), np.nan)
