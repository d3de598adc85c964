"""Durations of one batch that stand alone: a map as Java or a person writes it, figures read off Spark's pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from advisor.progress import of_fragment, read_fragment
from advisor.sources.formats.fragments import Piece
from advisor.sources.harvest import Buffer

_MOST = 1 << 20
_APART = 200
_NAMED = re.compile(
    rb"\b(triggerExecution|addBatch|walCommit|commitOffsets|latestOffset|getOffset|getEndOffset|setOffsetRange|getBatch"
    rb"|queryPlanning|numInputRows|Batch Duration|Input Rows)\b[ \t]*[:=]?[ \t]*(\d{1,15})\b(?![.,]\d)(?:[ \t]*ms\b)?"
)
_PAGE = {"Batch Duration": "triggerExecution", "Input Rows": "numInputRows"}
"""What the page of a query's statistics calls them."""
_NEEDED = ("triggerExecution", "addBatch")


def alone(buffer: Buffer) -> Iterator[Piece]:
    """Each group of durations near the beginning of a text that holds no event, as a partial record."""
    group: dict[str, int] = {}
    start = end = 0
    for match in _NAMED.finditer(bytes(buffer[:_MOST])):
        name = match[1].decode()
        name = _PAGE.get(name, name)
        if group and (name in group or match.start() - end > _APART):
            yield from _record(group, start, end)
            group = {}
        start, end = start if group else match.start(), match.end()
        group[name] = int(match[2])
    yield from _record(group, start, end)


def _record(group: dict[str, int], start: int, end: int) -> Iterator[Piece]:
    if not all(name in group for name in _NEEDED):
        return
    rows = {"numInputRows": group["numInputRows"]} if "numInputRows" in group else {}
    durations = {name: ms for name, ms in group.items() if name not in rows}
    text = msgspec.json.encode({**rows, "durationMs": durations}).decode()
    partial = of_fragment(read_fragment(f"{text[:-2]}, ...}}}}"))  # nobody says that these are all
    if partial is not None:
        yield Piece(start, end, partial)
