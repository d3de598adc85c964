"""Task slots: how many tasks can run at once, or at least do."""

from __future__ import annotations

import numpy as np

from advisor.metrics.metric import remembered, window_metric
from advisor.metrics.missing import NO_SLOTS, Missing, needed
from advisor.metrics.operators import largest, partitions, task_ms
from advisor.statistics import known, middle
from advisor.window import Window

_TIMERS = 0.9
"""What may be relied on of tasks that ran at once by their times: an attempt that was made again counts twice."""


def slots(window: Window) -> float | None:
    """Tasks that can run at once, if known."""
    number = window.facts.number("task_slots")
    return number if number is not None and number > 0 else None


@remembered
def least_slots(window: Window) -> float:
    """Tasks that surely run at once: those that were seen to, where the query has all slots for itself, else 1.

    And as many as it takes to fit the time of an operator's tasks into addBatch, in a typical batch.
    """
    seen = window.facts.number("task_slots_at_least")
    known_ones = seen if seen is not None and seen >= 1 and not slots_are_shared(window) else 1.0
    add_batch = window.batches["add_batch_ms"][window.operators["batch"]]
    at_once = known(task_ms(window) / np.where(add_batch > 0, add_batch, np.nan))
    return max(known_ones, float(np.ceil(middle(at_once) * _TIMERS))) if len(at_once) else known_ones


@window_metric("count", "count")
def missing_task_slots(window: Window) -> float | Missing:
    """Task slots that are missing where each source partition and each state partition holds one all the time."""
    needed_ones = needed(_held_all_the_time(window))
    total, seen = window.facts.get("task_slots"), window.facts.number("task_slots_at_least")
    free = slots(window) or 0.0
    if free and free < needed_ones and total is not None and total.origin != "inferred":
        return needed_ones - free
    if slots_are_shared(window):
        return Missing("other queries run in the same task slots")
    return 0.0 if max(free, seen or 0.0) >= needed_ones else NO_SLOTS


def _held_all_the_time(window: Window) -> float | Missing:
    """Tasks of real-time mode or continuous processing, which never end: one a partition."""
    if window.facts.value("source") != "kafka":
        return Missing("the partitions of the source are not known")
    of_source = window.facts.number("kafka_partitions")
    if of_source is None:
        return Missing("the partitions of the topics are not known", "kafka_partitions")
    if window.facts.value("stateful") is False:
        return of_source
    most = known(largest(window, partitions(window))).max(initial=0.0)
    return of_source + float(most) if most > 0 else Missing("the state partitions are not known")


@window_metric("count", "count", label="the advised number of state partitions")
def advised_state_partitions(window: Window) -> float | Missing:
    """As many state partitions as task slots, never fewer: each slot then has one task per batch."""
    free, shown = slots(window), known(partitions(window))
    return NO_SLOTS if free is None else min(free, float(shown.max(initial=0.0)) or free)


def slots_are_shared(window: Window) -> bool:
    """Whether other queries of the application run in the same slots: then they are an upper bound."""
    return bool(window.facts.value("slots_shared"))
