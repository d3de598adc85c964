"""Finds and decodes the events of jobs, stages and tasks in Spark's event logs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from advisor.sources.harvest import Stretch
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
_BEFORE = 1024
"""Executors at most of which the application is told behind them."""
_UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


class EventLog:
    """Reads what an event log tells of jobs, stages and tasks; one for all files of a log."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._files: dict[str, int] = {}
        self._place: Place = BEGINNING
        self._past: list[tuple[Application, Place]] = []
        """Applications that are over, and where the next one begins."""
        self._since, self._begun = BEGINNING, ApplicationStart()
        self._now = Application(log)
        self._executors: deque[ExecutorAdded | ExecutorRemoved] = deque(maxlen=_BEFORE)
        """The last that came or went: an application's first ones stand before its beginning."""
        self._decoders: dict[bytes, tuple[Callable[[bytes], Any], tuple[bytes, bytes] | None]] = {
            b'TaskEnd"': (_decoder(TaskEnd), (b',"Accumulables":[', b'},"Task Metrics":')),
            b"StageCom": (_decoder(StageCompleted), None),
            b"JobStart": (_decoder(JobStart), (b',"Stage Infos":[', b',"Stage IDs":[')),
            b'JobEnd",': (_decoder(JobEnd), None),
            b"Executor": (_decoder(ExecutorAdded | ExecutorRemoved), None),
            b"Unpersis": (_decoder(Unpersisted), None),
            b"Applicat": (_decoder(ApplicationStart), None),
        }
        """By the letters of an event's name: how it is decoded, and what of its line is left out."""
        self._takes = self._taking()

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return self._now.held + sum(past.held for past, _ in self._past)

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Take what has been read of a window; a line that is broken is passed over."""
        number = self._files.setdefault(file, len(self._files))
        buffer, start, decoders, base = window.buffer, window.begin, self._decoders, window.base
        find, before = buffer.find, b""
        while start < resume:
            stop = find(b"\n", start)
            stop = stop if 0 <= stop < resume else resume
            name = start + _NAME_AT
            if found := decoders.get(word := buffer[name : name + _WORD]):
                decode, needless = found
                line = buffer[start:stop]
                self._place = number, base + start
                try:
                    if line != before:
                        self._takes[word](decode(_without(line, *needless) if needless else line))
                except _UNREADABLE:  # contextlib.suppress takes a tenth of all the time
                    pass
                before = line
            start = stop + 1

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

    def _application(self, event: ApplicationStart) -> None:
        """Another application begins: nothing of the one before it comes again, unless a file holds its lines twice."""
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

    def _executor(self, event: ExecutorAdded | ExecutorRemoved) -> None:
        self._executors.append(event)
        self._now.executor(event)

    def _taking(self) -> dict[bytes, Callable[[Any], None]]:
        """What takes an event, by the letters of its name."""
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


def _decoder(kind: Any) -> Callable[[bytes], Any]:
    return msgspec.json.Decoder(kind).decode


def _without(line: bytes, first: bytes, behind: bytes) -> bytes:
    """The line without what stands from `first` to `behind`, half of its bytes and more.

    These begin and end with quotation marks that have no backslash before them: no text in JSON holds them.
    """
    begin, end = line.find(first), line.rfind(behind)
    return line[:begin] + line[end:] if 0 <= begin < end else line
