"""The second look at a log whose ranges were read apart: the same stretches in the same order as in one reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from advisor.cluster.marks import Marks, Plans
from advisor.cluster.part import sightings_row
from advisor.cluster.rows import Row, unpacked_bytes
from advisor.errors import InputError
from advisor.facts.sighting import Sighting
from advisor.sources.harvest import Stretch
from advisor.sources.places import Distant, opened
from advisor.sources.secondlook import Memory, SecondLook, around


def look_again(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows of sightings from rows of marks and plans, which come log by log in order of place."""
    for log, parts in groupby(rows, key=lambda row: row.key):
        memory = Memory()
        for number, ranges in groupby(parts, key=lambda row: row.number):
            sightings = _of_file(log, list(ranges), memory)
            if sightings:
                yield sightings_row(log, number, sightings)


def _of_file(log: str, rows: list[Row], memory: Memory) -> list[Sighting]:
    if rows[0].kind == "plans":
        return _of_event_log([msgspec.msgpack.decode(unpacked_bytes(row.payload), type=Plans) for row in rows], memory)
    return _of_log(log, [msgspec.msgpack.decode(unpacked_bytes(row.payload), type=Marks) for row in rows], memory)


def _of_event_log(parts: Iterable[Plans], memory: Memory) -> list[Sighting]:
    kept: list[Sighting] = []
    for part in parts:
        for run, sightings in part.lines:
            if not run or memory.is_new_plan(run):
                kept += memory.repeats.fresh(sightings)
    return kept


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
