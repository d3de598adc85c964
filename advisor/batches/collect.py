"""Collects plain values of many events, and makes columns of them.

Making an array costs as much as a thousand numbers in it, so arrays of one type are made together.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence, Sized
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.redaction import redact, redact_setting

_FORMATS = {pa.int64(): "q", pa.float64(): "d"}
_NO_CODES = np.zeros(0, dtype=np.int32)


def flattened(groups: Iterable[Iterable[Any]]) -> list[Any]:
    """The members of all groups."""
    return list(chain.from_iterable(groups))


def _packed(column: Sequence[Any], kind: pa.DataType) -> tuple[bytes, bytes]:
    """(numbers as an array of this type holds them, 0 for none; for each a byte that is 1 where there is none).

    Numbers without a gap are packed, which takes a quarter of what making an array takes.
    """
    size = len(column)
    if column[0] is None and column.count(None) == size:
        return bytes(8 * size), b"\1" * size
    with suppress(struct.error):
        return struct.pack(f"{size}{_FORMATS[kind]}", *column), bytes(size)
    array = pa.array(column, kind)
    return np.asarray(array.fill_null(0)).tobytes(), np.asarray(array.is_null()).tobytes()


@lru_cache(maxsize=4)
def nothing(size: int, kind: pa.DataType) -> pa.Array:
    """So many of a type that are none: one array for all columns that are empty, which takes memory once."""
    return pa.nulls(size, kind)


class Numbers:
    """Columns of numbers of one type: int64 or float64."""

    def __init__(self, width: int, kind: pa.DataType) -> None:
        self._kind = kind
        self._type = np.dtype(kind.to_pandas_dtype())
        self._columns = [(bytearray(), bytearray()) for _ in range(width)]

    def add(self, *columns: Sequence[Any]) -> None:
        """Take some more values of each column, at least one."""
        for (values, missing), column in zip(self._columns, columns, strict=True):
            more, none = _packed(column, self._kind)
            values.extend(more)
            missing.extend(none)

    def columns(self) -> list[pa.Array]:
        """One array per column."""
        return [self._column(*column) for column in self._columns]

    def _column(self, values: bytearray, missing: bytearray) -> pa.Array:
        gaps = missing.count(1)
        if gaps == len(missing):
            return nothing(gaps, self._kind)
        mask = np.frombuffer(missing, np.bool_) if gaps else None
        return pa.array(np.frombuffer(values, self._type), self._kind, mask=mask)


class Texts:
    """Columns of text that differs from event to event."""

    def __init__(self, width: int) -> None:
        self._pieces: list[list[pa.Array]] = [[] for _ in range(width)]

    def add_none(self, size: int) -> None:
        """Take that many times nothing in each column."""
        for pieces in self._pieces:
            pieces.append(nothing(size, pa.string()))

    def add(self, *columns: Sequence[str | None]) -> None:
        """Take some more values of each column."""
        for pieces, column in zip(self._pieces, columns, strict=True):
            pieces.append(pa.array(column, pa.string()))

    def columns(self) -> list[pa.Array]:
        """One array per column."""
        return [pa.concat_arrays(pieces or [pa.nulls(0, pa.string())]) for pieces in self._pieces]


class Words:
    """Columns of text of which few values are distinct, and which may hold credentials: these are hidden."""

    def __init__(self, width: int) -> None:
        self._known: dict[str | None, int] = {}
        self._codes: list[list[np.ndarray]] = [[] for _ in range(width)]

    def add(self, *columns: Sequence[str | None]) -> None:
        """Take some more values of each column."""
        known = self._known
        for codes, column in zip(self._codes, columns, strict=True):
            size, first = len(column), column[0]
            if column.count(first) == size:
                codes.append(np.full(size, known.setdefault(first, len(known)), dtype=np.int32))
            else:
                codes.append(np.array([known.setdefault(word, len(known)) for word in column], dtype=np.int32))

    def columns(self) -> list[pa.Array]:
        """One array per column."""
        words = pa.array([word and redact(word) for word in self._known], pa.string())
        return [words.take(pa.array(np.concatenate([_NO_CODES, *codes]))) for codes in self._codes]


class Counts:
    """How many members each list of a column has."""

    def __init__(self) -> None:
        self._counts: list[np.ndarray] = [_NO_CODES]

    def add(self, groups: Sequence[Sized]) -> None:
        """Take some more lists."""
        self._counts.append(np.fromiter(map(len, groups), np.int32, len(groups)))

    def starts(self) -> pa.Array:
        """Where each list begins among all members, and where the last one ends."""
        return pa.array(np.cumsum(np.concatenate([[0], *self._counts]), dtype=np.int32))


class Maps:
    """A column of maps without credentials. Keys that come back batch for batch are numbered once."""

    def __init__(self, kind: pa.MapType) -> None:
        self._kind = kind
        self._numbers: dict[str, int] = {}
        self._known: dict[tuple[str, ...], np.ndarray] = {}
        self._keys: list[str] = []
        self._codes: list[np.ndarray] = [_NO_CODES]
        item = kind.item_type
        self._items = Numbers(1, item) if item in _FORMATS else Texts(1)
        self._counts = Counts()

    def add(self, maps: Sequence[dict[str, Any] | None]) -> None:
        """Take some more maps; none is an empty one."""
        filled = [each or {} for each in maps]
        self._counts.add(filled)
        keys = flattened(filled)
        if keys != self._keys:  # else the codes are those of the maps before
            self._keys, codes = keys, [self._numbered(tuple(each)) for each in filled]
            self._codes.append(np.concatenate(codes))
        else:
            self._codes.append(self._codes[-1])
        if keys:
            self._items.add(flattened([each.values() for each in filled]))

    def _numbered(self, keys: tuple[str, ...]) -> np.ndarray:
        known = self._known.get(keys)
        if known is None:
            numbers = self._numbers
            known = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)
            self._known[keys] = known
        return known

    def column(self) -> pa.Array:
        """The array of maps."""
        distinct = pa.array(map(redact, self._numbers), pa.string()).dictionary_encode()  # two may read alike then
        names, codes = distinct.dictionary, distinct.indices.take(pa.array(np.concatenate(self._codes)))
        coded = pa.types.is_dictionary(self._kind.key_type)
        keys = pa.DictionaryArray.from_arrays(codes, names) if coded else names.take(codes)
        (items,) = self._items.columns()
        if pa.types.is_string(items.type):
            items = _safe(items, keys)
        return pa.MapArray.from_arrays(self._counts.starts(), keys, items, type=self._kind)


def _safe(texts: pa.Array, names: pa.Array) -> pa.Array:
    """The texts under these names without credentials; a number holds none."""
    lettered = np.asarray(pc.fill_null(pc.match_substring_regex(texts, "[A-Za-z]"), False))
    if not lettered.any():
        return texts
    values = texts.to_pylist()
    for at in np.flatnonzero(lettered):
        values[at] = redact_setting(names[at].as_py(), values[at])
    return pa.array(values, texts.type)
