"""Jobs, stages and tasks from the events in Spark's event logs: those are found, decoded, and taken in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat, takewhile
from math import inf
from struct import Struct
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import stringzilla

from advisor.catalogue.traces import forms, traced
from advisor.redaction import redact
from advisor.sources.harvest import Buffer, Stretch
from advisor.sources.stages import sparkevents
from advisor.sources.stages.jobbatches import Applications, Events, name_batches, settle_scans
from advisor.sources.stages.loggedjobs import BEGINNING, LOST, Place
from advisor.sources.stages.plans import Execution, Plans
from advisor.sources.stages.sparkevents import batch_of, described, is_number, meant, operators, sql_sums, writing_share
from advisor.stages import DRIVER_WITHIN, OPTIMIZES, PYTHON_RDD, Attempt, Job, Note, Numbers, Triggers, Work, streams

_NAME_AT = len('{"Event":"SparkListener')
_SQL_NAME_AT = len('{"Event":"org.apache.spark.sql.execution.ui.SparkListener')
_OF_SQL = b"ark.sql."
"""What stands at _NAME_AT in an event of Spark SQL; its own name comes later."""
_WORD = 8
"""So many letters behind that show which event it is."""
_BEFORE = 1024
"""So many executors at most stand in a log before their application."""
_UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
_NO_PROPERTIES = sparkevents.Properties()
_PACKED = Struct(f"{sparkevents.WIDTH}d")
"""A task as bytes, which numpy takes as they are; of tuples it looks at every number."""
_MANY = 1024 * _PACKED.size
"""Bytes of tasks that go on together."""
_TASK_COMMITS = "task commit time"
_BROADCASTS = ("withThreadLocalCaptured", "ThreadPoolExecutor", "FutureTask", "CompletableFuture")
"""What calls a job that broadcasts a table."""
_OPEN = 64
"""So many executions of batches' own code may run at once."""
_SHUFFLED = 64
"""So many shuffles behind, a later stage of a batch reads none of them."""
_TO_DISK = "Checkpoint"
"""In the name of a data set that is kept in a folder."""
_SAVE, _OF_DELTA = "Execute SaveIntoDataSourceCommand", b"DeltaDataSource@"
"""The root of a plan that writes to a source by its name, and Delta's name, behind which stand its options."""
_PARALLELIZED, _OF_DRIVER = "ParallelCollectionRDD", " of the driver's objects"
"""The data set of objects that the driver sends, and what is said of one in Python that takes them."""
_LETTERS, _SILENT_MS = 4000, 3_600_000
"""Of a message that are read. Of a query of which nothing was heard for so long nothing older will come."""


class EventLog(Applications):
    """Reads the jobs, stages and tasks of an event log; one for all files of a log."""

    def __init__(self, log: str) -> None:
        super().__init__(Application(log))
        self._log, self._begun = log, sparkevents.ApplicationStart()
        self._line = b""
        """The last line that was wanted, as far as it is."""
        self._lines = 0
        """How many were."""
        self._place: Place = BEGINNING

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Read the lines of a window up to `resume`; one that is broken is passed over, and one that repeats itself."""
        number, base = self._files.setdefault(file, len(self._files)), window.base
        for start, word, line in _lines(window.buffer, window.begin, resume):
            if line == self._line:
                continue
            self._line, self._place = line, (number, base + start)
            self._lines += 1
            kind = _KINDS[word]
            try:
                event = kind.decode(line)
                if kind.take:
                    kind.take(self._now, event, self._lines)
                else:
                    self._application(event)
            except _UNREADABLE:
                continue

    def _application(self, event: sparkevents.ApplicationStart) -> None:
        """Begin another application, unless a file holds its lines twice."""
        if event == self._begun:
            return
        self._begun = event
        if (before := self._now).held:
            self._begin(Application(self._log, before.nth), self._place)
            for executor in before.executors:
                if executor.time >= event.time:
                    self._now.executor(executor)


def _lines(buffer: Buffer, start: int, end: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield (where it begins, the letters of its event's name, what of it is needed) of each wanted line."""
    find, kinds = stringzilla.find, _KINDS
    while start < end:
        stop = find(buffer, b"\n", start, end)
        if stop < 0:
            stop = end
        name = start + _NAME_AT
        word = buffer[name : name + _WORD]
        if word == _OF_SQL:
            word = buffer[start + _SQL_NAME_AT : start + _SQL_NAME_AT + _WORD]
        if word in kinds:
            needless = kinds[word].needless
            yield start, word, _without(buffer, start, stop, *needless) if needless else buffer[start:stop]
        start = stop + 1


