"""Read the stages of many logs, whatever their form, into the tables of stages and of batch parts."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import Broken, deduplicate
from advisor.errors import fault
from advisor.redaction import redact
from advisor.sources.formats import Format
from advisor.sources.harvest import Harvest, Stretch, find
from advisor.sources.stages.driverlog import DriverLog
from advisor.sources.stages.eventlog import EventLog
from advisor.stages import Rows, Work

_PIECE = 2048
"""So many jobs and stages of a log are held before those that are over become rows."""
_OTHER = {False: b"SparkListenerJobStart", True: b"made progress: {"}  # by whether the log is an event log
_LINE = b'\n{"Event":"'
_MIXED = "a driver's log and an event log in one file: jobs and settings are read of the first alone; divide it"
_REWRITTEN = (
    "the lines of an event log that was written again or wrapped: its jobs, stages and settings are left out; give "
    "it as Spark wrote it"
)
_STRANGE = "its jobs, stages and tasks are left out: how its lines look, or end, is not known; %c{1}: %m%n is read"


@dataclass
class _Log:
    """One log, and those of its events that are still needed."""

    name: str
    reader: DriverLog | EventLog
    enough: int
    """So many jobs and stages are held when the next ones become rows."""
    left: pa.Table | None = None
    """Those of the events so far; None where no rows were made yet."""
    seen: int = 0
    """How many events of all logs there were when rows were made."""

    def events(self, all: pa.Table) -> pa.Table:
        """Return its events that are needed, of those of all logs so far."""
        fresh = all.slice(self.seen)
        fresh = fresh.filter(pc.equal(fresh["log"], self.name))
        return fresh if self.left is None else pa.concat_tables([self.left, fresh])


class StageTables:
    """Reads jobs, stages and tasks of many logs; a log whose stages cannot be read costs its own stages alone."""

    def __init__(self) -> None:
        self.broken: list[Broken] = []
        """The logs whose stages could not be read, and why."""
        self._logs: dict[tuple[str, str], _Log] = {}
        self._lost: set[str] = set()
        self._rows = Rows()

    def read(self, format: Format, log: str, harvest: Harvest, window: Stretch, resume: int) -> None:
        """Read a window of a file up to `resume`; `harvest` holds its events. What is over becomes rows."""
        key = format.name, log
        if key not in self._logs:
            self._logs[key] = _Log(log, format.stages(log), _PIECE)
        one = self._logs[key]
        at, reason = self._other(window, bool(format.tells))
        if at >= 0 and not any((each.file, each.reason) == (harvest.file, reason) for each in self.broken):
            self.broken.append(Broken(harvest.file, window.base + at, 0, reason))
        if log not in self._lost:
            try:
                one.reader.read(window, resume, harvest.file)
                if one.reader.held >= one.enough:
                    self._put(one, harvest.so_far())
            except Exception as error:
                self._lose(log, harvest.file, window.base, error)

    @staticmethod
    def _other(window: Stretch, is_event_log: bool) -> tuple[int, str]:
        """Return (where lines of the other kind of log begin, what is said of them); -1 without any."""
        buffer, words = window.buffer, _OTHER[is_event_log]
        at = find(buffer, words, window.begin)
        if at < 0 or is_event_log or buffer[at - len(_LINE) : at] == _LINE:
            return at, _MIXED
        quoted = buffer[at + len(words) : at + len(words) + 1] in (b'"', b"\\")
        return at if quoted else -1, _REWRITTEN

    def _put(self, one: _Log, all: pa.Table) -> None:
        events = one.events(all)
        works, one.left = one.reader.over(events)
        self._rows.add(works, deduplicate(events)[0])
        one.seen, one.enough = len(all), one.reader.held + _PIECE

    def tables(self, batches: pa.Table, events: pa.Table) -> dict[str, pa.Table]:
        """Return the tables of stages and of batch parts.

        `events`: the batches as each log has them: they say whose the jobs of that log are.
        """
        left = [one for one in self._logs.values() if one.name not in self._lost]
        works = [work for one in left for work in self._finished(one, events)]
        strange = [one.name for one in left if isinstance(one.reader, DriverLog) and one.reader.lines.unknown]
        self.broken += [Broken(log, 0, 0, _STRANGE) for log in strange]
        if left and all(one.left is not None for one in left):
            batches = deduplicate(pa.concat_tables([one.events(events) for one in left]))[0]
        try:
            self._rows.add(works, batches)
        except Exception:
            for work in works:
                self._add(work, batches)
        tables = self._rows.tables([one.name for one in self._logs.values()])
        if not self._lost:
            return tables
        lost = pa.array(sorted(self._lost), pa.string())
        return {name: table.filter(pc.invert(pc.is_in(table["log"], lost))) for name, table in tables.items()}

    def _finished(self, one: _Log, events: pa.Table) -> list[Work]:
        try:
            return one.reader.finish(events if one.left is None else one.events(events))
        except Exception as error:
            self._lose(one.name, one.name, 0, error)
            return []

    def _add(self, work: Work, batches: pa.Table) -> None:
        try:
            self._rows.add([work], batches)
        except Exception as error:
            self._lose(work.log, work.log, 0, error)

    def _lose(self, log: str, file: str, offset: int, error: Exception) -> None:
        if log not in self._lost:
            self._lost.add(log)
            reason = f"its jobs, stages and tasks are left out: {redact(fault(error))}"
            self.broken.append(Broken(file, offset, 0, reason))
