"""The second look at a log whose ranges were read apart: what each range notes for it, and the look itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby

import msgspec

from advisor.cluster.rows import Row, decompressed, sightings_row
from advisor.errors import InputError
from advisor.facts import Sighting
from advisor.sources.harvest import Buffer, Runs, Stretch, places
from advisor.sources.random_access import Place, opened
from advisor.sources.sightings import stretches

_NEAR = stretches.around(0)[1] - stretches.around(0)[0]


class Marks(msgspec.Struct):
    """What is found in one range of a log: events (number of the run, [start, end)), and where lines name a run."""

    path: str
    size: int
    runs: list[str] = msgspec.field(default_factory=list)
    events: list[tuple[int, int, int]] = msgspec.field(default_factory=list)
    mentions: list[tuple[bytes, int, bool]] = msgspec.field(default_factory=list)


class Seen(Runs):
    """Keeps every event's place."""

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self._marks = marks
        self._numbers: dict[str, int] = {}

    def saw(self, run_id: str, start: int, end: int) -> None:
        """An event of a run stands at [start, end)."""
        number = self._numbers.setdefault(run_id, len(self._numbers))
        if number == len(self._marks.runs):
            self._marks.runs.append(run_id)
        self._marks.events.append((number, start, end))


class Mentions:
    """Finds where the lines of a range name a run: the first of each name, and all that tell of a turn.

    Where every line names one, turns between two that are near are left out: what is looked at is the same.
    """

    def __init__(self, marks: Marks, start: int, end: int) -> None:
        self._found = marks.mentions
        self._next = start
        self._end = end
        self._counted: dict[bytes, int] = {}
        self._turns = 0

    def look(self, buffer: Buffer, base: int, final: bool) -> int:
        """Search what has not been searched; the position in `buffer` from which on the next look needs it."""
        stop = self._end - base if final else min(self._end - base, len(buffer) - stretches.AFTER_A_NAME)
        for position in places(buffer, stretches.NAMED, self._next - base, stop + len(stretches.NAMED) - 1):
            self._note(buffer, base, position)
        self._next = max(self._next, base + stop)
        return max(0, stop - stretches.BEFORE_A_NAME)

    def _note(self, buffer: Buffer, base: int, position: int) -> None:
        name, turn = stretches.mention(buffer, position)
        self._counted[name] = count = self._counted.get(name, 0) + 1
        if count <= stretches.MENTIONS:
            self._found.append((name, base + position, turn))
            self._turns = 0
        elif turn:
            self._note_turn(name, base + position)

    def _note_turn(self, name: bytes, place: int) -> None:
        if self._turns >= 2 and place - self._found[-2][1] <= _NEAR:
            self._found.pop()
            self._turns -= 1
        self._found.append((name, place, True))
        self._turns += 1


def look_again(rows: Iterable[Row]) -> Iterator[Row]:
    """Return rows of sightings from rows of marks, which come log by log in order of place."""
    for log, parts in groupby(rows, key=lambda row: row.key):
        memory = stretches.Memory()
        for number, ranges in groupby(parts, key=lambda row: row.number):
            marks = [msgspec.msgpack.decode(decompressed(row.payload), type=Marks) for row in ranges]
            if sightings := _of_log(log, marks, memory):
                yield sightings_row(log, number, sightings)


def _of_log(log: str, parts: list[Marks], memory: stretches.Memory) -> list[Sighting]:
    look = stretches.SecondLook(parts[0].path, log, memory)
    for part in parts:
        for run, start, end in part.events:
            memory.runs.saw(part.runs[run], start, end)
    with suppress(OSError, InputError), opened(parts[0].path) as place:  # its ranges hold why it cannot be read
        size = min(place.size, parts[0].size)
        look.at_log(Stretch(Place(place.read, size), 0, 0, final=True), _mentions(parts, memory))
    return look.sightings


def _mentions(parts: Iterable[Marks], memory: stretches.Memory) -> Iterator[tuple[int, int]]:
    """Stretches around names of runs, without a search."""
    for part in parts:
        for name, position, turn in part.mentions:
            if memory.is_worth_a_look(name, turn):
                yield stretches.around(position)
