"""Tasks as flat arrays, folded into numbers of their stage attempts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from advisor.stages.jobs import COUNTED, LENGTHS, LOCAL, NUMBERS, SUMS, Attempt, Job, column

LOCALITIES = ("PROCESS_LOCAL", "NODE_LOCAL", "RACK_LOCAL", "NO_PREF", "ANY")
FAILED, KILLED, SPECULATIVE = 1, 2, 4
"""Flags of a task's attempt."""
_SCALES = np.array([1e-6 if name in ("cpu_ms", "shuffle_write_ms") else 1.0 for name in SUMS])
"""Two of the sums are in nanoseconds."""
_STAGE, _ATTEMPT, _AT, _LAUNCH, _FINISH, _LOCALITY, _FLAGS = range(7)
"""The columns of a row before its sums: its stage attempt, its place in the log, and how it went."""
_KNOWN = 7
_MANY = 4096
"""Tasks that are folded together."""
_OWN = [SUMS.index(name) for name in ("run_ms", "deserialize_ms", "result_ms")]
_READ = [SUMS.index(name) for name in ("shuffle_read_rows", "input_rows")]


class Folded(NamedTuple):
    """Stage attempts that have ended, and their tasks, by launch, one attempt behind the other."""

    ended: list[int]
    """Which ends of stage attempts these are."""
    tasks: np.ndarray
    """How many each of them has."""
    launch: np.ndarray
    finish: np.ndarray
    numbers: np.ndarray
    """The NUMBERS of each."""
    busy: list[array[float]]
    """When any task of each ran."""


class Tasks:
    """Attempts of tasks, a row each, until the end of their stage attempt is known."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self._fresh = self._held = 0
        """How many have come since they were folded, and how many were left then."""

    def add(self, rows: np.ndarray) -> None:
        """Take some more."""
        self.rows.append(rows)
        self._fresh += len(rows)

    def __len__(self) -> int:
        return self._held + self._fresh

    @property
    def many(self) -> bool:
        """Whether so many have come that it pays to look through those, too, that were left the last time."""
        return self._fresh >= max(_MANY, self._held)

    def keep(self, rows: np.ndarray) -> None:
        """These of them are left."""
        self.rows = [rows]
        self._fresh, self._held = 0, len(rows)

    def take_late(self, ended: Mapping[tuple[int, int], Attempt]) -> list[tuple[Attempt, int]]:
        """Return (stage attempt, flags) of each task in the log behind its attempt's end that was launched before it.

        `ended`: stage attempts whose tasks were taken. What is taken is forgotten.
        """
        late = []
        for nth, rows in enumerate(self.rows):
            found = zip(*rows[:, [_STAGE, _ATTEMPT, _LAUNCH, _FLAGS]].T.tolist(), strict=True)
            own = [(ended.get((stage, attempt)), launch, flags) for stage, attempt, launch, flags in found]
            over = [attempt is not None and launch < attempt.completed for attempt, launch, _ in own]
            late += [(attempt, int(flags)) for attempt, launch, flags in own if attempt and launch < attempt.completed]
            self.rows[nth] = rows[~np.array(over, bool)]
            self._held -= sum(over)
        return late


def fold(all: Sequence[Tasks], ends: Sequence[np.ndarray]) -> Folded | None:
    """Return the tasks of stage attempts that ended after some of these tasks, which are forgotten.

    All have sums, or none. `ends`: a row for each: stage, attempt, and the place in the log.
    """
    rows = np.concatenate([rows for tasks in all for rows in tasks.rows])
    ended = _ended(_keys([len(tasks) for tasks in all], rows), _keys([len(own) for own in ends], np.concatenate(ends)))
    over = ended >= 0
    begin = 0
    for tasks in all:
        own = slice(begin, begin + len(tasks))
        begin = own.stop
        tasks.keep(rows[own][~over[own]])
    return _folded(rows[over], ended[over]) if over.any() else None


def _keys(counts: Sequence[int], rows: np.ndarray) -> np.ndarray:
    """Of each row, of which the first so many are one's own, whose it is, its stage, its attempt, and where it is."""
    return np.column_stack([np.repeat(np.arange(len(counts)), counts), rows[:, : _AT + 1]])


