"""How long stages waited for slots, as the order of lines shows it where the log's clock knows only seconds.

A stage with tasks to start while other queries' tasks held all slots, and one of these ended, waited for it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from advisor.sources.stages.loggedjobs import LoggedJob, LoggedStage
from advisor.stages import Attempt
from advisor.stages.waits import NO_QUERY, most_at_once

_OFTEN = 0.5
"""Spark may log a task's start before the end that made room for it: then one task too many seems to run."""
_CLOSE_MS, _CLOSE = 20.0, 0.1
"""How far apart the two bounds of a wait may be: milliseconds, or its share."""
_LINE, _JOB, _RAN, _BEHIND = range(4)
"""Columns of a task's end: its line, how many jobs began before its own, how many tasks ran before it, and the line
that submitted the stage of which a task started in one of the lines right before; -1 where none did.
"""
_STRETCH = np.dtype([("of", "i8"), ("begin", "i8"), ("end", "i8"), ("less", "i8")])
"""Lines in which a stage had tasks to start, and how many of the tasks that ran then it started itself."""


class SlotWaits:
    """Ends of tasks, and the lines in which stages had tasks to start: columns, since each end may be in many stages'.

    Whose the others' tasks were is known when the log has been read.
    """

    def __init__(self) -> None:
        self._ends = array("q")
        self._waiting: list[LoggedStage] = []

    def task_ends(self, line: int, job: LoggedJob, ran: int, behind: int) -> None:
        """Note the end of a task: a row of columns."""
        self._ends.extend((line, job.nth, ran, behind))

    def stage_ends(self, one: LoggedStage) -> None:
        """Note the end of a stage attempt of a job."""
        one.until = min(one.until, one.end) if one.tasks > 0 else 0
        self._waiting.append(one)

    def forget(self, jobs: int) -> None:
        """Forget so many jobs of the log: they are over."""
        self._waiting = [one for one in self._waiting if one.job and one.job.nth >= jobs]
        ends = np.frombuffer(self._ends, np.int64).reshape(-1, 4)
        self._ends = array("q", ends[ends[:, _JOB] >= jobs].tobytes())

    def settle(self, jobs: Sequence[LoggedJob], slots: int, *, knows_others: bool) -> None:
        """Note how long stages of these jobs, which know their batches, waited on so many slots, and for whom.

        `knows_others`: jobs without a batch are known to be of no query.
        """
        none = NO_QUERY if knows_others else None
        owners = [(job.batch.id or "") if job.batch else none for job in jobs]
        places = {id: place for place, id in enumerate(dict.fromkeys(id for id in owners if id is not None))}
        if len(places) < 2:
            return
        whose = np.array([-1 if id is None else places[id] for id in owners], np.int64)
        first = jobs[0].nth
        self.forget(first)
        self._waiting.sort(key=attrgetter("line"))
        own = whose[[one.job.nth - first for one in self._waiting if one.job]]
        ends = np.frombuffer(self._ends, np.int64).reshape(-1, 4)
        of_ends, stretches = whose[ends[:, _JOB] - first], _stretches(self._waiting, ends)
        full, ended = np.zeros((2, len(own)), np.int64)
        others: list[list[str]] = [[] for _ in self._waiting]
        for id, place in places.items():
            waiting, ran, count = _seen(ends[of_ends == place], stretches[own[stretches["of"]] != place])
            np.maximum.at(full, waiting, ran)
            np.add.at(ended, waiting, count)
            for at in np.unique(waiting).tolist():
                others[at].append(id)
        for one, most, names, count in zip(self._waiting, full.tolist(), others, ended.tolist(), strict=True):
            if names and one.attempt and most >= slots - 1:
                _settle_wait(one.attempt, names, sure=most >= slots)
                if one.attempt.waited_for and count <= min(one.tasks, slots):  # its tasks got all that became free
                    one.attempt.numbers["slots_overtaken_ms"] = 0.0


def _stretches(waiting: Sequence[LoggedStage], ends: np.ndarray) -> np.ndarray:
    """Return when these stages, in the order of their lines, had tasks to start.

    The end that made room for a start may stand right behind it: there one task less ran than seems to.
    """
    since, until = np.array([(one.line, one.until) for one in waiting], np.int64).reshape(-1, 2).T
    at = np.searchsorted(since, ends[:, _BEHIND])
    late = np.append(since, -2)[at] == ends[:, _BEHIND]
    of, lines = np.append(np.arange(len(since)), at[late]), ends[late, _LINE]
    begin, end = np.append(since, lines + 1), np.append(until, lines)
    rows = np.zeros(len(of) + len(lines), _STRETCH)
    rows["of"] = np.append(np.sort(of), at[late])
    rows["begin"] = np.append(begin[np.lexsort((begin, of))], lines)
    rows["end"] = np.append(end[np.lexsort((end, of))], lines + 1)
    rows["less"][len(of) :] = 1
    return rows


def _seen(ends: np.ndarray, stretches: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (which stages had tasks to start when some of these tasks ended, how many ran then at most, and ended)."""
    first, last = (np.searchsorted(ends[:, _LINE], stretches[name]) for name in ("begin", "end"))
    some = first < last
    most = _most(ends[:, _RAN], first[some], last[some]) - stretches["less"][some]
    return stretches["of"][some], most, (last - first)[some]


def _most(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the greatest of each values[first:last]: of two stretches of 1, 2, 4, 8.. that cover it."""
    found, lengths, size = np.empty(len(first), np.int64), last - first, 1
    while size <= lengths.max(initial=0):
        own = (size <= lengths) & (lengths < 2 * size)
        found[own] = np.maximum(values[first[own]], values[last[own] - size])
        values = np.maximum(values[:-size], values[size:])
        size *= 2
    return found


def _settle_wait(attempt: Attempt, others: Sequence[str], *, sure: bool) -> None:
    """Note that it waited in all its time but that of its own tasks: their sum, or as little as the longest one.

    Where the order of lines leaves open whether all slots were held, nothing is known.
    """
    wall = attempt.completed - attempt.submitted
    least, most = (wall - attempt.numbers.get(name, wall) for name in ("task_ms", "task_max_ms"))
    if not sure or not attempt.seen or most - least > max(_CLOSE_MS, _CLOSE * most):
        attempt.paused = True
    if sure and attempt.seen and least > 0:
        attempt.numbers["slots_wait_ms"] = least
        attempt.waited_for = sorted({*others} - {""})


def least_slots(running: Counter[int], left: Counter[int]) -> int:
    """Return how many task slots there are at least; `running`: how many tasks ran when one started, how often.

    `left`: those of which one had ended, though its line stands behind the start.
    """
    most = most_at_once(np.array([running[count] for count in range(max(running, default=0) + 1)]), _OFTEN)
    at_most, too_many = (sum(times for count, times in each.items() if count >= most) for each in (running, left))
    return most - (too_many > _OFTEN * at_most)
