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
CONTEXT, BEGINS = "SparkContext", b"Running Spark version"
"""The logger and the message with which an application begins, perhaps in another layout."""
_GAP = 4096
"""Bytes without a wanted line in which an application may begin."""
_BEFORE = re.compile(rb"[^{[]{0,200}?(?: |^)[A-Z]{4,5} +(?=DAGScheduler: [^[])")
"""What stands before the name in Spark's own layouts, in which all names begin in one column."""
_HEAD_OF_JOB = re.compile(rb"[^{]{0,200}?DAGScheduler\W[^{]{0,200}?(?=Got (?:map stage )?job \d)")
_PARTS_OF_HEAD = re.compile(
    rb"(?P<thread>\[[^]]{0,300}\])|(?P<name>[\w$.]*DAGScheduler *)|(?P<word>[A-Za-z]+)|(?P<number>\d+)|(?P<space> +)|."
)
_FORMS = {
    "thread": rb"\[[^][\n]{0,300}(?:\[[^][\n]{0,300}\][^][\n]{0,300}){0,3}\]",
    "name": rb"(?:[\w$]{1,100}\.){0,20}([\w$]{1,200}) {0,40}",
    "word": rb"[A-Za-z]{1,20}",
    "number": rb"\d{1,20}",
    "space": rb" {1,40}",
}
"""What stands in other lines for a part of a line's head in any other layout; all else stands in each line."""
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
_Row = tuple[int, int, int, int]
"""(how many lines stand before a line, where it begins, where it ends, where its logger or its message stands)."""


