"""The table of batches as numpy columns, each made when it is first read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.columns import PHASES

LONGEST_MS = 10 * 366 * 86_400_000.0
"""No trigger lasts longer than ten years: a phase of more is no duration."""
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
LATEST_MS = 4_102_444_800_000.0
"""The year 2100, in ms since 1970: no batch starts before 1970 or after that."""
_LARGEST = 1e18
"""No count of rows, bytes or milliseconds that Spark sums over tasks is larger, and none is negative."""
_PHASES = frozenset(column.name for column in PHASES)
_LIMITED = ("timestamp", "input_rows", *(column.name for column in PHASES))
_FEWEST_CUT = 5
_LACKS = "lacks "
ALWAYS = ("trigger_execution_ms", "query_planning_ms", "wal_commit_ms", "add_batch_ms")
"""Phases of every batch in every version: an event without one lacks others, too."""
ASKING = ("latest_offset_ms", "get_offset_ms", "get_end_offset_ms")
"""Phases of which every batch has one, but for the first after a restart, whose offsets are in the log."""
_CHANGED = ("rows_updated", "rows_removed")
_UNLIMITED = frozenset({"batch_id", "watermark", "event_time_max", "event_time_min", "event_time_avg", "offset"})

Make = Callable[[str], np.ndarray]


class Columns:
    """Columns of one length by name.

    Numbers and instants (ms since 1970, UTC) are float64, NaN where nothing is known or where a number cannot be right;
    flags are bool, false where they are not known; texts are objects, None where there is none.
    """

    def __init__(
        self, length: int, make: Make, made: Mapping[str, np.ndarray] | None = None, of: Columns | None = None
    ) -> None:
        """`make` gives a column of that name, or raises KeyError; `made` are there already.

        `of`: the columns that they are taken from, which are the same but for `made`.
        """
        self.length, self._make, self._of = length, make, of
        self._made = dict(made or {})
        self._lacking: set[str] = set()

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, name: str) -> np.ndarray:
        column = self._made.get(name)
        if column is None:
            column = self._made[name] = self._make(name)
        return column

    def __contains__(self, name: str) -> bool:
        if name in self._made or name in self._lacking:
            return name in self._made
        if self._of is not None:
            return name in self._of  # which of many runs is asked once
        try:
            self[name]
        except KeyError:
            self._lacking.add(name)  # asked for by one metric after the other
            return False
        return True

    def at(self, positions: np.ndarray) -> Columns:
        """The rows at these positions."""
        return Columns(len(positions), lambda name: self[name][positions], of=self)

    def where(self, keep: np.ndarray) -> Columns:
        """The rows for which `keep` is true."""
        at = np.flatnonzero(keep)
        if len(at) == self.length:
            return self
        if not len(at):
            return self.part(0, 0)
        together = at[-1] - at[0] + 1 == len(at)  # as without the cold ones: no copy of each column
        return self.part(int(at[0]), int(at[-1]) + 1) if together else self.at(at)

    def part(self, start: int, end: int) -> Columns:
        """The rows from `start` to `end`, without a copy."""
        return Columns(end - start, lambda name: self[name][start:end], of=self)

    def having(self, **more: np.ndarray) -> Columns:
        """The same rows with more columns."""
        return Columns(len(self), self.__getitem__, more, of=self)


def instant(ms: float) -> datetime | None:
    """The point in time so many milliseconds after 1970; None for NaN."""
    return None if math.isnan(ms) else _EPOCH + timedelta(milliseconds=float(ms))


def whole_seconds(starts: np.ndarray) -> bool:
    """Whether all of these instants (ms) are whole seconds: whoever wrote them down cut the rest off."""
    return len(starts) >= _FEWEST_CUT and not np.any(starts % 1000) and len(np.unique(starts)) >= _FEWEST_CUT


def rows_of(table: pa.Table) -> Columns:
    """Return the plain columns of the table of batches, and what follows from each row.

    `other_phases_ms`: their sum. `implausible`: an instant, a phase or a number of rows cannot be right; it is NaN in
    its own column. `whole`: the record is not partial. `lacks PART`: see `lacks`.
    """

    def make(name: str) -> np.ndarray:
        if name == "other_phases_ms":
            return _sums(_whole(table["other_phases"]))
        if name == "implausible":
            return np.any([_implausible(name, _floats(table[name])) for name in _LIMITED], axis=0)
        if name == "whole":
            return np.asarray(pc.is_null(table["partial"]))
        if name.startswith(_LACKS):
            return _lacking(rows_of(table), name.removeprefix(_LACKS))  # `table` alone: a cycle keeps memory for long
        return _values(name, table[name])

    return Columns(len(table), make)


def lacks(batches: Columns, part: str) -> np.ndarray:
    """Return which of these batches' records lack a part of an event, by Spark's name, or have not all of it.

    Of `durationMs` also those without a phase that every version of Spark writes.
    """
    return batches[_LACKS + part]


def all_lack(batches: Columns) -> frozenset[str]:
    """Return the parts of an event, by Spark's names, that each of these batches' records lacks."""
    lists = [frozenset(text.split(",") if text else ()) for text in set(batches["partial"])]
    return frozenset.intersection(*lists) if lists else frozenset()


def _lacking(batches: Columns, part: str) -> np.ndarray:
    partial = batches["partial"]
    if set(partial) <= {None}:
        named = np.zeros(len(partial), dtype=bool)
    else:
        named = np.array([text is not None and part in text.split(",") for text in partial], dtype=bool)
    if part != "durationMs":
        return named
    missing = np.any([np.isnan(batches[name]) for name in ALWAYS], axis=0)
    unasked = np.all([np.isnan(batches[name]) for name in ASKING], axis=0)
    return named | missing | unasked


class Members:
    """One row per member of the lists in a column (`operators` or `sources`), with the member's own fields as columns.

    Column `custom:NAME` is a metric of a state store, `metrics:NAME` one of a source. `batch` is the position of the
    member's row in the table, `place` its own among all members.
    """

    def __init__(self, table: pa.Table, column: str) -> None:
        self._lists = _whole(table[column])
        self._flat = self._lists.flatten()
        self._maps: dict[str, _Maps] = {}

    @property
    def columns(self) -> Columns:
        """One row per member. They hold this object, which must not hold them: cycles keep their memory for long."""
        return Columns(len(self._flat), self._made)

    def keys(self, field: str, places: np.ndarray) -> set[str]:
        """The keys of the maps in `field` of the members at these places, which are in order."""
        if not len(places):
            return set()
        maps, first = self._maps_of(field), places[0]
        wanted = np.zeros(places[-1] - first + 1, dtype=bool)
        wanted[places - first] = True
        low, high = np.searchsorted(maps.rows, (first, places[-1] + 1))
        kept = maps.keys[low:high][wanted[maps.rows[low:high] - first]]
        names = list(maps.numbers)
        return {names[number] for number in np.flatnonzero(np.bincount(kept))}

    def _made(self, name: str) -> np.ndarray:
        if name == "batch":
            return np.repeat(np.arange(len(self._lists)), _spans(self._lists))
        if name == "place":
            return np.arange(len(self._flat))
        part, _, key = name.partition(":")
        index = self._flat.type.get_field_index(part)
        if index < 0:
            raise KeyError(name)
        if name == "rows_total":
            return _counted(*(_values(each, self._flat.field(each)) for each in (name, *_CHANGED)))
        return self._maps_of(part).column(key) if key else _values(name, self._flat.field(index))

    def _maps_of(self, field: str) -> _Maps:
        if field not in self._maps:
            self._maps[field] = _Maps.of(self._flat.field(field))
        return self._maps[field]


def _counted(total: np.ndarray, updated: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """Return the rows of the state; unknown if 0 is reported although rows were written: RocksDB may not count them."""
    kept = updated > np.where(np.isnan(removed), 0, removed)
    return np.where((total == 0) & kept, np.nan, total)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """One array of a column's chunks; of one chunk without a copy."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _values(name: str, column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    kind = column.type
    if pa.types.is_boolean(kind):
        return np.asarray(pc.fill_null(column, False) if column.null_count else column, dtype=bool)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_timestamp(kind):
        numbers = _floats(column)
        wrong = _implausible(name, numbers)
        return np.where(wrong, np.nan, numbers) if wrong.any() else numbers
    return _texts(_whole(column) if isinstance(column, pa.ChunkedArray) else column)


