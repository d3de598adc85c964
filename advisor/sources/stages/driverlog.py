"""Jobs, stages and tasks of driver logs at INFO: lines say how long each took, seldom when.

Where the log's clock knows milliseconds, what lines tell stands at its own time. Otherwise it is laid one behind the
other in the order of the lines: lengths are Spark's own, and only the driver's time around the jobs is one sum.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from advisor.sources.stages import messages, notes, pythonlines
from advisor.sources.stages.clock import Clock, filled
from advisor.sources.stages.deltalog import DeltaLog
from advisor.sources.stages.doubled import Doubled
from advisor.sources.stages.events import BEGINNING, Events, Place, between
from advisor.sources.stages.gathered import Gathered, Lines
from advisor.sources.stages.kinds import Kind
from advisor.sources.stages.layout import Layout
from advisor.sources.stages.messages import Reader
from advisor.sources.stages.moment import Moment, Told
from advisor.sources.stages.notes import Notes
from advisor.sources.stages.owners import settle
from advisor.sources.stages.scheduler import Scheduler
from advisor.stages import Work

if TYPE_CHECKING:
    import pyarrow as pa

    from advisor.sources.harvest import Stretch

_CONTEXT = "SparkContext"
"""What tells that an application begins."""
_BEGINS = b"Running Spark version"


class DriverLog:
    """Reads what a driver's log tells of jobs, stages and tasks; one for all files of a log."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._clock = Clock(b"")
        self._moment = Moment()
        self._files: dict[str, int] = {}
        self._past: list[tuple[_Application, Place]] = []
        """Applications that are over, and where the next one begins."""
        self._since = BEGINNING
        self._now = _Application(log, self._moment)
        beginnings = {_CONTEXT: ("Runn",), **messages.BEGINNINGS, **notes.BEGINNINGS}
        self._layout = Layout((_CONTEXT, *messages.LOGGERS, *self._now.readers), beginnings)
        self._gathered = Gathered(self._layout)
        self._messages = Reader(self._layout.loggers)
        self._doubled = Doubled()

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return self._now.held + sum(past.held for past, _ in self._past)

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Take what has been read of a window of this file."""
        for lines in self._gathered.read(window, resume, self._files.setdefault(file, len(self._files))):
            self._tell(lines)

    def _tell(self, lines: Lines) -> None:
        self._clock = Clock(self._layout.first)
        self._moment.fine = self._clock.fine
        said = self._messages.read(lines)
        self._doubled.drop(lines, said.kind)
        if not self._clock.fine:
            said.kind[lines.loggers == self._layout.loggers.index(notes.BY_THE_CLOCK)] = Kind.NOTHING
        times = filled(self._clock.times(lines), self._moment.now) if self._clock.fine else np.empty(0)
        told = Told(lines, said, times, self._layout.loggers)
        begin = 0
        for at in self._beginnings(lines):
            self._now.read(told, begin, at)
            self._since, begin = lines.place(at), at
            if self._now.held:
                self._past.append((self._now, self._since))
            self._now = _Application(self._log, self._moment, self._now.begun)
        self._now.read(told, begin, len(lines.starts))

    def _beginnings(self, lines: Lines) -> list[int]:
        """The lines at which another application begins: nothing of the one before it comes again."""
        rows = np.flatnonzero(lines.loggers == self._layout.loggers.index(_CONTEXT))
        return [at for at in rows.tolist() if lines.line(at).startswith(_BEGINS, lines.message(at))]

    def over(self, batches: pa.Table) -> tuple[list[Work], pa.Table]:
        """(what no later line tells more of, as far as these events tell; the events that all the rest needs).

        Of an application with several queries all is held until the next one begins.
        """
        self._rest()
        works = self._before(batches)
        events = Events(batches, self._files, self._since)
        if not events.of_one_query:
            return works, between(batches, self._files, self._since)
        work, until = self._now.over(events, shift=self._shifts)
        return [*works, work], between(batches, self._files, max(until, self._since))

    def finish(self, batches: pa.Table) -> list[Work]:
        """All that is left, each job with the batch to which it belongs as far as that can be told."""
        self._rest()
        events = Events(batches, self._files, self._since)
        return [*self._before(batches), self._now.finish(events, shift=self._shifts)]

    def _rest(self) -> None:
        """Take the lines that were gathered but not told."""
        for lines in self._gathered.rest():
            self._tell(lines)

    def _before(self, batches: pa.Table) -> list[Work]:
        """What applications before this one tell; they are forgotten."""
        works, since = [], BEGINNING
        for past, until in self._past:
            works.append(past.finish(Events(batches, self._files, since, until), shift=self._shifts))
            since = until
        self._past = []
        return works

    @property
    def _shifts(self) -> bool:
        """Whether the clock may be that of another zone than UTC."""
        return not (self._clock.fine and self._clock.utc)


class _Application:
    """What a driver's log tells of one application."""

    def __init__(self, log: str, moment: Moment, begun: int = 0) -> None:
        """`moment`: where the log is read; `begun`: how many jobs of it began before."""
        delta = DeltaLog()
        self._moment = moment
        self._work = Work(log, "driver_log", clock=False)
        self._scheduler = Scheduler(self._work, moment, delta, begun)
        self._notes = Notes(self._scheduler, moment, delta)
        self.readers = {**dict.fromkeys(pythonlines.LOGGERS, self._scheduler.python), **self._notes.readers}
        """What reads a line, by the short name of the class that wrote it."""

    @property
    def begun(self) -> int:
        return self._scheduler.begun

    @property
    def held(self) -> int:
        return len(self._scheduler.jobs) + len(self._work.attempts)

    def read(self, told: Told, begin: int, end: int) -> None:
        """Take these lines: one by one, but those of tasks together."""
        moment, lines, kinds = self._moment, told.lines, told.messages.kind[begin:end]
        rows = begin + np.flatnonzero((kinds >= Kind.OTHER) & (kinds < Kind.STARTS))
        places = zip(lines.files[rows].tolist(), lines.places[rows].tolist(), strict=True)
        columns = (column[rows].tolist() for column in (lines.numbers, *told.messages[:5]))
        times = told.times[rows].tolist() if moment.fine else repeat(0.0)
        readers = self._scheduler.readers
        for at, time, moment.place, moment.number, kind, number, other, ms, query in zip(
            rows.tolist(), times, places, *columns, strict=False
        ):
            if moment.fine:
                moment.now = time
            if kind:
                moment.named = told.messages.named(at) if query >= 0 else None
                readers[kind](number, other, ms)
            elif reader := self.readers.get(told.loggers[lines.loggers[at]]):
                reader(lines.line(at), lines.message(at))
        if moment.fine and end > begin:
            moment.now = float(told.times[end - 1])
        self._scheduler.read_tasks(told, begin + np.flatnonzero(kinds >= Kind.STARTS))

    def over(self, events: Events, *, shift: bool) -> tuple[Work, Place]:
        """(what no later line tells more of, behind which event all the rest stands)."""
        self._work.clock = self._moment.fine
        count, until = events.over(self._scheduler.jobs)
        begun, noted = self._scheduler.take(count), self._notes.take(until)
        left = [each.job for each in self._scheduler.jobs]
        since = min((job.start for job in left), default=self._moment.now)
        work = self._work.take([each.job for each in begun], left, since)
        settle(work, begun, noted, events, shift=shift)
        return work, until

    def finish(self, events: Events, *, shift: bool) -> Work:
        """All of it."""
        work = self._work
        work.clock = self._moment.fine
        work.fold()
        settle(work, self._scheduler.jobs, self._notes.notes, events, shift=shift)
        self._scheduler.settle_waits()
        return work
