"""Read the lines about batches that took longer than their trigger interval, in logs without progress."""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.batches import Overrun
from advisor.catalogue import clues
from advisor.sources.harvest import Buffer

MARK = b" spent"
_BEFORE, _AFTER, _AROUND = 300, 60, 4096
_BETWEEN = rb"[\s#/*|>]+"
_TIME = rb"\{?(\d+)\}?[\s#/*|>]*(?:(?:-|\xe2\x80\x93|to)\s*(\d+)\s*)?(milliseconds?|ms|seconds?|s|minutes?|min)?\b"
_SAYS = re.compile(_BETWEEN.join([rb"[Tt]rigger", rb"interval", rb"is", _TIME + rb",?", rb"but", rb"spent", _TIME]))
_CLOCK = re.compile(
    rb"(\d\d/\d\d/\d\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\b\d\d:\d\d:\d\d)(?=\D)[^\n]{0,200}\Z"
)
_UNITS = {b"s": 1000, b"second": 1000, b"seconds": 1000, b"min": 60_000, b"minute": 60_000, b"minutes": 60_000}


def overruns(buffer: Buffer, begin: int, end: int, file: str, base: int) -> Iterator[Overrun]:
    """Read the lines in [begin, end) of `buffer`, which stands at byte `base` of `file`.

    All spellings: ms or milliseconds, the stray bracket of 4.0, ranges, lines broken by hand, JSON.
    """
    at = buffer.find(MARK, begin, end)
    while at >= 0:
        start = max(0, at - _BEFORE)
        around = _SAYS.finditer(buffer[start : at + _AFTER])
        match = next((each for each in around if each.start() <= at - start < each.end()), None)
        if match is not None:
            yield _overrun(match, buffer, start + match.start(), file, base)
        at = buffer.find(MARK, at + 1, end)


def _overrun(match: re.Match[bytes], buffer: Buffer, at: int, file: str, base: int) -> Overrun:
    interval, _, interval_unit, low, high, unit = match.groups()
    clock = _CLOCK.search(buffer[max(0, at - _BEFORE) : at])
    around = bytes(buffer[max(0, at - _AROUND) : at + _AROUND])
    return Overrun(
        file=file,
        offset=base + at,
        interval_ms=int(interval) * _UNITS.get(interval_unit, 1),
        spent_ms=(int(low) * _UNITS.get(unit, 1), int(high or low) * _UNITS.get(unit, 1)),
        clock=clock[1].decode() if clock else None,
        suggests=next((clue.says for clue in clues() if clue.seen.search(around)), None),
    )
