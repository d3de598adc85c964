"""Collects plain values of many events, and makes columns of them.

Making an array costs as much as a thousand numbers in it, so arrays of one type are made together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from advisor.redaction import redact

_CODE = pa.int32()
_NO_CODES = np.zeros(0, dtype=np.int32)


def flattened(groups: Iterable[Sequence[Any]]) -> list[Any]:
    """The members of all groups."""
    return list(chain.from_iterable(groups))


class Values:
    """Columns of one type, whose values differ from event to event."""

    def __init__(self, width: int, kind: pa.DataType) -> None:
        self._width = width
        self._kind = kind
        self._pieces: list[tuple[int, pa.Array]] = []

    def add_none(self, size: int) -> None:
        """Take that many times nothing in each column."""
        self._pieces.append((size, pa.nulls(size * self._width, self._kind)))

    def add(self, *columns: Sequence[Any]) -> None:
        """Take some more values of each column."""
        self._pieces.append((len(columns[0]), pa.array(flattened(columns), self._kind)))

    def columns(self) -> list[pa.Array]:
        """One array per column."""
        return [self._column(at) for at in range(self._width)]

    def _column(self, at: int) -> pa.Array:
        if not self._pieces:
            return pa.nulls(0, self._kind)
        return pa.concat_arrays([piece.slice(at * size, size) for size, piece in self._pieces])


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
        self._counts: list[int] = []

    def add(self, groups: Iterable[Sized]) -> None:
        """Take some more lists."""
        self._counts += map(len, groups)

    def starts(self) -> pa.Array:
        """Where each list begins among all members, and where the last one ends."""
        starts = np.zeros(len(self._counts) + 1, dtype=np.int32)
        np.cumsum(self._counts, out=starts[1:])
        return pa.array(starts)


class Maps:
    """A column of maps. A tuple of keys, which comes back batch for batch, is numbered once."""

    def __init__(self, kind: pa.MapType) -> None:
        self._kind = kind
        self._numbers: dict[str, int] = {}
        self._known: dict[tuple[str, ...], list[int]] = {}
        self._codes: list[int] = []
        self._items = Values(1, kind.item_type)
        self._counts = Counts()

    def add(self, maps: Sequence[dict[str, Any] | None]) -> None:
        """Take some more maps; none is an empty one."""
        if maps.count(None) == len(maps):
            self._counts.add([()] * len(maps))
            return
        filled = [each or {} for each in maps]
        self._counts.add(filled)
        items: list[Any] = []
        for each in filled:
            if each:
                keys = tuple(each)
                self._codes += self._known.get(keys) or self._numbered(keys)
                items += each.values()
        if items:
            self._items.add(items)

    def _numbered(self, keys: tuple[str, ...]) -> list[int]:
        numbers = self._numbers
        self._known[keys] = [numbers.setdefault(key, len(numbers)) for key in keys]
        return self._known[keys]

    def column(self) -> pa.Array:
        """The array of maps."""
        names, codes = pa.array(list(self._numbers), pa.string()), pa.array(self._codes, _CODE)
        coded = pa.types.is_dictionary(self._kind.key_type)
        keys = pa.DictionaryArray.from_arrays(codes, names) if coded else names.take(codes)
        return pa.MapArray.from_arrays(self._counts.starts(), keys, *self._items.columns(), type=self._kind)
