"""Text of any kind: a driver's log if it holds the marker, else whatever holds events or lines about batches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from advisor.batches import Overrun
from advisor.sources.formats import driverlog, records
from advisor.sources.harvest import MOST_BROKEN, Buffer, Harvest, places
from advisor.sources.sightings.query import LATE, late_batch

MARK = b" spent"
_BEFORE, _AFTER, _AROUND = 300, 60, 4096
_CLOCK = re.compile(
    rb"(\d\d/\d\d/\d\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\b\d\d:\d\d:\d\d)(?=\D)[^\n]{0,200}\Z"
)


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest a text: what is read depends on no marker, but with some of them it is read faster."""
    if begin == harvest.base == 0 and not harvest.anything:
        records.keep_tail(buffer, harvest)
    harvest.marked = harvest.marked or driverlog.marks_events(buffer, begin)
    if not harvest.marked:
        resume = records.read(buffer, begin, final, harvest)
        found = overruns(buffer, begin, resume, harvest.file, harvest.base)
        harvest.overruns += islice(found, MOST_BROKEN - len(harvest.overruns))
        return resume
    harvest.overruns.clear()  # the progress itself shows it
    return records.read_among(driverlog.read, buffer, begin, final, harvest)


def overruns(buffer: Buffer, begin: int, end: int, file: str, base: int) -> Iterator[Overrun]:
    """Read the lines in [begin, end) of `buffer`, which stands at byte `base` of `file`."""
    for mark in places(buffer, MARK, begin, end):
        start = max(0, mark - _BEFORE)
        found = LATE.finditer(buffer[start : mark + _AFTER])
        match = next((each for each in found if each.start() <= mark - start < each.end()), None)
        if match is None:
            continue
        from advisor.catalogue import clues  # noqa: PLC0415 - few texts need what a quarter of a second imports

        interval, *spent = late_batch(match)
        at = start + match.start()
        clock = _CLOCK.search(buffer[max(0, at - _BEFORE) : at])
        around = bytes(buffer[max(0, at - _AROUND) : at + _AROUND])
        suggests = next((clue.says for clue in clues() if clue.seen.search(around)), None)
        yield Overrun(file, base + at, interval, (spent[0], spent[1]), clock[1].decode() if clock else None, suggests)
