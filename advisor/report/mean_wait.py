"""What a record waits for its trigger beside the batch that is the loss."""

from __future__ import annotations

import numpy as np

from advisor.metrics import sure
from advisor.metrics.numbers import fixed_interval_ms, known, median
from advisor.metrics.words import milliseconds
from advisor.window import Window

ALIKE = 1.1
"""Times between triggers that differ by no more are told as one."""


def mean_wait(window: Window) -> str:
    """A sentence on what a record waits for its trigger on average; empty where that is less than its batch."""
    interval = fixed_interval_ms(window)
    gaps = np.array([interval]) if interval else _apart(window)
    waits = float((gaps**2).sum() / (2 * gaps.sum())) if gaps.sum() else 0.0  # a long gap holds the more records
    if waits <= sure(window, "trigger_execution_ms"):
        return ""
    wait = f"{milliseconds(waits)} for the trigger, longer than for its batch."
    return (
        f"On average a record waits {wait}" if interval else f"{_said(gaps)}: if that is usual, a record waits {wait}"
    )


def _apart(window: Window) -> np.ndarray:
    """The times from trigger to trigger where nothing tells the trigger's kind.

    Not after batch 0: it is cold, and the next one may only have waited for its end.
    """
    after_first = window.batches["batch_id"] == 1
    return known(window.batches["interval_ms"][~after_first]) if "trigger" not in window.facts else np.empty(0)


def _said(gaps: np.ndarray) -> str:
    if gaps.max() <= ALIKE * gaps.min():
        return f"A trigger began {milliseconds(median(gaps))} after the one before"
    return f"Triggers began {milliseconds(gaps.min())} to {milliseconds(gaps.max())} after the one before"
