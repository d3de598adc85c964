"""Driver logs: each event follows the words `made progress:`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import msgspec

from advisor.batches import FRESH_EVENTS
from advisor.progress import UNUSUAL, Broken, Progress, decode, decode_usual
from advisor.sources.envelopes import unwrapped
from advisor.sources.formats.records import LONGEST_EVENT, event_keys, find_events, keep, keep_early, line_of
from advisor.sources.harvest import Buffer, Harvest, find, places

MARKER = b"made progress:"
_MARKER_SIZE = len(MARKER)
_PRETTY = re.compile(rb' \{\r?\n  "')
_PREFIXED = re.compile(rb' \{(\r?\n[^\n"{}]{1,200})  "')
"""How an event begins of which each line stands behind the same words, as those of a pod."""
_FEW_LINES = 64 << 10
_EARLY = "cut off: it ends before its durations"
_OPENS = re.compile(
    rb"""(?:[ \t]|\x1b\[[0-9;]*m)*(?:\r?\n[^\n"'{]{0,200})?"""
    rb"""(?:\\[nr"]|\{(?!(?:\.\.\.|\xe2\x80\xa6)?\}|(?!u['"])\w)|["'](?![ \t]{0,9}[+,).;]))"""
)


def marks_events(buffer: Buffer, begin: int) -> bool:
    """Whether the marker stands before an event somewhere, and not only in prose."""
    starts = (marker + _MARKER_SIZE for marker in places(buffer, MARKER, begin))
    return any(_OPENS.match(buffer[start : start + 256]) for start in starts)


def begins(buffer: Buffer, start: int) -> int:
    """Where the last marker before `start` stands, whose event may reach on; without one an event without it may."""
    return max(0, buffer.rfind(MARKER, 0, start + _MARKER_SIZE - 1))


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest the events in `buffer` from `begin` on; where to go on once more of the file is there.

    All markers are found first: megabytes of other lines between two events would drive what decoding needs out of the
    processor's cache. No event reaches the next marker.
    """
    stretches = list(pairwise([*places(buffer, MARKER, begin), len(buffer)]))
    at = 0
    while at < len(stretches):
        some = stretches[at : at + FRESH_EVENTS]
        usual = _read_usual(buffer, some, harvest)
        at += usual
        if usual < len(some):
            resume = _read_unusual(buffer, *stretches[at], final, harvest)
            if resume < 0:
                return line_of(buffer, stretches[at][0], begin)
            at = bisect_left(stretches, (resume, 0), at + 1)
    return len(buffer) if final else line_of(buffer, len(buffer), begin)


def _read_usual(buffer: Buffer, stretches: Sequence[tuple[int, int]], harvest: Harvest) -> int:
    """Harvest the events behind these markers until one is not of the usual shape; how many there were.

    An event reaches to the end of the line, or pretty JSON to a bracket in column 0.
    """
    first = stretches[0][0] + _MARKER_SIZE
    closing, size = (b"\n", 0) if buffer[first + 1 : first + 3] == b'{"' else (b"\n}", 2)
    events: list[Progress] = []
    ends: list[int] = []
    with suppress(*UNUSUAL):
        for marker, limit in stretches:
            start = marker + _MARKER_SIZE
            end = find(buffer, closing, start, limit) + size
            if end < start:
                break
            events.append(decode_usual(buffer[start:end]))
            ends.append(end)
    harvest.add_many(events, [marker for marker, _ in stretches[: len(events)]], ends)
    return len(events)


def _read_unusual(buffer: Buffer, position: int, following: int, final: bool, harvest: Harvest) -> int:
    """Harvest what stands between two markers; where to go on, or -1 when more of the file is needed."""
    start, size = position + _MARKER_SIZE, len(buffer)
    if not _OPENS.match(buffer[start : start + 256]):
        return start
    if prefix := _PREFIXED.match(buffer[start : start + 256]):
        end = find(buffer, closing := prefix[1] + b"}", start, min(following, start + LONGEST_EVENT)) + len(closing)
        with suppress(*UNUSUAL):
            harvest.add(decode_usual(buffer[start : max(start, end)].replace(prefix[1], b"\n")), position, end)
            return end
    limit = min(size if following == size else line_of(buffer, following, start), position + LONGEST_EVENT)
    whole = final or limit < size
    closing = b"\n}" if _PRETTY.match(buffer[start : start + 8]) else b"\n"
    if not whole and find(buffer, closing, start) < 0:
        return -1
    return _read_odd(buffer, position, limit, whole, harvest)


def _read_odd(buffer: Buffer, position: int, limit: int, whole: bool, harvest: Harvest) -> int:
    start, line_start = position + _MARKER_SIZE, line_of(buffer, position, 0)
    line_end = buffer.find(b"\n", start, limit)
    line_end = limit if line_end < 0 else line_end
    if (found := _in_envelopes(buffer, line_start, limit)) is not None:
        event, end = found
        harvest.add(event, line_start, end)
        return max(start, end)
    if not whole and unwrapped(buffer, line_start, line_end) is not None:
        return -1  # the event's other lines, each in an envelope of its own, are still to come
    again = buffer.rfind(MARKER, line_start, position) >= 0  # the line was looked at with the marker before
    head = buffer[line_start : min(line_end, line_start + LONGEST_EVENT)]
    if not again and (_KEY in head or b'{"ts":' in head[:400]):  # structured, whatever a collector put before it
        try:
            harvest.add(read_structured(bytes(buffer[line_start:line_end])), line_start, line_end)
        except Broken as broken:
            harvest.add_broken(line_start, broken.reason)
        return line_end
    return _read_loose(buffer, line_start, position, limit, whole, harvest)


def _in_envelopes(buffer: Buffer, begin: int, limit: int) -> tuple[Progress, int] | None:
    """The first event in lines that a collector wrapped, and the end of the line that ends it; None without one."""
    size = _FEW_LINES
    while (lines := unwrapped(buffer, begin, min(limit, begin + size))) is not None:
        first = next(find_events(lines.text, 0, len(lines.text)), None)
        if first and first.event:
            end = buffer.find(b"\n", lines.origin(first.end - 1), limit)
            return first.event, limit if end < 0 else end
        if begin + size >= limit:
            break
        size *= 8
    return None


def _read_loose(buffer: Buffer, line: int, position: int, limit: int, whole: bool, harvest: Harvest) -> int:
    """The first event after the marker, whatever its form. Without one the record is broken."""
    begin = line if buffer[line : line + 1] == b"{" else position
    if next(event_keys(buffer, begin, limit), None) is None:
        if not whole:
            return -1
        keep_early(buffer, begin, limit, position, _EARLY, harvest)
        return position + _MARKER_SIZE
    stop = position + _MARKER_SIZE
    for found in find_events(buffer, begin, limit):
        if found.event is not None:
            opened = buffer.find(b"{", stop, found.start)
            if opened >= 0 and buffer.find(b"\n", opened, found.start) >= 0:  # the event has no marker of its own
                keep_early(buffer, begin, found.start, position, _EARLY, harvest)
                position = found.start
            harvest.add(found.event, min(position, found.start), found.end)
            return max(stop, found.end)
        if not whole and found.open:
            return -1
        keep(found._replace(start=min(position, found.start)), harvest)
        return max(stop, found.end)
    return stop


_KEY = b'"streaming_query_progress"'


class _Context(msgspec.Struct):
    streaming_query_progress: str | None = None


class _StructuredLine(msgspec.Struct):
    context: _Context = msgspec.field(default_factory=_Context)
    msg: str = ""


_decode_line = msgspec.json.Decoder(_StructuredLine).decode


def read_structured(line: bytes) -> Progress:
    """The event in a line of a structured log, from its context where that has it; Broken when there is none."""
    try:
        read = _decode_line(line[max(0, line.find(b'{"')) :])
    except UNUSUAL:
        raise Broken("a line of a structured log that is no JSON") from None
    text = read.context.streaming_query_progress or read.msg.partition("progress:")[2]
    return decode(text.encode("utf-8", "replace"))
