"""Jobs, stages and tasks of one application, as Spark's scheduler logs them: DAGScheduler and TaskSetManager."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Set
from functools import lru_cache
from itertools import takewhile
from math import nan
from operator import attrgetter

import numpy as np

from advisor.redaction import redact
from advisor.sources.stages.loggedjobs import HOUR_MS, LoggedJob, LoggedStage, Moment, Named, OpenJobs
from advisor.sources.stages.slotwaits import SlotWaits, least_slots
from advisor.stages import (
    DELTA_COMMAND,
    FAILED,
    FILE_CHOICE,
    LISTING,
    LOCALITIES,
    LOG_CHECKPOINT,
    PYTHON_RDD,
    VACUUM,
    Attempt,
    Work,
)

_GOT = re.compile(rb"Got (?:map stage )?job (\d{1,15}) \((?:(.{0,1000}?)\) with \d+ output partitions)")
_OFFSETS = re.compile(rb"Committed offsets for batch (\d{1,15})\.")
_BACKGROUND = (b"withThreadLocalCaptured", b"ThreadPoolExecutor", b"FutureTask", b"CompletableFuture")
"""What calls a job that runs beside the batch."""
_FINAL = re.compile(rb"Final stage: \w+ (\d{1,15})")
_PARENTS = re.compile(rb"Pare.*")
_SUBMITS = re.compile(rb"Submitting (\d{1,15}) missing tasks from \w+ (\d{1,15})(?: \((PythonRDD)\[)?")
_LENGTH = rb"(\d{1,12}(?:[.,]\d{1,12})?) (m?s)"
_STAGE_ENDS = re.compile(rb"(?:(Result)|ShuffleMap)Stage (\d{1,15}) \(.{0,1000}?\) (?:finished|(failed)) in " + _LENGTH)
_JOB_ENDS = re.compile(rb"Job (\d{1,15}) (?:finished|failed): .{0,1000}?, took " + _LENGTH)
_CONTEXT = re.compile(rb'"(?i:batch_id)":"(\d{1,15})","(?i:query_id)":"([^"]+)"')
_TASK = re.compile(
    rb"(?:\[queryId = (\w+)\] \[batchId = (\d{1,15})\] )?"
    rb"(?:Starting task [\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) .{0,300}? ([A-Z]{2,20}(?:_[A-Z]{1,9})?), \d+ bytes"
    rb"|Finished task (\d{1,9})[\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) in (\d{1,15}) ms"
    rb"|Lost task [\d.]+ in stage (\d{1,15})\.)"
)
_SCAN = re.compile(rb"Reading File path: (\S{1,1000})/([^/\s]{1,800}),\s")
_WORKER = re.compile(rb"Times: total = (\d{1,12}), boot = (?:.{0,300}? task [\d.]+ in stage (\d{1,15}) \(TID)?")
"""A Python worker's time; Spark 4.3 names the stage, 3.5 does not."""
_WORKERS = (
    *("PythonUDFRunner", "PythonUDTFRunner", "PythonUDFWithNamedArgumentsRunner", "PythonRunner"),
    *("ArrowPythonRunner", "ArrowPythonUDTFRunner", "ArrowPythonWithNamedArgumentRunner", "CoGroupedArrowPythonRunner"),
    *("ArrowEvalPythonEvaluatorFactory", "ColumnarArrowEvalPythonEvaluatorFactory", "MapInBatchEvaluatorFactory"),
    *("ArrowAggregatePythonExec", "ArrowWindowPythonEvaluatorFactory"),
    *("ApplyInPandasWithStatePythonRunner", "TransformWithStateInPySparkPythonRunner"),
    *("TransformWithStateInPandasPythonRunner", "PythonForeachWriter", "$$anon$1", "$$anon$2"),
)
"""Classes that log it; in Spark 4.3 some are nameless ones inside of these."""
_GROUPS = "FlatMapGroupsInBatchExec"
"""The class that logs it where a function takes a group at a time, in Spark 4.3."""
_DELTA = re.compile(rb"DELTA: ([^\"\n]*)")
_PLACES = {name.encode(): place for place, name in enumerate(LOCALITIES)}
_NEAR = 8
"""Within so many lines of a task's start stands the end that made room for it, where Spark logs this one later."""
_MANY = 4096
"""Finished tasks that are handed over together."""

