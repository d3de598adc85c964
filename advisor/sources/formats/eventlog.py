"""Spark's event logs: one event per line, some of them progress, others telling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

import msgspec

from advisor.batches import FRESH_EVENTS
from advisor.progress import UNUSUAL, Broken, Progress, from_object
from advisor.progress.shapes import with_totals
from advisor.sources.formats import driverlog
from advisor.sources.formats.records import LONGEST_EVENT, read_among
from advisor.sources.harvest import Buffer, Harvest, find, places

_EVENT_LOG = re.compile(
    rb'(?:\A\s*|^[^\S\n]*)\{"Event":"(?:SparkListener|org\.apache\.spark\.)',  # blank lines are passed once
    re.MULTILINE,
)
_TELLING = re.compile(
    rb'\{"Event":"(?:SparkListener(?:LogStart|EnvironmentUpdate|ApplicationStart|ApplicationEnd|ExecutorAdded|ExecutorRemoved)'
    rb'|org\.apache\.spark\.sql\.(?:streaming\.[^"]{0,60}\$Query(?:Started|Terminated)Event'
    rb'|execution\.ui\.SparkListenerSQLExecutionStart))"'
)
_EVENT = b'{"Event":"'
_RUN = re.compile(rb"runId = ([0-9a-f-]{36})")
_PROGRESS = b"StreamingQueryListener$QueryProgress"
_BEFORE_ITS_NAME = re.compile(rb'\{"Event":"[^"]{0,100}')
_MOST_BEFORE = len(_EVENT) + 101
"""Bytes before that name."""
_OTHER_LOG = re.compile(rb'"durationMs"| INFO ')
_CUT = "a line of an event log, cut off by the one behind it"


class _Line(msgspec.Struct):
    progress: Progress


_decode_event = msgspec.json.Decoder(_Line).decode


def matches(head: bytes) -> bool:
    """Whether a file that begins like this is an event log; a log or progress before its first event is not of one."""
    found = _EVENT_LOG.search(head) if _EVENT in head else None
    before = head[: found.start()] if found else b""
    return found is not None and not (before and (driverlog.MARKER in head or _OTHER_LOG.search(before)))


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest the progress events of an event log; where to go on once more of the file is there."""
    own = driverlog.read if driverlog.marks_events(buffer, begin) else _read_own
    return read_among(own, buffer, begin, final, harvest)


def _read_own(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    last = max(begin, buffer.rfind(b"\n", begin) + 1)
    end = last if not final and len(buffer) - last < LONGEST_EVENT else len(buffer)
    lines = _progress_lines(buffer, begin, end)
    before = begin
    while some := list(islice(lines, FRESH_EVENTS)):
        for start, stop in some:
            if start > before and not buffer[start - 1 : start].isspace():
                harvest.add_broken(max(before, buffer.rfind(b"\n", before, start) + 1), _CUT)
            before = stop
        _read_lines(buffer, some, harvest)
    return end


def _progress_lines(buffer: Buffer, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where progress begins, and where its line ends, is too long for an event, or goes on with another event."""
    at = _next_progress(buffer, begin, begin, end)
    while at >= 0:
        start, at = at, _next_progress(buffer, begin, at + _MOST_BEFORE, end)
        stop = find(buffer, b"\n", start, end if at < 0 else at)
        stop = stop if stop >= 0 else end if at < 0 else at
        yield start, min(stop, start + LONGEST_EVENT)


def _next_progress(buffer: Buffer, begin: int, at: int, end: int) -> int:
    while (at := find(buffer, _PROGRESS, at, end)) >= 0:
        start = buffer.rfind(_EVENT, max(begin, at - _MOST_BEFORE), at)
        if start >= 0 and _BEFORE_ITS_NAME.fullmatch(buffer, start, at):  # type: ignore[arg-type]
            return start
        at += len(_PROGRESS)
    return -1


def _read_lines(buffer: Buffer, lines: Sequence[tuple[int, int]], harvest: Harvest) -> None:
    """Decode lines together; where one of them is unusual, one by one."""
    raws = [buffer[start:stop] for start, stop in lines]
    try:
        events = list(map(_event, raws))
    except UNUSUAL:
        for raw, (start, stop) in zip(raws, lines, strict=True):
            try:
                harvest.add(_any_event(raw), start, stop)
            except Broken as broken:
                harvest.add_broken(start, broken.reason)
    else:
        harvest.add_many(events, *zip(*lines, strict=True))


def _event(line: bytes) -> Progress:
    """Return the event in a line of the usual shape; else raise one of UNUSUAL."""
    event = _decode_event(line).progress
    return event if event.num_input_rows is not None else with_totals(event)


def _any_event(line: bytes) -> Progress:
    """Return the event in a line, with numbers as strings, too; Broken without one."""
    with suppress(*UNUSUAL):
        return _event(line)
    try:
        thing = msgspec.json.decode(line)
    except UNUSUAL:
        raise Broken("a line of an event log that is no JSON") from None
    return from_object(thing.get("progress"))


def telling_lines(buffer: Buffer, begin: int, end: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield (where it begins, the line, the run whose plan it holds or nothing) for each line beyond progress.

    Plans of no streaming query are left out.
    """
    for start in places(buffer, _EVENT, begin, end):
        match = _TELLING.match(buffer, start, end)  # type: ignore[arg-type]
        if match is None:
            continue
        stop = find(buffer, b"\n", start)
        line = bytes(buffer[start : stop if stop >= 0 else len(buffer)])
        if not match[0].endswith(b'SQLExecutionStart"'):
            yield start, line, b""
        elif run := _RUN.search(line):
            yield start, line, run[1]
