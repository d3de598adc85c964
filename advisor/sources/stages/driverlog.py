"""Jobs, stages and tasks of driver logs at INFO: lines say how long each took, seldom when.

Where the log's clock knows milliseconds, what lines tell stands at its own time. Otherwise it is laid one behind the
other in the order of the lines: lengths are Spark's own, and only the driver's time around the jobs is one sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.sources.stages import scheduler
from advisor.sources.stages.clock import Clock, Moment
from advisor.sources.stages.deltalog import DeltaLog
from advisor.sources.stages.events import BEGINNING, Events, Place, between
from advisor.sources.stages.layout import Layout
from advisor.sources.stages.notes import Notes
from advisor.sources.stages.owners import settle
from advisor.sources.stages.rounds import most_at_once
from advisor.sources.stages.scheduler import Scheduler
from advisor.sources.wrapped import in_json, unwrapped
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
        self._line = b""
        self._doubled = False
        """Whether the log holds each line twice: two appenders wrote it."""
        self._past: list[tuple[_Application, Place]] = []
        """Applications that are over, and where the next one begins."""
        self._since = BEGINNING
        self._now = _Application(log, self._moment)
        self._readers = {_CONTEXT: self._context, **self._now.readers}
        self._layout = Layout({name: name for name in self._readers}, {_CONTEXT: ("Runn",), **scheduler.BEGINNINGS})

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return self._now.held + sum(past.held for past, _ in self._past)

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Take what has been read of a window of this file."""
        number = self._files.setdefault(file, len(self._files))
        known = bool(self._layout.first)
        wrapped = unwrapped(window.buffer, window.begin, resume) if in_json(window.buffer, window.begin) else None
        text = (window.buffer, window.begin, resume) if wrapped is None else (wrapped.text, 0, len(wrapped.text))
        moment, readers, before = self._moment, self._readers, self._line
        for start, line, message, name in self._layout.lines(*text):
            if not known:
                self._clock = Clock(self._layout.first)
                moment.fine, known = self._clock.fine, True
            if line == before and (self._doubled or b"Got job " in line):
                self._doubled = True
                continue
            before, moment.start = line, start
            moment.place = number, window.base + (start if wrapped is None else wrapped.origin(start))
            if moment.fine:
                moment.now = self._clock.time(line) or moment.now
            readers[name](line, message)
        self._line = before

    def over(self, batches: pa.Table) -> tuple[list[Work], pa.Table]:
        """(what no later line tells more of, as far as these events tell; the events that all the rest needs).

        Of an application with several queries all is held until the next one begins.
        """
        works = self._before(batches)
        events = Events(batches, self._files, self._since)
        if not events.of_one_query:
            return works, between(batches, self._files, self._since)
        work, until = self._now.over(events, shift=self._shifts)
        return [*works, work], between(batches, self._files, max(until, self._since))

    def finish(self, batches: pa.Table) -> list[Work]:
        """All that is left, each job with the batch to which it belongs as far as that can be told."""
        events = Events(batches, self._files, self._since)
        return [*self._before(batches), self._now.finish(events, shift=self._shifts)]

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

    def _context(self, line: bytes, message: int) -> None:
        """Another application begins: nothing of the one before it comes again."""
        if line.startswith(_BEGINS, message):
            if self._now.held:
                self._past.append((self._now, self._moment.place))
            self._since = self._moment.place
            self._now = _Application(self._log, self._moment, self._now.begun)
            self._readers.update(self._now.readers)


class _Application:
    """What a driver's log tells of one application."""

    def __init__(self, log: str, moment: Moment, begun: int = 0) -> None:
        """`moment`: where the log is read; `begun`: how many jobs of it began before."""
        delta = DeltaLog()
        self._moment = moment
        self._work = Work(log, "driver_log", clock=False)
        self._scheduler = Scheduler(self._work, moment, delta, begun)
        self._notes = Notes(self._scheduler, moment, delta)
        self.readers = {**self._scheduler.readers, **self._notes.readers}

    @property
    def begun(self) -> int:
        return self._scheduler.begun

    @property
    def held(self) -> int:
        return len(self._scheduler.jobs) + len(self._work.attempts)

    def over(self, events: Events, *, shift: bool) -> tuple[Work, Place]:
        """(what no later line tells more of, behind which event all the rest stands)."""
        self._work.clock = self._moment.fine
        count, until = events.over(self._scheduler.jobs)
        begun, notes = self._scheduler.take(count), self._notes.take(until)
        left = [each.job for each in self._scheduler.jobs]
        since = min((job.start for job in left), default=self._moment.now)
        work = self._work.take([each.job for each in begun], left, since)
        settle(work, begun, notes, events, shift=shift)
        return work, until

    def finish(self, events: Events, *, shift: bool) -> Work:
        """All of it."""
        work = self._work
        work.clock = self._moment.fine
        work.fold()
        work.at_once = most_at_once(self._scheduler.ran)
        settle(work, self._scheduler.jobs, self._notes.notes, events, shift=shift)
        return work
