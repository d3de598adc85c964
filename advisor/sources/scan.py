"""Bytes of one file to events, broken places and sightings, whatever the form of the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from advisor.facts.sighting import Sighting
from advisor.progress import UNUSUAL, decode_usual
from advisor.sources.formats import driverlog, lines, loose
from advisor.sources.harvest import Buffer, Harvest, Window
from advisor.sources.secondlook import Memory, SecondLook

HEAD = 64 << 10
MIXED = 16 << 20
"""Bytes of a text that is searched for events without marker even though it has some with it."""
A_PIECE = "a piece of an event: it holds no durations"

Reader = Callable[[Buffer, int, bool, Harvest], int]

_EVENT_LOG = re.compile(rb'^\s*\{"Event":"(?:SparkListener|org\.apache\.spark\.)', re.MULTILINE)


class Scan:
    """Reads one file, window by window."""

    def __init__(self, file: str, log: str, memory: Memory | None = None) -> None:
        """With a `memory` (one per log), sightings are looked for, too."""
        self.harvest = Harvest(file, log, memory.runs if memory else None)
        self._look = SecondLook(file, log, memory) if memory else None
        self._reader: Reader | None = None
        self._marked = False
        self.position = 0

    @property
    def sightings(self) -> list[Sighting]:
        """What the file revealed besides progress, so far."""
        return self._look.sightings if self._look else []

    def feed(self, window: Window) -> int:
        """Read a window; the position in it from which on nothing has been read, so that the next must repeat it."""
        self.harvest.move(window)
        self.position = window.base + len(window.buffer)
        if self._reader is None:
            self._reader = reader_for(bytes(window.buffer[:HEAD]))
        resume = self._read(window, self._reader)
        if self._look:
            look = self._look.at_event_log if self._reader is lines.read_event_log else self._look.at_log
            look(window, resume)
        if window.final:
            self._finish(window)
        return resume

    def _read(self, window: Window, reader: Reader) -> int:
        """Let the reader have the window; text without marked events is searched for events of any form."""
        buffer, begin, final = window.buffer, window.begin, window.final
        if reader is driverlog.read and not self._marked:
            self._marked = driverlog.marks_events(buffer, begin)
            reader = reader if self._marked else loose.read
        if reader is not driverlog.read or window.base or not final or len(buffer) > MIXED:
            return reader(buffer, begin, final, self.harvest)
        return self._read_mixed(buffer)

    def _read_mixed(self, buffer: Buffer) -> int:
        """Read a short text, in which events may stand without the marker, too."""
        spans: list[tuple[int, int]] = []
        self.harvest.spans = spans
        resume = driverlog.read(buffer, 0, True, self.harvest)
        self.harvest.spans = None
        for begin, end in _between(spans, len(buffer)):
            for found in loose.find_events(buffer, begin, end):
                if found.event is not None:
                    self.harvest.add(found.event, found.start, found.end)
        return resume

    def _finish(self, window: Window) -> None:
        self.harvest.flush()
        if not self.harvest.anything:
            piece = loose.piece(window.buffer)
            if piece >= 0:
                self.harvest.add_broken(piece, A_PIECE)


def _between(spans: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """The stretches of a text of that size that lie between spans."""
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), size]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def reader_for(head: bytes) -> Reader:
    """What reads a file that begins with `head`."""
    if _EVENT_LOG.match(head) or (driverlog.MARKER not in head and _EVENT_LOG.search(head)):
        return lines.read_event_log
    first = head.lstrip().split(b"\n", 1)[0]
    return lines.read_json_lines if _is_event(first) else driverlog.read


def _is_event(line: bytes) -> bool:
    try:
        decode_usual(line)
    except UNUSUAL:
        return False
    return True
