"""When tasks ran, of which only the lengths are known."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapreplace


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


def _laid(lengths: Sequence[float], slots: int) -> tuple[list[tuple[float, float]], float]:
    """(spans from 0 on of tasks on so many slots, when the last of them ends)."""
    free = [0.0] * slots
    spans = []
    for length in lengths:
        start = free[0]
        heapreplace(free, start + length)
        spans.append((start, start + length))
    return spans, max(free)
