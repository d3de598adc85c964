"""The formats of files with progress, each one entry of FORMATS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from advisor.sources.formats import driverlog, eventlog, lines, text
from advisor.sources.harvest import Buffer, Harvest
from advisor.sources.stages.driverlog import DriverLog
from advisor.sources.stages.eventlog import EventLog

HEAD = 64 << 10
"""How many bytes at the beginning of a file show its format."""

Reads = Callable[[Buffer, int, bool, Harvest], int]
"""(buffer, where to begin, whether the file ends with it, what takes the events) to where the next window begins."""

Tells = Callable[[Buffer, int, int], Iterator[tuple[int, bytes, bytes]]]
"""(buffer, begin, end) to (where it begins, the line, the run whose plan it is or nothing) of each revealing line."""


class Format(NamedTuple):
    """How progress stands in a file, and where in it stands what else the file reveals.

    `matches` a file by its first HEAD bytes. `reads` what lies in one window, or in a range of a file. `begins` finds
    where to begin so that each event is read that begins at a position or later. `by_line`: each line is an event or
    none, wherever it stands.
    `tells` finds the lines that reveal something else; without it the second look is at stretches around events.
    `stages` makes what reads the stages of a log of this name.
    """

    name: str
    matches: Callable[[bytes], bool]
    reads: Reads
    begins: Callable[[Buffer, int], int]
    stages: Callable[[str], DriverLog | EventLog]
    by_line: bool = True
    tells: Tells | None = None


FORMATS = (
    Format("event_log", eventlog.matches, eventlog.read, lines.begins, EventLog, tells=eventlog.telling_lines),
    Format("json_lines", lines.matches, lines.read, lines.begins, DriverLog),
    Format("text", lambda _: True, text.read, driverlog.begins, DriverLog, by_line=False),
)
"""In the order in which they are tried; the last one takes any file."""


def format_of(head: bytes) -> Format:
    """The format of a file that begins with `head`."""
    return next(each for each in FORMATS if each.matches(head))


def named(name: str) -> Format:
    """The format of a name."""
    return next(each for each in FORMATS if each.name == name)
