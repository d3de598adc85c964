"""Jobs, stages and tasks of driver logs at INFO: lines say how long each took, seldom when.

If the log's clock knows milliseconds, each line stands at its own time. Otherwise lengths are laid one behind
the other in the order of the lines: they are Spark's own, and only the driver's time around the jobs is one sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from advisor.catalogue.traces import forms
from advisor.sources.stages.jobbatches import Applications, Events, between, settle
from advisor.sources.stages.loggedjobs import CLOCKS_MS, HOUR_MS, Moment
from advisor.sources.stages.loglines import BEGINS, CONTEXT, LogLines
from advisor.sources.stages.scheduler import BEGINNINGS, DeltaLog, Scheduler
from advisor.sources.stages.sinklines import Notes
from advisor.stages import Work

if TYPE_CHECKING:
    import pyarrow as pa

    from advisor.sources.harvest import Stretch

_JOB_BEGINS = b"Got "


class DriverLog(Applications):
    """Reads the jobs, stages and tasks of a driver's log; one for all files of a log."""

    def __init__(self, log: str) -> None:
        self._log = log
        super().__init__(_Application(log))
        self.lines = LogLines((CONTEXT, *self._now.readers), {CONTEXT: {b"Runn"}, **BEGINNINGS})
        self._before = b""
        self._doubled = False
        """Whether two appenders wrote each line of the log."""

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Read the lines of a window of this file up to `resume`."""
        moment, lines = self._now.moment, self.lines
        for logger, text, message, number, place in lines.read(
            window, resume, self._files.setdefault(file, len(self._files))
        ):
            if text == self._before:  # all that repeat the one before are left out from the first job on
                self._doubled = self._doubled or text.startswith(_JOB_BEGINS, message)
                if self._doubled:
                    continue
            clock = lines.clock
            if logger == CONTEXT or clock.fine is not moment.fine:
                if text.startswith(BEGINS, message) or (clock.fine is not moment.fine and self._now.held):
                    self._begin(_Application(self._log, self._now.scheduler.begun), place)
                moment = self._now.moment
            self._before, moment.fine, moment.utc = text, clock.fine, clock.utc
            moment.number, moment.place = number, place
            if moment.fine and (time := clock.time(text)) is not None:
                if HOUR_MS / 2 < moment.now - moment.set_back - time < HOUR_MS + CLOCKS_MS:
                    moment.set_back += HOUR_MS
                moment.now = time + moment.set_back
            if reader := self._now.readers.get(logger):
                reader(text, message)


class _Application:
    """One application in a driver's log."""

    def __init__(self, log: str, begun: int = 0) -> None:
        """`begun`: how many jobs of the log began before."""
        delta, moment = DeltaLog(), Moment()
        self.moment = moment
        self._work = Work(log, "driver_log", clock=False)
        self.scheduler = Scheduler(self._work, moment, delta, begun)
        self._notes = Notes(self.scheduler, moment, delta)
        self.readers = {**self.scheduler.readers, **self._notes.readers}
        self.readers |= {of: self._notes.tracing(of, self.readers.get(of)) for of in forms()}
        """What reads a line, by the short name of the class that wrote it."""

    @property
    def held(self) -> int:
        return len(self.scheduler.jobs) + len(self._work.attempts)

    def over(self, batches: pa.Table, files: Mapping[str, int]) -> tuple[list[Work], pa.Table]:
        """Return the same as `Applications`; while several queries run nothing is over, until the next one begins."""
        events = Events(batches, files)
        if len({event.batch.id for event in events.all}) != 1:
            return [], batches
        count, until = events.over(self.scheduler.jobs)
        self.scheduler.hand_over()
        taken, notes = self.scheduler.take(count), self._notes.take(until)
        since = min((job.start for job in self.scheduler.jobs), default=self.moment.now)
        work = self._work.take(taken, self.scheduler.jobs, since)
        work.clock = self.moment.fine
        settle(work, taken, notes, events, shift=not self.moment.utc)
        return [work], between(batches, files, until)

    def finish(self, events_of: Callable[[], Events]) -> Work:
        """Return all of it; `events_of` gives its events."""
        self.scheduler.hand_over()
        self._work.clock = self.moment.fine
        settle(self._work, self.scheduler.jobs, self._notes.notes, events_of(), shift=not self.moment.utc)
        self.scheduler.settle_waits()
        return self._work
