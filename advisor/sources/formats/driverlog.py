"""Driver logs: each event follows the words `made progress:`."""

from __future__ import annotations

import re
from contextlib import suppress
from operator import sub

from advisor.batches import FRESH_EVENTS
from advisor.progress import UNUSUAL, Broken, Progress, decode_alike
from advisor.sources.formats import structured
from advisor.sources.formats.loose import LONGEST_EVENT, early_piece, find_events, has_anchor, keep_broken
from advisor.sources.harvest import Buffer, Harvest
from advisor.sources.wrapped import unwrapped

MARKER = b"made progress:"
_MARKER_SIZE = len(MARKER)
_FEW_LINES = 64 << 10
_OPENS = re.compile(
    rb"""(?:[ \t]|\x1b\[[0-9;]*m)*(?:\r?\n[^\n"'{]{0,200})?"""
    rb"""(?:\\[nr"]|\{(?!(?:\.\.\.|\xe2\x80\xa6)?\}|(?!u['"])\w)|["'](?![ \t]{0,9}[+,).;]))"""
)


def marks_events(buffer: Buffer, begin: int) -> bool:
    """Whether the marker stands before an event somewhere, and not only in prose."""
    position = buffer.find(MARKER, begin)
    while position >= 0:
        start = position + _MARKER_SIZE
        if _OPENS.match(buffer[start : start + 256]):
            return True
        position = buffer.find(MARKER, start)
    return False


