"""Find the lines of some loggers in a driver's log, and when each of them was written."""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import cast

import numpy as np

from advisor.sources.envelopes import unwrapped
from advisor.sources.harvest import Buffer, Stretch
from advisor.sources.stages.loggedjobs import Place

_KNOWN = b"DAGScheduler"
"""The logger whose first line shows the layout of all lines: each batch has lines of it."""
CONTEXT, BEGINS = "SparkContext", b"Running Spark version"
"""The logger and the message with which an application begins, perhaps in another layout."""
_BEGINS = re.compile(BEGINS + rb"(?<!Executor: %b)(?<!Executor - %b)(?![^\n]{0,80}\"Executor\")" % (BEGINS, BEGINS))
_GAP = 4096
"""Bytes without a wanted line in which an application may begin."""
_THREAD = rb"[a-z-]{0,9}scheduler-e[a-z-]{0,9} *"
"""The thread that begins jobs, as far as a layout writes its name."""
_BEFORE = re.compile(
    rb"(?:\[pod/[^]\n]{1,200}\] )?(?![^{[]{0,200}?%b)[^{[]{0,200}?(?: |^)[A-Z]{4,5} +(?=DAGScheduler: (?!\[|Job ))"
    % _THREAD[:-2]
)
"""What stands before the name in Spark's own layouts, in which all names begin in one column: no thread does."""
_HEAD_OF_JOB = re.compile(rb"[^{]{0,200}?DAGScheduler\W[^{]{0,200}?(?=Got (?:map stage )?job \d)")
_NAME, _NAMES = rb"[\w$.]{0,200}DAGScheduler *", rb"(?:[\w$]{1,100}\.){0,20}([\w$]{1,200}) {0,40}"
_FORMS = {
    rb"\[%b\]" % _NAME: rb"\[%b\]" % _NAMES,
    rb"\[[^]]{0,300}\]": rb"\[[^][\n]{0,300}(?:\[[^][\n]{0,300}\][^][\n]{0,300}){0,3}\]",
    _THREAD: rb"[^\n]{1,300}?",
    _NAME: _NAMES,
    rb"[A-Za-z]+ *": rb"[A-Za-z]{1,100} {0,40}",
    rb"\d+": rb"\d{1,40}",
}
"""Parts of its head in any other layout, and what stands there in other lines; all else stands in each line."""
_PART, _FORM = re.compile(b"|".join(b"(%b)" % part for part in _FORMS) + b"|."), (b"", *_FORMS.values())
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
    """Finds lines by the layout of a file or an application; none before its first line of the scheduler."""

    def __init__(self, loggers: Iterable[str], beginnings: Mapping[str, Set[bytes]]) -> None:
        """`loggers`: short names of the classes whose lines are wanted.

        `beginnings`: the first four letters of the messages that are wanted of some of them.
        """
        self.clock = Clock(b"")
        """The log's clock, once a line has shown it."""
        self._loggers = tuple(loggers)
        self._beginnings = beginnings
        self._names: dict[bytes, str] = {}
        self._file, self._unsure = -1, True
        """The file that is read, and whether its next line of the scheduler shows its layout."""
        self._column = 0
        """Where the name begins: behind the line's beginning, or (negative, in a structured log) before its end."""
        self._head: re.Pattern[bytes] | None = None
        """What stands before the message, where names do not begin in one column."""
        self._before = 0
        """Lines of the log that were read."""
        self.unknown = False
        """Whether jobs begin in the log, and no line showed where its lines name their classes."""

    def read(self, window: Stretch, resume: int, file: int) -> Iterator[Line]:
        """Yield the wanted lines between the window's `begin` and `resume`; `file`: the file's number in its log."""
        text, begin, end = window.buffer, window.begin, resume
        origin: Callable[[int], int] = int
        if wrapped := unwrapped(text, begin, end, cri=False):
            text, begin, end, origin = wrapped.text, 0, len(wrapped.text), wrapped.origin
        self._file, self._unsure = file, self._unsure or file != self._file
        if self._unsure:
            self._learn(text, begin, end)
        if not self._names:
            return
        for rows, new in self._pieces(text, begin, end):
            names, column, head = self._names, self._column, self._head
            for number, start, stop, place in rows:
                logger, line = names[text[place : place + _LETTERS]], text[start:stop]
                if head:
                    message = found.end() if (found := head.match(line)) else 0
                elif column >= 0:
                    message = column + len(logger) + 2
                else:
                    line = line[max(0, line.find(_OBJECT)) :]
                    message = line.find(_MESSAGE) + len(_MESSAGE)
                beginnings = self._beginnings.get(logger)
                if beginnings is None or line[message : message + 4] in beginnings:
                    yield logger, line, message, number, (file, window.base + origin(start))
            if new >= 0:
                yield CONTEXT, BEGINS, 0, self._before, (file, window.base + origin(new))

    def _learn(self, text: Buffer, begin: int, end: int) -> None:
        """Learn the layout, as far as this text shows it."""
        for _, line in _scheduler_lines(text, begin, end):
            if layout := _layout(line):
                self._column, self._head = layout
                self.clock, self._unsure, self.unknown = Clock(line[max(0, line.find(_OBJECT)) :]), False, False
                names = {name: f'"{name}' if self._column < 0 else f"{name}: " for name in self._loggers}
                cut = slice(-_LETTERS, None) if self._column < 0 else slice(_LETTERS)
                self._names = {each[cut].encode(): name for name, each in names.items()}
                return
            self.unknown = self.unknown or (not self._names and b"Got job " in line)

    def _pieces(self, text: Buffer, begin: int, end: int) -> Iterator[tuple[Iterable[tuple[int, ...]], int]]:
        """Yield rows (lines before it, its begin, end, its logger's place), and where an unread application begins."""
        while begin < end:
            last = min(begin + _PIECE, end)
            if last < end:
                last = text.rfind(b"\n", begin, last) + 1 or text.find(b"\n", last, end) + 1 or end
            piece = np.frombuffer(cast(bytes, text), np.uint8, last - begin, begin)
            stops = np.flatnonzero(piece == _NEWLINE)
            if piece[-1] != _NEWLINE:
                stops = np.append(stops, len(piece))
            starts = np.append(0, stops[:-1] + 1)
            places = self._places(text, begin, starts, stops)
            wanted = np.flatnonzero((places >= starts) & (places + _LETTERS <= stops))
            words = np.ndarray((max(0, len(piece) - _LETTERS + 1),), "<u8", piece, strides=(1,))
            names = np.array([int.from_bytes(name, "little") for name in self._names], np.uint64)
            wanted = wanted[np.isin(words[places[wanted]], names)]
            new, begins = _new(text, begin, np.append(starts[wanted], len(piece)), np.append(0, stops[wanted]))
            if new >= 0:
                stops = stops[: np.searchsorted(stops, new - begin) + begins]
                wanted = wanted[wanted < len(stops)]
                last = begin + int(stops[-1]) + 1 if len(stops) else begin
            columns = (begin + column[wanted] for column in (starts, stops, places))
            rows = zip((self._before + wanted).tolist(), *(each.tolist() for each in columns), strict=True)
            yield rows, new if begins else -1
            begin, self._before = last, self._before + len(stops)
            if new >= 0 and not self._unsure:
                self._unsure = True
                self._learn(text, begin, end)

    def _places(self, text: Buffer, begin: int, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """Return where in a piece the logger of each line stands; -1 where its head is another."""
        if not self._head:
            return (stops if self._column < 0 else starts) + self._column
        heads = self._head.finditer(cast(bytes, text), begin, begin + int(stops[-1]))
        found = np.array([head.start(1) - begin for head in heads], np.int64)
        places = np.full(len(starts), -1)
        places[np.searchsorted(starts, found, "right") - 1] = found
        return places


def _new(text: Buffer, begin: int, starts: np.ndarray, stops: np.ndarray) -> tuple[int, bool]:
    """Return (where in a gap between wanted lines an application begins, True), or another layout, False; -1: none."""
    for gap in (*np.flatnonzero(starts[:-1] - stops[:-1] > _GAP), -1):
        low, high = begin + int(stops[gap]), begin + int(starts[gap])
        if found := _BEGINS.search(cast(bytes, text), low, high):
            return found.start(), True
        others = [start for start, line in _scheduler_lines(text, low, high) if _layout(line)]
        if len(others) > 1:  # one may be what a second appender wrote
            return others[0], False
    return -1, False


def _scheduler_lines(text: Buffer, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield (where it begins, the line) for each line that names the scheduler and begins here."""
    at = text.find(_KNOWN, begin, end)
    while at >= 0:
        start, stop = text.rfind(b"\n", max(0, begin - 1), at) + 1, text.find(b"\n", at, end)
        if start >= begin:
            yield start, bytes(text[start : stop if stop >= 0 else end])
        at = text.find(_KNOWN, at + 1, end)


def _layout(line: bytes) -> tuple[int, re.Pattern[bytes] | None] | None:
    """Return `_column` and `_head` of the lines like this one of the scheduler; None where it does not show them."""
    if _OBJECT in line and line.endswith((b'"logger":"DAGScheduler"}', b'"logger":"DAGScheduler"}\r')):
        return -(_AT_END + _LETTERS + line.endswith(b"\r")), None
    if before := _BEFORE.match(line):
        return len(before[0]), None
    if found := _HEAD_OF_JOB.match(line):
        form = _PART.sub(lambda part: _FORM[part.lastindex or 0] or re.escape(part[0]), found[0])
        head = re.compile(b"(?m)^" + form)
        if head.groups and (own := head.match(line)) and own[1] == _KNOWN:  # else this line would be found for ever
            return 0, head
    return None


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
