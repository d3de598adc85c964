"""Jobs, stages and tasks of one application, from its events in an event log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from struct import Struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.redaction import redact
from advisor.sources.stages import sparkevents
from advisor.sources.stages.descriptions import batch_of, described, is_number, meant, operators, sql_sums
from advisor.sources.stages.jobbatches import Events, name_batches
from advisor.sources.stages.loggedjobs import LOST
from advisor.stages import Attempt, Job, Numbers, Triggers, Work, streams

_NO_PROPERTIES = sparkevents.Properties()
_PACKED = Struct(f"{sparkevents.WIDTH}d")
"""A task as bytes, which numpy takes as they are; of tuples it looks at every number."""
_MANY = 1024 * _PACKED.size
"""Bytes of tasks that go on together."""
_SILENT_MS = 3_600_000
"""Of a query of which nothing was heard for so long nothing older will come."""


class Application:
    """Takes the events of one application, in order."""

    def __init__(self, log: str, nth: int = 0) -> None:
        """`nth`: how many jobs of the log began before."""
        self.nth = nth
        self._work = Work(log, "event_log")
        self._horizon = Horizon()
        self._known = -inf
        """End what began before this; an event to the contrary would have been read already."""
        self._jobs: dict[int, Job] = {}
        self._since: dict[int, float] = {}
        """When each job began: a file may hold its lines twice."""
        self._tasks = bytearray()
        """Rows of tasks that were not handed over."""
        self._results: set[tuple[int, int]] = set()
        self._kept: set[int] = set()
        """Data sets that were computed whole and stay in a cache."""

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return len(self._work.jobs) + len(self._work.attempts)

    def over(self, batches: pa.Table, files: Mapping[str, int]) -> tuple[Work, float]:
        """Return (what no later line adds to, when the last of its triggers ended); `batches`: the events so far."""
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
        """Return all of it; `events_of` gives its events."""
        self._hand_over()
        name_batches(self._work.jobs, events_of)
        self._work.strangers = [job for job in self._work.jobs if job.batch is None]
        return self._work

    def _is_over(self, job: Job, ended: float | None, until: float) -> bool:
        """Whether the trigger of a job's batch, which ended then, is over, or its event will never come."""
        if ended is None:
            return job.start < until and not self._horizon.waits(job)
        return ended <= until

    def starts(self, event: sparkevents.JobStart, _: int) -> None:
        """Read that a job starts."""
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

    def ends(self, event: sparkevents.JobEnd, _: int) -> None:
        """Read that a job ends."""
        job = self._jobs.pop(event.job, None)
        if job:
            job.end = event.time

    def task(self, event: sparkevents.TaskEnd, at: int) -> None:
        """Read that a task ends, at this place in the log."""
        if event.task.launch < self._known and not self._work.ended(event.stage, event.attempt):
            return
        if event.kind == "ResultTask":
            self._results.add((event.stage, event.attempt))
        self._tasks += _PACKED.pack(*event.row(at))
        if len(self._tasks) >= _MANY:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._tasks:
            self._work.tasks(np.frombuffer(self._tasks).reshape(-1, sparkevents.WIDTH))
            self._tasks = bytearray()

    def stage(self, event: sparkevents.StageCompleted, at: int) -> None:
        """Read that a stage ends, or an attempt at it, at this place in the log."""
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
        times = info.submitted, info.completed
        attempt = Attempt(job, info.stage, info.attempt, *times, kind, what or redact(info.name), last, info.tasks)
        attempt.numbers = Numbers(sql_sums(info.sums))
        self._results.discard((info.stage, info.attempt))
        self._work.completes(attempt, at)

    def _from_cache(self, stage: sparkevents.Stage) -> bool:
        """Whether it reads what an earlier stage computed and left in a cache; `stage`: its data sets in order."""
        kept = {each.number for each in stage.datasets if each.level.memory or each.level.disk}
        if not kept:
            return False
        found = not self._kept.isdisjoint(kept)
        if stage.failure is None and stage.tasks >= stage.datasets[0].partitions:
            self._kept |= kept
        return found

    def unpersists(self, event: sparkevents.UnpersistRDD, _: int) -> None:
        """Read that a data set leaves the cache."""
        self._kept.discard(event.dataset)

    def executor(self, event: sparkevents.ExecutorAdded | sparkevents.ExecutorRemoved) -> None:
        """Read that an executor comes or goes."""
        cores = event.info.cores if isinstance(event, sparkevents.ExecutorAdded) else 0
        self._work.has(event.time, event.executor, cores)


class Horizon:
    """Knows when each query of one application was heard of last; times are ms since 1970."""

    def __init__(self) -> None:
        self._heard: dict[str | None, float] = {}

    def known(self, jobs: Sequence[Job], batches: pa.Table) -> float:
        """Return the time before which every job has ended and every trigger has its event.

        `jobs` in order; `batches` are the events since it was asked before.
        """
        heard = self._heard
        for job in jobs:
            if job.batch:
                heard.setdefault(job.batch.id, job.start)
        for query, end in _last(batches):
            heard[query] = max(heard.get(query, end), end)
        newest = max(heard.values(), default=0.0)
        last = jobs[-1].nth if jobs else 0
        running = [job.start for job in jobs if job.end is None and job.nth > last - LOST]
        return min([time for time in heard.values() if time > newest - _SILENT_MS] + running, default=0.0)

    def waits(self, job: Job) -> bool:
        """Whether the event of a job's batch is to come."""
        return job.batch is not None and job.start >= self._heard.get(job.batch.id, job.start)


def ends_of(batches: pa.Table) -> pa.ChunkedArray:
    """Return when the triggers ended, ms since 1970; null where that is not known."""
    start = batches["timestamp"].cast(pa.int64())
    return pc.add(start, pc.fill_null(batches["trigger_execution_ms"], 0)).cast(pa.float64(), safe=False)


def _last(batches: pa.Table) -> Iterable[tuple[str | None, float]]:
    """Return each query, and when the last of its triggers ended."""
    ends = pa.table({"id": batches["id"], "end": ends_of(batches)}).drop_null()
    last = ends.group_by("id").aggregate([("end", "max")])
    return zip(last["id"].to_pylist(), last["end_max"].to_pylist(), strict=True)