Found = re.Match[bytes]


class DeltaLog:
    """Knows what Delta tables do with their logs at this line: lines name the snapshot's jobs, not the checkpoint's."""

    def __init__(self) -> None:
        self.job = ""
        """What jobs that begin now are for; empty without a line about it."""
        self.committed = False
        """Whether a transaction is in the table's log, and not all of the batch in the table."""
        self._tasks, self._done = 0, False
        self._command = ""
        """What a MERGE, DELETE or UPDATE does at this line; empty outside of one."""

    def command(self, line: bytes, message: int) -> None:
        """Read a line of such a command: what it begins to do, or that this is done."""
        if said := _DELTA.search(line, message):
            text = said[1].decode("utf-8", "replace").strip()
            self._command = redact(text) if DELTA_COMMAND.search(text) else ""

    def vacuum(self, line: bytes, message: int) -> None:
        """Read a line of a VACUUM: that it begins, or that it is done."""
        if line.startswith((b"Starting garbage", b"Deleted "), message):
            self._command = VACUUM if line.startswith(b"S", message) else ""

    def snapshot(self, line: bytes, message: int) -> None:
        """Read a line of a table's snapshot."""
        if b"DELTA: " in line and (said := _DELTA.search(line, message)):
            text = said[1].decode("utf-8", "replace").strip()
            self._done = text == "Done"
            within = DELTA_COMMAND.search(self._command)
            self.job = "" if self._done else redact(f"Delta: {text}{f' ({within[0]})' if within else ''}")
            self.committed = self.committed and self._done

    def submits(self, what: str, ended: int, tasks: int, *, kept: bool) -> str:
        """Return what a job is for that submits a stage of so many tasks; `what` so far, after so many stages ended.

        `kept`: whether it reads only what earlier jobs have left.
        """
        done, self._done = self._done, False
        if self._command == VACUUM:
            return VACUUM
        if self.job:
            self._tasks = max(self._tasks if ended else 0, tasks)
        elif not what and not ended and tasks == self._tasks > 1:
            what = LOG_CHECKPOINT if self.committed else FILE_CHOICE if done and kept else what
        return what or self._command


