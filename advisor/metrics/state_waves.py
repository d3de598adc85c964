"""The waves in which state tasks run, where there are more of them than task slots."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from advisor.metrics.numbers import any_above_zero
from advisor.metrics.operators import NO_OPERATORS, arbitrary, largest, partitions, per_batch, task_ms
from advisor.metrics.registry import Batchwise, Bounds, Missing, batch_metric
from advisor.metrics.slots import least_slots, slots
from advisor.numbers import zero_filled
from advisor.window import Window

TASKS_AROUND = 2.0


@batch_metric("count", "count", label="waves of state tasks")
def state_waves(window: Window) -> Batchwise:
    """Waves in which the state tasks run: ceil(partitions / task slots)."""
    return _with_slots(window, lambda most, free: np.ceil(most / free))


@batch_metric("ratio", "count", label="state partitions per task slot")
def state_partitions_per_slot(window: Window) -> Batchwise:
    """State partitions per task slot; at most those on the slots that were seen, while slots are unknown."""
    most = largest(window, partitions(window))
    if slots(window) is None and any_above_zero(most):
        return Bounds(most * 0, most / least_slots(window), "task_slots")
    return _with_slots(window, lambda most, free: most / free)


@batch_metric("ms", phases=("add_batch_ms",), label="state tasks waiting for a slot")
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
    """Task time of operators as the time of the waves after the first; NaN without any operator's time."""
    shown = partitions(window)
    return per_batch(window, task / shown * (np.ceil(shown / (slots(window) or shown)) - 1))


def _with_slots(window: Window, combine: Callable[[np.ndarray, float], np.ndarray]) -> Batchwise:
    most, free = largest(window, partitions(window)), slots(window)
    if not any_above_zero(most):
        return most
    if free is None:
        return Missing("the number of task slots is not known", "task_slots")
    return combine(most, free)
