"""Divides the wall clock of addBatch among what ran in it: each moment once, all batches of a log together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from advisor.stages.columns import PARTS
from advisor.stages.numbers import column, matrix
from advisor.stages.work import Attempt, Job

NAMES = [part.name for part in PARTS]
PLACE: Mapping[str, int] = {name: at for at, name in enumerate(NAMES)}
"""The column of each part in a matrix of them."""
HOME: Mapping[str | None, str] = {
    None: "source_read_ms",
    "source_read": "source_read_ms",
    "state": "state_update_ms",
    "shuffle": "shuffle_ms",
    "result": "sink_write_ms",
    "table_log": "table_log_ms",
    "other": "other_ms",
}
"""Where the time of a stage goes that its tasks do not tell more of; all of it, if tasks were not seen."""
_BESIDE = frozenset({"table_log", "other"})
"""Kinds of stages that are no part of the batch's own work."""
_TOLD = {
    "state_load_ms": "state_load_ms",
    "state_commit_ms": "state_commit_ms",
    "python_ms": "python_ms",
    "fetch_wait_ms": "shuffle_ms",
    "shuffle_write_ms": "shuffle_ms",
}
"""Sums over a stage's tasks, and the parts that they are of."""
_OF_JOBS = ("scheduling_ms", "other_ms", "table_log_ms", "not_visible_ms")
"""Where the time of a job goes in which none of its stages is there; of jobs at once the first of these counts."""

DRIVER = ("driver_before_ms", "driver_between_ms", "driver_after_ms")
"""The driver's time around jobs."""

Gap = tuple[float, float]
_NOBODY = np.iinfo(np.int64).max


class Clock(NamedTuple):
    """One batch's addBatch, [begin, end) in ms, and what was there in it."""

    begin: float
    end: float
    jobs: Sequence[Job]
    attempts: Sequence[Attempt]
    strangers: Sequence[Job] = ()
    """Jobs that ran then and may be of this batch: nothing says whose they are."""


class Idle(NamedTuple):
    """A stretch in which a stage of a batch was submitted and no task of the batch ran, and the part it was put to."""

    batch: int
    gap: Gap
    attempt: Attempt
    part: str


class _Spans(NamedTuple):
    """Things that take time: of each its batch, its first and its last ms."""

    batch: np.ndarray
    times: np.ndarray


class _Moments(NamedTuple):
    """The stretches of time between each two changes in a batch."""

    batch: np.ndarray
    start: np.ndarray
    ms: np.ndarray


class _There(NamedTuple):
    """Which of some things is there in which moment, one pair after the other."""

    which: np.ndarray
    moment: np.ndarray


