"""Spark's event logs: one event per line, some of them progress, others telling."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from advisor.batches import FRESH_EVENTS
from advisor.progress import UNUSUAL, Broken, Progress, from_object
from advisor.progress.shapes import with_totals
from advisor.sources.formats.driverlog import MARKER
from advisor.sources.formats.loose import LONGEST_EVENT
from advisor.sources.harvest import Buffer, Harvest

_EVENT_LOG = re.compile(rb'^\s*\{"Event":"(?:SparkListener|org\.apache\.spark\.)', re.MULTILINE)
_TELLING = re.compile(
    rb'\{"Event":"(?:SparkListener(?:LogStart|EnvironmentUpdate|ApplicationStart|ApplicationEnd|ExecutorAdded|ExecutorRemoved)'
    rb'|org\.apache\.spark\.sql\.(?:streaming\.[^"]{0,60}\$Query(?:Started|Terminated)Event'
    rb'|execution\.ui\.SparkListenerSQLExecutionStart))"'
)
_RUN = re.compile(rb"runId = ([0-9a-f-]{36})")
_STREAMING = re.compile(rb'\{"Event":"[^"]{0,100}?StreamingQueryListener\$QueryProgress')
_PROGRESS = b"$QueryProgress"
_DURATIONS = b'"durationMs"'
_OTHER = b"SparkListener"
_NAME = len('{"Event":"')
_NAME_ENDS = _NAME + len(_OTHER)
_HEAD = 200
"""Bytes of a line in which its kind stands."""


class _Line(msgspec.Struct):
    progress: Progress


_decode_event = msgspec.json.Decoder(_Line).decode


def matches(head: bytes) -> bool:
    """Whether a file that begins like this is an event log; progress before its first event is not of one."""
    found = _EVENT_LOG.search(head)
    return found is not None and (not found.start() or not (MARKER in head or _DURATIONS in head[: found.start()]))


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest the progress events of an event log; where to go on once more of the file is there."""
    resume = begin
    while True:
        starts, stops, resume = _progress_lines(buffer, resume, final, harvest)
        _read_lines(buffer, starts, stops, harvest)
        if len(starts) < FRESH_EVENTS:
            return resume


def _progress_lines(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> tuple[list[int], list[int], int]:
    """(where the next lines of progress begin, where they end or are too long for an event, where to go on).

    From line to line, as lines are long and what they are stands at their head; so they are counted, too.
    """
    find, size = buffer.find, len(buffer)
    starts: list[int] = []
    stops: list[int] = []
    start, lines = begin, 0
    while start < size:
        stop = find(b"\n", start)
        if stop < 0:
            if not final and size - start < LONGEST_EVENT:
                break
            stop = size
        line, start, lines = start, stop + 1, lines + (stop < size)
        if buffer[line + _NAME : line + _NAME_ENDS] == _OTHER or find(_PROGRESS, line, line + _HEAD) < 0:
            continue  # dearer looks come later
        if _STREAMING.match(buffer[line : line + _HEAD]):
            starts.append(line)
            stops.append(min(stop, line + LONGEST_EVENT))
            if len(starts) == FRESH_EVENTS:
                break
    resume = min(start, size)
    harvest.passed(begin, resume, lines)
    return starts, stops, resume


def _read_lines(buffer: Buffer, starts: list[int], stops: list[int], harvest: Harvest) -> None:
    """Decode lines together; where one of them is unusual, one by one."""
    raws = [buffer[start:stop] for start, stop in zip(starts, stops, strict=True)]
    try:
        events = list(map(_event, raws))
    except UNUSUAL:
        for raw, start, stop in zip(raws, starts, stops, strict=True):
            _read_event(raw, start, stop, harvest)
    else:
        harvest.add_many(events, starts, stops)


def _event(line: bytes) -> Progress:
    """The event in a line of the usual shape; else one of UNUSUAL."""
    event = _decode_event(line).progress
    return event if event.num_input_rows is not None else with_totals(event)


def _read_event(line: bytes, start: int, stop: int, harvest: Harvest) -> None:
    try:
        event = _event(line)
    except UNUSUAL:
        _read_unusual(line, start, stop, harvest)
    else:
        harvest.add(event, start, stop)


def _read_unusual(line: bytes, start: int, stop: int, harvest: Harvest) -> None:
    try:
        event = _unusual(line)
    except Broken as broken:
        harvest.add_broken(start, broken.reason)
    else:
        harvest.add(event, start, stop)


def _unusual(line: bytes) -> Progress:
    """The event of Spark 2.0 (`queryStatus`), or one whose numbers are strings."""
    try:
        thing = msgspec.json.decode(line)
    except UNUSUAL:
        raise Broken("a line of an event log that is no JSON") from None
    return from_object(thing.get("progress") or thing.get("queryStatus"))


def telling_lines(buffer: Buffer, begin: int, end: int) -> Iterator[tuple[int, bytes, bytes]]:
    """(where it begins, the line, the run whose plan it tells or nothing) for each line that tells more than progress.

    Plans of no streaming query are left out.
    """
    for match in _TELLING.finditer(buffer, begin, end):  # type: ignore[call-overload]
        start = match.start()
        stop = buffer.find(b"\n", start)
        line = bytes(buffer[start : stop if stop >= 0 else len(buffer)])
        if not match[0].endswith(b'SQLExecutionStart"'):
            yield start, line, b""
        elif run := _RUN.search(line):
            yield start, line, run[1]
