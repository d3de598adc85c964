"""Look again at a log whose ranges were read apart, at the same stretches in the same order as in one reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from advisor.cluster.marks import Marks
from advisor.cluster.part import sightings_row
from advisor.cluster.rows import Row, unpacked_bytes
from advisor.errors import InputError
from advisor.facts.sighting import Sighting
from advisor.sources.harvest import Stretch
from advisor.sources.places import Distant, opened
from advisor.sources.secondlook import Memory, SecondLook, around


def look_again(rows: Iterable[Row]) -> Iterator[Row]:
    """Return rows of sightings from rows of marks, which come log by log in order of place."""
    for log, parts in groupby(rows, key=lambda row: row.key):
        memory = Memory()
        for number, ranges in groupby(parts, key=lambda row: row.number):
            marks = [msgspec.msgpack.decode(unpacked_bytes(row.payload), type=Marks) for row in ranges]
            if sightings := _of_log(log, marks, memory):
                yield sightings_row(log, number, sightings)


def _of_log(log: str, parts: list[Marks], memory: Memory) -> list[Sighting]:
    look = SecondLook(parts[0].path, log, memory)
    for part in parts:
        for run, start, end in part.events:
            memory.runs.saw(part.runs[run], start, end)
    try:
        with opened(parts[0].path) as place:
            size = min(place.size, parts[0].size)
            look.at_log(Stretch(Distant(place, size), 0, 0, final=True), _mentions(parts, memory))
    except (OSError, InputError):
        return look.sightings  # its ranges have told why it cannot be read
    return look.sightings


def _mentions(parts: Iterable[Marks], memory: Memory) -> Iterator[tuple[int, int]]:
    """Stretches around names of runs, without a search."""
    for part in parts:
        for name, position, turn in part.mentions:
            if memory.is_worth_a_look(name, turn):
                yield around(position)
