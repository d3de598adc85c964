"""What one application's events in an event log tell: jobs, stages and tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from struct import Struct

import numpy as np
import pyarrow as pa

from advisor.redaction import redact
from advisor.sources.stages.described import batch_of, described, is_number, meant, operators, sql_sums
from advisor.sources.stages.events import Events
from advisor.sources.stages.horizon import Horizon
from advisor.sources.stages.owners import name_batches
from advisor.sources.stages.sparkevents import (
    ExecutorAdded,
    ExecutorRemoved,
    JobEnd,
    JobStart,
    Properties,
    Stage,
    StageCompleted,
    Unpersisted,
)
from advisor.sources.stages.taskevents import WIDTH, TaskEnd, row
from advisor.stages import (
    SUMS,
    Attempt,
    Job,
    Numbers,
    Triggers,
    Work,
    streams,
)

_NO_PROPERTIES = Properties()
_PACKED = Struct(f"{1 + WIDTH}d")
"""A task as bytes, which numpy takes as they are; of tuples it looks at every number."""
_MANY = 1024 * _PACKED.size
"""Bytes of tasks that go on together."""


class Application:
    """Takes the events of one application, in order."""

    def __init__(self, log: str, nth: int = 0) -> None:
        """`nth`: how many jobs of the log began before."""
        self.nth = nth
        self._work = Work(log, "event_log")
        self._horizon = Horizon()
        self._known = -inf
        """What began before that is over; what says otherwise was told before."""
        self._jobs: dict[int, Job] = {}
        self._since: dict[int, float] = {}
        """When each job began: a file may hold its lines twice."""
        self._tasks = bytearray()
        """Those that were not handed over."""
        self._results: set[tuple[int, int]] = set()
        self._kept: set[int] = set()
        """Data sets that were computed whole and stay in a cache."""

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return len(self._work.jobs) + len(self._work.attempts)

    def over(self, batches: pa.Table, files: Mapping[str, int]) -> tuple[Work, float]:
        """(what no later line tells more of, when the last of its triggers ended); `batches`: the events so far."""
        self._hand_over()
        jobs = self._work.jobs
        until = self._horizon.known(jobs, batches)
        name_batches([job for job in jobs if job.start < until], lambda: Events(batches, files))
        triggers = Triggers(batches)
        ended = triggers.ended
        begun = triggers.start[ended > until].min(initial=until)
        at = iter(triggers.at(job.batch for job in jobs if job.batch).tolist())
        over, left = [], []
        for job in jobs:
            if job.batch and self._is_over(job, ended[place] if (place := next(at)) >= 0 else None, until):
                over.append(job)
            elif job.batch or job.end is None or job.start >= min(begun, until):
                left.append(job)
        strangers = [job for job in jobs if job.batch is None]
        work = self._work.take(over, left, min([until, *(job.start for job in left)]))
        work.strangers = strangers
        self._since = {job.job: job.start for job in left}
        self._known = max(self._known, until)
        return work, until

    def finish(self, events_of: Callable[[], Events]) -> Work:
        """All of it; `events_of` gives its events."""
        self._hand_over()
        name_batches(self._work.jobs, events_of)
        self._work.strangers = [job for job in self._work.jobs if job.batch is None]
        return self._work

    def _is_over(self, job: Job, ended: float | None, until: float) -> bool:
        """Whether the trigger of a job's batch, which ended then, is over, or will never be told."""
        if ended is None:
            return job.start < until and not self._horizon.waits(job)
        return ended <= until

    def starts(self, event: JobStart, _: int) -> None:
        """A job starts."""
        if self._since.get(event.job) == event.time or event.time < self._known:
            return
        self._since[event.job] = event.time
        properties = event.properties or _NO_PROPERTIES
        if is_number(properties.cpus):
            self._work.cpus = max(1, int(properties.cpus or 1))
        name, description = described(properties.description or "")
        job = self._jobs[event.job] = Job(
            event.job, batch_of(properties), event.time, None, name, description, nth=self.nth
        )
        self.nth += 1
        self._work.starts(job, event.stages)

    def ends(self, event: JobEnd, _: int) -> None:
        """A job ends."""
        job = self._jobs.pop(event.job, None)
        if job:
            job.end = event.time

    def task(self, event: TaskEnd, at: int) -> None:
        """A task ends, as the log tells at this place."""
        if event.task.launch < self._known and not self._work.ended(event.stage, event.attempt):
            return
        if event.kind == "ResultTask":
            self._results.add((event.stage, event.attempt))
        self._tasks += _PACKED.pack(at, *row(event))
        if len(self._tasks) >= _MANY:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._tasks:
            rows = np.frombuffer(self._tasks).reshape(-1, 1 + WIDTH)
            self._tasks = bytearray()
            at, stage, attempt, launch, finish, locality, flags, *_ = rows.T
            sums = rows[:, -len(SUMS) :]
            self._work.tasks(stage, attempt, launch, finish, locality=locality, flags=flags, sums=sums, at=at)

    def stage(self, event: StageCompleted, at: int) -> None:
        """A stage ends, or an attempt at it, as the log tells at this place."""
        info = event.info
        if info.submitted is None or info.completed is None or info.completed < info.submitted:
            return
        ended = self._work.ended(info.stage, info.attempt)
        if info.submitted < self._known if ended is None else info.submitted == ended.submitted:
            return
        job, last = self._work.job_of(info.stage), (info.stage, info.attempt) in self._results
        names = operators(info.datasets)
        if job and job.batch is None and streams(names):
            job.streams = True
        kind, what = meant(names, job.description if job else "", last, self._from_cache(info))
        attempt = Attempt(
            job,
            info.stage,
            info.attempt,
            info.submitted,
            info.completed,
            kind,
            what or redact(info.name),
            last,
            info.tasks,
            numbers=Numbers(sql_sums(info.sums)),
        )
        self._results.discard((info.stage, info.attempt))
        self._work.completes(attempt, at)

    def _from_cache(self, stage: Stage) -> bool:
        """Whether it reads what an earlier stage computed and left in a cache; `stage`: its data sets in order."""
        kept = {each.number for each in stage.datasets if each.level.memory or each.level.disk}
        if not kept:
            return False
        found = not self._kept.isdisjoint(kept)
        if stage.failure is None and stage.tasks >= stage.datasets[0].partitions:
            self._kept |= kept
        return found

    def unpersists(self, event: Unpersisted, _: int) -> None:
        """A data set leaves the cache."""
        self._kept.discard(event.dataset)

    def executor(self, event: ExecutorAdded | ExecutorRemoved) -> None:
        """An executor comes or goes."""
        cores = event.info.cores if isinstance(event, ExecutorAdded) else 0
        self._work.has(event.time, event.executor, cores)
