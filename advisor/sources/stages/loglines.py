"""Find the lines of some loggers in a driver's log, and when each of them was written."""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import cast

import numpy as np

from advisor.sources.envelopes import in_json, unwrapped
from advisor.sources.harvest import Buffer, Stretch
from advisor.sources.stages.loggedjobs import Place

_KNOWN = b"DAGScheduler"
"""The logger whose first line shows the layout of all lines: each batch has lines of it."""
_BEFORE = re.compile(rb"[^{]{0,200}?(?=DAGScheduler: )")
_LETTERS = 8
"""So many letters of a logger's name are compared."""
_AT_END = len('"}')
_OBJECT, _MESSAGE = b'{"ts":"', b'"msg":"'
"""What a line of a structured log begins with, and what stands before its message."""
_PIECE = 1 << 20
"""Bytes that are searched at a time, while they lie in the processor's cache."""
_NEWLINE = ord("\n")
_TIME = re.compile(
    rb"(?P<year>\d\d(?:\d\d)?)[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)[ T]"
    rb"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)[.,](?P<ms>\d{3})(?P<utc>\d*Z)?"
)
_HEAD = 80
"""Bytes of a line in which its time stands."""


Line = tuple[str, bytes, int, int, Place]
"""(logger, line, where in it the message begins, how many lines of the log stand before it, its place)."""


class LogLines:
    """Finds lines by where all lines of the log have their logger's name; none before the first of the scheduler."""

    def __init__(self, loggers: Iterable[str], beginnings: Mapping[str, Set[bytes]]) -> None:
        """`loggers`: short names of the classes whose lines are wanted.

        `beginnings`: the first four letters of the messages that are wanted of some of them.
        """
        self.clock = Clock(b"")
        """The log's clock, once a line has shown it."""
        self._loggers = tuple(loggers)
        self._beginnings = beginnings
        self._names: dict[bytes, str] = {}
        self._words = np.empty(0, np.uint64)
        """The wanted names as numbers."""
        self._structured = False
        self._column = 0
        """Where the name begins: behind the line's beginning, or in a structured log before its end."""
        self._before = 0
        """Lines of the log that were read."""

    def read(self, window: Stretch, resume: int, file: int) -> Iterator[Line]:
        """Yield the wanted lines between the window's `begin` and `resume`; `file`: the file's number in its log."""
        wrapped = unwrapped(window.buffer, window.begin, resume) if in_json(window.buffer, window.begin) else None
        text, begin, end = (window.buffer, window.begin, resume)
        if wrapped is not None:
            text, begin, end = wrapped.text, 0, len(wrapped.text)
        if not self._learn(text, begin, end):
            return
        for number, start, stop, place in self._lines(text, begin, end):
            logger = self._names[text[place : place + _LETTERS]]
            line, message = text[start:stop], self._column + len(logger) + 2
            if self._structured:
                line = line[max(0, line.find(_OBJECT)) :]
                message = line.find(_MESSAGE) + len(_MESSAGE)
            beginnings = self._beginnings.get(logger)
            if beginnings is None or line[message : message + 4] in beginnings:
                at = start if wrapped is None else wrapped.origin(start)
                yield logger, line, message, number, (file, window.base + at)

    def _learn(self, text: Buffer, begin: int, end: int) -> bool:
        """Return whether the layout is known, as far as this text shows it."""
        at = -1 if self._names else text.find(_KNOWN, begin, end)
        while at >= 0 and not self._names:
            stop = text.find(b"\n", at, end)
            self._learn_from(bytes(text[max(begin, text.rfind(b"\n", begin, at) + 1) : stop if stop >= 0 else end]))
            at = text.find(_KNOWN, at + 1, end)
        return bool(self._names)

    def _learn_from(self, line: bytes) -> None:
        if _OBJECT in line and line.endswith((b'"logger":"DAGScheduler"}', b'"logger":"DAGScheduler"}\r')):
            self._structured, self.clock = True, Clock(line[line.find(_OBJECT) :])
            self._column = _AT_END + _LETTERS + line.endswith(b"\r")
        elif before := _BEFORE.match(line):
            self._column, self.clock = len(before[0]), Clock(line)
        else:
            return
        for logger in self._loggers:
            name = f'"{logger}'.encode()[-_LETTERS:] if self._structured else f"{logger}: ".encode()[:_LETTERS]
            self._names[name] = logger
        self._words = np.array([int.from_bytes(name, "little") for name in self._names], np.uint64)

    def _lines(self, text: Buffer, begin: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield (how many lines stand before it, where it begins, where it ends, where its logger stands) of lines."""
        for first, last in _pieces(text, begin, end):
            piece = np.frombuffer(cast(bytes, text), np.uint8, last - first, first)
            stops = np.flatnonzero(piece == _NEWLINE)
            if piece[-1] != _NEWLINE:
                stops = np.append(stops, len(piece))
            starts = np.append(0, stops[:-1] + 1)
            places = stops - self._column if self._structured else starts + self._column
            wanted = np.flatnonzero((places >= starts) & (places + _LETTERS <= stops))
            words = np.ndarray((max(0, len(piece) - _LETTERS + 1),), "<u8", piece, strides=(1,))
            wanted = wanted[np.isin(words[places[wanted]], self._words)]
            columns = (first + column[wanted] for column in (starts, stops, places))
            yield from zip((self._before + wanted).tolist(), *(each.tolist() for each in columns), strict=True)
            self._before += len(stops)


def _pieces(text: Buffer, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of stretches of whole lines."""
    while begin < end:
        stop = min(begin + _PIECE, end)
        if stop < end:
            stop = text.rfind(b"\n", begin, stop) + 1 or text.find(b"\n", stop, end) + 1 or end
        yield begin, stop
        begin = stop


class Clock:
    """Reads the times of lines as ms since 1970, in the zone of the log."""

    def __init__(self, line: bytes) -> None:
        """`line`: one of the log's lines; the others have the same form."""
        found = None
        for found in _TIME.finditer(line[:_HEAD]):  # what a container puts before a line may have a time, too
            self._at, self._point = found.start(), found.end("second")
        self.fine = found is not None
        """Whether its lines have milliseconds."""
        self.utc = bool(found and found["utc"])
        self._second, self._ms = b"", 0.0
        """The second of the line before, as it stands there and as a time."""

    def time(self, line: bytes) -> float | None:
        """Return when a line was written; None where it does not say."""
        ms = line[self._point + 1 : self._point + 4]
        if line[self._at : self._point] == self._second and line[self._point] in b".," and ms.isdigit():
            return self._ms + int(ms)
        found = _TIME.match(line, self._at) or _TIME.search(line[:_HEAD])
        if found is None:
            return None
        *written, ms, _ = found.groups()
        year, month, *rest = map(int, written)
        if not 1 <= month <= 12:
            return None
        time = timegm((year if year > 99 else 2000 + year, month, *rest)) * 1000.0
        if (found.start(), found.end("second")) == (self._at, self._point):
            self._second, self._ms = line[self._at : self._point], time
        return time + int(ms)