def begins(buffer: Buffer, start: int) -> int:
    """Where the last marker before `start` stands, whose event may reach on; `start` without one."""
    before = buffer.rfind(MARKER, 0, start + _MARKER_SIZE - 1)
    return before if before >= 0 else start


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest the events in `buffer` from `begin` on; where to go on once more of the file is there."""
    resume = begin
    while resume >= 0:
        at, resume = resume, _read_usual(buffer, resume, harvest)
        if resume >= 0:
            at, resume = resume, _read_unusual(buffer, resume, final, harvest)
            if resume < 0:
                return _line_start(buffer, at, begin)
    return len(buffer) if final else max(begin, _last_line(buffer))


def _read_usual(buffer: Buffer, begin: int, harvest: Harvest) -> int:
    """Harvest events until the end, which is -1, or until one is not of the usual shape: where its marker stands.

    Events are decoded many at a time, markers first: megabytes of other lines between two events would drive what
    decoding needs out of the processor's cache. Where that fails, fewer at a time show which event is unusual.
    """
    shortest, most = 0, 1
    markers, following = _markers(buffer, begin, shortest, most)
    while markers:
        starts = [marker + _MARKER_SIZE for marker in markers]
        ends = _ends(buffer, starts, shortest, following)
        try:
            events = decode_alike(map(buffer.__getitem__, map(slice, starts, ends)))
        except UNUSUAL:
            if not shortest and most == 1:
                return markers[0]
            position, shortest, most = markers[0], 0, max(1, most // 4)
        else:
            harvest.add_many(events, markers, ends)
            if following < 0:
                break
            position = ends[-1]
            shortest = min(map(sub, ends, starts)) * 3 // 4
            most = min(2 * most, FRESH_EVENTS)
        markers, following = _markers(buffer, position, shortest, most)
    return -1


def _markers(buffer: Buffer, begin: int, shortest: int, most: int) -> tuple[list[int], int]:
    """(where the next markers stand, at most so many, and where the one after them does or -1).

    An event is skipped as far as it is sure to reach. Where one is shorter the next marker is missed, but then the
    bytes up to an end, which is that of another event, are no event.
    """
    markers: list[int] = []
    position = buffer.find(MARKER, begin)
    while position >= 0 and len(markers) < most:
        markers.append(position)
        position = buffer.find(MARKER, position + _MARKER_SIZE + shortest)
    return markers, position


def _ends(buffer: Buffer, starts: list[int], shortest: int, following: int) -> list[int]:
    """Where the events end: at the end of the line, or pretty JSON at a bracket in column 0.

    No event reaches the next marker: without one before it a search would go on to the end of the file, for each.
    """
    first, last = starts[0], min(len(buffer), starts[-1] + LONGEST_EVENT) if following < 0 else following
    limits = [*starts[1:], last]
    find, each = buffer.find, list(zip(starts, limits, strict=True))
    if buffer[first + 1 : first + 3] == b'{"':
        return [find(b"\n", start + shortest, limit) for start, limit in each]
    return [find(b"\n}", start + shortest, limit) + 2 for start, limit in each]


def _read_unusual(buffer: Buffer, position: int, final: bool, harvest: Harvest) -> int:
    """Harvest what follows the marker at `position`; where to go on, or -1 when more of the file is needed."""
    start = position + _MARKER_SIZE
    if not _OPENS.match(buffer[start : start + 256]):
        return start
    return _read_odd(buffer, position, final, harvest)


def _read_odd(buffer: Buffer, position: int, final: bool, harvest: Harvest) -> int:
    start = position + _MARKER_SIZE
    following = buffer.find(MARKER, start)
    limit = min(len(buffer) if following < 0 else _line_start(buffer, following, start), position + LONGEST_EVENT)
    line_end = buffer.find(b"\n", start, limit)
    if line_end < 0 and not final and limit == len(buffer):
        return -1
    line_start = _line_start(buffer, position, 0)
    line_end = limit if line_end < 0 else line_end
    whole = final or following >= 0 or limit - position >= LONGEST_EVENT
    if (found := _in_envelopes(buffer, line_start, limit)) is not None:
        event, end = found
        harvest.add(event, line_start, end)
        return max(start, end)
    again = buffer.rfind(MARKER, line_start, position) >= 0  # the line was looked at with the marker before
    if not again and structured.is_structured(buffer[line_start : min(line_end, line_start + LONGEST_EVENT)]):
        _read_structured(buffer, line_start, line_end, harvest)
        return line_end
    return _read_loose(buffer, line_start, position, limit, whole, harvest)


def _in_envelopes(buffer: Buffer, begin: int, limit: int) -> tuple[Progress, int] | None:
    """The first event in lines that a collector wrapped, and the end of the line that ends it; None without one."""
    size = _FEW_LINES
    while True:
        lines = unwrapped(buffer, begin, min(limit, begin + size))
        if lines is None:
            return None
        found = _first_whole(lines.text)
        if found is not None:
            end = buffer.find(b"\n", lines.origin(found[1]), limit)
            return found[0], limit if end < 0 else end
        if begin + size >= limit:
            return None
        size *= 8


def _first_whole(text: bytes) -> tuple[Progress, int] | None:
    """(event, where its last line begins) of the first event in a text; None when it is not whole."""
    first_line = text[: text.find(b"\n") + 1] or text
    if structured.is_structured(first_line):
        with suppress(Broken):
            return structured.read_line(first_line), 0
        return None
    first = next(find_events(text, 0, len(text)), None)
    return None if first is None or first.event is None else (first.event, first.end - 1)


def _read_structured(buffer: Buffer, start: int, end: int, harvest: Harvest) -> None:
    try:
        event = structured.read_line(bytes(buffer[start:end]))
    except Broken as broken:
        harvest.add_broken(start, broken.reason)
    else:
        harvest.add(event, start, end)


def _read_loose(buffer: Buffer, line: int, position: int, limit: int, whole: bool, harvest: Harvest) -> int:
    """The first event after the marker, whatever its form. Without one the record is broken."""
    begin = line if buffer[line : line + 1] == b"{" else position
    if not has_anchor(buffer, begin, limit):
        if not whole:
            return -1
        early = early_piece(buffer, begin, limit, "cut off: it ends before its durations")
        keep_broken(early._replace(start=position), harvest)
        return position + _MARKER_SIZE
    stop = position + _MARKER_SIZE
    for found in find_events(buffer, begin, limit):
        if found.event is not None:
            harvest.add(found.event, min(position, found.start), found.end)
            return max(stop, found.end)
        if not whole and found.open:
            return -1
        keep_broken(found._replace(start=min(position, found.start)), harvest)
        return max(stop, found.end)
    return stop


def _line_start(buffer: Buffer, position: int, begin: int) -> int:
    start = max(begin, position - (1 << 20))
    return max(start, buffer.rfind(b"\n", start, position) + 1)


def _last_line(buffer: Buffer) -> int:
    return max(len(buffer) - (1 << 20), buffer.rfind(b"\n", max(0, len(buffer) - (1 << 20))) + 1)
