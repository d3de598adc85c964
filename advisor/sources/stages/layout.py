"""Finds the lines of some loggers in a driver's log, by where the log's layout writes the logger's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from advisor.sources.harvest import Buffer

Reader = Callable[[bytes, int], None]
"""Takes a line and where its message begins in it."""

_KNOWN = b"DAGScheduler"
"""A logger by whose first line the layout is told: each batch has lines of it."""
_BEFORE = re.compile(rb"[^{]{0,200}?(?=DAGScheduler: )")
_LETTERS = 8
"""Letters of a logger's name that are compared: one machine word."""
_SHORT = 4
_AT_END = len('"}')
_OBJECT = b'{"ts":"'
_MESSAGE = b'"msg":"'


_Key = TypeVar("_Key")


class Layout(Generic[_Key]):
    """Where the loggers stand in the lines of one log; unknown until one of its first lines was seen."""

    def __init__(self, loggers: Mapping[str, _Key], beginnings: Mapping[str, Sequence[str]] | None = None) -> None:
        """`loggers`: what a line is told by, by the short name of the class that wrote it.

        `beginnings`: of some loggers, the first four letters of the messages that are wanted; in a log of one line per
        object all come.
        """
        self.structured = False
        self.first = b""
        """The line by which the layout was told."""
        self._column: int | None = None
        self._at_end = _AT_END
        self._begins = {_word(f"{name}: "[:_LETTERS]): (key, len(name) + 2) for name, key in loggers.items()}
        self._wanted = [
            (_word(f"{name}: "[:_LETTERS]), len(name) + 2, np.array(sorted(map(_word, letters)), np.uint32))
            for name, letters in (beginnings or {}).items()
        ]
        self._ends = {_word(f'"{name}'[-_LETTERS:]): (key, 0) for name, key in loggers.items()}

    def lines(self, buffer: Buffer, begin: int, end: int) -> Iterator[tuple[int, bytes, int, _Key]]:
        """(where it begins, the line, where its message does, by what it is told) of each line in [begin, end)."""
        text = bytes(buffer[begin:end])
        if not self.first and not self._learns(text):
            return
        column, loggers = self._column, self._begins if self._column is not None else self._ends
        for start, stop, word in self._chosen(text, loggers):
            line, (key, behind) = text[start:stop], loggers[word]
            if column is not None:
                yield begin + start, line, column + behind, key
            else:
                line = line[max(0, line.find(_OBJECT)) :]
                yield begin + start, line, line.find(_MESSAGE) + len(_MESSAGE), key

    def _learns(self, text: bytes) -> bool:
        at = text.find(_KNOWN)
        while at >= 0 and not self.first:
            stop = text.find(b"\n", at)
            line = text[text.rfind(b"\n", 0, at) + 1 : stop if stop >= 0 else len(text)]
            if _OBJECT in line and line.endswith((b'"logger":"DAGScheduler"}', b'"logger":"DAGScheduler"}\r')):
                self.structured, self.first = True, line[line.find(_OBJECT) :]
                self._at_end = _AT_END + line.endswith(b"\r")
            elif before := _BEFORE.match(line):
                self._column, self.first = len(before[0]), line
            at = text.find(_KNOWN, at + 1)
        return bool(self.first)

    def _chosen(self, text: bytes, loggers: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        stops = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
        starts = np.append(0, stops + 1)
        stops = np.append(stops, len(text))
        places = stops - self._at_end - _LETTERS if self._column is None else starts + self._column
        there = (places >= starts) & (places + _LETTERS <= stops)
        starts, stops, places = starts[there], stops[there], places[there]
        if not len(places):
            return iter(())
        # the bytes at every place as a number, without a copy
        words: np.ndarray = np.ndarray((len(text) - _LETTERS + 1,), "<u8", text, strides=(1,))
        words = words[places]
        chosen = np.isin(words, np.array(list(loggers), np.uint64))
        if self._column is not None:
            for word, behind, wanted in self._wanted:
                chosen &= (words != word) | self._begins_so(text, places + behind, stops, wanted)
        return zip(starts[chosen].tolist(), stops[chosen].tolist(), words[chosen].tolist(), strict=True)

    def _begins_so(self, text: bytes, places: np.ndarray, stops: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Whether one of these words stands at each place."""
        words: np.ndarray = np.ndarray((len(text) - _SHORT + 1,), "<u4", text, strides=(1,))
        found: np.ndarray = np.isin(words[np.minimum(places, len(words) - 1)], wanted) & (places + _SHORT <= stops)
        return found


def _word(text: str) -> int:
    return int.from_bytes(text.encode(), "little")
