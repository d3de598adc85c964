"""Task slots: how many tasks can run at once, or at least do."""

from __future__ import annotations

import numpy as np

from advisor.metrics.numbers import fact_number, known
from advisor.metrics.operators import task_ms
from advisor.metrics.registry import remembered
from advisor.numbers import middle
from advisor.window import Window

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


def slots_are_shared(window: Window) -> bool:
    """Whether other queries of the application run in the same slots: then they are an upper bound."""
    return bool(window.facts.value("slots_shared"))