class Scheduler:
    """Reads messages of the scheduler and of Python workers."""

    def __init__(self, work: Work, moment: Moment, delta: DeltaLog, begun: int = 0) -> None:
        """Fill `work`; `moment`: where the log is read, and where its clock knows only seconds, its time goes on
        by the lengths that lines give. `begun`: how many jobs of the log began before.
        """
        self.readers: Mapping[str, Callable[[bytes, int], None]] = {
            "DAGScheduler": self._read_job,
            "TaskSetManager": self._read_task,
            "FileScanRDD": self._read_scan,
            "HadoopFSUtils": self._read_listing,
            "MicroBatchExecution": self._read_offsets,
            **dict.fromkeys(_WORKERS, self._read_worker),
            _GROUPS: self._read_groups,
        }
        """What reads a line and where in it its message begins, by its logger."""
        self.jobs: list[LoggedJob] = []
        self.begun = begun
        """How many jobs have begun."""
        self._work, self._moment, self._delta = work, moment, delta
        self._open = OpenJobs()
        self._last: LoggedJob | None = None
        self._lists = False
        """Whether the job that begins next lists folders."""
        self._stages: dict[int, LoggedStage] = {}
        """Stage attempts that were submitted and are not over."""
        self._ended: list[LoggedStage] = []
        """Those that ended, and were not handed over."""
        self._finished = 0
        """Their tasks."""
        self._running = 0
        self._ran: Counter[int] = Counter()
        """How many tasks ran when one started, and how often."""
        self._left: Counter[int] = Counter()
        """How many tasks ran when one started that was logged before the end that made room for it, and how often."""
        self._started: tuple[int, LoggedStage | None] = (-1, None)
        """The line of the last task that started, and its stage attempt."""
        self._busy: set[LoggedStage] = set()
        """Stage attempts of which tasks run."""
        self._mixed = self._mixed_open = -1
        """The last line of a Python worker that may be of several busy stages, or of several open ones."""
        self._waits = SlotWaits()
        self._marked, self._marked_ms = begun, 0.0
        self.ended = b""  # the line of the last stage that ended

    @property
    def idle(self) -> bool:
        """Whether no job runs."""
        return self._open.idle

    def mark(self) -> None:
        """Count the jobs that begin from now on in `since_mark`."""
        self._marked, self._marked_ms = self.begun, 0.0

    def since_mark(self) -> float:
        """Return how long the jobs took that began since then, ms."""
        at = bisect_left(self.jobs, self._marked, key=attrgetter("nth"))
        return _length(self.jobs[at:], self._marked_ms)

    def take(self, count: int) -> list[LoggedJob]:
        """Return the first jobs; they are forgotten here."""
        taken, self.jobs = self.jobs[:count], self.jobs[count:]
        self._marked_ms = _length([job for job in taken if job.nth >= self._marked], self._marked_ms)
        self._waits.forget(self.jobs[0].nth if self.jobs else self.begun)
        return taken

    def settle_waits(self) -> None:
        """Note how long stages waited for others' tasks, of jobs that know their batches."""
        self._waits.settle(self.jobs, least_slots(self._ran, self._left), knows_others=self._work.knows_others)

    def hand_over(self) -> None:
        """Give the tasks of the stage attempts that ended to the work."""
        rows = array("d")
        for one in self._ended:
            assert one.attempt
            over = one.attempt.completed
            starts, ends = one.task_times(fine=self._moment.fine)
            places = one.localities if len(one.localities) == len(starts) else [-1] * len(starts)
            for start, end, place in zip(starts, ends, places, strict=True):
                rows.extend((one.stage, 0, one.end, start, end, place, 0))
            for _ in range(one.lost):
                rows.extend((one.stage, 0, one.end, over, over, -1, FAILED))
        self._ended, self._finished = [], 0
        if rows:
            self._work.tasks(np.frombuffer(rows).reshape(-1, 7))
        self._work.fold()

    def _read_job(self, line: bytes, message: int) -> None:
        if form := _MESSAGES.get(line[message : message + 4]):
            pattern, read = form
            if found := pattern.match(line, message):
                read(self, found)

    def _read_listing(self, line: bytes, message: int) -> None:
        self._lists = self._lists or line.startswith(LISTING.encode(), message)

    def _read_offsets(self, line: bytes, message: int) -> None:
        if found := _OFFSETS.match(line, message):
            for job in takewhile(lambda job: job.before is None, reversed(self.jobs)):
                job.before = int(found[1])

    def _begins(self, found: Found) -> None:
        now = self._moment.now
        job = self._last = LoggedJob(int(found[1]), None, now, nth=self.begun, place=self._moment.place, now=now)
        job.description = LISTING if self._lists else self._delta.job
        self._lists = False
        job.name = found[2].decode("utf-8", "replace")
        job.background = any(name in found[2] for name in _BACKGROUND)
        self._open.begins(job)
        self.begun += 1
        self.jobs.append(job)
        self._work.jobs.append(job)

    def _final(self, found: Found) -> None:
        if self._last:
            self._open.final(self._last, int(found[1]))

    def _parents(self, found: Found) -> None:
        if self._last:
            self._last.has_parents = b"List()" not in found.string

    def _submits(self, found: Found) -> None:
        tasks, stage = int(found[1]), int(found[2])
        job, moment = self._open.of(stage), self._moment
        kept = job is not None and job.has_parents and stage == job.final
        leaf = job is not None and not job.ended and not kept
        now = moment.now if job is None or moment.fine else job.now
        if before := self._stages.get(stage):
            self._close(before)
        self._stages[stage] = LoggedStage(stage, moment.number, now, tasks, job, leaf, PYTHON_RDD * bool(found[3]))
        if job is not None:
            job.description = self._delta.submits(job.description, job.ended, tasks, kept=kept)

    def _stage_ends(self, found: Found) -> None:
        last, number, failed, length, unit = found.groups()
        self.ended = found.string
        stage = int(number)
        one = self._stages.pop(stage, None)
        if one is None:
            return
        self._close(one)
        job, ms = one.job, _ms(length, unit)
        completed = self._completed(one, ms)
        one.attempt = Attempt(job, stage, 0, completed - ms, completed, "shuffle", one.what, bool(last), one.tasks)
        self._end_tasks(one, one.attempt)
        if job:
            job.ended += 1
            job.attempts.append(one.attempt)
            if one.leaf:
                job.leaves.append(one.attempt)
            if stage == job.final and not failed:
                job.end = completed
                self._open.over(job)

    def _close(self, one: LoggedStage) -> None:
        """End a stage attempt: no later task is its own."""
        one.end = self._moment.number
        self._rests(one)
        if self._mixed_open > one.line:
            one.add_python(nan)

    def _end_tasks(self, one: LoggedStage, attempt: Attempt) -> None:
        """Note what the lines of tasks said of a stage attempt that ended."""
        self._running -= one.running
        attempt.unseen, attempt.paths = one.lost, one.paths
        if len(one.lengths):
            attempt.numbers["longest_task"] = one.longest[1]
        if one.python_ms is not None:
            attempt.numbers["python_ms"] = one.python_ms
        if one.job and not self._moment.fine:
            self._waits.stage_ends(one)
        self._work.completes(attempt, one.end)
        self._ended.append(one)
        self._finished += len(one.lengths) + one.lost
        if self._finished >= _MANY:
            self.hand_over()

    def _completed(self, one: LoggedStage, ms: float) -> float:
        """Return when a stage ended that took so long."""
        moment, job = self._moment, one.job
        if moment.fine:
            return moment.now
        completed = one.time + ms
        moment.now = max(moment.now, completed)
        if job:
            job.now = max(job.now, completed)
        return completed

    def _job_ends(self, found: Found) -> None:
        job, ms = self._open.ends(int(found[1])), _ms(found[2], found[3])
        if job is None:
            return
        moment = self._moment
        if moment.fine:
            job.end = moment.now
            if job.end - ms < job.start + HOUR_MS / 2:  # else the clock was put forward since then
                job.start = job.end - ms
        else:
            job.end = max(job.start + ms, job.now)
            moment.now = max(moment.now, job.end)
        if context := _CONTEXT.search(found.string):
            job.named = _named(context[2], context[1])

    def _read_task(self, line: bytes, message: int) -> None:
        found = _TASK.match(line, message)
        if not found:
            return
        query, batch, starts, locality, place, finishes, ms, lost = found.groups()
        one = self._stages.get(int(starts or finishes or lost))
        if one is None:
            return
        if query and one.job and one.job.named is None:
            one.job.named = _named(query, batch)
        if starts:
            self._starts(one, _PLACES.get(locality, -1))
            return
        if finishes:
            self._finishes(one, float(ms), int(place))
        else:
            one.lost += 1
        self._running -= 1
        one.running -= 1
        self._rests(one)

    def _starts(self, one: LoggedStage, locality: int) -> None:
        number = self._moment.number
        self._running += 1
        if self._running > 0:
            self._ran[self._running] += 1
        one.started += 1
        one.localities.append(locality)
        if one.started == one.tasks:
            one.until = number
        one.run = one.run + 1 if self._started == (number - 1, one) else 1
        one.at_once = max(one.at_once, one.run)
        self._started = number, one
        one.running += 1
        if one.running == 1:
            one.busy_since = number
            self._busy.add(one)

    def _finishes(self, one: LoggedStage, ms: float, place: int) -> None:
        number, (line, started) = self._moment.number, self._started
        one.lengths.append(ms)
        one.ends.append(self._moment.now)
        one.longest = max(one.longest, (ms, place))
        if one.job and not self._moment.fine:
            behind = -1
            if started not in (None, one) and line >= number - _NEAR:
                behind, self._started = started.line, (-1, None)
                self._left[self._running] += 1
            self._waits.task_ends(number, one.job, self._running, behind)

    def _rests(self, one: LoggedStage) -> None:
        """Note that no task of a stage attempt runs any more, if none does or it ends."""
        if one in self._busy and (one.running <= 0 or one.end <= self._moment.number):
            self._busy.discard(one)
            if self._mixed > one.busy_since:
                one.add_python(nan)

    def _read_scan(self, line: bytes, message: int) -> None:
        """Note what the one busy stage reads; in local mode the lines of its tasks stand in the log."""
        if len(self._busy) == 1 and (found := _SCAN.match(line, message)):
            next(iter(self._busy)).files.add(found.groups())

    def _read_groups(self, line: bytes, message: int) -> None:
        """Note that Python takes a group at a time in the stage that the line names, and its time."""
        if (found := _WORKER.search(line)) and found[2] and (one := self._stages.get(int(found[2]))):
            one.what = _GROUPS
        self._read_worker(line, message)

    def _read_worker(self, line: bytes, _: int) -> None:
        """Give a Python worker's time to its stage; without its name, to the one that is busy, else to the open one."""
        if not (found := _WORKER.search(line)):
            return
        ms, stage = float(found[1]), found[2]
        if stage:
            if one := self._stages.get(int(stage)):
                one.add_python(ms)
        elif len(there := self._busy or self._stages.values()) == 1:
            next(iter(there)).add_python(ms)
        elif self._busy:
            self._mixed = self._moment.number
        else:
            self._mixed_open = self._moment.number


