"""Offsets of sources: their text without credentials, and the rows between two of them where offsets count rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.progress import UNUSUAL
from advisor.redaction import hide, redact_data

Places = tuple[str, ...]
"""What an offset counts: `topic/partition`; "" for a plain number."""

_PLAIN: Places = ("",)
_PLAIN_NUMBER = "^[0-9]{1,18}$"
_HIGHEST = 2**62
_RATE = re.compile(r"RateStream(?:V2|Source)?\[.*?rowsPerSecond=(\d{1,9}), rampUpTimeSeconds=0\b", re.DOTALL)


class Offset(NamedTuple):
    """One offset: compact JSON, the places that it counts (None: it counts no rows), and the sum of their counters."""

    text: str | None
    places: Places | None = None
    total: int = 0


class OffsetColumn(NamedTuple):
    """Offsets of many batches: `texts`, a number for the places that each counts, and the sum there."""

    texts: pa.Array
    places: np.ndarray
    totals: np.ndarray


_NOTHING, _PLAIN_PLACE = -1, 0
"""Numbers that stand for no places, and for those of a plain number."""


class Offsets:
    """Collects columns of offsets. Each distinct one is read once: a batch starts where the one before it ended."""

    def __init__(self) -> None:
        self._raws: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])
        self._sizes: tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]] = ([], [], [])

    def add(self, *columns: Sequence[msgspec.Raw]) -> None:
        """Take some more of start, end and latest offsets."""
        for raws, sizes, column in zip(self._raws, self._sizes, columns, strict=True):
            raws.append(b"".join(column))
            sizes.append(np.fromiter(map(len, column), np.int64, len(column)))

    def columns(self) -> list[OffsetColumn]:
        """The columns of start, end and latest offsets."""
        sizes, raws = chain.from_iterable(self._sizes), b"".join(chain.from_iterable(self._raws))
        ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes]))
        where = [None, pa.py_buffer(ends), pa.py_buffer(raws)]
        coded = pa.Array.from_buffers(pa.large_binary(), len(ends) - 1, where).dictionary_encode()
        distinct = _distinct(coded.dictionary)
        codes = np.split(np.asarray(coded.indices), len(self._raws))
        return [OffsetColumn(distinct.texts.take(pa.array(c)), distinct.places[c], distinct.totals[c]) for c in codes]


def _distinct(raws: pa.Array) -> OffsetColumn:
    """Read offsets. Plain numbers, which are new in every batch, are read all at once."""
    plain = pc.match_substring_regex(raws, _PLAIN_NUMBER)
    numbers = raws.filter(plain).cast(pa.large_string()).cast(pa.string())
    others = [parse(raw) for raw in raws.filter(pc.invert(plain)).to_pylist()]
    known: dict[Places | None, int] = {None: _NOTHING, _PLAIN: _PLAIN_PLACE}
    places = [known.setdefault(offset.places, len(known)) for offset in others]
    order = pa.array(np.argsort(np.argsort(~np.asarray(plain), kind="stable")))
    texts = pa.concat_arrays([numbers, pa.array([offset.text for offset in others], pa.string())])
    totals = np.concatenate([np.asarray(numbers.cast(pa.int64())), np.array([o.total for o in others], np.int64)])
    every = np.concatenate([np.full(len(numbers), _PLAIN_PLACE), np.array(places, np.int64)])
    return OffsetColumn(texts.take(order), every[order], totals[order])


def rows_between(start: OffsetColumn, end: OffsetColumn, steps: np.ndarray) -> pa.Array:
    """Rows from each offset to a later one; null where offsets do not count rows, or not the same partitions.

    `steps`: what one step of a plain number is worth in rows, 0 when unknown.
    """
    worth = np.where(start.places == _PLAIN_PLACE, steps, 1)
    rows = end.totals - start.totals
    known = (start.places == end.places) & (start.places != _NOTHING) & (worth > 0) & (rows >= 0)
    known &= rows <= _HIGHEST // np.maximum(worth, 1)
    return pa.array(np.where(known, rows * np.where(known, worth, 0), 0), pa.int64(), mask=~known)


def rows_per_step(descriptions: pa.Array) -> np.ndarray:
    """For each source what one step of a plain number is worth: a row of a socket, a second of the rate source."""
    coded = descriptions.dictionary_encode(null_encoding="encode")
    steps = [_rows_per_step(description or "") for description in coded.dictionary.to_pylist()]
    return np.array(steps, dtype=np.int64)[np.asarray(coded.indices)]


def _rows_per_step(description: str) -> int:
    if description.startswith("TextSocket"):
        return 1
    rate = _RATE.match(description)
    return int(rate[1]) if rate else 0


def parse(raw: bytes) -> Offset:
    """The offset in JSON text; in an event log the JSON stands inside a JSON string."""
    try:
        if raw[:1] == b'"':
            raw = _inside(raw)
        value = msgspec.json.decode(raw)
        safe = redact_data(value)
    except UNUSUAL:
        return Offset(hide(raw.decode("utf-8", "replace")))
    if value is None:
        return Offset(None)
    if safe != value:
        raw = msgspec.json.encode(safe)
    return Offset(msgspec.json.format(raw, indent=-1).decode("utf-8", "replace"), *_counts(safe))


def counted(text: str | None) -> tuple[Places | None, int]:
    """Return the places that an offset counts and the sum of their counters, as they stand; nothing is hidden."""
    try:
        value = msgspec.json.decode(text or "null")
        return _counts(msgspec.json.decode(value) if isinstance(value, str) else value)
    except UNUSUAL:
        return None, 0


def kafka_offsets(text: str | None) -> dict[tuple[str, str], object] | None:
    """Return an offset by topic and partition; None if the text is no offset of Kafka."""
    try:
        topics = msgspec.json.decode(text or "")
    except UNUSUAL:
        return None
    if not isinstance(topics, dict) or not all(isinstance(one, dict) for one in topics.values()):
        return None
    return {(topic, number): at for topic, numbers in topics.items() for number, at in numbers.items()}


def _inside(raw: bytes) -> bytes:
    text: str = msgspec.json.decode(raw, type=str)
    try:
        msgspec.json.decode(text)
    except UNUSUAL:
        return raw
    return text.encode("utf-8", "replace")


def _counts(value: Any) -> tuple[Places | None, int]:
    if type(value) is int:
        return _sum({"": value})
    if not isinstance(value, dict):
        return None, 0
    if "offset" in value and value.keys() <= {"offset", "timestamp"}:
        return _sum({"offset": value["offset"]})
    if not all(isinstance(partitions, dict) for partitions in value.values()):
        return None, 0
    return _sum({f"{topic}/{n}": at for topic, partitions in value.items() for n, at in partitions.items()})


def _sum(counts: dict[str, Any]) -> tuple[Places | None, int]:
    """The sum of the counters, if each is a number of rows: negative ones stand for earliest and latest."""
    if not counts or not all(type(count) is int and count >= 0 for count in counts.values()):
        return None, 0
    total = sum(counts.values())
    return (tuple(sorted(counts)), total) if total <= _HIGHEST else (None, 0)
