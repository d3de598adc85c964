"""Jobs, stages and tasks of driver logs at INFO: lines say how long each took, seldom when.

If the log's clock knows milliseconds, each line stands at its own time. Otherwise lengths are laid one behind
the other in the order of the lines: they are Spark's own, and only the driver's time around the jobs is one sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.sources.stages.jobbatches import Events, between, settle
from advisor.sources.stages.loggedjobs import BEGINNING, Moment, Place
from advisor.sources.stages.loglines import LogLines
from advisor.sources.stages.scheduler import BEGINNINGS, DeltaLog, Scheduler
from advisor.sources.stages.sinklines import Notes
from advisor.stages import Work

if TYPE_CHECKING:
    import pyarrow as pa

    from advisor.sources.harvest import Stretch

_CONTEXT, _BEGINS = "SparkContext", b"Running Spark version"
"""The logger and the message with which an application begins."""
_JOB_BEGINS = b"Got "


class DriverLog:
    """Reads the jobs, stages and tasks of a driver's log; one for all files of a log."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._moment = Moment()
        self._files: dict[str, int] = {}
        self._past: list[tuple[_Application, Place]] = []
        """Applications that are over, and where the next one begins."""
        self._since = BEGINNING
        self._now = _Application(log, self._moment)
        self._lines = LogLines((_CONTEXT, *self._now.readers), {_CONTEXT: {b"Runn"}, **BEGINNINGS})
        self._before = b""
        self._doubled = False
        """Whether two appenders wrote each line of the log."""

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return self._now.held + sum(past.held for past, _ in self._past)

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Read the lines of a window of this file up to `resume`."""
        moment, lines = self._moment, self._lines
        for logger, text, message, number, place in lines.read(
            window, resume, self._files.setdefault(file, len(self._files))
        ):
            if text == self._before:  # all that repeat the one before are left out from the first job on
                self._doubled = self._doubled or text.startswith(_JOB_BEGINS, message)
                if self._doubled:
                    continue
            self._before, moment.fine = text, lines.clock.fine
            moment.number, moment.place = number, place
            if moment.fine and (time := lines.clock.time(text)) is not None:
                moment.now = time
            if reader := self._now.readers.get(logger):
                reader(text, message)
            elif text.startswith(_BEGINS, message):
                self._begin(place)

    def _begin(self, place: Place) -> None:
        """Begin another application: nothing of the one before it comes again."""
        self._since = place
        if self._now.held:
            self._past.append((self._now, place))
        self._now = _Application(self._log, self._moment, self._now.scheduler.begun)

    def over(self, batches: pa.Table) -> tuple[list[Work], pa.Table]:
        """Return (what no later line adds to, as far as these events show it; the events that all the rest needs).

        Of an application with several queries all is held until the next one begins.
        """
        works = self._take_past(batches)
        events = Events(batches, self._files, self._since)
        if len({event.batch.id for event in events.all}) != 1:
            return works, between(batches, self._files, self._since)
        work, until = self._now.over(events, shift=self._shifts)
        return [*works, work], between(batches, self._files, max(until, self._since))

    def finish(self, batches: pa.Table) -> list[Work]:
        """Return all that is left, each job with the batch to which it belongs as far as the log shows it."""
        events = Events(batches, self._files, self._since)
        return [*self._take_past(batches), self._now.finish(events, shift=self._shifts)]

    def _take_past(self, batches: pa.Table) -> list[Work]:
        """Return the works of the applications before this one; they are forgotten."""
        works, since = [], BEGINNING
        for past, until in self._past:
            works.append(past.finish(Events(batches, self._files, since, until), shift=self._shifts))
            since = until
        self._past = []
        return works

    @property
    def _shifts(self) -> bool:
        """Whether the clock may be that of another zone than UTC."""
        return not (self._lines.clock.fine and self._lines.clock.utc)


class _Application:
    """One application in a driver's log."""

    def __init__(self, log: str, moment: Moment, begun: int = 0) -> None:
        """`moment`: where the log is read; `begun`: how many jobs of it began before."""
        delta = DeltaLog()
        self._moment = moment
        self._work = Work(log, "driver_log", clock=False)
        self.scheduler = Scheduler(self._work, moment, delta, begun)
        self._notes = Notes(self.scheduler, moment, delta)
        self.readers = {**self.scheduler.readers, **self._notes.readers}
        """What reads a line, by the short name of the class that wrote it."""

    @property
    def held(self) -> int:
        return len(self.scheduler.jobs) + len(self._work.attempts)

    def over(self, events: Events, *, shift: bool) -> tuple[Work, Place]:
        """Return (what no later line adds to, behind which event all the rest stands)."""
        self.scheduler.hand_over()
        self._work.clock = self._moment.fine
        count, until = events.over(self.scheduler.jobs)
        taken, notes = self.scheduler.take(count), self._notes.take(until)
        since = min((job.start for job in self.scheduler.jobs), default=self._moment.now)
        work = self._work.take(taken, self.scheduler.jobs, since)
        settle(work, taken, notes, events, shift=shift)
        return work, until

    def finish(self, events: Events, *, shift: bool) -> Work:
        """Return all of it."""
        self.scheduler.hand_over()
        work = self._work
        work.clock = self._moment.fine
        settle(work, self.scheduler.jobs, self._notes.notes, events, shift=shift)
        self.scheduler.settle_waits()
        return work
