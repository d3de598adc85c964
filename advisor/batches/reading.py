"""What reading gives: the two tables, what was broken, and the counts; batches logged twice are dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.columns import PHASES, SCHEMA, SIGHTINGS
from advisor.progress import FROM_UI
from advisor.stages import SCHEMAS

if TYPE_CHECKING:
    import pandas as pd

_OF_ONE_BATCH = 4
"""Keys of `_keys` that two records of one batch have in common."""
_BATCH = 2
"""Which of them is the batch id."""
_LISTS = ("sources", "operators")
_LONGEST_FILE = 1 << 40
"""Bytes."""
_SHORTEST_PIECE = 32
"""Rows; a table of shorter pieces is better copied."""
TABLES: Mapping[str, pa.Schema] = {"batches": SCHEMA, "sightings": SIGHTINGS, **SCHEMAS}
"""The tables that reading gives, by name; the last two are empty where stages were not asked for."""


@dataclass(frozen=True)
class Broken:
    """A record that is not one whole event: where it begins (byte of the decompressed file, line from 1), and why.

    A partial record was read as far as it goes: `lacks` names what it has not or not all of, and `reason` is what it
    says. `times`: how many records it stands for; of very many of a file only the first are listed one by one.
    """

    file: str
    offset: int
    line: int
    reason: str
    lacks: tuple[str, ...] | None = None
    times: int = 1

    @property
    def partial(self) -> bool:
        """Whether the record was read as far as it goes."""
        return self.lacks is not None

    def and_more(self, others: int) -> Broken:
        """One entry for this record and so many others, which are not listed."""
        return replace(self, times=self.times + others)


@dataclass(frozen=True)
class Overrun:
    """A line of a log without progress about a batch that took longer than its trigger interval.

    `spent_ms`: the time that it took, from and to; `clock`: the time of the line as it stands there; `suggests`: what
    the text around it makes likely.
    """

    file: str
    offset: int
    interval_ms: int
    spent_ms: tuple[int, int]
    clock: str | None = None
    suggests: str | None = None


class Doing(NamedTuple):
    """A look at a run: what a live source shows of it at one moment, beside its batches.

    `at`: the clock. `thread`: the frames of the query's thread, the innermost first, or the query's status.
    `job`: its job that runs, in words. `newest`, `oldest`: the batches that anything else than progress names. `idle`:
    when the source last said that there is nothing to read. `met`: when the run's newest batch was first seen, or the
    run where none has ended. `gone`: since when its driver does not list it.
    """

    at: datetime
    thread: str = ""
    job: str = ""
    newest: int | None = None
    idle: datetime | None = None
    oldest: int | None = None
    met: datetime | None = None
    gone: datetime | None = None


def job_in_words(job: int, done: int, tasks: int) -> str:
    """Return `job 12 runs, 3 of 200 tasks done`."""
    return f"job {job} runs, {done} of {tasks} tasks done"


@dataclass(frozen=True)
class Reading:
    """All that was read. `events` counts whole events (after de-duplication), `idle` those of them that ran no batch.

    `batches` also has a row for each partial record whose durations are whole. `bytes` counts decompressed bytes.
    """

    batches: pa.Table
    sightings: pa.Table
    broken: tuple[Broken, ...] = ()
    files: int = 0
    bytes: int = 0
    events: int = 0
    idle: int = 0
    duplicates: int = 0
    overruns: tuple[Overrun, ...] = ()
    gone_since: datetime | None = None
    """Since when a driver that is watched does not answer."""
    doing: Mapping[str, Doing] = field(default_factory=dict)
    """What a live source shows of each run that runs, at the moment of the reading."""
    inside: Mapping[str, pa.Table] = field(default_factory=dict)
    """The tables that open addBatch, where they were asked for."""

    @property
    def from_ui(self) -> int:
        """How many batches were read from a driver's pages."""
        return pc.sum(pc.starts_with(self.batches["partial"], FROM_UI)).as_py() or 0

    @property
    def tables(self) -> dict[str, pa.Table]:
        """Each of TABLES."""
        held = {"batches": self.batches, "sightings": self.sightings, **self.inside}
        return {name: held[name] if name in held else schema.empty_table() for name, schema in TABLES.items()}

    @classmethod
    def of(
        cls,
        batches: pa.Table,
        sightings: pa.Table | None = None,
        *,
        broken: Sequence[Broken] = (),
        files: int = 0,
        size: int = 0,
        overruns: Sequence[Overrun] = (),
    ) -> Reading:
        """A reading with its counts, duplicates dropped, sorted by run and time."""
        batches, dropped = deduplicate(batches)
        sightings = SIGHTINGS.empty_table() if sightings is None else sightings
        whole = pc.is_null(batches["partial"])
        idle = pc.sum(pc.and_(whole, batches["idle"])).as_py() or 0
        return cls(
            batches, sightings, tuple(broken), files, size, pc.sum(whole).as_py() or 0, idle, dropped, tuple(overruns)
        )

    @classmethod
    def merge(cls, readings: Sequence[Reading]) -> Reading:
        """One reading of several; the same batch in two of them counts once."""
        merged = cls.of(
            pa.concat_tables([SCHEMA.empty_table(), *(reading.batches for reading in readings)]),
            pa.concat_tables([SIGHTINGS.empty_table(), *(reading.sightings for reading in readings)]),
            broken=[broken for reading in readings for broken in reading.broken],
            files=sum(reading.files for reading in readings),
            size=sum(reading.bytes for reading in readings),
            overruns=[overrun for reading in readings for overrun in reading.overruns],
        )
        dropped = merged.duplicates + sum(reading.duplicates for reading in readings)
        inside = {
            name: each_batch_once([reading.inside[name] for reading in readings if name in reading.inside])
            for name in {name for reading in readings for name in reading.inside}
        }
        doing = {run: look for reading in readings for run, look in reading.doing.items()}
        return replace(merged, duplicates=dropped, doing=doing, inside=inside)


