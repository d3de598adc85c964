"""Tasks as flat arrays, folded into numbers of their stage attempts; and when tasks ran, and for whom."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Sequence
from functools import cached_property
from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from advisor.stages.numbers import COUNTED, LENGTHS, LOCAL, NUMBERS, SUMS, column

if TYPE_CHECKING:
    from advisor.stages.work import Job

LOCALITIES = ("PROCESS_LOCAL", "NODE_LOCAL", "RACK_LOCAL", "NO_PREF", "ANY")
FAILED, KILLED, SPECULATIVE = 1, 2, 4
"""Flags of a task's attempt."""
_SCALES = np.array([1e-6 if name in ("cpu_ms", "shuffle_write_ms") else 1.0 for name in SUMS])
"""Two of the sums are told in nanoseconds."""
_FIXED = 5
_OWN = [SUMS.index(name) for name in ("run_ms", "deserialize_ms", "result_ms")]
_READ = [SUMS.index(name) for name in ("shuffle_read_rows", "input_rows")]


class Tasks:
    """Attempts of tasks, of stage attempts that are numbered."""

    def __init__(self) -> None:
        self._rows, self._row = bytearray(), Struct(f"{_FIXED}d")

    def __len__(self) -> int:
        return len(self._rows) // self._row.size

    def add(self, owner: int, launch: float, finish: float, locality: int, flags: int, sums: Sequence[float]) -> None:
        """One more; `sums` of each of them or of none."""
        if sums and not self._rows:
            self._row = Struct(f"{_FIXED + len(SUMS)}d")
        self._rows += self._row.pack(owner, launch, finish, locality, flags, *sums)

    def fold(
        self, owners: Container[int], spans: Spans, job_of: Callable[[int], Job | None]
    ) -> tuple[list[int], np.ndarray, list[array[float]]]:
        """(those of `owners` that have tasks, the NUMBERS of each, when any of its tasks ran); these are forgotten."""
        rows = np.frombuffer(self._rows).reshape(len(self), -1)
        held = np.fromiter((owner in owners for owner in rows[:, 0].tolist()), bool, len(rows))
        self._rows, rows = bytearray(rows[~held].tobytes()), rows[held]
        if not len(rows):
            return [], np.empty((0, len(NUMBERS))), []
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        times, sums = rows[:, :_FIXED], rows[:, _FIXED:]
        starts = _starts(times[:, 0])
        names = times[starts, 0].astype(int).tolist()
        jobs = [job_of(owner) for owner in names]
        spans.add(jobs, np.diff(np.append(starts, len(times))), times[:, 1], times[:, 2])
        return names, _numbers(times, sums, starts), _busy(times, starts)


def _starts(owners: np.ndarray) -> np.ndarray:
    """Where each owner's rows begin."""
    return np.flatnonzero(np.diff(owners, prepend=-1))


def _numbers(times: np.ndarray, sums: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The NUMBERS of each owner, whose tasks stand together."""
    flags = times[:, 4].astype(int)
    rows = np.full((len(starts), len(NUMBERS)), np.nan)
    for name, flag in zip(COUNTED, (FAILED, KILLED, SPECULATIVE), strict=True):
        column(rows, name)[:] = np.add.reduceat((flags & flag) > 0, starts)
    whole = (flags & (FAILED | KILLED)) == 0
    if whole.any():
        at = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(times))))[whole]
        owners = at[_starts(at)]
        for name, values in _of_whole(times[whole], sums[whole], at).items():
            column(rows, name)[owners] = values
    return rows


def _of_whole(times: np.ndarray, sums: np.ndarray, owners: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of numbers of the tasks that came to their end, a row per owner."""
    starts = _starts(owners)
    counts = np.diff(np.append(starts, len(owners)))
    lengths = times[:, 2] - times[:, 1]
    ordered = lengths[np.lexsort((lengths, owners))]
    values = (
        np.add.reduceat(lengths, starts),
        ordered[starts + counts - 1],
        _median(ordered, starts, counts),
        ordered[starts + -(-counts * 95 // 100) - 1],
    )
    columns = dict(zip(LENGTHS, values, strict=True))
    columns.update(_localities(times[:, 3], starts))
    if sums.shape[1]:
        columns.update(zip(SUMS, (np.add.reduceat(sums, starts) * _SCALES).T, strict=True))
        delay = np.maximum(lengths - sums[:, _OWN].sum(axis=1), 0)
        columns["scheduler_delay_ms"] = np.add.reduceat(delay, starts)
        read = sums[:, _READ].sum(axis=1)
        read = read[np.lexsort((read, owners))]
        columns["rows_max"], columns["rows_median"] = read[starts + counts - 1], _median(read, starts, counts)
    return columns


def _localities(places: np.ndarray, starts: np.ndarray) -> dict[str, np.ndarray]:
    """How many tasks of each owner ran how near to their data; nothing where that is not told of all of its."""
    told = np.minimum.reduceat(places, starts) >= 0
    return {name: np.where(told, np.add.reduceat(places == place, starts), np.nan) for place, name in enumerate(LOCAL)}


def _median(ordered: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The median of each owner's numbers, which stand in order."""
    low, high = ordered[starts + (counts - 1) // 2], ordered[starts + counts // 2]
    return np.asarray((low + high) / 2)


def _busy(times: np.ndarray, starts: np.ndarray) -> list[array[float]]:
    """Stretches of time that the tasks of each owner, in the order of their launch, cover: starts and ends in turn."""
    origin = times[:, 1].min()
    launch, finish = times[:, 1] - origin, np.maximum(times[:, 2], times[:, 1]) - origin
    which = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(times))))
    apart = which * (finish.max() + 1)
    reach = np.maximum.accumulate(finish + apart)
    begins = np.append(True, (launch + apart)[1:] > reach[:-1])
    begins[starts] = True
    ends = np.append(begins[1:], True)
    covered = array("d", np.column_stack([times[begins, 1], (reach - apart)[ends] + origin]).tobytes())
    behind = 2 * np.cumsum(np.bincount(which[begins]))
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

    def move(self, ms: float) -> None:
        """Move all of them."""
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
    """Of which query a job is; None of none."""
    return job.batch.id if job and job.batch else None
