"""Lines of a driver's log that are wanted, gathered until there are enough to read them together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np

from advisor.sources.harvest import Buffer, Stretch
from advisor.sources.stages.layout import AROUND, Layout
from advisor.sources.wrapped import in_json, unwrapped

_ENOUGH = 8 << 20
"""Bytes: so many that what numpy takes for each call does not show."""
_PIECE = 1 << 20
"""Bytes that are looked through at a time, while they lie in the processor's cache."""
_NEWLINE = ord("\n")


class Lines(NamedTuple):
    """Lines of a log, a row of each column for one; `text` holds them, and others between them.

    Of each how many lines of the log stand before it; where it begins, where its message does, and where it ends; the
    place of its logger in those of the layout; its file's number in the log, and the byte of it at which it begins.
    """

    text: np.ndarray
    numbers: np.ndarray
    starts: np.ndarray
    messages: np.ndarray
    stops: np.ndarray
    loggers: np.ndarray
    files: np.ndarray
    places: np.ndarray

    def line(self, at: int) -> bytes:
        """One of them."""
        return self.text[self.starts[at] : self.stops[at]].tobytes()

    def message(self, at: int) -> int:
        """Where the message of one begins in it."""
        return int(self.messages[at] - self.starts[at])

    def place(self, at: int) -> tuple[int, int]:
        """(the file's number in its log, the byte of it) at which one begins."""
        return int(self.files[at]), int(self.places[at])


class Gathered:
    """Copies what is read of a log into a text of its own, and finds the lines in it that are wanted.

    The text is written over when its lines were taken: to use fresh memory takes longer than all that is done with it.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._text = np.empty(0, np.uint8)
        self._end = AROUND
        self._before = 0
        """Lines that stand before what comes."""
        self._parts: list[tuple[np.ndarray, ...]] = []

    def read(self, window: Stretch, resume: int, file: int) -> Iterator[Lines]:
        """The lines so far, each time there are enough of them, and where the file ends."""
        wrapped = unwrapped(window.buffer, window.begin, resume) if in_json(window.buffer, window.begin) else None
        text = (window.buffer, window.begin, resume) if wrapped is None else (wrapped.text, 0, len(wrapped.text))
        for begin, end in _pieces(*text) if self._layout.learns(*text) else ():
            if self._parts and self._end + end - begin + AROUND >= len(self._text):
                yield self._taken()
            starts = self._add(np.frombuffer(cast(bytes, text[0]), np.uint8, end - begin, begin)) + begin
            places = (
                starts if wrapped is None else np.array([wrapped.origin(start) for start in starts.tolist()], np.int64)
            )
            self._parts[-1] += (np.full(len(starts), file), places + window.base)
        if window.final:
            yield from self.rest()
            self._text = np.empty(0, np.uint8)

    def rest(self) -> Iterator[Lines]:
        """The lines that were not given yet."""
        if self._parts:
            yield self._taken()

    def _add(self, piece: np.ndarray) -> np.ndarray:
        """Where in the piece the lines begin that are wanted."""
        begin, end = self._end, self._end + len(piece)
        if end + AROUND >= len(self._text):
            self._text = np.full(max(_ENOUGH, end + 1) + AROUND, _NEWLINE, np.uint8)
        self._text[begin:end] = piece
        if self._text[end - 1] != _NEWLINE:
            self._text[end] = _NEWLINE
            end += 1
        lines, found = self._layout.find(self._text, begin, end)
        self._parts.append((found.numbers + self._before, *found[1:]))
        self._before += lines
        self._end = end
        return found.starts - begin

    def _taken(self) -> Lines:
        lines = Lines(self._text, *(np.concatenate(column) for column in zip(*self._parts, strict=True)))
        self._parts, self._end = [], AROUND
        return lines


def _pieces(buffer: Buffer, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of whole lines."""
    while begin < end:
        stop = min(begin + _PIECE, end)
        if stop < end:
            stop = buffer.rfind(b"\n", begin, stop) + 1 or buffer.find(b"\n", stop, end) + 1 or end
        yield begin, stop
        begin = stop
