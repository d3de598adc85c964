"""What one log tells of jobs, stages and tasks, as it is read: flat arrays, folded into rows stage by stage."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from advisor.stages.numbers import COUNTED, Numbers, fill
from advisor.stages.tasks import FAILED, KILLED, SPECULATIVE, Spans, Tasks

_MANY = 4096
"""Tasks that are folded together."""


class Batch(NamedTuple):
    """Which micro-batch a job belongs to; what is not named is None."""

    id: str | None
    run_id: str | None
    batch_id: int


class Note(NamedTuple):
    """Something that a line says of the batch around it: a column of the table of batch parts, and its number.

    `time`: of the line, ms since 1970, where the log's clock knows milliseconds.
    """

    batch: Batch | None
    name: str
    value: float
    time: float = 0.0


@dataclass(slots=True)
class Job:
    """One Spark job; times are ms since 1970, of the log's own line of time where its clock knows only seconds."""

    job: int
    batch: Batch | None
    start: float
    end: float | None = None
    name: str = ""
    description: str = ""
    streams: bool = False
    """Whether one of its stages reads a stream or holds its state."""
    nth: int = 0
    """How many jobs of the log began before it."""


@dataclass(slots=True)
class Attempt:
    """One attempt of a stage. `kind` and `what` as in the table; `numbers` are those of its columns that are known."""

    job: Job | None
    stage: int
    attempt: int
    submitted: float
    completed: float
    kind: str | None = "other"
    what: str = ""
    last: bool | None = None
    tasks: int | None = None
    slots: int | None = None
    waited_for: Sequence[str] = ()
    paused: bool = False
    """Whether it may have waited for others' tasks in a time of which its log does not say how long it was."""
    unseen: int = 0
    """Attempts at its tasks of which is not known when they ran."""
    numbers: Numbers = field(default_factory=Numbers)
    busy: array[float] = field(default_factory=lambda: array("d"))
    """Stretches of time in which one of its tasks ran: starts and ends in turn."""

    @property
    def seen(self) -> bool:
        """Whether it is known when its tasks ran."""
        return bool(self.busy) and not self.unseen


