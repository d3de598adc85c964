"""Divides the wall clock of addBatch among what ran in it: each moment once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from advisor.stages.work import Attempt, Job

_HOME: Mapping[str | None, str] = {
    None: "source_read_ms",
    "source_read": "source_read_ms",
    "state": "state_update_ms",
    "shuffle": "shuffle_ms",
    "result": "sink_write_ms",
    "table_log": "table_log_ms",
    "other": "other_ms",
}
"""Where the time of a stage goes that its tasks do not tell more of."""
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

DRIVER = ("driver_before_ms", "driver_between_ms", "driver_after_ms")
"""The driver's time around jobs."""

Gap = tuple[float, float]


class Waits(NamedTuple):
    """How long, in a stretch of time, others' tasks held the slots, and whose."""

    ms: float
    names: frozenset[str]


def shares_of(attempt: Attempt) -> dict[str, float]:
    """What a moment in which tasks of this stage run is made of: shares that add up to 1, by the tasks' own times."""
    numbers, home = attempt.numbers, _HOME[attempt.kind]
    whole = numbers.get("task_ms") or sum(numbers.get(name, 0.0) for name in ("run_ms", "deserialize_ms", "result_ms"))
    if whole <= 0 or attempt.kind in _BESIDE:
        return {home: 1.0}
    told = {"scheduling_ms": max(0.0, whole - numbers.get("run_ms", whole))}
    for number, part in _TOLD.items():
        told[part] = told.get(part, 0.0) + numbers.get(number, 0.0)
    scale = 1 / max(whole, sum(told.values()))
    shares = {part: ms * scale for part, ms in told.items() if ms > 0}
    shares[home] = shares.get(home, 0.0) + max(0.0, 1.0 - sum(shares.values()))
    return shares


class Idle(NamedTuple):
    """A stretch in which a stage was submitted and none of the batch's tasks ran, and the part that it was put to."""

    gap: Gap
    attempt: Attempt
    part: str


class Division:
    """The parts of one batch's addBatch, [begin, end) in ms; they add up to its length."""

    def __init__(self, begin: float, end: float) -> None:
        self.begin, self.end = begin, end
        self.parts: dict[str, float] = {}
        self.idle: list[Idle] = []

    def add(self, part: str, ms: float) -> None:
        """So many milliseconds more of a part."""
        self.parts[part] = self.parts.get(part, 0.0) + ms

    def divide(self, jobs: Sequence[Job], attempts: Sequence[Attempt]) -> None:
        """Walk through the time once: tasks first, then stages that wait, then jobs, then the driver alone.

        Of a job beside the batch's own work (a table's log, a static side) all is that, its scheduling, too.
        """
        spans = [(job.start, self.end if job.end is None else job.end) for job in jobs]
        if not spans:
            self.add("not_visible_ms", self.end - self.begin)
            return
        first, last = min(start for start, _ in spans), max(end for _, end in spans)
        shares = [shares_of(attempt) for attempt in attempts]
        beside = [_beside(job, attempts) for job in jobs]
        for start, end, running, waiting, inside in self._moments(spans, attempts):
            ms = end - start
            if running:
                for which in running:
                    for part, share in shares[which].items():
                        self.add(part, ms * share / len(running))
            elif waiting:
                attempt = min((attempts[which] for which in waiting), key=_first)
                part = _HOME[attempt.kind] if attempt.kind in _BESIDE else "scheduling_ms"
                self.idle.append(Idle((start, end), attempt, part))
                self.add(part, ms)
            elif inside:
                self.add(min((beside[which] for which in inside), key=lambda part: (part != "scheduling_ms", part)), ms)
            elif end <= first:
                self.add("driver_before_ms", ms)
            else:
                self.add("driver_after_ms" if start >= last else "driver_between_ms", ms)

    def moves(self, part: str, ms: float, homes: Sequence[str]) -> None:
        """So many milliseconds of the parts `homes`, as far as they hold as much, are of this part."""
        for home in homes:
            taken = min(ms, self.parts.get(home, 0.0))
            if taken > 0:
                self.add(home, -taken)
                self.add(part, taken)
                ms -= taken

    def gathers(self, ms: float) -> None:
        """All but jobs is the driver's, of which is not known when; together they are so many milliseconds."""
        for part in DRIVER:
            self.parts.pop(part, None)
        jobs = sum(self.parts.values())
        if jobs > ms:
            self.parts = {part: each * ms / jobs for part, each in self.parts.items()}
        else:
            self.add("driver_ms", ms - jobs)

    def waits(self, idle: Idle, ms: float) -> None:
        """Of the time in which a stage waited, so much was for others."""
        self.moves("slots_wait_ms", ms, [idle.part])

    def _moments(
        self, jobs: Sequence[Gap], attempts: Sequence[Attempt]
    ) -> Iterator[tuple[float, float, set[int], set[int], set[int]]]:
        """(from, to, stages whose tasks run, stages that are submitted, jobs) between each two changes of them."""
        states: tuple[set[int], set[int], set[int]] = (set(), set(), set())
        running, waiting, inside = states
        changes: list[tuple[float, bool, int, set[int]]] = []
        for which, (start, end) in enumerate(jobs):
            changes += ((start, True, which, inside), (end, False, which, inside))
        for which, attempt in enumerate(attempts):
            changes += ((attempt.submitted, True, which, waiting), (attempt.completed, False, which, waiting))
            for start, end in attempt.busy:
                changes += ((start, True, which, running), (end, False, which, running))
        changes.sort(key=itemgetter(0, 1))
        at = self.begin
        for time, enters, which, state in changes:
            until = min(max(time, self.begin), self.end)
            if until > at:
                yield at, until, running, waiting, inside
                at = until
            (state.add if enters else state.discard)(which)
        if self.end > at:
            yield at, self.end, running, waiting, inside


def _first(attempt: Attempt) -> tuple[bool, float, int, int]:
    """Of stages that wait at once the batch's own count, and of these the one that waits for longest."""
    return attempt.kind in _BESIDE, attempt.submitted, attempt.stage, attempt.attempt


def _beside(job: Job, attempts: Sequence[Attempt]) -> str:
    """Where the time of a job goes in which none of its stages is there."""
    kinds = {attempt.kind for attempt in attempts if attempt.job is job}
    return _HOME[kinds.pop()] if len(kinds) == 1 and kinds <= _BESIDE else "scheduling_ms"