def each_batch_once(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all tables; of a batch that several tell of, those of the first one."""
    table = pa.concat_tables(tables)
    numbers = table["batch_id"].cast(pa.string())
    batch = _codes(pc.binary_join_element_wise(table["run_id"], numbers, " ", null_handling="replace"))
    teller = np.repeat(np.arange(len(tables)), [len(one) for one in tables])
    first = np.full(len(table), len(tables))
    np.minimum.at(first, batch, teller)
    return table.filter(pa.array(teller == first[batch]))


def table_of_sightings(rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    """Return the table of sightings with these rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(SIGHTINGS)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SIGHTINGS, strict=True)], SIGHTINGS)


def deduplicate(table: pa.Table) -> tuple[pa.Table, int]:
    """(rows with distinct (id, run_id, batch_id, timestamp), sorted by run and time; how many rows were dropped).

    Runs stand in the order of their first trigger, then of their ids. Of equal rows a whole one stays, of these the one
    that knows most, else the first.
    A table that is in order already comes back as it is, one that consists of long pieces in order is put together from
    them without a copy.
    """
    if len(table) < 2:
        return table, 0
    table = _with_both_ids(table)
    keys = _keys(table)
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    same = np.logical_and.reduce([key[1:] == key[:-1] for key in ordered[:_OF_ONE_BATCH]])
    if same.any() and (lacking := _lacking(table)).any():
        order = np.lexsort([lacking, *keys[::-1]])
    kept = order[np.concatenate([[True], ~same])]
    return _rows(table, kept), len(table) - len(kept)


