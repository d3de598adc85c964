"""The tasks of stage attempts in a driver's log: their lines are rows of arrays, and never become objects.

A task belongs to the attempt of its stage that was submitted last, unless that has ended. Attempts are sorted by stage
and line, so that bisection finds the one of each task. The lines of an attempt are held until it has ended, and what
they tell together becomes numbers of it then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from advisor.sources.stages import pythonlines
from advisor.sources.stages.begun import Begun
from advisor.sources.stages.kinds import Kind
from advisor.sources.stages.messages import Messages
from advisor.sources.stages.moment import Told
from advisor.sources.stages.packed import packed_all
from advisor.sources.stages.rounds import Rounds, most_at_once
from advisor.sources.stages.submitted import OPEN, Submitted, columns_of
from advisor.stages import FAILED, Work

_ROW = np.dtype(
    [("line", "i8"), ("kind", "i1"), ("stage", "i8"), ("other", "i8"), ("ms", "f8"), ("time", "f8"), ("of", "i8")]
)
"""A line of a task: how many lines stand before it, what `Messages` says, its time, and the place of its attempt."""


class StageTasks:
    """The tasks of one application."""

    def __init__(self, work: Work) -> None:
        """What is told of them goes to `work`."""
        self.workers: list[tuple[int, float]] = []
        """Lines of Python workers that name no stage: (lines before, ms)."""
        self._ran: Counter[int] = Counter()
        """How many tasks ran when one started, and how often."""
        self._rounds = Rounds()
        self._work = work
        self._rows = np.empty(0, _ROW)
        self._running = 0

    def read(self, told: Told, lines: np.ndarray, submitted: Sequence[Submitted], *, fine: bool) -> None:
        """Take those lines that are of tasks, and tell of attempts that have ended.

        `submitted` begins with the attempts that were not over the last time. `fine`: whether the clock knows
        milliseconds.
        """
        fresh, stages = _rows(told, lines), columns_of(submitted)
        fresh["of"] = _attempts(fresh, stages)
        own = fresh["of"] >= 0
        fresh = fresh[own]
        _name(told.messages, lines[own], fresh["of"], submitted)
        rows = np.concatenate([self._rows, fresh])
        ended = np.flatnonzero(stages["told"])
        ended = ended[np.argsort(stages["end"][ended], kind="stable")]
        ran = self._count(fresh, rows, stages, ended)
        if not fine and len(fresh):
            self._rounds.add(fresh, ran, rows, stages)
        if self.workers:
            tasks = rows[np.argsort(rows["of"], kind="stable")]
            pythonlines.share(self.workers, tasks, _left(tasks), submitted)
            self.workers = []
        self._tell(rows, submitted, stages, ended, fine)
        over = stages["end"] < OPEN
        self._rows = rows[~over[rows["of"]]]
        self._rows["of"] = (np.cumsum(~over) - 1)[self._rows["of"]]

    def forget(self, jobs: int) -> None:
        """So many jobs of the log are over."""
        self._rounds.forget(jobs)

    def settle_waits(self, jobs: Sequence[Begun]) -> None:
        """Note how long stages of these jobs, which know their batches, waited for others' tasks."""
        self._rounds.settle(jobs, most_at_once(self._ran))

    def _count(self, fresh: np.ndarray, rows: np.ndarray, stages: np.ndarray, ended: np.ndarray) -> np.ndarray:
        """How many tasks ran before each line; those that an attempt leaves when it ends run no longer."""
        left = np.bincount(rows["of"], _steps(rows), len(stages)).astype(np.int64)
        gone, lines = np.append(0, np.cumsum(left[ended])), stages["end"][ended]
        moves = _steps(fresh)
        behind = self._running + np.cumsum(moves) - gone[np.searchsorted(lines, fresh["line"])]
        self._running += int(moves.sum() - gone[-1])
        starts = behind[fresh["kind"] == Kind.STARTS]
        self._ran.update(dict(enumerate(np.bincount(starts[starts > 0]).tolist())))
        return np.asarray(behind - moves)

    def _tell(
        self, rows: np.ndarray, submitted: Sequence[Submitted], stages: np.ndarray, ended: np.ndarray, fine: bool
    ) -> None:
        """Tell of the attempts that ended, in this order; `rows` are lines of tasks."""
        rows = rows[stages["told"][rows["of"]]]
        rows = rows[np.argsort(rows["of"], kind="stable")]
        starts, finishes, lost = (rows[rows["kind"] == kind] for kind in (Kind.STARTS, Kind.FINISHES, Kind.LOST))
        if not fine:
            self._rounds.over(starts, submitted, stages)
        self._complete([submitted[at] for at in ended.tolist()], ended, finishes, lost)
        if len(finishes):
            spans = _own_times(finishes) if fine else _laid(finishes, _at_once(starts, len(submitted)), submitted)
            where = _localities(starts, finishes, len(submitted))
            self._work.tasks(finishes["stage"], 0, *spans, locality=where, at=stages["end"][finishes["of"]])
        if len(lost):
            times = np.array([one.attempt.completed if one.attempt else 0.0 for one in submitted])[lost["of"]]
            self._work.tasks(lost["stage"], 0, times, times, flags=FAILED, at=stages["end"][lost["of"]])
        self._work.fold()

    def _complete(self, ended: Sequence[Submitted], places: np.ndarray, finishes: np.ndarray, lost: np.ndarray) -> None:
        """Tell of the attempts that ended, in the order in which they did, before their tasks are folded."""
        longest, unseen = _longest(finishes), Counter(lost["of"].tolist())
        for one, at in zip(ended, places.tolist(), strict=True):
            assert one.attempt
            one.attempt.unseen = unseen[at]
            if at in longest:
                one.attempt.numbers["longest_task"] = longest[at]
            if one.python_ms is not None:
                one.attempt.numbers["python_ms"] = one.python_ms
            self._work.completes(one.attempt, one.end)