def _without(buffer: Buffer, start: int, stop: int, first: bytes, behind: bytes) -> bytes:
    """Return a line without the list between `first` and `behind`, as Spark writes them; else all of it."""
    begin = stringzilla.find(buffer, first, start, stop)
    end = stringzilla.find(buffer, behind, begin, stop) if begin >= 0 else -1
    if end < 0 or buffer[end - 1 : end] != b"]":
        return buffer[start:stop]
    return b"".join((buffer[start:begin], buffer[end:stop]))


class Application:
    """Takes the events of one application, in order."""

    def __init__(self, log: str, nth: int = 0) -> None:
        """`nth`: how many jobs of the log began before."""
        self.nth = nth
        self._work = Work(log, "event_log")
        self.executors: deque[sparkevents.ExecutorChange] = deque(maxlen=_BEFORE)
        """The last ones: those of the next application stand before its beginning."""
        self._heard: dict[str | None, float] = {}
        """When each query was heard of last, ms since 1970."""
        self._known = -inf
        """End what began before this; an event to the contrary would have been read already."""
        self._jobs: dict[int, Job] = {}
        self._since: dict[int, float] = {}
        """When each job began: a file may hold its lines twice."""
        self._tasks = bytearray()
        """Rows of tasks that were not handed over."""
        self._results: set[tuple[int, int]] = set()
        self._writers: dict[int, Job] = {}
        """Jobs that wrote files, by the number of a sum."""
        self._plans = Plans()
        self._within: dict[int, tuple[Execution, int]] = {}
        """Open executions of a batch's own code, without those within these, and how many jobs began before each."""
        self._latest = -1  # the last execution: a file may hold its lines twice
        self._besides: list[Note] = []
        """What was traced since the last job began; the next one has it."""
        self._kept: set[int] = set()
        """Data sets that were computed whole and stay in a cache."""
        self._of_tables: deque[tuple[int, frozenset[str]]] = deque(maxlen=_SHUFFLED)
        """The last data sets that stages shuffled of tables alone, and where these lie."""

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return len(self._work.jobs) + len(self._work.attempts)

    def over(self, batches: pa.Table, files: Mapping[str, int]) -> tuple[list[Work], pa.Table]:
        """Return the same as `Applications`; `batches`: the events so far."""
        self._hand_over()
        jobs = self._work.jobs
        until = self._horizon(batches)
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
        settle_scans(self._work.attempts, lambda: Events(batches, files))
        work = self._work.take(over, left, min([until, *(job.start for job in left)]))
        work.strangers = strangers
        self._since = {job.job: job.start for job in left}
        self._known = max(self._known, until)
        return [work], batches.filter(pc.greater(ends_of(batches), until))

    def finish(self, events_of: Callable[[], Events]) -> Work:
        """Return all of it; `events_of` gives its events."""
        self._hand_over()
        name_batches(self._work.jobs, events_of)
        settle_scans(self._work.attempts, events_of)
        self._work.strangers = [job for job in self._work.jobs if job.batch is None]
        return self._work

    def _is_over(self, job: Job, ended: float | None, until: float) -> bool:
        """Whether the trigger of a job's batch, which ended then, is over, or its event will never come."""
        if ended is not None:
            return ended <= until
        return job.start < min(until, self._heard.get(job.batch.id if job.batch else None, job.start))

    def _horizon(self, batches: pa.Table) -> float:
        """Return the time before which every job has ended and every trigger has its event.

        `batches` are the events since it was asked before.
        """
        heard, jobs = self._heard, self._work.jobs
        for job in jobs:
            if job.batch:
                heard.setdefault(job.batch.id, job.start)
        for query, end in zip(batches["id"].to_pylist(), ends_of(batches).to_pylist(), strict=True):
            if query is not None and end is not None:
                heard[query] = max(heard.get(query, end), end)
        newest = max(heard.values(), default=0.0)
        last = jobs[-1].nth if jobs else 0
        running = [job.start for job in jobs if job.end is None and job.nth > last - LOST]
        return min([time for time in heard.values() if time > newest - _SILENT_MS] + running, default=0.0)

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
        job.notes, self._besides = self._besides, []
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
        cached = self._from_cache(info)
        kind, what = meant(names, job.description if job else "", last, cached)
        if job:
            named = [each.name for each in info.datasets]
            kept = [name for name in named if "/" in name or _TO_DISK in name]
            kept += [PYTHON_RDD + _OF_DRIVER * (_PARALLELIZED in named)] if PYTHON_RDD in named else []
            job.notes += [note for name in kept for note in _traced("RDD", name)]
            if writers := {each.id: job for each in info.sums if each.name == _TASK_COMMITS}:
                self._writers |= writers
                job.notes.append(Note(None, "writing_ms", writing_share(info.sums) * (info.completed - info.submitted)))
        times = info.submitted, info.completed
        attempt = Attempt(job, info.stage, info.attempt, *times, kind, what or redact(info.name), last, info.tasks)
        attempt.numbers = Numbers(sql_sums(info.sums))
        self._plans.tell(attempt, {each.id: each.number or 0.0 for each in info.sums if each.id >= 0})
        self._settle_tables(attempt, info)
        attempt.kind = "cached" if cached and attempt.kind == "scan" else attempt.kind
        self._results.discard((info.stage, info.attempt))
        self._work.completes(attempt, at)

    def _settle_tables(self, attempt: Attempt, stage: sparkevents.Stage) -> None:
        """Note that a stage stands behind scans of tables alone, as a `scan`.

        A last stage is one only where it is broadcast: any other may join with rows that were broadcast.
        """
        kind, steps, tables = attempt.kind, stage.datasets, dict(self._of_tables)
        if kind == "result" and not any(caller in stage.name for caller in _BROADCASTS):
            return
        before = {parent for step in steps for parent in step.parents} - {step.number for step in steps}
        if kind in ("shuffle", "result", "scan") and before <= tables.keys() and (before or kind == "scan"):
            attempt.kind = "scan"
            attempt.paths = attempt.paths.union(*(tables[parent] for parent in before))
            self._of_tables.append((steps[0].number, attempt.paths))

    def plans(self, event: Execution, _: int) -> None:
        """Read the plan of an execution."""
        self._plans.take(event)
        if event.plan and event.description is not None:
            root = event.plan
            while root.name == "AdaptiveSparkPlan" and root.children:
                root = root.children[0]
            self._besides += _traced("Execution", root.name) + _traced("Write", root.text)
            if root.name == _SAVE and (at := (text := bytes(event.text)).find(_OF_DELTA)) >= 0:
                self._besides += _traced("Save", text[at : at + _LETTERS].decode("utf-8", "replace"))
            event.text = msgspec.Raw()  # it holds the whole line
            self._besides += [note for relation in self._plans.relations for note in _traced("Relation", relation)]
            self._besides += _traced("Cache", ("", "once", "again")[min(2, self._plans.cached)])
            outer = (None, event.id, *(each.root for each, _ in self._within.values()))
            if event.id > self._latest and event.root not in outer:
                self._within[event.id] = event, self.nth
                if len(self._within) > _OPEN:  # their ends are lost
                    del self._within[next(iter(self._within))]
            self._latest = max(self._latest, event.id)
        elif not event.plan and (begun := self._within.pop(event.id, None)):
            self._ends_within(*begun, event.time)

    def _ends_within(self, begun: Execution, before: int, end: int) -> None:
        """Note how long the driver was alone in an execution of a batch's own code, and how long OPTIMIZE took."""
        since = takewhile(lambda job: job.nth >= before, reversed(self._work.jobs))
        jobs = [job for job in since if job.batch and str(job.batch.id) in (begun.description or "")]
        if jobs:
            alone = end - begun.time - sum((job.end or end) - job.start for job in jobs)
            jobs[0].notes.append(Note(None, "traces", max(alone, 0.0), trace=DRIVER_WITHIN))
            if begun.plan and "OptimizeTable" in begun.plan.name:
                jobs[0].notes.append(Note(None, "traces", end - begun.time, trace=OPTIMIZES))

    def written(self, event: sparkevents.DriverAccumUpdates, _: int) -> None:
        """Read how many files a write made."""
        for commits, counts in event.written().items():
            if job := self._writers.pop(commits, None):
                job.notes += map(Note, repeat(None), ("files_written", "bytes_written"), counts)
        for id, files in event.sums:
            self._besides += _traced("Scan", self._plans.scans.get(id, ""), files)

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
        self._besides += _traced("UnpersistRDD", str(event.dataset))

    def executor(self, event: sparkevents.ExecutorChange, _: int = 0) -> None:
        """Read that an executor comes or goes."""
        self.executors.append(event)
        self._work.has(event.time, event.executor, event.info.cores)


