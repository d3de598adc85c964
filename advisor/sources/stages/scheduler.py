"""Jobs, stages and tasks of one application, as the lines of Spark's scheduler in a driver's log tell them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from operator import attrgetter

from advisor.redaction import redact
from advisor.sources.stages import pythonlines
from advisor.sources.stages.begun import Begun
from advisor.sources.stages.clock import Moment
from advisor.sources.stages.deltalog import DeltaLog
from advisor.sources.stages.layout import Reader
from advisor.sources.stages.packed import packed
from advisor.sources.stages.rounds import Rounds
from advisor.stages import FAILED, LOCALITIES, Attempt, Job, Work

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
_BACKGROUND = re.compile(rb"withThreadLocalCaptured|ThreadPoolExecutor|FutureTask|CompletableFuture")
_CONTEXT = re.compile(rb'"(?i:batch_id)":"(\d{1,15})","(?i:query_id)":"([^"]+)"')
_PLACES = {name.encode(): place for place, name in enumerate(LOCALITIES)}

BEGINNINGS: Mapping[str, tuple[str, ...]] = {"DAGScheduler": ("Got ", "Fina", "Pare", "Subm", "Resu", "Shuf", "Job ")}
"""The first four letters of the messages that are wanted of a logger."""


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


class Scheduler:
    """Reads lines of the scheduler, and of Python workers in the driver's process."""

    def __init__(self, work: Work, moment: Moment, delta: DeltaLog, begun: int = 0) -> None:
        """What is told goes to `work`; `moment` says where the log is read, and where its clock knows only seconds,
        it goes on with what lines tell. `begun`: how many jobs of the log began before.
        """
        self.readers: Mapping[str, Reader] = {
            "DAGScheduler": self._scheduler,
            "TaskSetManager": self._task,
            **dict.fromkeys(pythonlines.LOGGERS, self._python),
        }
        """What reads a line, by the short name of the class that wrote it."""
        self.jobs: list[Begun] = []
        self.ran: Counter[int] = Counter()
        """How many tasks ran when one started, and how often."""
        self.begun = begun
        """How many jobs have begun."""
        self._work, self._moment, self._delta = work, moment, delta
        self._open: dict[int, Begun] = {}
        self._last: Begun | None = None
        self._tasks: dict[int, _Tasks] = {}
        self._running = 0
        self._marked, self._marked_ms = begun, 0.0

    @property
    def idle(self) -> bool:
        """Whether no job runs."""
        return all(begun.job.end is not None for begun in self._open.values())

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
        return taken

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
        now = self._moment.now
        job = Job(number, None, now, nth=self.begun)
        self._last = Begun(job, self.begun, self._moment.place, self._delta.job, bool(_BACKGROUND.search(site)))
        self._last.now = now
        self._open[number] = self._last
        self.begun += 1
        self.jobs.append(self._last)
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
        now = self._moment.now if begun is None or self._moment.fine else begun.now
        self._tasks[stage] = _Tasks(now, tasks, begun, leaf)
        if begun is not None:
            begun.what = self._delta.submits(begun.what, begun.ended, tasks)

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
            tasks.offered = tasks.offered + 1 if self._moment.start == tasks.rounds.behind else 1
            tasks.at_once = max(tasks.at_once, tasks.offered)
            tasks.rounds.starts(self._moment.start + len(line) + 1)
            self._running += 1
            self.ran[self._running] += 1
        elif finished:
            length = float(ms)
            tasks.lengths.append(length)
            tasks.longest = max(tasks.longest, (length, int(place)))
            tasks.ends.append(self._moment.now)
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
                tasks.rounds.ends(job, self._moment.start, tasks.tasks, self._running)

    def _stage_ends(self, kind: bytes, stage: int, ms: float, *, failed: bool) -> None:
        tasks = self._tasks.pop(stage, None)
        if tasks is None:
            return
        self._running -= tasks.starts - len(tasks.lengths) - tasks.lost
        begun = tasks.begun
        completed = self._completed(tasks, ms)
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

    def _completed(self, tasks: _Tasks, ms: float) -> float:
        """When a stage ended that took so long."""
        moment, begun = self._moment, tasks.begun
        if moment.fine:
            return moment.now
        completed = tasks.submitted + ms
        moment.now = max(moment.now, completed)
        if begun:
            begun.now = max(begun.now, completed)
        return completed

    def _put_tasks(self, attempt: Attempt, tasks: _Tasks) -> None:
        """Hand its tasks on, at their own times or, without such, as late in the stage as its slots allow."""
        if self._moment.fine:
            spans = [(end - length, end) for length, end in zip(tasks.lengths, tasks.ends, strict=True)]
        else:
            spans = packed(
                tasks.lengths, max(1, tasks.at_once), attempt.completed, attempt.completed - attempt.submitted
            )
        places = tasks.places if len(tasks.places) == len(spans) else -1
        launch, finish = zip(*spans, strict=True) if spans else ((), ())
        self._work.tasks(attempt.stage, 0, launch, finish, locality=places)
        lost = [attempt.completed] * tasks.lost
        self._work.tasks(attempt.stage, 0, lost, lost, flags=FAILED)

    def _job_ends(self, number: int, ms: float, line: bytes) -> None:
        begun = self._open.pop(number, None)
        if begun is None:
            return
        moment = self._moment
        if moment.fine:
            begun.job.end = moment.now
            begun.job.start = moment.now - ms
        else:
            begun.job.end = max(begun.job.start + ms, begun.now)
            moment.now = max(moment.now, begun.job.end)
        if context := _CONTEXT.search(line):
            begun.named = redact(context[2].decode()), int(context[1])

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


def _length(jobs: list[Begun], so_far: float) -> float:
    """How long jobs took that have ended, and those before them, ms."""
    return sum((begun.job.end - begun.job.start for begun in jobs if begun.job.end is not None), so_far)


def _ms(number: bytes, unit: bytes) -> float:
    value = float(number.replace(b",", b"."))
    return value * 1000 if unit == b"s" else value
