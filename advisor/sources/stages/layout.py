"""Finds the lines of some loggers in a driver's log, by where the log's layout writes the logger's name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from advisor.sources.harvest import Buffer

_KNOWN = b"DAGScheduler"
"""A logger by whose first line the layout is told: each batch has lines of it."""
_BEFORE = re.compile(rb"[^{]{0,200}?(?=DAGScheduler: )")
_LETTERS, _SHORT = 8, 4
"""Letters of a logger's name, and of a message, that are compared: a machine word, and half of one."""
AROUND = 512
"""So many bytes before and behind a text are looked at, whatever they are."""
_AT_END = len('"}')
_OBJECT = b'{"ts":"'
_MESSAGE = b'"msg":"'


class Found(NamedTuple):
    """Lines: how many stand before each, where it and its message begin, where it ends, the place of its logger."""

    numbers: np.ndarray
    starts: np.ndarray
    messages: np.ndarray
    stops: np.ndarray
    loggers: np.ndarray


class Layout:
    """Where the loggers stand in the lines of one log; unknown until one of its first lines was seen."""

    def __init__(self, loggers: Sequence[str], beginnings: Mapping[str, Sequence[str]] | None = None) -> None:
        """`loggers`: the short names of the classes whose lines are wanted.

        `beginnings`: of some of them, the first four letters of the messages that are; in a log of one line per object
        all come.
        """
        beginnings = beginnings or {}
        self.loggers = tuple(loggers)
        self.structured = False
        self.first = b""
        """The line by which the layout was told."""
        self._column = 0
        self._at_end = _AT_END + _LETTERS
        self._behind = np.array([len(name) + 2 for name in loggers])
        self._names = _Words([_word(f"{name}: "[:_LETTERS]) for name in loggers])
        self._ends = _Words([_word(f'"{name}'[-_LETTERS:]) for name in loggers])
        self._all = np.array([name not in beginnings for name in loggers])
        self._wanted = _Words(
            [_of(place, _word(each)) for place, name in enumerate(loggers) for each in beginnings.get(name, ())]
        )

    def learns(self, buffer: Buffer, begin: int, end: int) -> bool:
        """Whether it is known, as far as a stretch of the log tells."""
        at = -1 if self.first else buffer.find(_KNOWN, begin, end)
        while at >= 0 and not self.first:
            stop = buffer.find(b"\n", at, end)
            line = buffer[max(begin, buffer.rfind(b"\n", begin, at) + 1) : stop if stop >= 0 else end]
            self._learn(bytes(line))
            at = buffer.find(_KNOWN, at + 1, end)
        return bool(self.first)

    def _learn(self, line: bytes) -> None:
        if _OBJECT in line and line.endswith((b'"logger":"DAGScheduler"}', b'"logger":"DAGScheduler"}\r')):
            self.structured, self.first = True, line[line.find(_OBJECT) :]
            self._at_end += line.endswith(b"\r")
        elif before := _BEFORE.match(line):
            self._column, self.first = len(before[0]), line

    def find(self, text: np.ndarray, begin: int, end: int) -> tuple[int, Found]:
        """(how many lines stand in [begin, end), those that are wanted); around them are AROUND more bytes."""
        stops = begin + np.flatnonzero(text[begin:end] == ord("\n"))
        count, starts = len(stops), np.empty_like(stops)
        starts[:1], starts[1:] = begin, stops[:-1] + 1
        places = np.maximum(stops - self._at_end, begin) if self.structured else starts + self._column
        loggers = self._ends if self.structured else self._names
        lines, which = loggers.found(text, places)
        starts, stops, places = starts[lines], stops[lines], places[lines]
        there = (places >= starts) & (places + _LETTERS <= stops)
        if self.structured:
            return count, _of_objects(text, Found(lines, starts, starts, stops, which), there)
        messages = places + self._behind[which]
        short = words(text, _SHORT)[messages].astype(np.uint64)
        there &= self._all[which] | self._wanted.holds(_of(which.astype(np.uint64), short))
        return count, Found(*(column[there] for column in (lines, starts, messages, stops, which)))


def _of_objects(text: np.ndarray, found: Found, there: np.ndarray) -> Found:
    """The lines that are objects, each from where its object begins."""
    rows = []
    for at in np.flatnonzero(there).tolist():
        start, stop = int(found.starts[at]), int(found.stops[at])
        line = text[start:stop].tobytes()
        start += max(0, line.find(_OBJECT))
        rows.append((start, start + line[max(0, line.find(_OBJECT)) :].find(_MESSAGE) + len(_MESSAGE)))
    starts, messages = np.array(rows, np.int64).reshape(-1, 2).T
    return Found(found.numbers[there], starts, messages, found.stops[there], found.loggers[there])


class _Words:
    """Some words, and which of them stand at places of a text."""

    def __init__(self, all: Sequence[int]) -> None:
        values = np.array(all, np.uint64)
        self._order = np.argsort(values)
        self._sorted = values[self._order]
        self._begin = np.zeros(1 << 16, bool)
        """Whether one of them begins with these two bytes: most of what stands in a log is told by that."""
        self._begin[(values & np.uint64(0xFFFF)).astype(np.int64)] = True

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Whether each value is one of them."""
        if not len(self._sorted):
            return np.zeros(len(values), bool)
        held: np.ndarray = self._sorted[self._nearest(values)] == values
        return held

    def found(self, text: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(at which of these places one of them stands, which)."""
        lines = np.flatnonzero(self._begin[words(text, 2)[places]])
        values = words(text, _LETTERS)[places[lines]]
        nearest = self._nearest(values)
        there = self._sorted[nearest] == values
        return lines[there], self._order[nearest[there]]

    def _nearest(self, values: np.ndarray) -> np.ndarray:
        return np.minimum(np.searchsorted(self._sorted, values), len(self._sorted) - 1)


def words(text: np.ndarray, letters: int) -> np.ndarray:
    """The letters from each place of a text on as a number, without a copy."""
    found: np.ndarray = np.ndarray((len(text) - letters + 1,), f"<u{letters}", text, strides=(1,))
    return found


def _word(text: str) -> int:
    return int.from_bytes(text.encode(), "little")


def _of(logger: Any, word: Any) -> Any:
    """A logger and the beginning of a message as one number."""
    return logger * (1 << 8 * _SHORT) + word
