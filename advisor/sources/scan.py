"""Bytes of one file to events, broken places and sightings, whatever the form of the file."""

from __future__ import annotations

import re
from collections.abc import Callable

from advisor.facts.sighting import Sighting
from advisor.progress import UNUSUAL, decode_usual
from advisor.sources.formats import driverlog, lines, loose
from advisor.sources.harvest import Buffer, Harvest, Window
from advisor.sources.secondlook import Memory, SecondLook

HEAD = 64 << 10
A_PIECE = "a piece of an event: it holds no durations"

Reader = Callable[[Buffer, int, bool, Harvest], int]

_EVENT_LOG = re.compile(rb'\s*\{"Event":"')


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
        return reader(buffer, begin, final, self.harvest)

    def _finish(self, window: Window) -> None:
        self.harvest.flush()
        if not self.harvest.anything:
            piece = loose.piece(window.buffer)
            if piece >= 0:
                self.harvest.add_broken(piece, A_PIECE)


def reader_for(head: bytes) -> Reader:
    """What reads a file that begins with `head`."""
    if _EVENT_LOG.match(head):
        return lines.read_event_log
    first = head.lstrip().split(b"\n", 1)[0]
    return lines.read_json_lines if _is_event(first) else driverlog.read


def _is_event(line: bytes) -> bool:
    try:
        decode_usual(line)
    except UNUSUAL:
        return False
    return True
