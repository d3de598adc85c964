"""Which stretches of time other queries' tasks held all slots."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from advisor.stages.batchjobs import Gathered, Inside
from advisor.stages.parts import NAMES, Gap, Idle, move
from advisor.stages.tasks import Spans

NO_QUERY = "a job of no streaming query"
_OFTEN = 0.2
"""Of the time in which one task less ran: so many ran at once for longer than Spark takes to start the next one."""
_SHORT_MS = 2.0
"""Between a stage's submission and its tasks there are always some; no other need have held a slot."""


class Slots:
    """Which tasks held the slots of an application, and for whom."""

    def __init__(self, spans: Spans, names: Mapping[str, str]) -> None:
        """`names`: of queries, by id."""
        self._launch, self._finish, self._whose, ids = spans.in_order()
        self._launches, self._finishes = array("d", self._launch.tobytes()), array("d", np.sort(self._finish).tobytes())
        self._longest = float((self._finish - self._launch).max(initial=0.0))
        self._of = {id: whose for whose, id in enumerate(ids)}
        self._names = [names.get(id, id) if id else NO_QUERY for id in ids]

    @cached_property
    def seen(self) -> int:
        """The most tasks that ran at once for more than moments: there are so many slots, or more."""
        ran = self._finish > self._launch
        held, lengths = _held(self._launch[ran], self._finish[ran])
        return most_at_once(np.bincount(held, lengths, 2) if len(held) else np.zeros(2), _OFTEN)

    def held(
        self, gap: Gap, slots: int | None, query: str | None, *, known: bool = True
    ) -> tuple[float, float, frozenset[str]]:
        """How long in this stretch tasks of others held all slots, and how much of that after one had become free.

        Also whose; nothing if the number of slots is not known. `known`: tasks of no query are known to be others'.
        """
        start, end = gap
        there_at_all = bisect_left(self._launches, end) - bisect_right(self._finishes, start)
        if slots is None or there_at_all < max(slots, 1):
            return 0.0, 0.0, frozenset()
        first = int(np.searchsorted(self._launch, start - self._longest))
        last = int(np.searchsorted(self._launch, end))
        launch, finish = self._launch[first:last], self._finish[first:last]
        there = (finish > start) & (self._whose[first:last] != self._of.get(query, -1))
        if not known:
            there &= self._whose[first:last] != self._of.get(None, -1)
        launch, finish = launch[there], finish[there]
        ms, overtaken = (
            _full(launch, finish, (since, end), slots) for since in (start, float(finish.min(initial=end)))
        )
        names = {self._names[whose] for whose in self._whose[first:last][there].tolist()} if ms > 0 else ()
        return ms, overtaken, frozenset(names)


def most_at_once(times: np.ndarray, often: float) -> int:
    """Return how many tasks ran at once, at the most, in at least the share `often` of the times in which one less ran.

    `times`: how long, or how often, 0, 1, 2.. tasks ran.
    """
    at_least = np.cumsum(times[::-1])[::-1]
    seldom = np.flatnonzero(at_least[2:] < often * at_least[1:-1])
    return int(seldom[0]) + 1 if len(seldom) else len(at_least) - 1


def _full(launch: np.ndarray, finish: np.ndarray, gap: Gap, slots: int) -> float:
    """Return how long in this stretch these tasks held all slots."""
    there = finish > gap[0]
    held, lengths = _held(np.maximum(launch[there], gap[0]), np.minimum(finish[there], gap[1]))
    return float(lengths[held >= max(slots, 1)].sum())


def _held(launch: np.ndarray, finish: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(how many of these tasks run, for how long) between each two changes of that."""
    times = np.concatenate([launch, finish])
    order = np.lexsort((np.repeat([1, 0], len(launch)), times))
    return np.cumsum(np.repeat([1, -1], len(launch))[order])[:-1], np.diff(times[order])


SlotsOf = Callable[[Spans], Slots]
"""What held the slots of a log's application."""


def put_waits(
    gathered: Gathered, parts: np.ndarray, idle: Idle, names: Mapping[str, str], slots_of: SlotsOf
) -> list[set[str]]:
    """Note in the stages and in the parts what others' tasks held; the names of the others, for each batch."""
    insides = gathered.insides
    found: list[set[str]] = [set() for _ in insides]
    shared = np.array([inside.work.clock and not inside.work.spans.alone for inside in insides], bool)
    for nth in np.flatnonzero(shared[idle.batch] & (idle.ms >= _SHORT_MS)).tolist():
        batch, attempt = int(idle.batch[nth]), gathered.attempts[idle.attempt[nth]]
        gap = float(idle.start[nth]), float(idle.start[nth] + idle.ms[nth])
        if attempt.busy and gap[0] >= attempt.busy[-1]:  # it had no task left to start
            continue
        work = insides[batch].work
        of_log = slots_of(work.spans)
        slots = of_log.seen if work.origin == "driver_log" else attempt.slots
        ms, overtaken, others = of_log.held(gap, slots, insides[batch].batch.id, known=work.knows_others)
        if ms > 0:
            move(parts[batch], "slots_wait_ms", ms, [NAMES[idle.part[nth]]])
            found[batch] |= others
            for name, more in (("slots_wait_ms", ms), ("slots_overtaken_ms", overtaken)):
                attempt.numbers[name] = attempt.numbers.get(name, 0.0) + more
            attempt.waited_for = sorted({*attempt.waited_for, *others})
    for at, inside in enumerate(insides):
        if not inside.work.clock:
            found[at] = _lined_waits(inside, parts[at], names)
    return found


def _lined_waits(inside: Inside, parts: np.ndarray, names: Mapping[str, str]) -> set[str]:
    """Return the same if lines gave how long stages waited, with the ids of the queries that they waited for."""
    waiting = [attempt for attempt in inside.attempts if attempt.waited_for]
    for attempt in waiting:
        move(parts, "slots_wait_ms", attempt.numbers.get("slots_wait_ms", 0.0), ["scheduling_ms"])
        attempt.waited_for = sorted(names.get(id, id) for id in attempt.waited_for)
    return {name for attempt in waiting for name in attempt.waited_for}