def _traced(event: str, message: str, number: float = 1.0) -> list[Note]:
    found = traced(forms(events=True)[event], message[:_LETTERS].encode(), number) if message else ()
    return [Note(None, name, value, trace=trace) for name, value, trace in found]


def ends_of(batches: pa.Table) -> pa.ChunkedArray:
    """Return when the triggers ended, ms since 1970; null where that is not known."""
    start = batches["timestamp"].cast(pa.int64())
    return pc.add(start, pc.fill_null(batches["trigger_execution_ms"], 0)).cast(pa.float64(), safe=False)


class _Kind(NamedTuple):
    """How an event is read and what takes it, with its place among the wanted ones: the log itself takes a beginning.

    `needless`: between what of its line a list is left out, half of its bytes. Both hold quotation marks that have no
    backslash before them: no text in JSON does.
    """

    decode: Callable[[bytes], Any]
    take: Callable[[Application, Any, int], None] | None
    needless: Sequence[bytes]


def _kind(kind: Any, take: Callable[[Application, Any, int], None] | None, *needless: bytes) -> _Kind:
    return _Kind(msgspec.json.Decoder(kind).decode, take, needless)


_KINDS = {
    b'TaskEnd"': _kind(sparkevents.TaskEnd, Application.task, b',"Accumulables":[', b'},"Task '),
    b"StageCom": _kind(sparkevents.StageCompleted, Application.stage),
    b"JobStart": _kind(sparkevents.JobStart, Application.starts, b',"Stage Infos":[', b',"Stage IDs":['),
    b'JobEnd",': _kind(sparkevents.JobEnd, Application.ends),
    b"Executor": _kind(sparkevents.ExecutorChange, Application.executor),
    b"SQLExecu": _kind(Execution, Application.plans),
    b"SQLAdapt": _kind(Execution, Application.plans),
    b"DriverAc": _kind(sparkevents.DriverAccumUpdates, Application.written),
    b"Unpersis": _kind(sparkevents.UnpersistRDD, Application.unpersists),
    b"Applicat": _kind(sparkevents.ApplicationStart, None),
}
"""By the letters of an event's name."""
