"""The rows of one run that its judgement needs, from any number of them, in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import SCHEMA, deduplicate
from advisor.cluster.rows import Row, packed, unpacked
from advisor.report.absent import Span, span
from advisor.report.runs import LOOKED_AT, NARROW
from advisor.window import LONGEST_WARM_UP, MOST_BATCHES

if TYPE_CHECKING:
    import pandas as pd

_FULL = 2 * MOST_BATCHES


class Summary(msgspec.Struct):
    """What the driver must know of a run."""

    run_id: str
    id: str | None
    logs: list[str]
    events: int
    idle: int
    duplicates: int
    span: Span | None


def runs_of(rows: Iterable[Row], until: pd.Timestamp | None = None) -> Iterator[Row]:
    """Two rows for each run: `run` (its summary; payload: the last batches) and `narrow` (payload: all events' places).

    `rows` are chunks of batches, run by run in order of file and place, so that of equal batches the first stays.
    """
    for run_id, chunks in groupby(rows, key=lambda row: row.key):
        run = _Run(until)
        for chunk in chunks:
            run.add(unpacked(chunk.payload))
        yield from run.rows(run_id)


class _Run:
    def __init__(self, until: pd.Timestamp | None) -> None:
        self._until = until
        self._narrow: list[bytes] = []
        self._wide: list[pa.Table] = []
        self._held = 0

    def add(self, table: pa.Table) -> None:
        """Take a chunk; what cannot be among the last batches is let go."""
        self._narrow.append(packed(_encoded(table.select(NARROW))))  # a part of a table would hold all of it
        self._wide.append(table)
        self._held += len(table)
        if self._held > _FULL + MOST_BATCHES:
            self._wide = [self._trimmed()]
            self._held = len(self._wide[0])

    def _trimmed(self) -> pa.Table:
        rows, _ = deduplicate(pa.concat_tables(self._wide))
        return rows.filter(pa.array(wanted(rows, self._until)))

    def rows(self, run_id: str) -> Iterator[Row]:
        """The run's two rows."""
        narrow, dropped = deduplicate(pa.concat_tables(map(unpacked, self._narrow)).unify_dictionaries())
        whole = narrow["partial"].is_null()
        count, idle = (pc.sum(flags).as_py() or 0 for flags in (whole, pc.and_(whole, narrow["idle"])))
        logs = pc.unique(narrow["log"]).to_pylist()
        summary = Summary(run_id, narrow["id"][0].as_py(), logs, count, idle, dropped, span(narrow))
        note = msgspec.json.encode(summary).decode()
        wide = self._trimmed()
        yield Row("run", run_id, rows=len(wide), note=note, payload=packed(wide))
        yield Row("narrow", run_id, rows=len(narrow), payload=packed(narrow))


def wanted(table: pa.Table, until: pd.Timestamp | None) -> np.ndarray:
    """Which rows of a run's table, in order of time, its judgement may look at, as a mask."""
    executed = ~np.asarray(table["idle"])
    keep = _last(executed, LOOKED_AT)
    keep[-LOOKED_AT:] = True
    judged = executed
    if until is not None:
        limit = pa.scalar(until, table["timestamp"].type)
        judged = executed & np.asarray(pc.fill_null(pc.less_equal(table["timestamp"], limit), False))
    return np.asarray(keep | _last(judged, MOST_BATCHES + LONGEST_WARM_UP))


def _last(mask: np.ndarray, count: int) -> np.ndarray:
    """The last `count` true elements of a mask."""
    return np.asarray(mask & (np.cumsum(mask[::-1])[::-1] <= count))


_WORDS = ("id", "run_id", "name", "file", "log")


def _encoded(table: pa.Table) -> pa.Table:
    """The table with words as numbers into dictionaries: a run's million events have the same few."""
    columns = [
        pc.dictionary_encode(column) if name in _WORDS else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def as_text(table: pa.Table) -> pa.Table:
    """A table of narrow rows in the types of the table of batches."""
    return table.cast(pa.schema([SCHEMA.field(name) for name in NARROW]))