def _texts(column: pa.Array) -> np.ndarray:
    """Texts as objects, equal ones as one object."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    distinct = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
    return distinct[np.asarray(pc.fill_null(coded.indices, len(distinct) - 1))]


def _floats(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    one = _whole(column) if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_timestamp(one.type):
        one = one.view(pa.int64())
    return one.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)


def _implausible(name: str, numbers: np.ndarray) -> np.ndarray:
    if name in _UNLIMITED:
        return np.zeros(len(numbers), dtype=bool)
    most = LONGEST_MS if name in _PHASES else LATEST_MS if name == "timestamp" else _LARGEST
    return (numbers < 0) | (numbers > most)


def _sums(maps: pa.Array) -> np.ndarray:
    """The sum of the numbers in each map, those left out that cannot be right."""
    entries = _Maps.of(maps)
    possible = (entries.values >= 0) & (entries.values <= LONGEST_MS)
    return np.bincount(entries.rows[possible], entries.values[possible], len(maps))


@dataclass(frozen=True)
class _Maps:
    """The entries of a column of maps: for each its row, the number of its key, and its value."""

    length: int
    rows: np.ndarray
    keys: np.ndarray
    numbers: dict[str, int]
    values: np.ndarray

    @classmethod
    def of(cls, maps: pa.Array) -> _Maps:
        lengths = _spans(maps)
        keys = _items(maps, maps.keys, lengths)
        codes = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
        numbers = {key: number for number, key in enumerate(codes.dictionary.to_pylist())}
        values = _values("", _items(maps, maps.items, lengths))
        return cls(len(maps), np.repeat(np.arange(len(maps)), lengths), np.asarray(codes.indices), numbers, values)

    def column(self, key: str) -> np.ndarray:
        """What each map holds under a key; KeyError where none holds it."""
        at = np.flatnonzero(self.keys == self.numbers[key])
        if not len(at):
            raise KeyError(key)
        column = np.full(self.length, None if self.values.dtype == object else np.nan, self.values.dtype)
        column[self.rows[at]] = self.values[at]
        return column


def _spans(nested: pa.Array) -> np.ndarray:
    """How many members each list or map has; 0 for none."""
    offsets = np.asarray(nested.offsets)
    lengths: np.ndarray = offsets[1:] - offsets[:-1]
    return np.where(np.asarray(nested.is_null()), 0, lengths) if nested.null_count else lengths


def _items(maps: pa.Array, inner: pa.Array, lengths: np.ndarray) -> pa.Array:
    """The keys or items of these maps alone: `keys` and `items` of a slice are those of the whole."""
    if not len(maps):
        return inner.slice(0, 0)
    return inner.slice(maps.offsets[0].as_py(), int(lengths.sum()))
