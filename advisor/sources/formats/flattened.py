"""Records with flattened keys: `progress.durationMs.addBatch`, or the columns of this project's tables."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from advisor.progress import read_fragment
from advisor.sources.formats.cells import DURATIONS, Column, are_batches, column_of, record
from advisor.sources.formats.fragments import Piece
from advisor.sources.formats.loose import innermost

_SOURCES: Final = Column(("sources",))
_OF_A_SOURCE: Final = ("description", "startOffset", "endOffset", "latestOffset", "numInputRows", "metrics")
_DESCRIBES: Final = b'"description"'
_RATE: Final = re.compile(rb"""processedRowsPerSecond["']?\s{0,9}:\s{0,9}(\d{1,12}\.\d{1,18})""")
_LONGEST_RATE: Final = 80
_LONGEST: Final = 64 << 10
_MISSES: Final = 20
"""Records one after the other that are none of a batch, behind which no more are looked for."""
_FLAT: Final = (
    re.compile(rb"""add_?batch(?:_?ms)?["']?\s*:"""),
    re.compile(rb"""processed_?rows_?per_?second["']?\s*:"""),
)
"""Of a text in lower case. Each begins with plain letters, which are found ten times as fast as either of two words."""


def flattened(raw: bytes) -> Iterator[Piece]:
    """Each record whose keys tell a batch, as a partial one."""
    place, end, misses = -1, 0, 0
    lowered = raw.lower()
    for at in heapq.merge(*((match.start() for match in flat.finditer(lowered)) for flat in _FLAT)):
        if at < end or misses > _MISSES:
            continue
        misses += 1
        start, _ = innermost(raw, max(end, at - _LONGEST), at, min(len(raw), at + _LONGEST))
        start = _of_a_source(raw, end, at) if start == at else start
        text = raw[start : start + 2 * _LONGEST].decode("utf-8", "replace")
        fragment = read_fragment(text)
        end = max(at + 1, start + len(text[: fragment.end].encode()))
        thing = _with_its_last_rate(fragment.thing, raw[at : at + _LONGEST_RATE])
        columns = _of_one_record({key: column for key in thing if (column := column_of(key)) is not None})
        if are_batches(columns.values()):
            place, misses = start if place < 0 else place, 0
            told = [(column, thing[key]) for key, column in columns.items()]
            yield from record(start, end, told + _source(thing), place)


def _of_a_source(raw: bytes, begin: int, at: int) -> int:
    """Where the members of a source begin of which this is a rate, where no bracket stands around them."""
    start = raw.rfind(_DESCRIBES, max(begin, at - _LONGEST), at)
    alone = start < 0 or b"durationMs" in raw[start:at]
    return at if alone or raw.count(b"{", start, at) != raw.count(b"}", start, at) else start


def _with_its_last_rate(thing: dict[str, Any], last: bytes) -> dict[str, Any]:
    """The members with the rate at which a source ends: what may be cut of its fraction tells hardly anything."""
    rate = _RATE.match(last) if "endOffset" in thing else None
    return thing | {"processedRowsPerSecond": float(rate[1])} if rate else thing


def _source(thing: Mapping[str, Any]) -> list[tuple[Column, Any]]:
    """The source whose members stand by themselves: how far it read, and what waits in it."""
    if "endOffset" not in thing or "sources" in thing:
        return []
    return [(_SOURCES, [{name: thing[name] for name in _OF_A_SOURCE if name in thing}])]


def _of_one_record(columns: dict[str, Column]) -> dict[str, Column]:
    """Without what stands outside the record that holds the durations: another's `timestamp`, say."""
    roots = [_root(key) for key, column in columns.items() if column.path[0] == DURATIONS]
    root = max(roots, key=roots.count, default="")
    return {key: column for key, column in columns.items() if key.startswith(root)}


def _root(key: str) -> str:
    """What stands in a key before the durations, or before the phase."""
    at = key.lower().rfind(DURATIONS.lower())
    return key[: at if at >= 0 else key.rfind(".") + 1]
