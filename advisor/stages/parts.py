"""Divides the wall clock of addBatch among what ran in it: each moment once, and parts that a log cannot measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from advisor.stages.batchjobs import KINDS, Gathered, Inside, Times
from advisor.stages.columns import PARTS
from advisor.stages.jobs import Attempt, Note
from advisor.stages.work import Work

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
"""The part for a stage's time that its tasks do not divide; all of it, if tasks were not seen."""
_HOMES = np.array([PLACE[HOME[kind]] for kind in KINDS])
_BESIDE = np.array([kind in ("table_log", "other") for kind in KINDS])
"""Which of KINDS are no part of the batch's own work."""
_TOLD = {
    "state_load_ms": "state_load_ms",
    "state_commit_ms": "state_commit_ms",
    "python_ms": "python_ms",
    "result_ms": "result_ms",
    "fetch_wait_ms": "shuffle_ms",
    "shuffle_write_ms": "shuffle_ms",
}
"""Sums over a stage's tasks, and the parts that they are of."""
_OF_JOBS = ("scheduling_ms", "other_ms", "table_log_ms", "not_visible_ms")
"""Where the time of a job goes in which none of its stages is there; of jobs at once the first of these counts."""

DRIVER = ("driver_before_ms", "driver_between_ms", "driver_after_ms")
"""The driver's time around jobs."""

_LINES = {"planning_ms": "driver_before", "sink_commit_ms": "driver_after"}
"""The parts of the driver that only lines show, and the part that otherwise holds them."""
_NOTHING: frozenset[str] = frozenset()

Gap = tuple[float, float]
_NOBODY = np.iinfo(np.int64).max
NO_TIMES = Times(np.empty(0, np.int64), np.empty((0, 2)))


class Idle(NamedTuple):
    """Stretches in which a stage of a batch was submitted and no task of the batch ran, an array each."""

    batch: np.ndarray
    start: np.ndarray
    ms: np.ndarray
    attempt: np.ndarray
    """The place of the stage's attempt."""
    part: np.ndarray
    """The place of the part that it was put to."""


class _Moments(NamedTuple):
    """The stretches of time between each two changes in a batch."""

    batch: np.ndarray
    start: np.ndarray
    ms: np.ndarray


