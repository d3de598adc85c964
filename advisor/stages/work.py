"""The jobs, stages and tasks of one log as it is read: flat arrays, folded into rows stage by stage."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from advisor.stages.jobs import COUNTED, Attempt, Job, Note, fill
from advisor.stages.tasks import FAILED, KILLED, SPECULATIVE, Spans, Tasks, fold


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
        """Jobs that cannot be assigned to a batch."""
        self.knows_others = origin != "driver_log"
        """Whether the tasks of no query are known to be others'."""
        self.attempts: list[Attempt] = []
        self.notes: list[Note] = []
        self.cpus = 1
        self.spans = Spans()
        self._cores: dict[str, int] = {}
        self._cores_since: list[tuple[float, int]] = []
        self._tasks = Tasks()
        self._of_stage: dict[int, Job] = {}
        self._complete: list[tuple[Attempt, int]] = []
        """Those that have ended and were not folded, and where in the log their ends stand."""
        self._ended: dict[tuple[int, int], Attempt] = {}

    @property
    def knows_waits(self) -> bool:
        """Whether single tasks are known, and so for whom a stage waits."""
        return self.origin != "session"

    def has(self, time: float, executor: str, cores: int) -> None:
        """An executor has so many cores from this time on, none when it is gone."""
        before = self._cores_since[-1][1] if self._cores_since else 0
        self._cores_since.append((time, before + cores - self._cores.get(executor, 0)))
        self._cores[executor] = cores

    def slots(self, time: float) -> int | None:
        """Task slots of the executors that were there at this time; None where none was named."""
        for since, cores in reversed(self._cores_since):
            if since <= time:
                return cores // self.cpus if cores else None
        return None

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

    def tasks(self, rows: np.ndarray) -> None:
        """Attempts of tasks that have ended, a row each, of all tasks of a log with the numbers of SUMS or of none.

        Before these stand the stage, its attempt, the task's place in the log as in `completes`, its launch, its
        finish, its locality (a place in LOCALITIES, -1 without one) and its flags. Behind the end of their stage come
        only attempts that others outran, or that were killed with it; they are counted.
        """
        self._tasks.add(rows)
        if self._tasks.many:
            self.fold()

    def ended(self, stage: int, attempt: int) -> Attempt | None:
        """The stage attempt, if it has ended."""
        return self._ended.get((stage, attempt))

    def completes(self, attempt: Attempt, at: int) -> None:
        """Record that a stage attempt ended at this place in the log."""
        attempt.slots = self.slots(attempt.submitted)
        self.attempts.append(attempt)
        self._ended[attempt.stage, attempt.attempt] = attempt
        self._complete.append((attempt, at))

    def take(self, over: Sequence[Job], left: Sequence[Job], since: float) -> Work:
        """The jobs that are over as a work of its own; here stay those that are left, and the tasks since a time."""
        self.fold()
        taken = Work(self.log, self.origin, clock=self.clock)
        taken.cpus, taken.spans = self.cpus, self.spans
        of_over, of_left = {id(job) for job in over}, {id(job) for job in left}
        taken.jobs, self.jobs = [*over], [*left]
        taken.attempts = [attempt for attempt in self.attempts if id(attempt.job) in of_over]
        self.attempts = [attempt for attempt in self.attempts if id(attempt.job) in of_left]
        self._ended = {key: attempt for key, attempt in self._ended.items() if id(attempt.job) in of_left}
        self._of_stage = {stage: job for stage, job in self._of_stage.items() if id(job) in of_left}
        self.spans = self.spans.since(since)
        return taken

    def move(self, by: Callable[[Job | None], float]) -> None:
        """Move the times of each job, ms: the log's clock was that of another zone."""
        self.fold()
        self.spans.move(by)
        for job in self.jobs:
            ms = by(job)
            job.start += ms
            job.end = None if job.end is None else job.end + ms
        for attempt in self.attempts:
            ms = by(attempt.job)
            attempt.submitted += ms
            attempt.completed += ms
            attempt.busy = array("d", [time + ms for time in attempt.busy])

    def _ends(self) -> np.ndarray:
        """Return the stage, the attempt and the place in the log of each complete stage attempt."""
        return np.array([(each.stage, each.attempt, at) for each, at in self._complete], float).reshape(-1, 3)

    def fold(self) -> None:
        """Fold the tasks of complete stages into their attempts."""
        fold_all([self])


def fold_all(works: Sequence[Work]) -> None:
    """Fold the tasks of many works of one origin together: numpy takes as long for few tasks as for some thousand."""
    if some := [work for work in works if len(work._tasks)]:
        _fold(some)
    for work in works:
        for attempt, flags in work._tasks.take_late(work._ended):
            _count(attempt, flags)
        work._complete = []


def _fold(works: Sequence[Work]) -> None:
    folded = fold([work._tasks for work in works], [work._ends() for work in works])
    if folded is None:
        return
    complete = [attempt for work in works for attempt, _ in work._complete]
    attempts = [complete[which] for which in folded.ended]
    fill([attempt.numbers for attempt in attempts], folded.numbers)
    for attempt, stretches in zip(attempts, folded.busy, strict=True):
        attempt.numbers["first_task_ms"] = max(0.0, stretches[0] - attempt.submitted)
        attempt.busy = stretches
    begins = np.searchsorted(folded.ended, np.cumsum([0, *(len(work._complete) for work in works)]))
    tasks = np.append(0, np.cumsum(folded.tasks))[begins]
    for work, own, of_own in zip(works, pairwise(begins.tolist()), pairwise(tasks.tolist()), strict=True):
        times = (column[slice(*of_own)] for column in (folded.launch, folded.finish))
        work.spans.add([attempt.job for attempt in attempts[slice(*own)]], folded.tasks[slice(*own)], *times)


def _count(attempt: Attempt, flags: int) -> None:
    for name, flag in zip(COUNTED, (FAILED, KILLED, SPECULATIVE), strict=True):
        attempt.numbers[name] = attempt.numbers.get(name, 0.0) + bool(flags & flag)