@lru_cache(1024)
def _query(letters: bytes) -> str:
    return redact(letters.decode(errors="replace"))


def _named(query: bytes, batch: bytes) -> Named:
    return _query(query), int(batch)


def _ms(length: bytes, unit: bytes) -> float:
    value = float(length.replace(b",", b"."))
    return value * 1000 if unit == b"s" else value


def _length(jobs: list[LoggedJob], so_far: float) -> float:
    """Return how long jobs took that have ended, and those before them, ms."""
    return sum((job.end - job.start for job in jobs if job.end is not None), so_far)


_MESSAGES: Mapping[bytes, tuple[re.Pattern[bytes], Callable[[Scheduler, Found], None]]] = {
    b"Got ": (_GOT, Scheduler._begins),
    b"Fina": (_FINAL, Scheduler._final),
    b"Pare": (_PARENTS, Scheduler._parents),
    b"Subm": (_SUBMITS, Scheduler._submits),
    b"Resu": (_STAGE_ENDS, Scheduler._stage_ends),
    b"Shuf": (_STAGE_ENDS, Scheduler._stage_ends),
    b"Job ": (_JOB_ENDS, Scheduler._job_ends),
}
"""How a message of DAGScheduler is read, by its first four letters."""
BEGINNINGS: Mapping[str, Set[bytes]] = {
    "DAGScheduler": _MESSAGES.keys(),
    "FileScanRDD": {b"Read"},
    "MicroBatchExecution": {b"Comm"},
}
"""What the wanted messages of a logger begin with."""
