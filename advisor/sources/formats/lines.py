"""JSON lines of progress: one event per line."""

from __future__ import annotations

import msgspec

from advisor.progress import UNUSUAL, decode_usual
from advisor.sources.formats import driverlog, records
from advisor.sources.formats.records import LONGEST_EVENT, find_events, keep, note_torn, read_among, tells_of_state
from advisor.sources.harvest import Buffer, Harvest


def matches(head: bytes) -> bool:
    """Whether the first line of a file that begins like this is an event."""
    try:
        decode_usual(head.lstrip().split(b"\n", 1)[0])
    except UNUSUAL:
        return False
    return True


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest a file whose lines are events; where to go on once more of the file is there."""
    find = buffer.find
    start, size = begin, len(buffer)
    while start < size:
        stop = find(b"\n", start)
        if stop < 0:
            if not final and size - start < LONGEST_EVENT:
                return start
            stop = size
        line = buffer[start : min(stop, start + LONGEST_EVENT)]
        try:
            event = decode_usual(line)
        except UNUSUAL:
            if driverlog.MARKER in line:
                return read_among(driverlog.read, buffer, start, final, harvest)
            if bytes(line[-2:]).rstrip()[-1:] in (b"{", b"[", b","):  # from here on an event stands on many lines
                return records.read(buffer, start, final, harvest)
            _read_loosely(buffer, start, stop, harvest)
        else:
            if event.state_operators or tells_of_state(line):
                harvest.add(event, start, stop)
            else:
                for found in find_events(buffer, start, stop):
                    keep(found, harvest)
        start = stop + 1
    return min(start, size)


def _read_loosely(buffer: Buffer, start: int, stop: int, harvest: Harvest) -> None:
    events = list(find_events(buffer, start, stop))
    for found in events:
        if found.event is None:
            harvest.add_broken(start, found.reason)
        else:
            harvest.add(found.event, found.start, found.end)
    if not events and not note_torn(buffer, start, stop, harvest) and buffer[start : start + 5] == b'{"id"':
        try:
            msgspec.json.decode(buffer[start:stop])
        except UNUSUAL:
            harvest.add_broken(start, "a line that begins as progress and is no JSON")


def begins(buffer: Buffer, start: int) -> int:
    """Where the first line begins that does so at `start` or later; the end without one."""
    line = buffer.find(b"\n", start - 1) if start else -1
    return line + 1 if line >= 0 or not start else len(buffer)
