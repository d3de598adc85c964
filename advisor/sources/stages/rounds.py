"""What the order of lines tells of a stage's wait for slots, where the log's clock knows only seconds.

A stage with tasks to start while other queries' tasks held all slots, and one of these ended, waited for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from advisor.sources.stages.kinds import Kind

if TYPE_CHECKING:
    from advisor.sources.stages.begun import Begun
    from advisor.sources.stages.submitted import Submitted
    from advisor.stages import Attempt

_OFTEN = 0.5
"""Spark may log a task's start before the end that made room for it: then one task too many seems to run."""
_CLOSE_MS, _CLOSE = 20.0, 0.1
"""How far apart two bounds of a wait may be that is told: milliseconds, or its share."""
_END = np.dtype([("line", "i8"), ("job", "i4"), ("ran", "i4"), ("behind", "i8")])
"""The end of a task: its line, how many jobs began before its own, how many tasks ran before it, and the line that
submitted the stage of which a task started in the line right before; -1 where none did.
"""
_STRETCH = np.dtype([("of", "i8"), ("begin", "i8"), ("end", "i8"), ("less", "i8")])
"""Lines in which a stage had tasks to start, and how many of the tasks that ran then it started itself."""


class Rounds:
    """Ends of tasks, and the lines in which stages had tasks to start: columns, since each end may be in many stages'.

    Whose the others' tasks were is known when the log has been read.
    """

    def __init__(self) -> None:
        self._ends = [np.empty(0, _END)]
        self._waiting: list[Submitted] = []

    def add(self, fresh: np.ndarray, ran: np.ndarray, rows: np.ndarray, stages: np.ndarray) -> None:
        """`fresh`: lines of tasks, `ran`: how many tasks ran before each; `rows` have earlier ones of these stages."""
        jobs = stages["job"][fresh["of"]]
        told = (fresh["kind"] == Kind.FINISHES) & (jobs >= 0)
        ends = np.empty(np.count_nonzero(told), _END)
        ends["line"], ends["job"], ends["ran"] = fresh["line"][told], jobs[told], ran[told]
        behind = _behind(ends["line"], rows[rows["kind"] == Kind.STARTS])
        ends["behind"] = np.where(behind >= 0, stages["line"][behind], -1)
        self._ends.append(ends)

    def over(self, starts: np.ndarray, submitted: Sequence[Submitted], stages: np.ndarray) -> None:
        """Stages have ended; `starts` are lines in which tasks of theirs started, those of one behind the other."""
        for one, until in zip(submitted, _until(starts, stages).tolist(), strict=True):
            if one.attempt and one.begun:
                one.until = until
                self._waiting.append(one)

    def forget(self, jobs: int) -> None:
        """So many jobs of the log are over: they are told."""
        self._waiting = [one for one in self._waiting if one.begun and one.begun.number >= jobs]
        ends = np.concatenate(self._ends)
        self._ends = [ends[ends["job"] >= jobs]]

    def settle(self, jobs: Sequence[Begun], slots: int) -> None:
        """Note how long stages of these jobs, which know their batches, waited on so many slots, and for whom."""
        batches = [begun.job.batch for begun in jobs]
        places = {id: place for place, id in enumerate(dict.fromkeys(batch.id for batch in batches if batch))}
        if len(places) < 2:
            return
        whose = np.array([places[batch.id] if batch else -1 for batch in batches], np.int64)
        first = jobs[0].number
        self.forget(first)
        self._waiting.sort(key=attrgetter("line"))
        own = whose[[one.begun.number - first for one in self._waiting if one.begun]]
        (ends,) = self._ends
        of_ends, stretches = whose[ends["job"] - first], _stretches(self._waiting, ends)
        full = np.zeros(len(own), np.int64)
        others: list[list[str]] = [[] for _ in self._waiting]
        for id, place in places.items():
            waiting, ran = _seen(ends[of_ends == place], stretches[own[stretches["of"]] != place])
            np.maximum.at(full, waiting, ran)
            for at in np.unique(waiting).tolist():
                others[at].append(id or "")
        for one, most, names in zip(self._waiting, full.tolist(), others, strict=True):
            if names and one.attempt and most >= slots - 1:
                _settle_wait(one.attempt, names, sure=most >= slots)


