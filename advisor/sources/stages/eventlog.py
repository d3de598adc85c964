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
from advisor.sources.stages.application import Application
from advisor.sources.stages.events import BEGINNING, Events, Place, between
from advisor.sources.stages.horizon import ends_of
from advisor.sources.stages.sparkevents import (
    ApplicationStart,
    ExecutorAdded,
    ExecutorRemoved,
    JobEnd,
    JobStart,
    StageCompleted,
    TaskEnd,
    Unpersisted,
)
from advisor.stages import Work

_NAME_AT = len('{"Event":"SparkListener')
_WORD = 8
"""Letters that tell an event's name behind that."""
_TASK, _APPLICATION = b'TaskEnd"', b"Applicat"
_NEEDLESS: dict[bytes, tuple[bytes, bytes] | None] = {
    _TASK: (b',"Accumulables":[', b'},"Task Metrics":'),
    b"StageCom": None,
    b"JobStart": (b',"Stage Infos":[', b',"Stage IDs":['),
    b'JobEnd",': None,
    b"Executor": None,
    b"Unpersis": None,
    _APPLICATION: None,
}
"""By the letters of an event's name: what of its line is left out, half of its bytes and more.

It begins and ends with quotation marks that have no backslash before them: no text in JSON holds them.
"""
_BEFORE = 1024
"""Executors at most of which the application is told behind them."""
_UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
_OTHERS = JobStart | JobEnd | StageCompleted | ExecutorAdded | ExecutorRemoved | Unpersisted


class _Pending:
    """Lines of some kinds until they are decoded, all at once."""

    def __init__(self, kinds: Any) -> None:
        self._decode_all = msgspec.json.Decoder(list[kinds]).decode
        self._decode = msgspec.json.Decoder(kinds).decode
        self._lines: list[bytes] = []
        self._at: list[int] = []

    def add(self, line: bytes, at: int) -> None:
        """One more, which stands there."""
        self._lines.append(line)
        self._at.append(at)

    def take(self) -> tuple[list[Any], list[int]]:
        """(the events, where each of them stands) of all lines that are not broken; they are forgotten."""
        lines, at = self._lines, self._at
        self._lines, self._at = [], []
        try:
            events = self._decode_all(b"[" + b",".join(lines) + b"]")
        except _UNREADABLE:
            events = []
        if len(events) == len(lines):
            return events, at
        told = [(event, place) for line, place in zip(lines, at, strict=True) if (event := self._event(line))]
        return [event for event, _ in told], [place for _, place in told]

    def _event(self, line: bytes) -> Any:
        try:
            return self._decode(line)
        except _UNREADABLE:
            return None


class EventLog:
    """Reads what an event log tells of jobs, stages and tasks; one for all files of a log."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._files: dict[str, int] = {}
        self._past: list[tuple[Application, Place]] = []
        """Applications that are over, and where the next one begins."""
        self._since, self._begun = BEGINNING, ApplicationStart()
        self._now = Application(log)
        self._executors: deque[ExecutorAdded | ExecutorRemoved] = deque(maxlen=_BEFORE)
        """The last that came or went: an application's first ones stand before its beginning."""
        self._line = b""
        """The last line that was wanted."""
        self._lines = 0
        """How many were."""
        self._applications, self._tasks, self._others = _Pending(ApplicationStart), _Pending(TaskEnd), _Pending(_OTHERS)
        self._takes = self._taking()

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return self._now.held + sum(past.held for past, _ in self._past)

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Take what has been read of a window; a line that is broken is passed over, and one that follows itself."""
        number = self._files.setdefault(file, len(self._files))
        for start, word, line in _lines(window.buffer, window.begin, resume):
            if line == self._line:
                continue
            self._line = line
            self._lines += 1
            if word == _TASK:
                self._tasks.add(line, self._lines)
            elif word == _APPLICATION:
                self._take()
                self._application(line, (number, window.base + start))
            else:
                self._others.add(line, self._lines)
        self._take()

    def over(self, batches: pa.Table) -> tuple[list[Work], pa.Table]:
        """(what no later line tells more of, as far as these events tell; the events that all the rest needs)."""
        works = self._before(batches)
        own = between(batches, self._files, self._since)
        work, until = self._now.over(own, self._files)
        return [*works, work], own.filter(pc.greater(ends_of(own), until))

    def finish(self, batches: pa.Table) -> list[Work]:
        """All that is left."""
        return [*self._before(batches), self._now.finish(partial(Events, batches, self._files, self._since))]

    def _before(self, batches: pa.Table) -> list[Work]:
        """What applications before this one tell; they are forgotten."""
        works, since = [], BEGINNING
        for past, until in self._past:
            works.append(past.finish(partial(Events, batches, self._files, since, until)))
            since = until
        self._past = []
        return works

    def _take(self) -> None:
        """Hand on what was read, tasks first: of all is told where it stands."""
        self._now.tasks(*self._tasks.take())
        for event, at in zip(*self._others.take(), strict=True):
            try:
                self._takes[type(event)](event, at)
            except _UNREADABLE:  # of sums, which are decoded where they are needed
                continue

    def _executor(self, event: ExecutorAdded | ExecutorRemoved, _: int) -> None:
        self._executors.append(event)
        self._now.executor(event)

    def _taking(self) -> dict[type, Callable[[Any, int], None]]:
        """What takes an event that stands at a place."""
        now = self._now
        return {
            JobStart: now.starts,
            StageCompleted: now.stage,
            JobEnd: now.ends,
            Unpersisted: now.unpersists,
            ExecutorAdded: self._executor,
            ExecutorRemoved: self._executor,
        }

    def _application(self, line: bytes, place: Place) -> None:
        """Another application begins: nothing of the one before it comes again, unless a file holds its lines twice."""
        self._applications.add(line, self._lines)
        for event in self._applications.take()[0]:
            if event != self._begun:
                self._begun = event
                self._begins(event, place)

    def _begins(self, event: ApplicationStart, place: Place) -> None:
        if self._now.held:
            self._past.append((self._now, place))
            self._since, self._now = place, Application(self._log, self._now.nth)
            self._takes = self._taking()
            for executor in self._executors:
                if executor.time >= event.time:
                    self._now.executor(executor)


def _lines(buffer: Buffer, start: int, end: int) -> Iterator[tuple[int, bytes, bytes]]:
    """(where it begins, the letters of its event's name, what of it is needed) of each line that is wanted."""
    find, needless = stringzilla.find, _NEEDLESS
    while start < end:
        stop = find(buffer, b"\n", start, end)
        if stop < 0:
            stop = end
        name = start + _NAME_AT
        word = buffer[name : name + _WORD]
        if word in needless:
            without = needless[word]
            yield start, word, _without(buffer, start, stop, *without) if without else buffer[start:stop]
        start = stop + 1


def _without(buffer: Buffer, start: int, stop: int, first: bytes, behind: bytes) -> bytes:
    """A line without what stands from `first` to `behind`."""
    begin = stringzilla.find(buffer, first, start, stop)
    end = stringzilla.find(buffer, behind, begin, stop) if begin >= 0 else -1
    return buffer[start:stop] if end < 0 else buffer[start:begin] + buffer[end:stop]
