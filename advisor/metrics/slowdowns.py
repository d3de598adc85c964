"""Batches that are slow without a rhythm, and batches that are slower than those before a restart or change."""

from __future__ import annotations

import numpy as np

from advisor.metrics.flow import SAME_LOAD, rows_taken
from advisor.metrics.numbers import known, median
from advisor.metrics.registry import NO_BATCHES, Estimate, Missing, Windowed, window_metric
from advisor.metrics.spikes import Rhythm, rhythm
from advisor.window import PHASES, Window

SLOW_FACTOR = 3.0
"""Times the median from which a batch counts as slow."""
NOTHING_BEFORE = Missing("there are no batches before these to compare with")


def _slow(window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The durations of the slow batches, and of all; none is slow where the slow ones have a rhythm."""
    duration = known(window.batches["trigger_execution_ms"])
    slow = duration >= SLOW_FACTOR * max(median(duration), 1.0) if len(duration) else duration > 0
    return duration[slow if not isinstance(rhythm(window), Rhythm) else slow & False], duration


@window_metric("count", "count")
def slow_batches(window: Window) -> Windowed:
    """How many batches take at least three times the median, where they come without a rhythm."""
    return Estimate.exactly(float(len(_slow(window)[0]))) if len(window) else NO_BATCHES


@window_metric("ms", label="the median slow batch")
def slow_batch_ms(window: Window) -> Windowed:
    """The median of the batches that are slow without a rhythm."""
    slow, _ = _slow(window)
    return Estimate.exactly(median(slow)) if len(slow) else Missing("no batch is slow without a rhythm")


@window_metric("ms", phases=tuple(PHASES), label="slow batches")
def slow_batches_excess_ms(window: Window) -> Windowed:
    """What batches that are slow without a rhythm take beyond the median, spread over all batches."""
    slow, duration = _slow(window)
    if not len(duration):
        return NO_BATCHES
    return Estimate.exactly(float((slow - median(duration)).sum()) / len(duration))


@window_metric("share", label="the share of slow batches")
def slow_batches_excess_share(window: Window) -> Windowed:
    """What batches that are slow without a rhythm take beyond the median, over the time of all batches."""
    slow, duration = _slow(window)
    if not len(duration) or not duration.sum() > 0:
        return NO_BATCHES
    return Estimate.exactly(float((slow - median(duration)).sum() / duration.sum()))


@window_metric("ms", phases=tuple(PHASES))
def slower_than_before_ms(window: Window) -> Windowed:
    """How much longer the median batch takes than before the restart or change, at the same load; 0 otherwise."""
    if window.earlier is None or not len(window.earlier) or not len(window):
        return NOTHING_BEFORE
    old, new = (median(one.batches["trigger_execution_ms"]) for one in (window.earlier, window))
    rows = [max(1.0, median(rows_taken(one))) for one in (window.earlier, window)]
    if np.isnan([old, new, *rows]).any():
        return NOTHING_BEFORE
    same = max(rows) <= SAME_LOAD * min(rows)
    return Estimate.exactly(max(0.0, new - old) if same else 0.0)


@window_metric("share", label="the share by which batches got slower")
def slower_than_before_share(window: Window) -> Windowed:
    """That difference over the median batch of now."""
    longer, now = slower_than_before_ms(window), median(window.batches["trigger_execution_ms"])
    return longer if not isinstance(longer, Estimate) or not now > 0 else Estimate.exactly(longer.safe / now)


@window_metric("ms", label="the median batch before")
def batch_before_ms(window: Window) -> Windowed:
    """The median batch before the restart or change."""
    earlier = window.earlier
    return NOTHING_BEFORE if earlier is None else Estimate.exactly(median(earlier.batches["trigger_execution_ms"]))


@window_metric("count", "count", label="judged batches")
def steady_batches(window: Window) -> Windowed:
    """How many batches are judged."""
    return Estimate.exactly(float(len(window)))
