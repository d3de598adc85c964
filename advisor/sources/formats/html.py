"""Tables of HTML as rows between bars, which the readers of tables know."""

from __future__ import annotations

import html
import re
from typing import Final

from advisor.sources.harvest import Buffer

_MOST: Final = 1 << 20
"""Bytes at the beginning of a text in which such tables are read."""
_TABLE: Final = re.compile(rb"(?is)<table\b(?:(?!</?table\b).)*")
_ROW: Final = re.compile(rb"(?i)<tr\b[^<>]{0,300}>")
_CELL: Final = re.compile(rb"(?i)<t[dh]\b[^<>]{0,300}>")
_SPANS: Final = re.compile(rb"(?i)<t[dh]\b[^<>]{0,300}\b(?:row|col)span\s*=\s*[\"']?(?!1\b)")
"""A cell over several rows or columns: what stands in which column is then in doubt, and the table is left as it is."""
_TAG: Final = re.compile(r"<[^<>]{0,300}>")


def with_bars(buffer: Buffer) -> Buffer:
    """The text with its tables of HTML as lines of cells between bars, as long as before: all else stays in place."""
    begins = bytes(buffer[:_MOST])
    if not _TABLE.search(begins):
        return buffer
    return _TABLE.sub(_lines, begins) + bytes(buffer[_MOST:])


def _lines(table: re.Match[bytes]) -> bytes:
    if _SPANS.search(table[0]):
        return table[0]
    size = len(table[0])
    rows = (b"| " + b" | ".join(_cells(row)) + b" |" for row in _ROW.split(table[0])[1:])
    return (b"\n" + b"\n".join(rows))[: size - 1].ljust(size - 1) + b"\n"


def _cells(row: bytes) -> list[bytes]:
    """What stands in each cell, without marks of its own; a bar within it would be the next cell."""
    told = (html.unescape(_TAG.sub(" ", cell.decode("utf-8", "replace"))) for cell in _CELL.split(row)[1:])
    return [" ".join(cell.replace("|", "/").split()).encode() for cell in told]