def _with_both_ids(table: pa.Table) -> pa.Table:
    """Give records that lost a line the id or the run that others show: one without either has the other twice.

    Without both it has the query's name there. What several queries or runs may be stays as it is.
    """
    ids, runs, names = (table[column].cast(pa.string()) for column in ("id", "run_id", "name"))
    lost = pc.fill_null(pc.equal(ids, runs), False).combine_chunks()
    if not 0 < lost.true_count < len(table):
        return table
    by: tuple[dict[str | None, set[tuple[str, str]]], ...] = ({}, {}, {})
    known = pa.table([runs, ids, names], ["run", "id", "name"]).filter(pc.invert(lost))
    for row in known.group_by(known.column_names).aggregate([]).to_pylist():
        for found, name in zip(by, known.column_names, strict=True):
            found.setdefault(row[name], set()).add((row["id"], row["run"]))

    def both(shown: str) -> tuple[str, str]:
        own = next((found[shown] for found in by if shown in found), set[tuple[str, str]]())
        return next(iter(own)) if len(own) == 1 else (shown, shown)

    pairs = list(map(both, ids.filter(lost).to_pylist()))
    for at, (name, column) in enumerate((("id", ids), ("run_id", runs))):
        put = pc.replace_with_mask(column.combine_chunks(), lost, pa.array([pair[at] for pair in pairs], pa.string()))
        table = table.set_column(table.column_names.index(name), name, put.cast(table[name].type))
    return table


def _rows(table: pa.Table, kept: np.ndarray) -> pa.Table:
    starts = np.flatnonzero(np.concatenate([[True], np.diff(kept) != 1]))
    if len(starts) == 1 and len(kept) == len(table):
        return table
    if len(starts) > max(64, len(kept) // _SHORTEST_PIECE):
        return table.combine_chunks().take(pa.array(kept))  # chunked lists are taken one by one
    lengths = np.diff(np.append(starts, len(kept)))
    return pa.concat_tables([table.slice(kept[start], length) for start, length in zip(starts, lengths, strict=True)])


def _keys(table: pa.Table) -> list[np.ndarray]:
    """What rows are sorted by, first things first: the run and its first trigger, time, batch, query, wholeness."""
    run, query = _codes(table["run_id"]), _codes(table["id"])
    time = _numbers(table["timestamp"].cast(pa.int64()))
    first = np.full(int(run.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, run, time)
    rank = np.empty(len(first), dtype=np.int64)
    names = pc.unique(table["run_id"]).cast(pa.string())
    rank[np.lexsort((np.asarray(pc.rank(names)), first))] = np.arange(len(first))
    keys = [rank[run], time, _numbers(table["batch_id"]), query]
    if table["partial"].null_count == len(table):
        return keys
    partial = np.asarray(pc.is_valid(table["partial"]))
    nameless = partial & np.asarray(pc.and_(pc.is_null(table["batch_id"]), pc.is_null(table["timestamp"])))
    keys[_BATCH] = np.where(nameless, _places(table), keys[_BATCH])
    return [*keys, partial]


def _lacking(table: pa.Table) -> np.ndarray:
    """How many phases, lists and named parts each row lacks."""
    named = _numbers(pc.count_substring(table["partial"].cast(pa.string()), ","))
    missing = [pc.is_null(table[column.name]) for column in PHASES if column.name in table.column_names]
    empty = [pc.less(pc.list_value_length(table[name]), 1) for name in _LISTS if name in table.column_names]
    lacking: np.ndarray = sum((_numbers(each.cast(pa.int8())) for each in (*missing, *empty)), named)
    return lacking


def _places(table: pa.Table) -> np.ndarray:
    """Return a number for the place of each row, below every batch id: it identifies records that name no batch."""
    file = _codes(table["file"]).astype(np.int64)
    return np.iinfo(np.int64).min + file * _LONGEST_FILE + _numbers(table["offset"])


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    """A number for each value; equal ones have equal numbers. Dictionaries of the chunks are the same."""
    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([chunk.indices for chunk in column.chunks])
    unique = pc.unique(column)
    return _numbers(pc.index_in(column, value_set=unique))


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(pc.fill_null(column, -1))


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """One row per batch, columns of COLUMNS.

    Times are tz-aware, numbers that may be missing are float64 with NaN. Columns of lists and maps stay Arrow columns:
    an element is a list of dicts, and nothing is converted before it is asked for.
    """
    import pandas as pd  # noqa: PLC0415 - half a second that --help does not pay

    def kept(kind: pa.DataType) -> Any:
        return pd.ArrowDtype(kind) if pa.types.is_nested(kind) else None

    frame: pd.DataFrame = table.to_pandas(types_mapper=kept, coerce_temporal_nanoseconds=False)
    return frame