class _There(NamedTuple):
    """Of some things in which moment each comes, and in which it is there no longer."""

    enters: np.ndarray
    leaves: np.ndarray

    def at_once(self, moments: int) -> np.ndarray:
        """How many of them are there in each moment."""
        there = self.enters < self.leaves
        enter, leave = (np.bincount(at[there], minlength=moments) for at in (self.enters, self.leaves))
        return np.cumsum(enter - leave)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The sum of a value that each moment has, over the moments in which each of them is there.

        It is the difference of two running sums: thousands that are there at once have millions of moments.
        """
        until = np.concatenate([[0.0], np.cumsum(values)])
        return until[np.maximum(self.enters, self.leaves)] - until[self.enters]


def divide(gathered: Gathered, bounds: np.ndarray, strangers: Times = NO_TIMES) -> tuple[np.ndarray, Idle]:
    """(the parts of each batch, a row of PARTS in ms that adds up to its length; where stages waited).

    `bounds`: when addBatch of each began and ended. `strangers`: jobs that ran then and may be of this batch, since
    nothing shows to which query they belong.

    A moment belongs to the tasks that run in it, else to a stage that waits, else to a job, else to the driver alone.
    Of a job beside the batch's own work (a table's log, a static side) all is that, its scheduling, too. Of a stage
    with tasks that were not seen all is its own, and of a job without a stage nothing is visible. Where the
    driver would be alone but for a job that may be of this batch, nothing is visible.
    """
    attempts = gathered.attempts
    runner = np.repeat(np.arange(len(attempts)), [len(attempt.busy) // 2 for attempt in attempts])
    busy = np.frombuffer(b"".join(attempt.busy for attempt in attempts)).reshape(-1, 2)
    jobs = Times(gathered.of_job, np.column_stack([gathered.start, gathered.end]))
    stages = Times(gathered.of_attempt, np.column_stack([gathered.submitted, gathered.completed]))
    whole = Times(np.arange(len(bounds)), bounds)
    moments, (inside, submitted, running, strange) = _cut(
        bounds, [whole, jobs, stages, Times(stages.of[runner], busy), strangers]
    )
    parts = np.zeros((len(bounds), len(NAMES)))

    at_once = running.at_once(len(moments.ms))
    shared = np.divide(moments.ms, at_once, out=np.zeros(len(at_once)), where=at_once > 0)
    own = np.bincount(runner, running.sums(shared), len(attempts))
    np.add.at(parts, stages.of, own[:, None] * shares_of(gathered))

    ranked = _ranked(gathered)
    waiting = _least(np.argsort(ranked), submitted, len(moments.ms))
    free = (at_once == 0) & (moments.ms > 0)
    idle = _idle(gathered, moments, np.flatnonzero(free & (waiting < _NOBODY)), ranked, waiting)
    np.add.at(parts, (idle.batch, idle.part), idle.ms)

    homes = _driver(moments, jobs, bounds)
    homes[_least(np.zeros(len(strange.enters), np.int64), strange, len(homes)) < _NOBODY] = PLACE["not_visible_ms"]
    job = _least(_beside(gathered), inside, len(moments.ms))
    homes[job < _NOBODY] = np.array([PLACE[part] for part in _OF_JOBS])[job[job < _NOBODY]]
    rest = free & (waiting == _NOBODY)
    np.add.at(parts, (moments.batch[rest], homes[rest]), moments.ms[rest])
    return parts, idle


def shares_of(gathered: Gathered) -> np.ndarray:
    """What a moment of a stage's tasks is made of, by their own times: a row of PARTS for each, which adds up to 1."""
    found = {name: np.fmax(gathered.number(name), 0.0) for name in ("run_ms", "deserialize_ms", *_TOLD)}
    whole = np.fmax(gathered.number("task_ms"), 0.0)
    whole = np.where(whole > 0, whole, found["run_ms"] + found["deserialize_ms"] + found["result_ms"])
    shares = np.zeros((len(whole), len(NAMES)))
    shares[:, PLACE["scheduling_ms"]] = np.fmax(whole - gathered.number("run_ms") - found["result_ms"], 0.0)
    for name, part in _TOLD.items():
        shares[:, PLACE[part]] += found[name]
    shares[(whole <= 0) | _BESIDE[gathered.kinds]] = 0.0
    shares /= np.maximum(np.maximum(whole, shares.sum(axis=1)), 1e-9)[:, None]
    shares[np.arange(len(whole)), _HOMES[gathered.kinds]] += np.maximum(0.0, 1.0 - shares.sum(axis=1))
    return shares


