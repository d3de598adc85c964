"""Finds and decodes the events of jobs, stages and tasks in Spark's event logs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import stringzilla

from advisor.sources.harvest import Buffer, Stretch
from advisor.sources.stages import sparkevents
from advisor.sources.stages.application import Application, ends_of
from advisor.sources.stages.jobbatches import Events, between
from advisor.sources.stages.loggedjobs import BEGINNING, Place
from advisor.stages import Work

_NAME_AT = len('{"Event":"SparkListener')
_WORD = 8
"""So many letters behind that show which event it is."""
_KINDS: dict[bytes, tuple[Any, tuple[bytes, bytes] | None]] = {
    b'TaskEnd"': (sparkevents.TaskEnd, (b',"Accumulables":[', b'},"Task ')),
    b"StageCom": (sparkevents.StageCompleted, None),
    b"JobStart": (sparkevents.JobStart, (b',"Stage Infos":[', b',"Stage IDs":[')),
    b'JobEnd",': (sparkevents.JobEnd, None),
    b"Executor": (sparkevents.ExecutorAdded | sparkevents.ExecutorRemoved, None),
    b"Unpersis": (sparkevents.UnpersistRDD, None),
    b"Applicat": (sparkevents.ApplicationStart, None),
}
"""By the letters of an event's name: what it is, and between what of its line a list is left out, half of its bytes.

Both hold quotation marks that have no backslash before them: no text in JSON does.
"""
_DECODERS = {word: msgspec.json.Decoder(kind).decode for word, (kind, _) in _KINDS.items()}
_BEFORE = 1024
"""So many executors at most stand in a log before their application."""
_UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


class EventLog:
    """Reads the jobs, stages and tasks of an event log; one for all files of a log."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._files: dict[str, int] = {}
        self._past: list[tuple[Application, Place]] = []
        """Applications that are over, and where the next one begins."""
        self._since, self._begun = BEGINNING, sparkevents.ApplicationStart()
        self._now = Application(log)
        self._executors: deque[sparkevents.ExecutorAdded | sparkevents.ExecutorRemoved] = deque(maxlen=_BEFORE)
        """The last ones: an application's first executors stand before its beginning."""
        self._line = b""
        """The last line that was wanted, as far as it is."""
        self._lines = 0
        """How many were."""
        self._place: Place = BEGINNING
        self._takes = self._taking()

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return self._now.held + sum(past.held for past, _ in self._past)

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Read the lines of a window up to `resume`; one that is broken is passed over, and one that repeats itself."""
        number, base = self._files.setdefault(file, len(self._files)), window.base
        for start, word, line in _lines(window.buffer, window.begin, resume):
            if line == self._line:
                continue
            self._line, self._place = line, (number, base + start)
            self._lines += 1
            try:
                self._takes[word](_DECODERS[word](line), self._lines)
            except _UNREADABLE:
                continue

    def over(self, batches: pa.Table) -> tuple[list[Work], pa.Table]:
        """Return (what no later line adds to, as far as these events show it; the events that all the rest needs)."""
        works = self._take_past(batches)
        own = between(batches, self._files, self._since)
        work, until = self._now.over(own, self._files)
        return [*works, work], own.filter(pc.greater(ends_of(own), until))

    def finish(self, batches: pa.Table) -> list[Work]:
        """Return all that is left."""
        return [*self._take_past(batches), self._now.finish(partial(Events, batches, self._files, self._since))]

    def _take_past(self, batches: pa.Table) -> list[Work]:
        """Return the works of the applications before this one; they are forgotten."""
        works, since = [], BEGINNING
        for past, until in self._past:
            works.append(past.finish(partial(Events, batches, self._files, since, until)))
            since = until
        self._past = []
        return works

    def _application(self, event: sparkevents.ApplicationStart, _: int) -> None:
        """Begin another application: nothing of the one before it comes again, unless a file holds its lines twice."""
        if event == self._begun:
            return
        self._begun = event
        if self._now.held:
            self._past.append((self._now, self._place))
            self._since, self._now = self._place, Application(self._log, self._now.nth)
            self._takes = self._taking()
            for executor in self._executors:
                if executor.time >= event.time:
                    self._now.executor(executor)

    def _executor(self, event: sparkevents.ExecutorAdded | sparkevents.ExecutorRemoved, _: int) -> None:
        self._executors.append(event)
        self._now.executor(event)

    def _taking(self) -> dict[bytes, Callable[[Any, int], None]]:
        """Return what takes an event and its place among the wanted ones, by the letters of its name."""
        now = self._now
        return {
            b'TaskEnd"': now.task,
            b"StageCom": now.stage,
            b"JobStart": now.starts,
            b'JobEnd",': now.ends,
            b"Executor": self._executor,
            b"Unpersis": now.unpersists,
            b"Applicat": self._application,
        }


def _lines(buffer: Buffer, start: int, end: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield (where it begins, the letters of its event's name, what of it is needed) of each wanted line."""
    find, kinds = stringzilla.find, _KINDS
    while start < end:
        stop = find(buffer, b"\n", start, end)
        if stop < 0:
            stop = end
        name = start + _NAME_AT
        word = buffer[name : name + _WORD]
        if word in kinds:
            _, needless = kinds[word]
            yield start, word, _without(buffer, start, stop, *needless) if needless else buffer[start:stop]
        start = stop + 1


def _without(buffer: Buffer, start: int, stop: int, first: bytes, behind: bytes) -> bytes:
    """Return a line without the list between `first` and `behind`, as Spark writes them; else all of it."""
    begin = stringzilla.find(buffer, first, start, stop)
    end = stringzilla.find(buffer, behind, begin, stop) if begin >= 0 else -1
    if end < 0 or buffer[end - 1 : end] != b"]":
        return buffer[start:stop]
    return b"".join((buffer[start:begin], buffer[end:stop]))