def _behind(lines: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Of which stage a task started in the line right before each of these; -1 where none did."""
    at = np.searchsorted(starts["line"], lines) - 1
    return np.where((at >= 0) & (starts["line"][at] == lines - 1), starts["of"][at], -1) if len(starts) else at


def _until(starts: np.ndarray, stages: np.ndarray) -> np.ndarray:
    """The line before which each stage had tasks to start."""
    until, tasks = stages["end"].copy(), stages["tasks"]
    first, last = (np.searchsorted(starts["of"], np.arange(len(tasks)), side) for side in ("left", "right"))
    all = (tasks > 0) & (first + tasks <= last)
    until[all] = np.minimum(until[all], starts["line"][first[all] + tasks[all] - 1])
    until[tasks <= 0] = 0
    return np.asarray(until)


def _stretches(waiting: Sequence[Submitted], ends: np.ndarray) -> np.ndarray:
    """When these stages, in the order of their lines, had tasks to start.

    The end that made room for a start may stand right behind it: there one task less ran than seems to.
    """
    since, until = np.array([(one.line, one.until) for one in waiting], np.int64).reshape(-1, 2).T
    at = np.searchsorted(since, ends["behind"])
    late = np.append(since, -2)[at] == ends["behind"]
    of, lines = np.append(np.arange(len(since)), at[late]), ends["line"][late]
    begin, end = np.append(since, lines + 1), np.append(until, lines)
    rows = np.zeros(len(of) + len(lines), _STRETCH)
    rows["of"] = np.append(np.sort(of), at[late])
    rows["begin"] = np.append(begin[np.lexsort((begin, of))], lines)
    rows["end"] = np.append(end[np.lexsort((end, of))], lines + 1)
    rows["less"][len(of) :] = 1
    return rows


def _seen(ends: np.ndarray, stretches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(which stages had tasks to start when some of these tasks ended, how many ran then at most)."""
    first, last = (np.searchsorted(ends["line"], stretches[name]) for name in ("begin", "end"))
    some = first < last
    return stretches["of"][some], _most(ends["ran"], first[some], last[some]) - stretches["less"][some]


def _most(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The greatest of values[first:last], each: of two stretches of 1, 2, 4, 8.. that cover it."""
    found, lengths, size = np.empty(len(first), np.int64), last - first, 1
    while size <= lengths.max(initial=0):
        own = (size <= lengths) & (lengths < 2 * size)
        found[own] = np.maximum(values[first[own]], values[last[own] - size])
        values = np.maximum(values[:-size], values[size:])
        size *= 2
    return found


def _settle_wait(attempt: Attempt, others: Sequence[str], *, sure: bool) -> None:
    """It waited in all its time but that of its own tasks: between their sum and the longest one, as they overlap.

    Where that leaves open how long it waited, or the order of lines whether all slots were held, it cannot be told.
    """
    wall = attempt.completed - attempt.submitted
    least, most = (wall - attempt.numbers.get(name, wall) for name in ("task_ms", "task_max_ms"))
    if not sure or not attempt.seen or most - least > max(_CLOSE_MS, _CLOSE * most):
        attempt.paused = True
    elif least > 0:
        attempt.numbers["slots_wait_ms"] = least
        attempt.waited_for = sorted({*others} - {""})


def most_at_once(running: Counter[int]) -> int:
    """Task slots at least, from how many tasks seemed to run when one started: so many did, how often."""
    counts = np.zeros(max(running, default=0) + 1, np.int64)
    for count, times in running.items():
        counts[count] = times
    at_least = np.cumsum(counts[::-1])[::-1]
    seldom = np.flatnonzero(at_least[2:] < _OFTEN * at_least[1:-1])
    return int(seldom[0]) + 1 if len(seldom) else len(counts) - 1