def divide(clocks: Sequence[Clock]) -> tuple[np.ndarray, list[Idle]]:
    """(the parts of each batch, a row of PARTS in ms that adds up to its length; where stages waited).

    A moment belongs to the tasks that run in it, else to a stage that waits, else to a job, else to the driver alone.
    Of a job beside the batch's own work (a table's log, a static side) all is that, its scheduling, too. Of a stage
    with tasks that were not seen all is its own, and of a job without a stage nothing is visible. Where the
    driver would be alone but for a job that may be of this batch, nothing is visible.
    """
    jobs = [job for clock in clocks for job in clock.jobs]
    attempts = [attempt for clock in clocks for attempt in clock.attempts]
    runner = np.repeat(np.arange(len(attempts)), [len(attempt.busy) // 2 for attempt in attempts])
    whole, of_jobs, of_stages, of_strangers = _spans_of(clocks, jobs, attempts)
    busy = np.frombuffer(b"".join(attempt.busy for attempt in attempts)).reshape(-1, 2)
    moments, (inside, submitted, running, strange) = _cut(
        whole.times, [whole, of_jobs, of_stages, _Spans(of_stages.batch[runner], busy), of_strangers]
    )
    parts = np.zeros((len(clocks), len(NAMES)))

    at_once = np.bincount(running.moment, minlength=len(moments.ms))
    ms = moments.ms[running.moment] / at_once[running.moment]
    own = np.bincount(runner[running.which], ms, len(attempts))
    np.add.at(parts, of_stages.batch, own[:, None] * shares_of(attempts))

    ranked = sorted(range(len(attempts)), key=lambda which: _rank(attempts[which]))
    waiting = _least(np.argsort(np.array(ranked, np.int64)), submitted, len(moments.ms))
    free = (at_once == 0) & (moments.ms > 0)
    idle = [
        _idle(moments, moment, attempts[ranked[waiting[moment]]])
        for moment in np.flatnonzero(free & (waiting < _NOBODY)).tolist()
    ]
    for each in idle:
        parts[each.batch, PLACE[each.part]] += each.gap[1] - each.gap[0]

    homes = _driver(moments, of_jobs, len(clocks))
    homes[strange.moment] = PLACE["not_visible_ms"]
    job = _least(_beside(jobs, attempts), inside, len(moments.ms))
    homes[job < _NOBODY] = np.array([PLACE[part] for part in _OF_JOBS])[job[job < _NOBODY]]
    rest = free & (waiting == _NOBODY)
    np.add.at(parts, (moments.batch[rest], homes[rest]), moments.ms[rest])
    return parts, idle


def shares_of(attempts: Sequence[Attempt]) -> np.ndarray:
    """What a moment of a stage's tasks is made of, by their own times: a row of PARTS for each, which adds up to 1."""
    rows = matrix(attempt.numbers for attempt in attempts)
    told = {name: np.fmax(column(rows, name), 0.0) for name in ("run_ms", "deserialize_ms", "result_ms", *_TOLD)}
    whole = np.fmax(column(rows, "task_ms"), 0.0)
    whole = np.where(whole > 0, whole, told["run_ms"] + told["deserialize_ms"] + told["result_ms"])
    beside = np.array([attempt.kind in _BESIDE for attempt in attempts], bool)
    shares = np.zeros((len(attempts), len(NAMES)))
    shares[:, PLACE["scheduling_ms"]] = np.fmax(whole - column(rows, "run_ms"), 0.0)
    for name, part in _TOLD.items():
        shares[:, PLACE[part]] += told[name]
    shares[(whole <= 0) | beside] = 0.0
    shares /= np.maximum(np.maximum(whole, shares.sum(axis=1)), 1e-9)[:, None]
    homes = [PLACE[HOME[attempt.kind]] for attempt in attempts]
    shares[np.arange(len(attempts)), homes] += np.maximum(0.0, 1.0 - shares.sum(axis=1))
    return shares


def _spans_of(clocks: Sequence[Clock], jobs: Sequence[Job], attempts: Sequence[Attempt]) -> tuple[_Spans, ...]:
    """When batches, their jobs, their stages and strangers were there; a job without an end is until its batch ends."""
    nth = np.arange(len(clocks))
    strangers = [job for clock in clocks for job in clock.strangers]
    batches = (
        nth,
        np.repeat(nth, [len(clock.jobs) for clock in clocks]),
        np.repeat(nth, [len(clock.attempts) for clock in clocks]),
        np.repeat(nth, [len(clock.strangers) for clock in clocks]),
    )
    times: tuple[list[Gap], ...] = (
        [(clock.begin, clock.end) for clock in clocks],
        [(job.start, np.inf if job.end is None else job.end) for job in jobs],
        [(attempt.submitted, attempt.completed) for attempt in attempts],
        [(job.start, np.inf if job.end is None else job.end) for job in strangers],
    )
    return tuple(_Spans(of, np.array(each, float).reshape(-1, 2)) for of, each in zip(batches, times, strict=True))


def _cut(bounds: np.ndarray, spans: Sequence[_Spans]) -> tuple[_Moments, list[_There]]:
    """The moments of all batches, and in which each span is there; the first spans are the batches themselves."""
    batch = np.concatenate([each.batch for each in spans])
    times = np.concatenate([each.times for each in spans])
    times = np.clip(times, bounds[batch, :1], bounds[batch, 1:]).T.ravel()
    order = np.lexsort((times, np.tile(batch, 2)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    enters, leaves = place.reshape(2, -1)
    of, start = np.tile(batch, 2)[order], times[order]
    ms = np.where(np.diff(of, append=-1) == 0, np.diff(start, append=0.0), 0.0)
    ends = np.cumsum([len(each.batch) for each in spans])
    reaching = [_reach(enters[begin:end], leaves[begin:end]) for begin, end in pairwise(ends)]
    return _Moments(of, start, ms), reaching


def _reach(enters: np.ndarray, leaves: np.ndarray) -> _There:
    """All places from where each of them enters to where it leaves."""
    lengths = np.maximum(leaves - enters, 0)
    before = np.cumsum(lengths) - lengths
    which = np.repeat(np.arange(len(lengths)), lengths)
    return _There(which, np.arange(lengths.sum()) + (enters - before)[which])


def _least(values: np.ndarray, there: _There, moments: int) -> np.ndarray:
    """The least value of those that are there in each moment; _NOBODY where nothing is."""
    found = np.full(moments, _NOBODY)
    np.minimum.at(found, there.moment, values[there.which])
    return found


def _rank(attempt: Attempt) -> tuple[bool, float, int, int]:
    """Of stages that wait at once the batch's own count, and of these the one that waits for longest."""
    return attempt.kind in _BESIDE, attempt.submitted, attempt.stage, attempt.attempt


def _idle(moments: _Moments, moment: int, attempt: Attempt) -> Idle:
    start, ms = float(moments.start[moment]), float(moments.ms[moment])
    part = HOME[attempt.kind] if attempt.kind in _BESIDE or not attempt.seen else "scheduling_ms"
    return Idle(int(moments.batch[moment]), (start, start + ms), attempt, part)


def _beside(jobs: Sequence[Job], attempts: Sequence[Attempt]) -> np.ndarray:
    """Where in _OF_JOBS the time of each job goes in which none of its stages is there."""
    kinds: dict[int, set[str | None]] = {}
    for attempt in attempts:
        kinds.setdefault(id(attempt.job), set()).add(attempt.kind)
    of_jobs = [kinds.get(id(job), set()) for job in jobs]
    return np.array([_OF_JOBS.index(_around(each)) for each in of_jobs], np.int64)


def _around(kinds: Set[str | None]) -> str:
    """The part of a job's time around its stages, which are of these kinds; of a job without any nothing is seen."""
    if not kinds:
        return "not_visible_ms"
    return HOME[next(iter(kinds))] if len(kinds) == 1 and kinds <= _BESIDE else "scheduling_ms"


def _driver(moments: _Moments, jobs: _Spans, batches: int) -> np.ndarray:
    """The part of each moment if it is the driver's alone: before, between or after jobs; without any it is hidden."""
    first, last = np.full(batches, np.inf), np.full(batches, -np.inf)
    np.minimum.at(first, jobs.batch, jobs.times[:, 0])
    np.maximum.at(last, jobs.batch, jobs.times[:, 1])
    before, between, after = (PLACE[part] for part in DRIVER)
    end = moments.start + moments.ms
    homes = np.where(moments.start >= last[moments.batch], after, between)
    homes = np.where(end <= first[moments.batch], before, homes)
    return np.where(np.isinf(first)[moments.batch], PLACE["not_visible_ms"], homes)
