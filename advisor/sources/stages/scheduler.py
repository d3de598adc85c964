"""Jobs and stages of one application, as the messages of Spark's scheduler in a driver's log tell them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from operator import attrgetter

import numpy as np

from advisor.sources.stages import pythonlines
from advisor.sources.stages.begun import Begun
from advisor.sources.stages.deltalog import DeltaLog
from advisor.sources.stages.kinds import FAILED, LAST, Kind
from advisor.sources.stages.moment import Moment, Told
from advisor.sources.stages.openjobs import OpenJobs
from advisor.sources.stages.stagetasks import StageTasks
from advisor.sources.stages.submitted import Submitted
from advisor.stages import Attempt, Job, Work

Tells = Callable[[int, int, float], None]
"""Takes a message's number, its other number and its length."""


class Scheduler:
    """Reads messages of the scheduler."""

    def __init__(self, work: Work, moment: Moment, delta: DeltaLog, begun: int = 0) -> None:
        """What is told goes to `work`; `moment` says where the log is read, and where its clock knows only seconds,
        it goes on with what lines tell. `begun`: how many jobs of the log began before.
        """
        self.readers: Mapping[int, Tells] = {
            Kind.GOT: self._begins,
            Kind.FINAL: self._final,
            Kind.PARENTS: self._parents,
            Kind.SUBMITS: self._submits,
            Kind.STAGE_ENDS: self._stage_ends,
            Kind.JOB_ENDS: self._job_ends,
        }
        """What reads a message, by its kind."""
        self.jobs: list[Begun] = []
        self.begun = begun
        """How many jobs have begun."""
        self._work, self._moment, self._delta = work, moment, delta
        self._open = OpenJobs()
        self._last: Begun | None = None
        self.stages: dict[int, Submitted] = {}
        """Stage attempts that were submitted and are not over."""
        self._submitted: list[Submitted] = []
        """These, and those that ended since tasks were read."""
        self._tasks = StageTasks(work)
        self._marked, self._marked_ms = begun, 0.0

    def python(self, line: bytes, _: int) -> None:
        """A line of a Python worker."""
        if not (found := pythonlines.told(line)):
            return
        ms, stage = found
        if stage is None and self.stages:
            self._tasks.workers.append((self._moment.number, ms))
        elif stage in self.stages:
            self.stages[stage].works(ms)

    @property
    def idle(self) -> bool:
        """Whether no job runs."""
        return self._open.idle

    def mark(self) -> None:
        """Jobs that begin from now on are those of `since_mark`."""
        self._marked, self._marked_ms = self.begun, 0.0

    def since_mark(self) -> float:
        """How long the jobs took that began since then, ms."""
        at = bisect_left(self.jobs, self._marked, key=attrgetter("number"))
        return _length(self.jobs[at:], self._marked_ms)

    def take(self, count: int) -> list[Begun]:
        """The first jobs; they are forgotten here."""
        taken, self.jobs = self.jobs[:count], self.jobs[count:]
        self._marked_ms = _length([begun for begun in taken if begun.number >= self._marked], self._marked_ms)
        self._tasks.forget(self.jobs[0].number if self.jobs else self.begun)
        return taken

    def settle_waits(self) -> None:
        """Note how long stages waited for others' tasks, of jobs that know their batches."""
        self._tasks.settle_waits(self.jobs)

    def read_tasks(self, told: Told, rows: np.ndarray) -> None:
        """Take the messages of tasks in these rows, behind all others of theirs."""
        submitted = self._submitted
        if not submitted:
            return
        self._tasks.read(told, rows, submitted, fine=self._moment.fine)
        self._submitted = [one for one in submitted if not one.over]

    def _begins(self, number: int, background: int, _: float) -> None:
        now = self._moment.now
        job = Job(number, None, now, nth=self.begun)
        self._last = Begun(job, self.begun, self._moment.place, self._delta.job, bool(background))
        self._last.now = now
        self._open.begins(self._last)
        self.begun += 1
        self.jobs.append(self._last)
        self._work.jobs.append(job)

    def _final(self, stage: int, _: int, __: float) -> None:
        if self._last:
            self._open.final(self._last, stage)

    def _parents(self, some: int, _: int, __: float) -> None:
        if self._last:
            self._last.has_parents = bool(some)

    def _submits(self, stage: int, tasks: int, _: float) -> None:
        begun = self._open.of(stage)
        leaf = begun is not None and not begun.ended and not (begun.has_parents and stage == begun.final)
        now = self._moment.now if begun is None or self._moment.fine else begun.now
        if before := self.stages.get(stage):
            before.end = self._moment.number
        self.stages[stage] = Submitted(stage, self._moment.number, now, tasks, begun, leaf)
        self._submitted.append(self.stages[stage])
        if begun is not None:
            begun.what = self._delta.submits(begun.what, begun.ended, tasks)

    def _stage_ends(self, stage: int, how: int, ms: float) -> None:
        submitted = self.stages.pop(stage, None)
        if submitted is None:
            return
        begun = submitted.begun
        completed = self._completed(submitted, ms)
        attempt = Attempt(
            begun.job if begun else None,
            stage,
            0,
            completed - ms,
            completed,
            "shuffle",
            "",
            bool(how & LAST),
            submitted.tasks,
        )
        submitted.attempt, submitted.end = attempt, self._moment.number
        if begun:
            begun.ended += 1
            begun.attempts.append(attempt)
            if submitted.leaf:
                begun.leaves.append(attempt)
            if stage == begun.final and not how & FAILED:
                begun.job.end = completed
                self._open.over(begun)

    def _completed(self, submitted: Submitted, ms: float) -> float:
        """When a stage ended that took so long."""
        moment, begun = self._moment, submitted.begun
        if moment.fine:
            return moment.now
        completed = submitted.time + ms
        moment.now = max(moment.now, completed)
        if begun:
            begun.now = max(begun.now, completed)
        return completed

    def _job_ends(self, number: int, _: int, ms: float) -> None:
        begun = self._open.ends(number)
        if begun is None:
            return
        moment = self._moment
        if moment.fine:
            begun.job.end = moment.now
            begun.job.start = moment.now - ms
        else:
            begun.job.end = max(begun.job.start + ms, begun.now)
            moment.now = max(moment.now, begun.job.end)
        begun.named = moment.named or begun.named


def _length(jobs: list[Begun], so_far: float) -> float:
    """How long jobs took that have ended, and those before them, ms."""
    return sum((begun.job.end - begun.job.start for begun in jobs if begun.job.end is not None), so_far)
