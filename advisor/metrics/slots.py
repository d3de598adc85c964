"""Task slots: how many tasks can run at once, or at least do."""

from __future__ import annotations

import numpy as np

from advisor.metrics.numbers import fact_number, known
from advisor.metrics.operators import largest, partitions, task_ms
from advisor.metrics.registry import Estimate, Missing, Windowed, remembered, window_metric
from advisor.numbers import middle
from advisor.window import Window

NO_SLOTS = Missing("the number of task slots is not known", "task_slots")
_TIMERS = 0.9
"""What may be relied on of tasks that ran at once by their times: an attempt that was made again counts twice."""


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


@window_metric("count", "count")
def missing_task_slots(window: Window) -> Windowed:
    """Task slots that are missing where each source partition and each state partition holds one all the time."""
    needed = _held_all_the_time(window)
    if isinstance(needed, Missing):
        return needed
    total, seen = window.facts.get("task_slots"), fact_number(window, "task_slots_at_least")
    free = slots(window) or 0.0
    if free and free < needed and total is not None and total.origin != "inferred":
        return Estimate.exactly(needed - free)
    if slots_are_shared(window):
        return Missing("other queries run in the same task slots")
    return Estimate.exactly(0.0) if max(free, seen or 0.0) >= needed else NO_SLOTS


def _held_all_the_time(window: Window) -> float | Missing:
    """Tasks of real-time mode or continuous processing, which never end: one a partition."""
    if window.facts.value("source") != "kafka":
        return Missing("the partitions of the source are not known")
    partitions_of_source = fact_number(window, "kafka_partitions")
    if partitions_of_source is None:
        return Missing("the partitions of the topics are not known", "kafka_partitions")
    if window.facts.value("stateful") is False:
        return partitions_of_source
    of_state = known(largest(window, partitions(window)))
    if not len(of_state) or not of_state.max() > 0:
        return Missing("the state partitions are not known")
    return partitions_of_source + float(of_state.max())


def slots_are_shared(window: Window) -> bool:
    """Whether other queries of the application run in the same slots: then they are an upper bound."""
    return bool(window.facts.value("slots_shared"))
