"""Collects plain values of many events, and makes columns of them.

Making an array costs as much as a thousand numbers in it, so arrays of one type are made together.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence, Sized
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.redaction import redact, redact_setting

_FORMATS = {pa.int64(): "q", pa.float64(): "d"}
_NONE = np.zeros((1, 1), np.bool_)
_NO_CODES = np.zeros(0, dtype=np.int32)


def flattened(groups: Iterable[Iterable[Any]]) -> list[Any]:
    """The members of all groups."""
    return list(chain.from_iterable(groups))


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """As pa.array, which takes some times as long where no number is missing."""
    if kind in _FORMATS:
        with suppress(struct.error):
            packed = struct.pack(f"{len(values)}{_FORMATS[kind]}", *values)
            return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(packed)])
    return pa.array(values, kind)


class Numbers:
    """Columns of numbers of one type: int64 or float64."""

    def __init__(self, width: int, kind: pa.DataType) -> None:
        self._width = width
        self._kind = kind
        self._type = np.dtype(kind.to_pandas_dtype())
        self._blocks: list[_Block] = []

    def add(self, *columns: Sequence[Any]) -> None:
        """Take some more values of each column, at least one."""
        size = len(columns[0])
        filled = [at for at, column in enumerate(columns) if column[0] is not None or column.count(None) < size]
        array = _array(flattened([columns[at] for at in filled]), self._kind)
        missing = np.asarray(array.is_null()).reshape(-1, size) if array.null_count else _NONE
        values = np.asarray(array.fill_null(0) if array.null_count else array).reshape(-1, size)
        self._blocks.append(_Block(size, filled, values, missing))

    def columns(self) -> list[pa.Array]:
        """One array per column."""
        size = sum(block.size for block in self._blocks)
        values, missing = np.zeros((self._width, size), self._type), np.ones((self._width, size), np.bool_)
        end = 0
        for block in self._blocks:
            begin, end = end, end + block.size
            values[block.columns, begin:end] = block.values
            missing[block.columns, begin:end] = block.missing
        return [pa.array(column, self._kind, mask=mask) for column, mask in zip(values, missing, strict=True)]


class _Block(NamedTuple):
    """Values of some events, a row for each of the `columns`; the other columns have none."""

    size: int
    columns: list[int]
    values: np.ndarray
    missing: np.ndarray


class Texts:
    """Columns of text that differs from event to event."""

    def __init__(self, width: int) -> None:
        self._pieces: list[list[pa.Array]] = [[] for _ in range(width)]

    def add_none(self, size: int) -> None:
        """Take that many times nothing in each column."""
        for pieces in self._pieces:
            pieces.append(pa.nulls(size, pa.string()))

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
        words = pa.array(list(map(_redacted, self._known)), pa.string())
        return [words.take(pa.array(np.concatenate([_NO_CODES, *codes]))) for codes in self._codes]


@lru_cache(maxsize=4096)
def _redacted(word: str | None) -> str | None:
    return None if word is None else redact(word)


class Counts:
    """How many members each list of a column has."""

    def __init__(self) -> None:
        self._counts: list[np.ndarray] = [_NO_CODES]

    def add(self, groups: Sequence[Sized]) -> None:
        """Take some more lists."""
        self._counts.append(np.fromiter(map(len, groups), np.int32, len(groups)))

    def add_none(self, size: int) -> None:
        """Take that many empty lists."""
        self._counts.append(np.zeros(size, np.int32))

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
        self._items: list[pa.Array] = []
        self._counts = Counts()

    def add(self, maps: Sequence[dict[str, Any] | None]) -> None:
        """Take some more maps; none is an empty one."""
        if maps.count(None) == len(maps):
            self._counts.add_none(len(maps))
            return
        filled = [each or {} for each in maps]
        self._counts.add(filled)
        keys = flattened(filled)
        if keys != self._keys:  # else the codes are those of the maps before
            self._keys, codes = keys, [self._numbered(tuple(each)) for each in filled]
            self._codes.append(np.concatenate(codes))
        else:
            self._codes.append(self._codes[-1])
        self._items.append(_array(flattened([each.values() for each in filled]), self._kind.item_type))

    def _numbered(self, keys: tuple[str, ...]) -> np.ndarray:
        known = self._known.get(keys)
        if known is None:
            numbers = self._numbers
            known = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)
            self._known[keys] = known
        return known

    def column(self) -> pa.Array:
        """The array of maps."""
        distinct = pa.array(
            map(redact, self._numbers), pa.string()
        ).dictionary_encode()  # two names may read alike then
        names, codes = distinct.dictionary, distinct.indices.take(pa.array(np.concatenate(self._codes)))
        coded = pa.types.is_dictionary(self._kind.key_type)
        keys = pa.DictionaryArray.from_arrays(codes, names) if coded else names.take(codes)
        items = pa.concat_arrays(self._items or [pa.nulls(0, self._kind.item_type)])
        if pa.types.is_string(items.type):
            items = _safe(items, keys)
        return pa.MapArray.from_arrays(self._counts.starts(), keys, items, type=self._kind)


def _safe(texts: pa.Array, names: pa.Array) -> pa.Array:
    """The texts under these names without credentials; a number holds none."""
    told = np.asarray(pc.fill_null(pc.match_substring_regex(texts, "[A-Za-z]"), False))
    if not told.any():
        return texts
    values = texts.to_pylist()
    for at in np.flatnonzero(told):
        values[at] = redact_setting(names[at].as_py(), values[at])
    return pa.array(values, texts.type)
