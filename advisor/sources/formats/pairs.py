"""Figures that somebody's listener or a person wrote as names and values: `batchId=41 numInputRows=54000`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from advisor.sources.formats.cells import DURATIONS, Column, are_batches, column_of, record
from advisor.sources.formats.fragments import Piece, piece_around
from advisor.sources.formats.spans import read_span
from advisor.sources.harvest import Buffer

_MOST: Final = 1 << 20
"""Bytes at the beginning of a text in which such figures are looked for."""
_SIGN: Final = re.compile(
    r"(?i)add[ _]?batch|trigger[ _]?execution|process(?:ed|ing)?[ _]?(?:rows[ _]?per[ _]?second|rate)|input[ _]?rows"
)
_KEYWORD: Final = re.compile(r"\w+=[\w\"']")
_MOST_BEFORE: Final = 4096
"""Letters before the first figure of a call within which its bracket opens."""
_APART: Final = 200
"""Letters between two figures of one batch, at most."""
_LONGEST_SPAN: Final = 40
_VALUE: Final = (
    r"(?P<value>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d|,\d|\+)|\d+(?:\.\d+)?(?:[eE]\+?\d+)?(?![\d.-]*\d|,\d|\+))"
)
_NAME: Final = r"(?<![\w.])(?P<name>[A-Za-z][\w.]{0,60}(?: [A-Za-z]\w{0,30}){0,3}(?:/ ?s(?:ec(?:ond)?)?\b)?)"
_TO: Final = r"(?:=>?|->|[:|]|>(?=[\d.,]{1,25}</))"
_PAIR: Final = re.compile(
    rf"{_NAME}[\"'`*)]{{0,4}}(?:[ \t]{{0,20}}{_TO}[ \t]{{0,20}}(?:(?:int|num|chr|logi)[ ])?|\n\[1\][ ])"
    rf"[\"'`*~≈]{{0,3}}[ \t]?{_VALUE}"
)
"""`<addBatch>900</addBatch>` of XML, too, and of R what str() writes (`$ batchId : int 57`) and print() does
(`$batchId`, `[1] 57`).
"""
_QUERY: Final = re.compile(r"\b(?P<name>query|query_?name|queryName)=[\"']?(?P<value>[A-Za-z][\w.-]{0,80})\b(?![(.\w])")
_IN_WORDS: Final = re.compile(
    r"(?P<name>\b(?:numInputRows|inputRowsPerSecond|processedRowsPerSecond|batchId|[Ii]nput [Rr]ate|[Ii]nput [Rr]ows"
    r"|[Pp]rocess(?:ing|ed)? [Rr]ate|[Bb]atch [Dd]uration|triggerExecution))[\"'`*)]{0,4}"
    rf"[ \t]+(?:\(?avg\.?\)?[ \t]+)?(?:(?:is|was|of|at|about|around|shows?)[ \t]+){{0,2}}[~≈]?[ \t]?{_VALUE}"
)


_GOES_ON: Final = re.compile(r"[ \t]{0,2}[^\s|,;:)}\]\"'`*.]")
"""What follows a length that is one of two bounds, or has a unit that nobody knows: it says nothing."""


class _Figure(NamedTuple):
    column: Column
    cell: Any
    start: int
    end: int


def pairs(buffer: Buffer) -> Iterator[Piece]:
    """Each group of figures that tells a batch's length or its parts, as a partial record."""
    text = bytes(buffer[:_MOST]).decode("latin-1")
    if not _SIGN.search(text):
        return
    place = -1
    for group in _groups(text):
        columns = [figure.column for figure in group]
        if are_batches(columns):
            place = group[0].start if place < 0 else place
            if (piece := _of_a_call(buffer, text, group[0].start)) is not None:
                yield piece
                continue
            pieces = record(group[0].start, group[-1].end, ((each.column, each.cell) for each in group), place)
            yield from (piece for piece in pieces if piece.partial.event is not None)


def _of_a_call(buffer: Buffer, text: str, at: int) -> Piece | None:
    """The record that a call with keywords makes, `SimpleNamespace(batchId=4, …)`: also operators, sources."""
    if not _KEYWORD.match(text, at) or "(" not in text[max(0, at - _MOST_BEFORE) : at]:
        return None
    piece = piece_around(buffer, 0, at, len(buffer))
    return piece if piece is not None and piece.partial.event is not None else None


def _groups(text: str) -> Iterator[list[_Figure]]:
    """Figures that stand together; one begins where a name comes again."""
    group: list[_Figure] = []
    for figure in _figures(text):
        if group and (figure.start - group[-1].end > _APART or figure.column in [each.column for each in group]):
            yield group
            group = []
        group.append(figure)
    if group:
        yield group


def _figures(text: str) -> Iterator[_Figure]:
    """The figures in the order in which they stand."""
    found = {match.start("value"): match for pattern in (_IN_WORDS, _PAIR, _QUERY) for match in pattern.finditer(text)}
    for at in sorted(found):
        match = found[at]
        column = _column(match["name"])
        if column is not None:
            cell, end = _cell(column, match["value"], text[at : at + _LONGEST_SPAN])
            yield _Figure(column, cell, match.start(), at + end)


def _column(name: str) -> Column | None:
    """What a name, with words before it that are none of it, stands for."""
    words = name.split(" ")
    return next(filter(None, (column_of(" ".join(words[at:])) for at in range(len(words)))), None)


def _cell(column: Column, value: str, following: str) -> tuple[Any, int]:
    """(the value, where it ends); of a duration with the unit behind it."""
    if column.path[0] in (DURATIONS, "batchDuration") and column.unit == 1:
        if span := read_span(following):
            return span
        if _GOES_ON.match(following, len(value)):
            return None, len(value)
    if re.fullmatch(r"[\d.]+[eE]\+?\d+", value):
        return float(value), len(value)
    return value, len(value)
