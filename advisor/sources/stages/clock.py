"""The clock of a log's lines, where it knows milliseconds."""

from __future__ import annotations

import re
from datetime import date, timedelta

import numpy as np

from advisor.sources.stages.gathered import Lines
from advisor.sources.stages.layout import words

_TIME = re.compile(
    rb"(?P<year>\d\d(?:\d\d)?)[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)[ T]"
    rb"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)[.,](?P<ms>\d{3})(?P<utc>\d*Z)?"
)
_EPOCH = date(1970, 1, 1)
_DAY_MS = 86_400_000
_HEAD = 80
"""Bytes of a line in which its time stands."""
_WORD = 8


class Clock:
    """Times of lines as ms since 1970, in the zone of the log."""

    def __init__(self, line: bytes) -> None:
        """`line`: one of the log's lines; the others have the same form."""
        self._at = self._point = 0
        """Where in a line its time begins, and where the point before its milliseconds is."""
        found = None
        for found in _TIME.finditer(line[:_HEAD]):  # what a container puts before a line may have a time, too
            self._at, self._point = found.start(), found.end("second")
        self.fine = found is not None
        """Whether its lines have milliseconds."""
        self.utc = bool(found and found["utc"])
        self._days: dict[tuple[bytes, bytes, bytes], int] = {}

    def times(self, lines: Lines) -> np.ndarray:
        """When each line was written; NaN where it does not say.

        Lines of one second stand behind each other, and all but their milliseconds is read once.
        """
        eight = words(lines.text, _WORD)
        of_second = np.stack([eight[lines.starts + at] for at in (self._at, self._at + _WORD, self._point - _WORD)])
        begins = np.append(True, (of_second[:, 1:] != of_second[:, :-1]).any(axis=0))[: len(lines.starts)]
        seconds = [self._second(lines.line(at)) for at in np.flatnonzero(begins).tolist()]
        times: np.ndarray = np.array(seconds, float)[np.cumsum(begins) - 1] + self._ms(lines)
        for at in np.flatnonzero(np.isnan(times)).tolist():
            found = self.time(lines.line(at))
            times[at] = np.nan if found is None else found
        return times

    def time(self, line: bytes) -> float | None:
        """When the line was written; None where it does not say."""
        found = _TIME.match(line, self._at) or _TIME.search(line[:_HEAD])
        return None if found is None else self._of(found)

    def _second(self, line: bytes) -> float:
        """The line's time without its milliseconds; NaN where it does not stand in the usual place."""
        found = _TIME.match(line, self._at)
        return self._of(found) - int(found["ms"]) if found and found.end("second") == self._point else np.nan

    def _ms(self, lines: Lines) -> np.ndarray:
        """The milliseconds that stand in the usual place; NaN where none do."""
        letters = words(lines.text, 4)[lines.starts + self._point]
        point, *digits = (letters >> np.uint32(bits) & np.uint32(0xFF) for bits in (0, 8, 16, 24))
        hundreds, tens, ones = (digit.astype(np.int64) - ord("0") for digit in digits)
        there = (point == ord(".")) | (point == ord(","))
        for digit in (hundreds, tens, ones):
            there &= (digit >= 0) & (digit <= 9)
        return np.where(there, hundreds * 100 + tens * 10 + ones, np.nan)

    def _of(self, found: re.Match[bytes]) -> float:
        year, month, day, hour, minute, second, ms, _ = found.groups()
        key = year, month, day
        if key not in self._days:
            self._days[key] = _days(*map(int, key))
        seconds = (int(hour) * 60 + int(minute)) * 60 + int(second)
        return float(self._days[key] * _DAY_MS + seconds * 1000 + int(ms))


def _days(year: int, month: int, day: int) -> int:
    try:
        return (date(year if year > 99 else 2000 + year, month, day) - _EPOCH) // timedelta(days=1)
    except ValueError:
        return 0


def filled(times: np.ndarray, before: float) -> np.ndarray:
    """Times of lines; one that does not say is of the time of the line before it."""
    known = np.maximum.accumulate(np.where(np.isnan(times), -1, np.arange(len(times))))
    return np.where(known < 0, before, times[known])
