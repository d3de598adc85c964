"""Collects what is found in one file: events as chunks of the table, broken records, stretches worth a second look."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa

from advisor.batches import Broken, Place, record_batch
from advisor.progress import Broken as NotAnEvent
from advisor.progress import Progress, as_instant
from advisor.sources.runs import Runs

EVENTS_PER_CHUNK = 2048
MOST_BROKEN = 10_000
"""Broken records that are listed for one file; a file with more is no log."""


class Buffer(Protocol):
    """Bytes in memory or a mapped file."""

    def find(self, sub: bytes, start: int = ..., end: int = ..., /) -> int:
        """Where `sub` begins in [start, end), or -1."""

    def rfind(self, sub: bytes, start: int = ..., end: int = ..., /) -> int:
        """Where the last `sub` begins in [start, end), or -1."""

    def __getitem__(self, key: slice, /) -> bytes: ...

    def __len__(self) -> int: ...


class Window(NamedTuple):
    """A stretch of a file: `buffer` begins at byte `base` of it, bytes before `begin` have been read, `final` ends it.

    `origin` turns a position of the text into one of the file, where collectors wrapped the text.
    """

    buffer: Buffer
    base: int
    begin: int
    final: bool
    origin: Callable[[int], int] | None = None


class Harvest:
    """What one file gave so far. Positions are handed in relative to the window that `move` announced."""

    def __init__(self, file: str, log: str, runs: Runs | None = None) -> None:
        self.file = file
        self.log = log
        self.runs = runs
        self.chunks: list[pa.RecordBatch] = []
        self.broken: list[Broken] = []
        self.found = 0
        self._events: list[Progress] = []
        self._starts: list[int] = []
        self._window = Window(b"", 0, 0, False)
        self._base = 0
        self._origin: Callable[[int], int] | None = None
        self._lines = _Lines()

    @property
    def anything(self) -> bool:
        """Whether anything was found, broken or not."""
        return bool(self.found or self._events or self.broken)

    def move(self, window: Window) -> None:
        """From now on positions are those in `window`."""
        self._lines.leave(self._window.buffer, self._window.base, window.base)
        self._window = window
        self._base = window.base
        self._origin = window.origin

    def add(self, event: Progress, start: int, end: int) -> None:
        """Keep an event that stands at [start, end) of the window."""
        self._events.append(event)
        start += self._base
        if self.runs is not None:
            self.runs.saw(event.run_id, start, end + self._base)
        self._starts.append(self._origin(start) if self._origin else start)
        if len(self._events) >= EVENTS_PER_CHUNK:
            self.flush()

    def add_broken(self, start: int, reason: str) -> None:
        """Note a broken record at `start` of the window."""
        if len(self.broken) < MOST_BROKEN:
            line = self._lines.number(self._window.buffer, self._base, start)
            position = start + self._base
            place = self._origin(position) if self._origin else position
            self.broken.append(Broken(self.file, place, line, reason))

    def flush(self) -> None:
        """Turn the events so far into a chunk of the table."""
        events, starts = self._events, self._starts
        self._events, self._starts = [], []
        if not events:
            return
        try:
            self._keep(events, starts)
        except (pa.ArrowException, UnicodeEncodeError, OverflowError):
            self._keep_one_by_one(events, starts)

    def _keep(self, events: Sequence[Progress], starts: Sequence[int]) -> None:
        self.chunks.append(record_batch(events, [Place(self.file, start, self.log) for start in starts]))
        self.found += len(events)

    def _keep_one_by_one(self, events: Sequence[Progress], starts: Sequence[int]) -> None:
        for event, start in zip(events, starts, strict=True):
            try:
                self._keep([checked(event)], [start])
            except NotAnEvent as broken:
                self.add_broken(start - self._base, broken.reason)
            except (pa.ArrowException, UnicodeEncodeError, OverflowError):
                self.add_broken(start - self._base, "a value that no column can hold")


def checked(event: Progress) -> Progress:
    """The event with its timestamp as Spark writes it; Broken when that is no point in time."""
    instant = as_instant(event.timestamp)
    if instant is None:
        raise NotAnEvent("timestamp: no point in time")
    event.timestamp = instant
    return event


class _Lines:
    """Counts lines up to a position, each byte once, and only when a broken record asks for it."""

    def __init__(self) -> None:
        self._passed = 0
        self._at = 0
        self._marks: list[tuple[int, int]] = [(0, 1)]

    def leave(self, buffer: Buffer, base: int, until: int) -> None:
        """Count what is about to be dropped: the bytes of `buffer` before `until` of the file."""
        self._count(buffer, base, until)

    def number(self, buffer: Buffer, base: int, start: int) -> int:
        """The line, from 1, of position `start` in `buffer`."""
        position = base + start
        self._count(buffer, base, position)
        before, lines = self._marks[bisect.bisect_right(self._marks, (position, 1 << 62)) - 1]
        if before < base:
            return lines
        return lines + _newlines(buffer, before - base, start)

    def _count(self, buffer: Buffer, base: int, position: int) -> None:
        at, lines = self._marks[-1]
        if position > at >= base:
            self._marks.append((position, lines + _newlines(buffer, at - base, position - base)))


def _newlines(buffer: Buffer, start: int, end: int) -> int:
    step = 1 << 20
    return sum(buffer[at : min(at + step, end)].count(b"\n") for at in range(start, end, step))