def _rows(told: Told, lines: np.ndarray) -> np.ndarray:
    rows = np.zeros(len(lines), _ROW)
    rows["line"] = told.lines.numbers[lines]
    said = told.messages
    for name, column in (("kind", said.kind), ("stage", said.number), ("other", said.other), ("ms", said.ms)):
        rows[name] = column[lines]
    if len(told.times):
        rows["time"] = told.times[lines]
    return rows


def _name(messages: Messages, lines: np.ndarray, of: np.ndarray, submitted: Sequence[Submitted]) -> None:
    """Give jobs that are not named yet the batch that the first line of a task names."""
    naming = np.flatnonzero(messages.query[lines] >= 0)
    _, first = np.unique(of[naming], return_index=True)
    for at in naming[np.sort(first)].tolist():
        begun = submitted[of[at]].begun
        if begun and begun.named is None:
            begun.named = messages.named(lines[at])


def _attempts(rows: np.ndarray, submitted: np.ndarray) -> np.ndarray:
    """The place of each task's attempt in `submitted`; -1 where there is none."""
    if not len(submitted) or not len(rows):
        return np.full(len(rows), -1)
    stages, lines, ends = (submitted[name] for name in ("stage", "line", "end"))
    order = np.lexsort((lines, stages))
    all = np.unique(stages)
    first = min(lines.min(), rows["line"].min())
    many = max(lines.max(), rows["line"].max()) - first + 1

    def key(stage: np.ndarray, line: np.ndarray) -> np.ndarray:
        return np.asarray(np.searchsorted(all, stage) * many + line - first)

    before = order[np.searchsorted(key(stages, lines)[order], key(rows["stage"], rows["line"])) - 1]
    own = (stages[before] == rows["stage"]) & (lines[before] < rows["line"]) & (rows["line"] < ends[before])
    return np.where(own, before, -1)


def _steps(rows: np.ndarray) -> np.ndarray:
    """How many more tasks run behind each line than before it."""
    return np.where(rows["kind"] == Kind.STARTS, 1, -1)


def _left(rows: np.ndarray) -> np.ndarray:
    """How many tasks of its attempt run behind each line, where those of one stand together."""
    steps = _steps(rows)
    ran, starts = np.cumsum(steps), np.flatnonzero(np.diff(rows["of"], prepend=-1))
    return np.asarray(ran - np.repeat((ran - steps)[starts], np.diff(np.append(starts, len(rows)))))


def _longest(finishes: np.ndarray) -> dict[int, int]:
    """Of each attempt, whose tasks stand together, the place of its longest task in the stage."""
    if not len(finishes):
        return {}
    starts = np.flatnonzero(np.diff(finishes["of"], prepend=-1))
    most = np.maximum.reduceat(finishes["ms"], starts)
    longest = finishes["ms"] == np.repeat(most, np.diff(np.append(starts, len(finishes))))
    places = np.maximum.reduceat(np.where(longest, finishes["other"], -1), starts)
    return dict(zip(finishes["of"][starts].tolist(), places.tolist(), strict=True))


def _at_once(starts: np.ndarray, attempts: int) -> np.ndarray:
    """Of each attempt the most starts in lines behind each other: those of one round of offers."""
    most = np.zeros(attempts, np.int64)
    if len(starts):
        apart = np.append(True, (np.diff(starts["line"]) != 1) | (np.diff(starts["of"]) != 0))
        begins = np.flatnonzero(apart)
        np.maximum.at(most, starts["of"][begins], np.diff(np.append(begins, len(starts))))
    return most


def _localities(starts: np.ndarray, finishes: np.ndarray, attempts: int) -> np.ndarray:
    """Where tasks ran that finished; -1 where lines of some of their stage are missing."""
    counts = [np.bincount(rows["of"], minlength=attempts) for rows in (starts, finishes)]
    whole = counts[0] == counts[1]
    found = np.full(len(finishes), -1)
    found[whole[finishes["of"]]] = starts["other"][whole[starts["of"]]]
    return found


def _own_times(finishes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """When tasks ran, by the times of their lines."""
    return finishes["time"] - finishes["ms"], finishes["time"]


def _laid(finishes: np.ndarray, at_once: np.ndarray, submitted: Sequence[Submitted]) -> tuple[np.ndarray, np.ndarray]:
    """When tasks ran, where only lengths are known: as late in the stage as its slots allow."""
    starts = np.flatnonzero(np.diff(finishes["of"], prepend=-1))
    own = finishes["of"][starts]
    attempts = [submitted[at].attempt for at in own.tolist()]
    ends = np.array([(one.submitted, one.completed) for one in attempts if one])
    return packed_all(finishes["ms"], starts, np.maximum(1, at_once[own]), ends[:, 1], ends[:, 1] - ends[:, 0])
