"""Which stretches of time other queries' tasks held all slots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from advisor.stages.parts import Gap, Waits
from advisor.stages.tasks import Spans


class Others:
    """The tasks that are not one query's."""

    def __init__(self, spans: Spans, query: str | None, names: Mapping[str, str]) -> None:
        """`names`: of queries, by id."""
        launch, finish, whose, ids = spans.others(query)
        order = np.argsort(launch, kind="stable")
        self._launch, self._finish, self._whose = launch[order], finish[order], whose[order]
        self._longest = float((finish - launch).max()) if len(launch) else 0.0
        self._names = [names.get(id, id) if id else "a job of no streaming query" for id in ids]

    def hold(self, gap: Gap, slots: int | None) -> Waits:
        """How long in this stretch they held all slots; where their number is not known, any slot."""
        start, end = gap
        first = int(np.searchsorted(self._launch, start - self._longest))
        last = int(np.searchsorted(self._launch, end))
        launch, finish = self._launch[first:last], self._finish[first:last]
        there = finish > start
        if not there.any():
            return Waits(0.0, frozenset())
        launch, finish = np.maximum(launch[there], start), np.minimum(finish[there], end)
        times = np.concatenate([launch, finish])
        order = np.lexsort((np.repeat([1, 0], len(launch)), times))
        held = np.cumsum(np.repeat([1, -1], len(launch))[order])[:-1]
        lengths = np.diff(times[order])
        ms = float(lengths[held >= (slots or 1)].sum())
        names = {self._names[whose] for whose in self._whose[first:last][there].tolist()} if ms > 0 else ()
        return Waits(ms, frozenset(names))