def _cut(bounds: np.ndarray, spans: Sequence[Times]) -> tuple[_Moments, list[_There]]:
    """The moments of all batches, and in which each span is there; the first spans are the batches themselves."""
    batch = np.concatenate([each.of for each in spans])
    times = np.concatenate([each.times for each in spans])
    times = np.clip(times, bounds[batch, :1], bounds[batch, 1:]).T.ravel()
    order = np.lexsort((times, np.tile(batch, 2)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    enters, leaves = place.reshape(2, -1)
    of, start = np.tile(batch, 2)[order], times[order]
    ms = np.where(np.diff(of, append=-1) == 0, np.diff(start, append=0.0), 0.0)
    ends = np.cumsum([len(each.of) for each in spans])
    there = [_There(enters[begin:end], leaves[begin:end]) for begin, end in pairwise(ends)]
    return _Moments(of, start, ms), there


def _least(values: np.ndarray, there: _There, moments: int) -> np.ndarray:
    """The least value of those that are there in each moment; _NOBODY where nothing is.

    Each is put where the longest stretches of 2, 4, 8.. moments begin that its own first and last ones are of; these
    are halved step by step. Of thousands at once, as where the ends of jobs are lost, single moments are too many.
    """
    found = np.full(moments, _NOBODY)
    lengths = there.leaves - there.enters
    steps = np.frexp(np.maximum(lengths, 0))[1] - 1
    for step in range(steps.max(initial=-1), -1, -1):
        own, size = steps == step, 1 << step
        np.minimum.at(found, there.enters[own], values[own])
        np.minimum.at(found, there.leaves[own] - size, values[own])
        half = size // 2
        if half:
            found[half:] = np.minimum(found[half:], found[:-half].copy())
    return found


def _ranked(gathered: Gathered) -> np.ndarray:
    """Stages in the order in which those count that wait at once: the batch's own, then the one that waits longest."""
    numbers = np.array([(attempt.stage, attempt.attempt) for attempt in gathered.attempts], float).reshape(-1, 2)
    return np.lexsort((numbers[:, 1], numbers[:, 0], gathered.submitted, _BESIDE[gathered.kinds]))


def _idle(gathered: Gathered, moments: _Moments, places: np.ndarray, ranked: np.ndarray, waiting: np.ndarray) -> Idle:
    """These moments, in each of which the stage of this rank waits."""
    attempt = ranked[waiting[places]]
    own = _BESIDE[gathered.kinds[attempt]] | ~gathered.seen[attempt]
    part = np.where(own, _HOMES[gathered.kinds[attempt]], PLACE["scheduling_ms"])
    return Idle(moments.batch[places], moments.start[places], moments.ms[places], attempt, part)


def _beside(gathered: Gathered) -> np.ndarray:
    """Where in _OF_JOBS the time of each job goes in which none of its stages is there."""
    kinds: dict[int, set[int]] = {}
    for attempt, kind in zip(gathered.attempts, gathered.kinds.tolist(), strict=True):
        kinds.setdefault(id(attempt.job), set()).add(kind)
    return np.array([_around(kinds.get(id(job))) for job in gathered.jobs], np.int64)


def _around(kinds: Set[int] | None) -> int:
    """Where a job's time around its stages goes, which are of these kinds; of a job without any nothing is seen."""
    if not kinds:
        return _OF_JOBS.index("not_visible_ms")
    only = next(iter(kinds))
    return _OF_JOBS.index(HOME[KINDS[only]] if len(kinds) == 1 and _BESIDE[only] else "scheduling_ms")


def _driver(moments: _Moments, jobs: Times, bounds: np.ndarray) -> np.ndarray:
    """The part of each moment if it is the driver's alone: before, between or after jobs; without any it is hidden."""
    there = (jobs.times[:, 0] < bounds[jobs.of, 1]) & (jobs.times[:, 1] > bounds[jobs.of, 0])
    of, times = jobs.of[there], jobs.times[there]
    first, last = np.full(len(bounds), np.inf), np.full(len(bounds), -np.inf)
    np.minimum.at(first, of, times[:, 0])
    np.maximum.at(last, of, times[:, 1])
    before, between, after = (PLACE[part] for part in DRIVER)
    end = moments.start + moments.ms
    homes = np.where(moments.start >= last[moments.batch], after, between)
    homes = np.where(end <= first[moments.batch], before, homes)
    return np.where(np.isinf(first)[moments.batch], PLACE["not_visible_ms"], homes)


def move(parts: np.ndarray, part: str, ms: float, homes: Sequence[str]) -> None:
    """So many milliseconds of the parts `homes`, as far as they hold as much, are of this part."""
    for home in homes:
        taken = min(ms, parts[PLACE[home]])
        parts[PLACE[home]] -= taken
        parts[PLACE[part]] += taken
        ms -= taken


def gather(parts: np.ndarray, ms: float) -> None:
    """All but jobs is the driver's, of which is not known when; together they are so many milliseconds."""
    parts[[PLACE[part] for part in DRIVER]] = 0.0
    jobs = parts.sum()
    if jobs > ms:
        parts *= ms / jobs
    else:
        parts[PLACE["driver_ms"]] = ms - jobs


def homes_of(inside: Inside, note: Note) -> Sequence[str]:
    """Return which of the driver's parts gives up the time that a line names."""
    if not inside.work.clock:
        return ["driver_ms"]
    if note.time <= min(job.start for job in inside.jobs):
        return DRIVER[:1]
    return DRIVER[:0:-1] if note.name == "sink_commit_ms" else DRIVER[1:]


def knows_wait(work: Work, attempt: Attempt) -> bool:
    """Whether it is known how long a stage waited for other queries: by the slots' number, or by the order of lines."""
    if work.spans.alone:
        return work.knows_waits
    if work.origin == "driver_log":
        return work.clock or not attempt.paused
    return work.knows_waits and attempt.slots is not None


def measured(gathered: Gathered, parts: np.ndarray, knows_waits: np.ndarray) -> np.ndarray:
    """Return the parts; NaN for parts that the source cannot measure. `knows_waits`: by batch."""
    silent = np.zeros(parts.shape, bool)
    for part, of_batches in _silent(gathered, knows_waits).items():
        silent[:, PLACE[part]] = of_batches
    return np.where(silent & (parts == 0), np.nan, np.maximum(parts, 0.0))


def _silent(gathered: Gathered, knows_waits: np.ndarray) -> dict[str, np.ndarray | bool]:
    """Return the parts that the source cannot measure if they hold nothing, and for which batches."""
    loads = gathered.count(~np.isnan(gathered.number("state_load_ms"))) > 0
    return {
        **dict.fromkeys(DRIVER, ~gathered.clock),
        "driver_ms": gathered.clock,
        "sink_commit_ms": True,
        "planning_ms": np.array([inside.work.origin != "driver_log" for inside in gathered.insides], bool),
        "slots_wait_ms": ~knows_waits,
        **{name: gathered.count(~np.isnan(gathered.number(name))) == 0 for name in ("python_ms", "result_ms")},
        "other_ms": gathered.count(gathered.kinds == KINDS.index(None)) > 0,
        "state_load_ms": (gathered.count(gathered.kinds == KINDS.index("state")) > 0) & ~loads,
    }


def together(gathered: Gathered, knows_waits: np.ndarray) -> list[tuple[str, ...]]:
    """Of each batch which parts hold another's time: both are one stage's, or the source does not name them apart."""
    last = np.array([bool(attempt.last) for attempt in gathered.attempts], bool)
    loads = ~np.isnan(gathered.number("state_load_ms"))
    stages = (gathered.kinds * 8 + last * 4 + loads * 2 + gathered.seen).tolist()
    found, begin = [], 0
    for inside, clock, waits in zip(gathered.insides, gathered.clock.tolist(), knows_waits.tolist(), strict=True):
        end = begin + len(inside.attempts)
        noted = frozenset(note.name for note in inside.notes if note.name in _LINES) if inside.notes else _NOTHING
        found.append(_joined(clock, waits, noted, tuple(stages[begin:end])))
        begin = end
    return found


@lru_cache(maxsize=256)
def _joined(clock: bool, knows_waits: bool, noted: Set[str], stages: Sequence[int]) -> tuple[str, ...]:
    """`noted`: the ones of _LINES that a line gave.

    `stages`: for each the place of its kind; then, a bit each, whether it is the last, has loads, was seen.
    """
    lacking = [(home if clock else "driver", part) for part, home in _LINES.items() if part not in noted]
    found = dict.fromkeys(f"{home}+{part.removesuffix('_ms')}" for home, part in lacking)
    if not knows_waits:
        found["scheduling+slots_wait"] = None
    for stage in stages:
        kind, last, tells_load, seen = KINDS[stage >> 3], stage & 4, stage & 2, stage & 1
        if not seen:
            found[f"{HOME[kind].removesuffix('_ms')}+scheduling"] = None
        if kind is None:
            found["source_read+other"] = None
        if last and kind in ("source_read", None):
            found["source_read+sink_write"] = None
        if last and kind == "state":
            found["state_update+sink_write"] = None
        if kind == "state" and not tells_load:
            found["state_update+state_load"] = None
    return tuple(found)
