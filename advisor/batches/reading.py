"""What reading gives: the two tables, what was broken, and the counts; batches logged twice are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.columns import SCHEMA, SIGHTINGS

_SHORTEST_PIECE = 32
"""Rows; a table of shorter pieces is better copied."""


@dataclass(frozen=True)
class Broken:
    """A record that is not one whole event: where it begins (byte of the decompressed file, line from 1), and why."""

    file: str
    offset: int
    line: int
    reason: str


@dataclass(frozen=True)
class Reading:
    """All that was read. `events` counts the rows of `batches` (after de-duplication), `idle` those that ran no batch.

    `bytes` counts decompressed bytes.
    """

    batches: pa.Table
    sightings: pa.Table
    broken: tuple[Broken, ...] = ()
    files: int = 0
    bytes: int = 0
    events: int = 0
    idle: int = 0
    duplicates: int = 0

    @classmethod
    def of(
        cls,
        batches: pa.Table,
        sightings: pa.Table | None = None,
        *,
        broken: Sequence[Broken] = (),
        files: int = 0,
        size: int = 0,
    ) -> Reading:
        """A reading with its counts, duplicates dropped, sorted by run and time."""
        batches, dropped = deduplicate(batches)
        sightings = SIGHTINGS.empty_table() if sightings is None else sightings
        idle = pc.sum(batches["idle"]).as_py() or 0
        return cls(batches, sightings, tuple(broken), files, size, len(batches), idle, dropped)

    @classmethod
    def merge(cls, readings: Sequence[Reading]) -> Reading:
        """One reading of several; the same batch in two of them counts once."""
        batches = pa.concat_tables([SCHEMA.empty_table(), *(reading.batches for reading in readings)])
        merged = cls.of(
            batches,
            pa.concat_tables([SIGHTINGS.empty_table(), *(reading.sightings for reading in readings)]),
            broken=[broken for reading in readings for broken in reading.broken],
            files=sum(reading.files for reading in readings),
            size=sum(reading.bytes for reading in readings),
        )
        dropped = merged.duplicates + sum(reading.duplicates for reading in readings)
        return cls(**{**vars(merged), "duplicates": dropped})


def deduplicate(table: pa.Table) -> tuple[pa.Table, int]:
    """(rows with distinct (id, run_id, batch_id, timestamp), sorted by run and time; how many rows were dropped).

    Runs stand in the order of their first trigger. Of equal rows the first stays. A table that is in order already
    comes back as it is, one that consists of long pieces in order is put together from them without a copy.
    """
    if len(table) < 2:
        return table, 0
    keys = _keys(table)
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    same = np.logical_and.reduce([key[1:] == key[:-1] for key in ordered])
    kept = order[np.concatenate([[True], ~same])]
    return _rows(table, kept), len(table) - len(kept)


def _rows(table: pa.Table, kept: np.ndarray) -> pa.Table:
    starts = np.flatnonzero(np.concatenate([[True], np.diff(kept) != 1]))
    if len(starts) == 1 and len(kept) == len(table):
        return table
    if len(starts) > max(64, len(kept) // _SHORTEST_PIECE):
        return table.combine_chunks().take(pa.array(kept))  # chunked lists are taken one by one
    lengths = np.diff(np.append(starts, len(kept)))
    return pa.concat_tables([table.slice(kept[start], length) for start, length in zip(starts, lengths, strict=True)])


def _keys(table: pa.Table) -> list[np.ndarray]:
    """What rows are sorted by, first things first: the run and its first trigger, time, batch, query."""
    run, query = _codes(table["run_id"]), _codes(table["id"])
    time = _numbers(table["timestamp"].cast(pa.int64()))
    first = np.full(int(run.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, run, time)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return [rank[run], time, _numbers(table["batch_id"]), query]


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    """A number for each value; equal ones have equal numbers."""
    unique = pc.unique(column)
    return _numbers(pc.index_in(column, value_set=unique))


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(pc.fill_null(column, -1))
