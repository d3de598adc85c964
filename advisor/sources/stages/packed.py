"""When tasks ran, of which only the lengths are known."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapreplace

import numpy as np


def packed(lengths: Sequence[float], slots: int, end: float, most: float) -> list[tuple[float, float]]:
    """Spans of tasks one behind the other, the last of which ends at `end`; within `most` ms.

    On so many slots, or on more, as many as they need to have run in this time.
    """
    if not lengths:
        return []
    slots = min(slots, len(lengths))
    spans, whole = _laid(lengths, slots)
    while whole > most and slots < len(lengths):
        slots = min(len(lengths), max(slots + 1, int(slots * whole / most) if most > 0 else len(lengths)))
        spans, whole = _laid(lengths, slots)
    begin = end - min(most, whole)
    return [(begin + start, min(end, begin + finish)) for start, finish in spans]


def packed_all(
    lengths: np.ndarray, starts: np.ndarray, slots: np.ndarray, ends: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(launch, finish) of the tasks of some stages, each stage's `packed`; `starts`: where its lengths begin."""
    counts = np.diff(np.append(starts, len(lengths)))
    begins = ends - np.minimum(most, np.maximum.reduceat(lengths, starts))
    launch = np.repeat(begins, counts)
    finish = np.minimum(np.repeat(ends, counts), launch + lengths)
    for at in np.flatnonzero(slots < counts).tolist():  # else all of its tasks start at once
        own = slice(starts[at], starts[at] + counts[at])
        spans = packed(lengths[own].tolist(), int(slots[at]), float(ends[at]), float(most[at]))
        launch[own], finish[own] = np.transpose(spans)
    return launch, finish


def _laid(lengths: Sequence[float], slots: int) -> tuple[list[tuple[float, float]], float]:
    """(spans from 0 on of tasks on so many slots, when the last of them ends)."""
    free = [0.0] * slots
    spans = []
    for length in lengths:
        start = free[0]
        heapreplace(free, start + length)
        spans.append((start, start + length))
    return spans, max(free)
