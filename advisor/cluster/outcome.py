"""From paths to tasks, and from what tasks said to the counts and broken records of the whole reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from advisor.batches import Broken, Overrun
from advisor.cluster.rows import Done, Row
from advisor.redaction import redact
from advisor.sources.formats.records import LONGEST_PIECE, early_piece
from advisor.sources.harvest import LINE_UNKNOWN, MOST_BROKEN, Lines, Stretch
from advisor.sources.paths import Input, shown
from advisor.sources.random_access import opened
from advisor.sources.scan import A_PIECE


class Outcome(NamedTuple):
    """What reading came to, besides the tables."""

    files: int
    bytes: int
    broken: tuple[Broken, ...]
    overruns: tuple[Overrun, ...]


def outcome(rows: Iterable[Row], inputs: Sequence[Input]) -> Outcome:
    """What the rows `read`, `broken` and `overruns` say, in the order of the files."""
    rows = list(rows)
    done = [row.said(Done) for row in rows if row.kind == "read"]
    something = {one.number for one in done if one.anything}
    by_file = {number: [Broken(shown(one.path), 0, 0, one.unfit)] for number, one in enumerate(inputs) if one.unfit}
    for row in sorted((row for row in rows if row.kind == "broken"), key=lambda row: (row.number, row.start)):
        by_file.setdefault(row.number, []).extend(row.said(list[Broken]))
    for one in done:
        if one.piece >= 0 and one.number not in something:
            by_file.setdefault(one.number, []).append(_piece(inputs[one.number].path, one.piece))
    broken = [entry for number in sorted(by_file) for entry in _in_lines(by_file[number])]
    marked = {one.number for one in done if one.marked}
    found = (row for row in rows if row.kind == "overruns" and row.number not in marked)
    in_order = sorted(found, key=lambda row: (row.number, row.start))
    overruns = [one for row in in_order for one in row.said(list[Overrun])]
    return Outcome(sum(one.files for one in done), sum(one.bytes for one in done), tuple(broken), tuple(overruns))


def _piece(path: str, start: int) -> Broken:
    """The record of a file that holds nothing but a piece of an event, at `start`."""
    try:
        with opened(path) as place:
            head = place.read(0, start + LONGEST_PIECE)
    except OSError:
        head = b""
    found = early_piece(head, 0, len(head), A_PIECE)
    says, lacks = (redact(found.partial.says), found.partial.lacks) if found.partial else (A_PIECE, None)
    return Broken(path, start, LINE_UNKNOWN, says, lacks)


def _in_lines(broken: list[Broken]) -> list[Broken]:
    """The broken records of one file, each once, with the lines that its ranges could not know."""
    broken = _bounded(dict.fromkeys(broken))
    unknown = sorted(one.offset for one in broken if one.line == LINE_UNKNOWN)
    lines = _lines(broken[0].file, unknown) if unknown else {}
    return [replace(one, line=lines[one.offset]) if one.line == LINE_UNKNOWN else one for one in broken]


def _bounded(broken: Iterable[Broken]) -> list[Broken]:
    """The first of these one by one; of the others one entry, and one for those that were read in part."""
    listed: list[Broken] = []
    more: dict[bool, Broken] = {}
    for one in broken:
        if one.times == 1 and len(listed) < MOST_BROKEN:
            listed.append(one)
        else:
            before = more.get(one.partial)
            more[one.partial] = before.and_more(one.times) if before else one
    return [*listed, *more.values()]


def _lines(path: str, offsets: Sequence[int]) -> dict[int, int]:
    """The line, from 1, of each offset of a file; offsets rise. 0 where it can no longer be read."""
    found: dict[int, int] = {}
    with suppress(OSError), opened(path) as place:
        lines, whole = Lines(), Stretch(place, 0, 0, final=True)
        for offset in offsets:
            found[offset] = lines.number(whole, offset)
    return {offset: found.get(offset, 0) for offset in offsets}
