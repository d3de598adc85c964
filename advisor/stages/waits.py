"""Which stretches of time other queries' tasks held all slots."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from advisor.stages.parts import Gap
from advisor.stages.tasks import Spans


class Waits(NamedTuple):
    """How long, in a stretch of time, others' tasks held the slots, and whose."""

    ms: float
    names: frozenset[str]


_NO_WAIT = Waits(0.0, frozenset())


class Slots:
    """Which tasks held the slots of an application, and for whom."""

    def __init__(self, spans: Spans, names: Mapping[str, str]) -> None:
        """`names`: of queries, by id."""
        self._launch, self._finish, self._whose, ids = spans.in_order()
        self._launches, self._finishes = array("d", self._launch.tobytes()), array("d", np.sort(self._finish).tobytes())
        self._longest = float((self._finish - self._launch).max(initial=0.0))
        self._of = {id: whose for whose, id in enumerate(ids)}
        self._names = [names.get(id, id) if id else "a job of no streaming query" for id in ids]

    def held(self, gap: Gap, slots: int | None, query: str | None) -> Waits:
        """How long in this stretch tasks of others held all slots; nothing if their number is not known."""
        start, end = gap
        there_at_all = bisect_left(self._launches, end) - bisect_right(self._finishes, start)
        if slots is None or there_at_all < max(slots, 1):
            return _NO_WAIT
        first = int(np.searchsorted(self._launch, start - self._longest))
        last = int(np.searchsorted(self._launch, end))
        launch, finish = self._launch[first:last], self._finish[first:last]
        there = (finish > start) & (self._whose[first:last] != self._of.get(query, -1))
        launch, finish = np.maximum(launch[there], start), np.minimum(finish[there], end)
        times = np.concatenate([launch, finish])
        order = np.lexsort((np.repeat([1, 0], len(launch)), times))
        held = np.cumsum(np.repeat([1, -1], len(launch))[order])[:-1]
        lengths = np.diff(times[order])
        ms = float(lengths[held >= max(slots, 1)].sum())
        names = {self._names[whose] for whose in self._whose[first:last][there].tolist()} if ms > 0 else ()
        return Waits(ms, frozenset(names))