def _ended(tasks: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Which of these ends of stage attempts is the first of its own behind each task; -1 where there is none."""
    is_end = np.repeat([False, True], [len(tasks), len(ends)])
    whose, stages, attempts, at = np.concatenate([tasks, ends]).T
    order = np.lexsort((is_end, at, attempts, stages, whose))
    places = np.where(is_end[order], np.arange(len(order)), len(order) - 1)
    behind = order[np.minimum.accumulate(places[::-1])[::-1]]
    same = is_end[behind]
    for key in (whose, stages, attempts):
        same &= key[behind] == key[order]
    found = np.empty(len(order), np.int64)
    found[order] = np.where(same, behind - len(tasks), -1)
    return found[: len(tasks)]


def _folded(rows: np.ndarray, ended: np.ndarray) -> Folded:
    order = np.lexsort((rows[:, _LAUNCH], ended))
    rows, ended = rows[order], ended[order]
    starts = _starts(ended)
    counts = np.diff(np.append(starts, len(rows)))
    return Folded(
        ended[starts].tolist(),
        counts,
        rows[:, _LAUNCH],
        rows[:, _FINISH],
        _numbers(rows, starts, counts),
        _busy(rows[:, _LAUNCH], rows[:, _FINISH], starts, counts),
    )


def _starts(owners: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.diff(owners, prepend=-1))


def _numbers(tasks: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The NUMBERS of each owner, whose tasks stand together."""
    flags = tasks[:, _FLAGS].astype(int)
    rows = np.full((len(starts), len(NUMBERS)), np.nan)
    for name, flag in zip(COUNTED, (FAILED, KILLED, SPECULATIVE), strict=True):
        column(rows, name)[:] = np.add.reduceat((flags & flag) > 0, starts)
    whole = (flags & (FAILED | KILLED)) == 0
    if whole.any():
        owners = np.repeat(np.arange(len(starts)), counts)[whole]
        found = owners[_starts(owners)]
        for name, values in _of_whole(tasks[whole], owners).items():
            column(rows, name)[found] = values
    return rows


def _of_whole(tasks: np.ndarray, owners: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of numbers of the tasks that came to their end, a row per owner."""
    starts = _starts(owners)
    counts = np.diff(np.append(starts, len(owners)))
    lengths, sums = tasks[:, _FINISH] - tasks[:, _LAUNCH], tasks[:, _KNOWN:]
    ordered = lengths[np.lexsort((lengths, owners))]
    values = (
        np.add.reduceat(lengths, starts),
        ordered[starts + counts - 1],
        _median(ordered, starts, counts),
        ordered[starts + -(-counts * 95 // 100) - 1],
    )
    columns = dict(zip(LENGTHS, values, strict=True))
    columns.update(_localities(tasks[:, _LOCALITY], starts))
    if sums.shape[1]:
        columns.update(zip(SUMS, (np.add.reduceat(sums, starts) * _SCALES).T, strict=True))
        delay = np.maximum(lengths - sums[:, _OWN].sum(axis=1), 0)
        columns["scheduler_delay_ms"] = np.add.reduceat(delay, starts)
        read = sums[:, _READ].sum(axis=1)
        read = read[np.lexsort((read, owners))]
        columns["rows_max"], columns["rows_median"] = read[starts + counts - 1], _median(read, starts, counts)
    return columns


def _localities(places: np.ndarray, starts: np.ndarray) -> dict[str, np.ndarray]:
    """Count how near to their data the tasks of each owner ran; nothing if that is unknown for some."""
    known = np.minimum.reduceat(places, starts) >= 0
    return {name: np.where(known, np.add.reduceat(places == place, starts), np.nan) for place, name in enumerate(LOCAL)}


def _median(ordered: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The median of each owner's numbers, which stand in order."""
    low, high = ordered[starts + (counts - 1) // 2], ordered[starts + counts // 2]
    return np.asarray((low + high) / 2)


def _busy(launch: np.ndarray, finish: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> list[array[float]]:
    """Stretches of time that the tasks of each owner, in the order of their launch, cover: starts and ends in turn."""
    which = np.repeat(np.arange(len(starts)), counts)
    origin, finish = launch[starts][which], np.maximum(finish, launch)
    begin, end = launch - origin, finish - origin
    apart = which * (end.max() + 1)
    reach = np.maximum.accumulate(end + apart)
    begins = np.append(True, (begin + apart)[1:] > reach[:-1])
    begins[starts] = True
    places = np.flatnonzero(begins)
    covered = array("d", np.column_stack([launch[places], np.maximum.reduceat(finish, places)]).tobytes())
    behind = 2 * np.cumsum(np.bincount(which[places]))
    return [covered[start:stop] for start, stop in pairwise([0, *behind.tolist()])]


class Spans:
    """When tasks ran, and for whom."""

    def __init__(self) -> None:
        self._jobs: list[Job | None] = []
        self._places: dict[int, int] = {}
        self._launch, self._finish, self._of = array("d"), array("d"), array("q")

    def add(self, jobs: Sequence[Job | None], counts: np.ndarray, launch: np.ndarray, finish: np.ndarray) -> None:
        """So many tasks of each of these jobs (None: of none), one behind the other, ran in these times."""
        of = [self._place(job) for job in jobs]
        self._launch.frombytes(np.ascontiguousarray(launch, float).tobytes())
        self._finish.frombytes(np.ascontiguousarray(finish, float).tobytes())
        self._of.frombytes(np.repeat(np.array(of, np.int64), counts).tobytes())

    def since(self, time: float) -> Spans:
        """Those that were not over then."""
        kept, finish = Spans(), np.frombuffer(self._finish)
        there = finish > time
        of = np.frombuffer(self._of, np.int64)[there]
        jobs = [self._jobs[place] for place in of.tolist()]
        kept.add(jobs, np.ones(len(jobs), np.int64), np.frombuffer(self._launch)[there], finish[there])
        return kept

    def move(self, by: Callable[[Job | None], float]) -> None:
        """Move those of each job, ms."""
        ms = np.array([by(job) for job in self._jobs])[np.frombuffer(self._of, np.int64)]
        self._launch = array("d", (np.frombuffer(self._launch) + ms).tobytes())
        self._finish = array("d", (np.frombuffer(self._finish) + ms).tobytes())

    @cached_property
    def alone(self) -> bool:
        """Whether all tasks were one query's; asked when all have been added, and their jobs know their batches."""
        return len(set(map(_query, self._jobs))) < 2

    def in_order(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str | None]]:
        """(launch, finish, whose) of all tasks in the order of their launch, and the queries that `whose` counts."""
        launch, finish = np.frombuffer(self._launch), np.frombuffer(self._finish)
        order = np.argsort(launch, kind="stable")
        queries = [_query(job) for job in self._jobs]
        places = {query: place for place, query in enumerate(dict.fromkeys(queries))}
        whose = np.array([places[query] for query in queries], np.int64)[np.frombuffer(self._of, np.int64)]
        return launch[order], finish[order], whose[order], list(places)

    def _place(self, job: Job | None) -> int:
        place = self._places.setdefault(id(job), len(self._jobs))
        if place == len(self._jobs):
            self._jobs.append(job)
        return place


def _query(job: Job | None) -> str | None:
    return job.batch.id if job and job.batch else None
