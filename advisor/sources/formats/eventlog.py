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
from advisor.sources.formats.driverlog import MARKER
from advisor.sources.formats.records import LONGEST_EVENT
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
"""Bytes before that name, with the end of the line before."""
_DURATIONS = b'"durationMs"'


class _Line(msgspec.Struct):
    progress: Progress


_decode_event = msgspec.json.Decoder(_Line).decode


def matches(head: bytes) -> bool:
    """Whether a file that begins like this is an event log; progress before its first event is not of one."""
    found = _EVENT_LOG.search(head) if _EVENT in head else None
    return found is not None and (not found.start() or not (MARKER in head or _DURATIONS in head[: found.start()]))


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest the progress events of an event log; where to go on once more of the file is there."""
    last = max(begin, buffer.rfind(b"\n", begin) + 1)
    end = last if not final and len(buffer) - last < LONGEST_EVENT else len(buffer)
    lines = _progress_lines(buffer, begin, end)
    while some := list(islice(lines, FRESH_EVENTS)):
        _read_lines(buffer, some, harvest)
    return end


def _progress_lines(buffer: Buffer, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where lines of progress begin, and where they end or are too long for an event."""
    at = find(buffer, _PROGRESS, begin, end)
    while at >= 0:
        stop = find(buffer, b"\n", at, end)
        stop = end if stop < 0 else stop
        near = max(begin, at - _MOST_BEFORE)
        line = max(near, buffer.rfind(b"\n", near, at) + 1)
        if _BEFORE_ITS_NAME.fullmatch(buffer, line, at):  # type: ignore[arg-type]
            yield line, min(stop, line + LONGEST_EVENT)
        at = find(buffer, _PROGRESS, stop, end)


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