class Work:
    """Jobs, stage attempts and tasks of one log.

    Tasks are held until some thousand have ended, or longer while their stage runs; then of each its span alone is
    kept, since it may hold slots that other queries wait for.
    """

    def __init__(self, log: str, origin: str, *, clock: bool = True) -> None:
        """`clock`: whether the times are those of a clock that knows milliseconds."""
        self.log, self.origin, self.clock = log, origin, clock
        self.jobs: list[Job] = []
        self.strangers: list[Job] = []
        """Jobs of which nothing says whose they are."""
        self.attempts: list[Attempt] = []
        self.notes: list[Note] = []
        self.cpus = 1
        self.at_once = 0
        """The most tasks that ran at once, as the order of lines tells."""
        self.spans = Spans()
        self._cores: dict[str, int] = {}
        self._cores_since: list[tuple[float, int]] = []
        self._tasks = Tasks()
        self._owners: dict[tuple[int, int], int] = {}
        self._of_stage: dict[int, Job] = {}
        self._complete: dict[int, Attempt] = {}
        self._ended: dict[tuple[int, int], Attempt] = {}
        self._late: list[tuple[Attempt, int]] = []
        self._attempts = 0

    @property
    def tells_waits(self) -> bool:
        """Whether single tasks are told, so that it is known for whom a stage waits."""
        return self.origin != "session"

    def has(self, time: float, executor: str, cores: int) -> None:
        """An executor has so many cores from this time on, none when it is gone."""
        self._cores[executor] = cores
        self._cores_since.append((time, sum(self._cores.values())))

    def slots(self, time: float) -> int | None:
        """Task slots of the executors that were there at this time; None where none was named."""
        cores = next((cores for since, cores in reversed(self._cores_since) if since <= time), 0)
        return cores // self.cpus if cores else None

    def starts(self, job: Job, stages: Sequence[int]) -> None:
        """A job starts, with these stages; those that another running job has begun stay that one's."""
        self.jobs.append(job)
        for stage in stages:
            owner = self._of_stage.get(stage)
            if owner is None or owner.end is not None:
                self._of_stage[stage] = job

    def job_of(self, stage: int) -> Job | None:
        """The job for which a stage runs."""
        return self._of_stage.get(stage)

    def owner(self, stage: int, attempt: int) -> int:
        """A number for a stage attempt, under which its tasks are kept."""
        key = stage, attempt
        owner = self._owners.get(key)
        if owner is None:
            owner = self._owners[key] = self._attempts
            self._attempts += 1
        return owner

    def task(
        self,
        stage: int,
        attempt: int,
        launch: float,
        finish: float,
        locality: int,
        flags: int,
        sums: Sequence[float] = (),
    ) -> None:
        """One attempt of a task that has ended; `locality` is its place in LOCALITIES, -1 without one.

        `sums` as SUMS, of each task of the log or of none. Behind the end of its stage come only attempts that others
        outran, or that were killed with it; they are counted.
        """
        key = stage, attempt
        if key not in self._owners and (ended := self._ended.get(key)) and launch < ended.completed:
            self._late.append((ended, flags))
        else:
            self._tasks.add(self.owner(*key), launch, finish, locality, flags, sums)

    def ended(self, stage: int, attempt: int) -> Attempt | None:
        """The stage attempt, if it has ended."""
        return self._ended.get((stage, attempt))

    def completes(self, attempt: Attempt) -> None:
        """A stage attempt has ended."""
        attempt.slots = self.slots(attempt.submitted)
        self.attempts.append(attempt)
        key = attempt.stage, attempt.attempt
        self._complete[self.owner(*key)] = self._ended[key] = attempt
        self._owners.pop(key)
        if len(self._tasks) >= _MANY:
            self.fold()

    def take(self, over: list[Job], left: list[Job], since: float) -> Work:
        """The jobs that are over as a work of its own; here stay those that are left, and the tasks since a time."""
        self.fold()
        taken = Work(self.log, self.origin, clock=self.clock)
        taken.cpus, taken.spans = self.cpus, self.spans
        of_over, of_left = {id(job) for job in over}, {id(job) for job in left}
        taken.jobs, self.jobs = over, left
        taken.attempts = [attempt for attempt in self.attempts if id(attempt.job) in of_over]
        self.attempts = [attempt for attempt in self.attempts if id(attempt.job) in of_left]
        self._ended = {key: attempt for key, attempt in self._ended.items() if id(attempt.job) in of_left}
        self._of_stage = {stage: job for stage, job in self._of_stage.items() if id(job) in of_left}
        self.spans = self.spans.since(since)
        return taken

    def move(self, ms: float) -> None:
        """Move all times: the log's clock was that of another zone."""
        self.fold()
        self.spans.move(ms)
        self.notes = [note._replace(time=note.time + ms) for note in self.notes]
        for job in self.jobs:
            job.start += ms
            job.end = None if job.end is None else job.end + ms
        for attempt in self.attempts:
            attempt.submitted += ms
            attempt.completed += ms
            attempt.busy = array("d", (time + ms for time in attempt.busy))

    def fold(self) -> None:
        """Fold the tasks of complete stages into their attempts."""
        if self._complete and len(self._tasks):
            self._fold()
        for attempt, flags in self._late:
            _count(attempt, flags)
        self._late = []

    def _fold(self) -> None:
        owners, rows, busy = self._tasks.fold(self._complete, self.spans, self._job_of)
        attempts = [self._complete[owner] for owner in owners]
        fill([attempt.numbers for attempt in attempts], rows)
        for attempt, stretches in zip(attempts, busy, strict=True):
            attempt.numbers["first_task_ms"] = max(0.0, stretches[0] - attempt.submitted)
            attempt.busy = stretches
        self._complete = {}

    def _job_of(self, owner: int) -> Job | None:
        return self._complete[owner].job


def _count(attempt: Attempt, flags: int) -> None:
    """One more task attempt with these flags."""
    for name, flag in zip(COUNTED, (FAILED, KILLED, SPECULATIVE), strict=True):
        attempt.numbers[name] = attempt.numbers.get(name, 0.0) + bool(flags & flag)