class LogLines:
    """Finds lines by the layout of the log; none before the first of the scheduler.

    A new file, and a new application, may have another layout.
    """

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
        self._file, self._unsure = -1, True
        """The file that is read, and whether its next line of the scheduler shows its layout."""
        self._structured = False
        self._column = 0
        """Where the name begins: behind the line's beginning, or in a structured log before its end."""
        self._head: re.Pattern[bytes] | None = None
        """What stands before the message, where names do not begin in one column."""
        self._before = 0
        """Lines of the log that were read."""

    def read(self, window: Stretch, resume: int, file: int) -> Iterator[Line]:
        """Yield the wanted lines between the window's `begin` and `resume`; `file`: the file's number in its log."""
        wrapped = unwrapped(window.buffer, window.begin, resume) if in_json(window.buffer, window.begin) else None
        text, begin, end = (window.buffer, window.begin, resume)
        if wrapped is not None:
            text, begin, end = wrapped.text, 0, len(wrapped.text)
        self._file, self._unsure = file, self._unsure or file != self._file
        self._learn(text, begin, end)
        if not self._names:
            return
        for rows, begins in self._pieces(text, begin, end):
            for number, start, stop, place in rows:
                logger, line = self._names[text[place : place + _LETTERS]], text[start:stop]
                message = place - start + len(logger) + 2
                if self._structured:
                    line = line[max(0, line.find(_OBJECT)) :]
                    message = line.find(_MESSAGE) + len(_MESSAGE)
                elif self._head and (head := self._head.match(line)):
                    message = head.end()
                beginnings = self._beginnings.get(logger)
                if beginnings is None or line[message : message + 4] in beginnings:
                    at = start if wrapped is None else wrapped.origin(start)
                    yield logger, line, message, number, (file, window.base + at)
            for number, start, stop, place in begins:
                at = start if wrapped is None else wrapped.origin(start)
                yield CONTEXT, text[start:stop], place - start, number, (file, window.base + at)

    def _learn(self, text: Buffer, begin: int, end: int) -> None:
        """Learn the layout, as far as this text shows it."""
        at = text.find(_KNOWN, begin, end) if self._unsure else -1
        while at >= 0 and self._unsure:
            stop = text.find(b"\n", at, end)
            self._learn_from(bytes(text[max(begin, text.rfind(b"\n", begin, at) + 1) : stop if stop >= 0 else end]))
            at = text.find(_KNOWN, at + 1, end)

    def _learn_from(self, line: bytes) -> None:
        structured = _OBJECT in line and line.endswith((b'"logger":"DAGScheduler"}', b'"logger":"DAGScheduler"}\r'))
        head = None
        if structured:
            line = line[line.find(_OBJECT) :]
            self._column = _AT_END + _LETTERS + line.endswith(b"\r")
        elif before := _BEFORE.match(line):
            self._column = len(before[0])
        elif found := _HEAD_OF_JOB.match(line):
            parts = (
                _FORMS.get(part.lastgroup or "") or re.escape(part[0]) for part in _PARTS_OF_HEAD.finditer(found[0])
            )
            head = re.compile(b"(?m)^" + b"".join(parts))
        else:
            return
        self._structured, self._head, self.clock, self._unsure = structured, head, Clock(line), False
        part = slice(-_LETTERS, None) if structured else slice(_LETTERS)
        self._names = {logger.encode()[part]: logger for logger in self._loggers}
        self._words = np.array([int.from_bytes(name, "little") for name in self._names], np.uint64)

    def _pieces(self, text: Buffer, begin: int, end: int) -> Iterator[tuple[Iterable[_Row], Iterable[_Row]]]:
        """Yield the wanted lines of each piece, and the line behind them with which an application begins unread."""
        while begin < end:
            last = _piece(text, begin, end)
            piece = np.frombuffer(cast(bytes, text), np.uint8, last - begin, begin)
            stops = np.flatnonzero(piece == _NEWLINE)
            if piece[-1] != _NEWLINE:
                stops = np.append(stops, len(piece))
            starts = np.append(0, stops[:-1] + 1)
            wanted, places = self._wanted(text, begin, piece, starts, stops)
            new = _application(text, begin, np.append(starts[wanted], len(piece)), np.append(0, stops[wanted]))
            count, begins = len(stops), []
            if new >= 0:
                count = int(np.searchsorted(starts, new - begin, "right"))
                wanted, places = wanted[wanted < count], places[wanted < count]
                last = int(begin + stops[count - 1] + 1)
                begins = [(self._before + count - 1, int(begin + starts[count - 1]), last - 1, new)]
            columns = (begin + column for column in (starts[wanted], stops[wanted], places))
            yield zip((self._before + wanted).tolist(), *(each.tolist() for each in columns), strict=True), begins
            self._before += count
            begin = last
            if begins:
                self._unsure = True
                self._learn(text, begin, end)

    def _wanted(
        self, text: Buffer, begin: int, piece: np.ndarray, starts: np.ndarray, stops: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which lines of a piece are wanted, and where in it their loggers stand."""
        if self._head:
            heads = (found.start(1) for found in self._head.finditer(cast(bytes, text), begin, begin + len(piece)))
            places = np.array([at for at in heads if text[at : at + _LETTERS] in self._names], np.int64) - begin
            return np.searchsorted(starts, places, "right") - 1, places
        places = stops - self._column if self._structured else starts + self._column
        wanted = np.flatnonzero((places >= starts) & (places + _LETTERS <= stops))
        words = np.ndarray((max(0, len(piece) - _LETTERS + 1),), "<u8", piece, strides=(1,))
        wanted = wanted[np.isin(words[places[wanted]], self._words)]
        return wanted, places[wanted]


def _piece(text: Buffer, begin: int, end: int) -> int:
    """Return where a stretch of whole lines ends."""
    stop = min(begin + _PIECE, end)
    return stop if stop == end else text.rfind(b"\n", begin, stop) + 1 or text.find(b"\n", stop, end) + 1 or end


def _application(text: Buffer, begin: int, starts: np.ndarray, stops: np.ndarray) -> int:
    """Return where in a gap between wanted lines an application begins; -1 in none."""
    gaps = (*np.flatnonzero(starts[:-1] - stops[:-1] > _GAP).tolist(), len(starts) - 1)
    found = (text.find(BEGINS, begin + int(stops[gap]), begin + int(starts[gap])) for gap in gaps)
    return next((at for at in found if at >= 0), -1)


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
