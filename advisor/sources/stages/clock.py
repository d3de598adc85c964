"""The clock of a log's lines, where it knows milliseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

_TIME = re.compile(
    rb"(?P<year>\d\d(?:\d\d)?)[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)[ T]"
    rb"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)[.,](?P<ms>\d{3})(?P<utc>\d*Z)?"
)
_EPOCH = date(1970, 1, 1)
_DAY_MS = 86_400_000
_HEAD = 80
"""Bytes of a line in which its time stands."""


@dataclass(slots=True)
class Moment:
    """Where a log is read."""

    place: tuple[int, int] = (0, 0)
    """The file's number in its log, and the byte of it at which the line begins."""
    start: int = 0
    """Where the line begins in what is read."""
    now: float = 0.0
    """The line's time; where the log's clock knows only seconds, a sum of what lines tell."""
    fine: bool = False
    """Whether the log's clock knows milliseconds."""


class Clock:
    """Times of lines as ms since 1970, in the zone of the log."""

    def __init__(self, line: bytes) -> None:
        """`line`: one of the log's lines; the others have the same form."""
        self._at = 0
        found = None
        for found in _TIME.finditer(line[:_HEAD]):  # what a container puts before a line may have a time, too
            self._at = found.start()
        self.fine = found is not None
        """Whether its lines have milliseconds."""
        self.utc = bool(found and found["utc"])
        self._days: dict[tuple[bytes, bytes, bytes], int] = {}

    def time(self, line: bytes) -> float | None:
        """When the line was written; None where it does not say."""
        found = _TIME.match(line, self._at) or _TIME.search(line[:_HEAD])
        if found is None:
            return None
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
