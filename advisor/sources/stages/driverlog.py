"""Jobs, stages and tasks of driver logs at INFO: lines say how long each took, seldom when.

Where the log's clock knows milliseconds, what lines tell stands at its own time. Otherwise it is laid one behind the
other in the order of the lines: lengths are Spark's own, and only the driver's time around the jobs is one sum.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from heapq import heapreplace
from math import nan
from typing import TYPE_CHECKING

from advisor.redaction import redact
from advisor.sources.stages import pythonlines
from advisor.sources.stages.clock import Clock
from advisor.sources.stages.layout import Layout
from advisor.sources.stages.owners import Place, settle
from advisor.sources.stages.rounds import Rounds, most_at_once
from advisor.sources.wrapped import in_json, unwrapped
from advisor.stages import FAILED, LOCALITIES, LOG_CHECKPOINT, Attempt, Job, Note, Work

if TYPE_CHECKING:
    import pyarrow as pa

    from advisor.sources.harvest import Stretch

_GOT = re.compile(rb"Got (?:map stage )?job (\d{1,15}) \((.*?)\) with \d+ output partitions")
_FINAL = re.compile(rb"Final stage: \w+ (\d{1,15})")
_SUBMITS = re.compile(rb"Submitting (\d{1,15}) missing tasks from (\w+) (\d{1,15})")
_STAGE_ENDS = re.compile(
    rb"((?:Result|ShuffleMap)Stage) (\d{1,15}) \(.*\) (finished|failed) in (\d{1,12}(?:[.,]\d{1,12})?) (m?s)"
)
_JOB_ENDS = re.compile(rb"Job (\d{1,15}) (?:finished|failed): .*, took (\d{1,12}(?:[.,]\d{1,12})?) (m?s)")
_TASK = re.compile(
    rb"(?:\[queryId = (\w+)\] \[batchId = (\d{1,15})\] )?"
    rb"(?:Finished task (\d{1,9})[\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) in (\d{1,15}) ms"
    rb"|Starting task [\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) .*? ([A-Z]{3,}(?:_[A-Z]+)?), \d+ bytes"
    rb"|Lost task [\d.]+ in stage (\d{1,15})\.)"
)
_GENERATED = re.compile(rb"Code generated in (\d{1,12}(?:[.,]\d{1,12})?) ms")
_REFUSED = re.compile(rb"Whole-stage codegen disabled for plan|Found too long generated codes")
_DELTA = re.compile(rb"DELTA: ([^\"\n]*)")
_WROTE = re.compile(rb"Wrote (\d{1,15}) files, with total size (\d{1,15})")
_COMMITTED = re.compile(rb"Committed (?:transaction, .*?duration=|in )(\d{1,15}) ms")
_CONFLICT = re.compile(rb"\[attempt (\d{1,15})\] Checking for conflicts")
_ICEBERG = re.compile(
    rb"CommitReport\{.*? attempts=\w+\{unit=COUNT, value=(\d{1,15})\}"
    rb"(?:, addedDataFiles=\w+\{unit=COUNT, value=(\d{1,15})\})?"
    rb"(?:.*? addedFilesSizeInBytes=\w+\{unit=BYTES, value=(\d{1,15})\})?"
)
_HUDI_COMMITS = re.compile(rb"Committing \d{1,20} action")
_HUDI_DONE = re.compile(rb"Micro batch id=\d{1,15} (?:succeeded|failed)")
_POLLED = re.compile(rb"From Kafka .*? through (\d{1,15}) polls .*?, taking (\d{1,15}(?:\.\d{1,15})?) ms")
_COMPACTED = re.compile(rb"(?:(W)riting atomically|Renamed temp file).* \S*/_spark_metadata/\.?\d{1,15}\.compact\b")
_READS = re.compile(rb"Processing (\d{1,15}) files from \d")
_BACKGROUND = re.compile(rb"withThreadLocalCaptured|ThreadPoolExecutor|FutureTask|CompletableFuture")
_CONTEXT = re.compile(rb'"(?i:batch_id)":"(\d{1,15})","(?i:query_id)":"([^"]+)"')
_PLACES = {name.encode(): place for place, name in enumerate(LOCALITIES)}

Named = tuple[str, int]
"""(beginning of a query's id, batch), where a line names them."""


@dataclass(slots=True)
class Begun:
    """A job that has begun, and where the log says so."""

    job: Job
    number: int
    place: Place
    what: str = ""
    background: bool = False
    final: int = -1
    has_parents: bool = False
    ended: int = 0
    attempts: list[Attempt] = field(default_factory=list)
    leaves: list[Attempt] = field(default_factory=list)
    named: Named | None = None
    waits: list[tuple[Attempt, Rounds]] = field(default_factory=list)
    """Stages of it that had tasks to start while tasks of other jobs ended."""
    now: float = 0.0
    """When its last stage ended, without a clock that knows milliseconds."""


@dataclass(slots=True)
class _Tasks:
    """A stage attempt whose tasks were submitted."""

    submitted: float
    tasks: int
    begun: Begun | None
    leaf: bool
    starts: int = 0
    at_once: int = 0
    """The most starts of tasks without another line between them: those of one round of offers."""
    offered: int = 0
    rounds: Rounds = field(default_factory=Rounds)
    lengths: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    lost: int = 0
    longest: tuple[float, int] = (-1.0, 0)
    """(the length of its longest task, its place in the stage)."""
    python_ms: float | None = None
    """Its tasks' Python workers; NaN where lines may be of another stage."""

    @property
    def running(self) -> bool:
        """Whether one of its tasks runs."""
        return self.starts > len(self.lengths) + self.lost


class DriverLog:
    """Reads what a driver's log tells of jobs, stages and tasks; one for all files of a log."""

    def __init__(self, log: str) -> None:
        self._work = Work(log, "driver_log", clock=False)
        self._layout = Layout(
            {
                "DAGScheduler": self._scheduler,
                "TaskSetManager": self._task,
                "CodeGenerator": self._code,
                "WholeStageCodegenExec": self._code_refused,
                "Snapshot": self._snapshot,
                "OptimisticTransaction": self._transaction,
                "DeltaSink": self._sink,
                "SparkWrite": self._sink,
                "LoggingMetricsReporter": self._iceberg,
                "BaseHoodieWriteClient": self._hudi,
                "HoodieStreamingSink": self._hudi,
                "FileStoreCommitImpl": self._paimon,
                "KafkaDataConsumer": self._consumer,
                "FileStreamSource": self._source,
                "CheckpointFileManager": self._compaction,
                **dict.fromkeys(pythonlines.LOGGERS, self._python),
            },
            {"DAGScheduler": ("Got ", "Fina", "Pare", "Subm", "Resu", "Shuf", "Job ")},
        )
        self._clock = Clock(b"")
        self._files: dict[str, int] = {}
        self._place: Place = (0, 0)
        self._start = 0
        self._line = b""
        self._doubled = False
        """Whether the log holds each line twice: two appenders wrote it."""
        self._now = 0.0
        self._open: dict[int, Begun] = {}
        self._last: Begun | None = None
        self._jobs: list[Begun] = []
        self._tasks: dict[int, _Tasks] = {}
        self._running = 0
        self._ran: Counter[int] = Counter()
        """How many tasks ran when one started, and how often."""
        self._notes: list[tuple[Place, Note]] = []
        self._snapshot_of = ""
        self._snapshot_tasks = 0
        self._committed = False
        self._compacting: float | None = None
        self._hudi_since: float | None = None
        self._written = 0
        """Jobs before the sink's last commit began."""

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Take what has been read of a window of this file."""
        number = self._files.setdefault(file, len(self._files))
        known = bool(self._layout.first)
        wrapped = unwrapped(window.buffer, window.begin, resume) if in_json(window.buffer, window.begin) else None
        text = (window.buffer, window.begin, resume) if wrapped is None else (wrapped.text, 0, len(wrapped.text))
        for start, line, message, reader in self._layout.lines(*text):
            if not known:
                self._clock = Clock(self._layout.first)
                self._work.clock, known = self._clock.fine, True
            if line == self._line and (self._doubled or b"Got job " in line):
                self._doubled = True
                continue
            self._line, self._start = line, start
            self._place = number, window.base + (start if wrapped is None else wrapped.origin(start))
            if self._clock.fine:
                self._now = self._clock.time(line) or self._now
            reader(line, message)

    def finish(self, batches: pa.Table) -> Work:
        """All of it, each job with the batch to which it belongs as far as that can be told."""
        self._work.fold()
        self._work.at_once = most_at_once(self._ran)
        shift = not (self._clock.fine and self._clock.utc)
        settle(self._work, self._jobs, self._notes, self._files, batches, shift=shift)
        return self._work

    def _scheduler(self, line: bytes, message: int) -> None:
        letter = line[message : message + 1]
        if letter in b"RS" and (ends := _STAGE_ENDS.match(line, message)):
            self._stage_ends(ends[1], int(ends[2]), _ms(ends[4], ends[5]), failed=ends[3] == b"failed")
        elif letter == b"S" and (submits := _SUBMITS.match(line, message)):
            self._submits(int(submits[3]), int(submits[1]))
        elif letter == b"J" and (ends := _JOB_ENDS.match(line, message)):
            self._job_ends(int(ends[1]), _ms(ends[2], ends[3]), line)
        elif letter == b"G" and (got := _GOT.match(line, message)):
            self._begins(int(got[1]), got[2])
        elif letter == b"F" and self._last and (final := _FINAL.match(line, message)):
            self._last.final = int(final[1])
        elif letter == b"P" and self._last:
            self._last.has_parents = b"List()" not in line

    def _begins(self, number: int, site: bytes) -> None:
        self._forget()
        job = Job(number, None, self._now)
        self._last = Begun(job, len(self._jobs), self._place, self._snapshot_of, bool(_BACKGROUND.search(site)))
        self._last.now = self._now
        self._open[number] = self._last
        self._jobs.append(self._last)
        self._work.jobs.append(job)

    def _forget(self) -> None:
        """Jobs whose last stage is over, although no line says that they ended.

        Spark logs the end of a job only where a thread waits for it; adaptive execution runs each shuffle, and what it
        puts into a cache, as a job for which none does.
        """
        self._open = {number: begun for number, begun in self._open.items() if begun.job.end is None}

    def _submits(self, stage: int, tasks: int) -> None:
        begun = min(
            (begun for begun in self._open.values() if begun.final >= stage),
            key=lambda begun: begun.final,
            default=None,
        )
        leaf = begun is not None and not begun.ended and not (begun.has_parents and stage == begun.final)
        now = self._now if begun is None or self._clock.fine else begun.now
        self._tasks[stage] = _Tasks(now, tasks, begun, leaf)
        if begun is None:
            return
        if self._snapshot_of:
            self._snapshot_tasks = max(self._snapshot_tasks if begun.ended else 0, tasks)
        elif self._committed and not begun.what and not begun.ended and tasks == self._snapshot_tasks > 1:
            begun.what = LOG_CHECKPOINT

    def _task(self, line: bytes, message: int) -> None:
        found = _TASK.match(line, message)
        if found is None:
            return
        query, batch, place, finished, ms, started, locality, lost = found.groups()
        stage = int(finished or started or lost)
        tasks = self._tasks.get(stage)
        if tasks is None:
            return
        if query and tasks.begun and tasks.begun.named is None:
            tasks.begun.named = redact(query.decode()), int(batch)
        if started:
            tasks.places.append(_PLACES.get(locality, -1))
            tasks.starts += 1
            tasks.offered = tasks.offered + 1 if self._start == tasks.rounds.behind else 1
            tasks.at_once = max(tasks.at_once, tasks.offered)
            tasks.rounds.starts(self._start + len(line) + 1)
            self._running += 1
            self._ran[self._running] += 1
        elif finished:
            length = float(ms)
            tasks.lengths.append(length)
            tasks.longest = max(tasks.longest, (length, int(place)))
            tasks.ends.append(self._now)
            if len(self._tasks) > 1 and tasks.begun:
                self._ended_beside(stage, tasks.begun.number)
            self._running -= 1
        else:
            tasks.lost += 1
            self._running -= 1

    def _ended_beside(self, stage: int, job: int) -> None:
        """A task of a job ended: stages of others that have tasks to start wait for its slot."""
        for number, tasks in self._tasks.items():
            if number != stage:
                tasks.rounds.ends(job, self._start, tasks.tasks, self._running)

    def _stage_ends(self, kind: bytes, stage: int, ms: float, *, failed: bool) -> None:
        tasks = self._tasks.pop(stage, None)
        if tasks is None:
            return
        self._running -= tasks.starts - len(tasks.lengths) - tasks.lost
        begun = tasks.begun
        if self._clock.fine:
            completed = self._now
        else:
            completed = tasks.submitted + ms
            self._now = max(self._now, completed)
            if begun:
                begun.now = max(begun.now, completed)
        attempt = Attempt(
            begun.job if begun else None,
            stage,
            0,
            completed - ms,
            completed,
            "shuffle",
            "",
            kind == b"ResultStage",
            tasks.tasks,
            unseen=tasks.lost,
        )
        self._put_tasks(attempt, tasks)
        if tasks.lengths:
            attempt.numbers["longest_task"] = tasks.longest[1]
        if tasks.python_ms is not None:
            attempt.numbers["python_ms"] = tasks.python_ms
        self._work.completes(attempt)
        if begun:
            begun.ended += 1
            begun.attempts.append(attempt)
            if tasks.leaf:
                begun.leaves.append(attempt)
            if tasks.rounds.full:
                begun.waits.append((attempt, tasks.rounds))
            if stage == begun.final and not failed:
                begun.job.end = completed

    def _put_tasks(self, attempt: Attempt, tasks: _Tasks) -> None:
        """Hand its tasks on, at their own times or, without such, as late in the stage as its slots allow."""
        if self._clock.fine:
            spans = [(end - length, end) for length, end in zip(tasks.lengths, tasks.ends, strict=True)]
        else:
            spans = _packed(
                tasks.lengths, max(1, tasks.at_once), attempt.completed, attempt.completed - attempt.submitted
            )
        places = tasks.places if len(tasks.places) == len(spans) else [-1] * len(spans)
        for (launch, finish), place in zip(spans, places, strict=True):
            self._work.task(attempt.stage, 0, launch, finish, place, 0)
        for _ in range(tasks.lost):
            self._work.task(attempt.stage, 0, attempt.completed, attempt.completed, -1, FAILED)

    def _job_ends(self, number: int, ms: float, line: bytes) -> None:
        begun = self._open.pop(number, None)
        if begun is None:
            return
        if self._clock.fine:
            begun.job.end = self._now
            begun.job.start = self._now - ms
        else:
            begun.job.end = max(begun.job.start + ms, begun.now)
            self._now = max(self._now, begun.job.end)
        if self._layout.structured and (context := _CONTEXT.search(line)):
            begun.named = redact(context[2].decode()), int(context[1])

    def _code(self, line: bytes, message: int) -> None:
        if generated := _GENERATED.match(line, message):
            ms = _ms(generated[1], b"ms")
            self._note("code_generated_ms", ms)
            if all(begun.job.end is not None for begun in self._open.values()):
                self._note("planning_ms", ms)
        elif b"too long to be JIT compiled" in line and b"object_doConsume" not in line:  # of Delta's own snapshot
            self._note("code_too_long", 1)

    def _code_refused(self, line: bytes, message: int) -> None:
        if _REFUSED.match(line, message):
            self._note("code_refused", 1)

    def _snapshot(self, line: bytes, message: int) -> None:
        if b"DELTA: " in line and (said := _DELTA.search(line, message)):
            text = said[1].decode("utf-8", "replace").strip()
            self._snapshot_of = "" if text == "Done" else redact(f"Delta: {text}")

    def _transaction(self, line: bytes, message: int) -> None:
        if b"Committed delta #" in line:
            self._committed = True
        elif b"conflicts" in line and (conflict := _CONFLICT.search(line, message)) and int(conflict[1]) > 0:
            self._note("commit_retries", 1)

    def _sink(self, line: bytes, message: int) -> None:
        if wrote := _WROTE.match(line, message):
            self._note("files_written", int(wrote[1]))
            self._note("bytes_written", int(wrote[2]))
            self._written, self._committed = len(self._jobs), False
        elif line.startswith(b"Committing epoch", message):  # of Iceberg, behind the jobs that write
            self._written = len(self._jobs)
        elif committed := _COMMITTED.match(line, message):
            self._commits(float(committed[1]))

    def _commits(self, ms: float) -> None:
        """A sink's commit that took so long, without the jobs in it."""
        jobs = (begun.job for begun in self._jobs[self._written :])
        inside = sum(job.end - job.start for job in jobs if job.end is not None)
        self._note("sink_commit_ms", max(0.0, ms - inside))
        self._written, self._committed = len(self._jobs), False

    def _hudi(self, line: bytes, message: int) -> None:
        """From its first line of the commit to the end of the micro-batch: cleaning and its own tables count, too."""
        if line.startswith(b"Retrying the failed micro batch", message):
            self._note("commit_retries", 1)
        elif not self._clock.fine:
            return
        elif _HUDI_COMMITS.match(line, message) and self._hudi_since is None:
            self._hudi_since, self._written = self._now, len(self._jobs)
        elif self._hudi_since is not None and _HUDI_DONE.match(line, message):
            self._commits(self._now - self._hudi_since)
            self._hudi_since = None

    def _iceberg(self, line: bytes, message: int) -> None:
        if report := _ICEBERG.search(line, message):
            for name, number in zip(("commit_retries", "files_written", "bytes_written"), report.groups(), strict=True):
                self._note(name, int(number or 0) - (name == "commit_retries"))

    def _paimon(self, line: bytes, message: int) -> None:
        if line.startswith((b"Atomic commit failed for snapshot", b"Retry commit for exception"), message):
            self._note("commit_retries", 1)

    def _consumer(self, line: bytes, message: int) -> None:
        if polled := _POLLED.match(line, message):
            self._note("kafka_polls", int(polled[1]))
            self._note("kafka_poll_ms", float(polled[2]))

    def _source(self, line: bytes, message: int) -> None:
        if reads := _READS.match(line, message):
            self._note("files_read", int(reads[1]))

    def _python(self, line: bytes, _: int) -> None:
        """Of a line that names no stage it is the one that has a task running, if there is no other."""
        if not (found := pythonlines.told(line)):
            return
        ms, stage = found
        running = self._running_stages() if stage is None else [self._tasks[stage]] if stage in self._tasks else []
        for tasks in running:
            tasks.python_ms = (tasks.python_ms or 0.0) + (ms if len(running) == 1 else nan)

    def _running_stages(self) -> list[_Tasks]:
        return [tasks for tasks in self._tasks.values() if tasks.running] or list(self._tasks.values())

    def _compaction(self, line: bytes, message: int) -> None:
        """A file sink writes the list of all its files again, from the first of these lines to the second."""
        if not self._clock.fine or b".compact" not in line or not (compacted := _COMPACTED.match(line, message)):
            return
        if compacted[1]:
            self._compacting = self._now
        elif self._compacting is not None:
            self._note("log_compaction_ms", self._now - self._compacting)
            self._compacting = None

    def _note(self, name: str, value: float) -> None:
        self._notes.append((self._place, Note(None, name, value, self._now)))


def _ms(number: bytes, unit: bytes) -> float:
    value = float(number.replace(b",", b"."))
    return value * 1000 if unit == b"s" else value


def _packed(lengths: list[float], slots: int, end: float, most: float) -> list[tuple[float, float]]:
    """Spans of tasks one behind the other, the last of which ends at `end`; within `most` ms.

    On so many slots, or on more, as many as they need to have run in this time.
    """
    if not lengths:
        return []
    slots = min(slots, len(lengths))
    spans, whole = _laid(lengths, slots)
    while whole > most and slots < len(lengths):
        slots = min(len(lengths), max(slots + 1, int(slots * whole / most) if most > 0 else len(lengths)))
        spans, whole = _laid(lengths, slots)
    begin = end - min(most, whole)
    return [(begin + start, min(end, begin + finish)) for start, finish in spans]


def _laid(lengths: list[float], slots: int) -> tuple[list[tuple[float, float]], float]:
    """(spans from 0 on of tasks on so many slots, when the last of them ends)."""
    free = [0.0] * slots
    spans = []
    for length in lengths:
        start = free[0]
        heapreplace(free, start + length)
        spans.append((start, start + length))
    return spans, max(free)
