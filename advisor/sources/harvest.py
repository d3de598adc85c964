"""Collects what is found in one file: events as chunks of the table, broken records, stretches worth a second look."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from advisor.batches import Broken, Rows, record_batch
from advisor.progress import Progress
from advisor.sources.runs import Runs

EVENTS_PER_CHUNK = 16384
FRESH_EVENTS = 256
MOST_BROKEN = 10_000
"""Broken records that are listed for one file; a file with more is no log."""
_COMPARED = 64 << 10
_NEWLINE = ord("\n")


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
        self.spans: list[tuple[int, int]] | None = None
        self._fresh: list[Progress] = []
        self._starts: list[int] = []
        self._rows = Rows()
        self._window = Window(b"", 0, 0, False)
        self._base = 0
        self._origin: Callable[[int], int] | None = None
        self._lines = Lines()

    @property
    def anything(self) -> bool:
        """Whether anything was found, broken or not."""
        return bool(self.found or self._starts or self.broken)

    def move(self, window: Window) -> None:
        """From now on positions are those in `window`."""
        self._lines.leave(self._window.buffer, self._window.base, window.base)
        self._window = window
        self._base = window.base
        self._origin = window.origin

    def passed(self, start: int, end: int, lines: int) -> None:
        """So many lines end in [start, end) of the window: they need not be counted again."""
        self._lines.passed(self._base + start, self._base + end, lines)

    def add(self, event: Progress, start: int, end: int) -> None:
        """Keep an event that stands at [start, end) of the window."""
        self.add_many([event], [start], [end])

    def add_many(self, events: Sequence[Progress], starts: Sequence[int], ends: Sequence[int]) -> None:
        """Keep events that stand at [start, end) of the window, in order; some hundreds at a time are best."""
        base = self._base
        if self.spans is not None:
            self.spans += zip(starts, ends, strict=True)
        if self.runs is not None:
            for event, start, end in zip(events, starts, ends, strict=True):
                self.runs.saw(event.run_id, base + start, base + end)
        self._fresh += events
        places = [base + start for start in starts] if base else starts
        self._starts += map(self._origin, places) if self._origin else places
        if len(self._fresh) >= FRESH_EVENTS:
            self._take_apart()
            if len(self._starts) >= EVENTS_PER_CHUNK:
                self.flush()

    def _take_apart(self) -> None:
        if self._fresh:
            self._rows.add(self._fresh)
            self._fresh = []

    def add_broken(self, start: int, reason: str) -> None:
        """Note a broken record at `start` of the window."""
        if len(self.broken) < MOST_BROKEN:
            line = self._lines.number(self._window.buffer, self._base, start)
            position = start + self._base
            place = self._origin(position) if self._origin else position
            self.broken.append(Broken(self.file, place, line, reason))

    def flush(self) -> None:
        """Turn the events so far into a chunk of the table; those whose timestamp is none are broken."""
        self._take_apart()
        if not self._starts:
            return
        chunk = record_batch(self._rows, self.file, self._starts, self.log)
        self._rows, self._starts = Rows(), []
        if chunk["timestamp"].null_count:
            for place in chunk.filter(chunk["timestamp"].is_null())["offset"].to_pylist():
                self.add_broken(place - self._base, "timestamp: no point in time")
            chunk = chunk.filter(chunk["timestamp"].is_valid())
        self.chunks.append(_by_run(chunk))
        self.found += len(chunk)


def _by_run(chunk: pa.RecordBatch) -> pa.RecordBatch:
    """The chunk with the rows of a run together, in order; whole stretches of it can then be put in order."""
    coded = chunk["run_id"].dictionary_encode()
    runs = np.asarray(coded.indices)
    together = np.count_nonzero(np.diff(runs)) < len(coded.dictionary)
    return chunk if together else chunk.take(pa.array(np.argsort(runs, kind="stable")))


class Lines:
    """Counts lines up to a position, each byte once, and only when a broken record asks for it."""

    def __init__(self) -> None:
        self._marks: list[tuple[int, int]] = [(0, 1)]

    def passed(self, start: int, end: int, lines: int) -> None:
        """So many lines end in [start, end) of the file."""
        at, before = self._marks[-1]
        if at == start < end:
            self._marks.append((end, before + lines))

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
    # comparing bytes by the thousand is some times as fast as bytes.count
    text = np.frombuffer(buffer, np.uint8, end - start, start)  # type: ignore[call-overload]
    return sum(int(np.count_nonzero(text[at : at + _COMPARED] == _NEWLINE)) for at in range(0, len(text), _COMPARED))
