"""The batches of each run as columns: views of those of many runs, which are made at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.arrays import Columns, Members, rows_of
from advisor.batches.inside import Inside

NO_STAGES = Columns(0, {"batch": np.zeros(0, dtype=int)}.__getitem__)
_BLOCK = 8192
"""Rows that are made into columns together; enough that what each conversion costs does not show."""


@dataclass(frozen=True)
class Batches:
    """Rows of the table of batches, and one row per operator and source of each; their `batch` is its position.

    `stages`: one row per stage of the batches, where something shows them; then `rows` has the parts of addBatch, too.
    """

    rows: Columns
    operators: Columns
    sources: Columns
    whole: Members
    """The operators of the table that these rows are taken from."""
    stages: Columns = NO_STAGES

    @classmethod
    def of(cls, table: pa.Table | Batches) -> Batches:
        """The columns of a table; columns stay as they are."""
        if isinstance(table, Batches):
            return table
        operators, sources = Members(table, "operators"), Members(table, "sources")
        return cls(rows_of(table), operators.columns, sources.columns, operators)

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, start: int, end: int) -> Batches:
        """The rows from `start` to `end`, without a copy."""
        parts = (_part_of(members, start, end) for members in (self.operators, self.sources, self.stages))
        operators, sources, stages = parts
        return Batches(self.rows.part(start, end), operators, sources, self.whole, stages)

    def where(self, keep: np.ndarray) -> Batches:
        """The rows for which `keep` is true."""
        if keep.all():
            return self
        parts = (members_of(members, keep) for members in (self.operators, self.sources, self.stages))
        operators, sources, stages = parts
        return Batches(self.rows.where(keep), operators, sources, self.whole, stages)

    def opened(self, run_id: str, inside: Inside) -> Batches:
        """The same batches of this run with what was seen inside addBatch."""
        rows = self.rows.having(**inside.parts(run_id, self.rows))
        return replace(self, rows=rows, stages=inside.stages(run_id, self.rows))

    def state_metrics(self, keep: np.ndarray) -> set[str]:
        """Names of the state stores' own metrics in the rows for which `keep` is true."""
        return self.whole.keys("custom", self.operators["place"][keep[self.operators["batch"]]])


def _part_of(members: Columns, start: int, end: int) -> Columns:
    """The members of the rows from `start` to `end`, numbered anew."""
    first, last = (int(at) for at in np.searchsorted(members["batch"], (start, end)))
    return members.part(first, last).having(batch=members["batch"][first:last] - start)


def members_of(members: Columns, keep: np.ndarray) -> Columns:
    """The operators or sources of the rows for which `keep` is true, numbered anew."""
    if keep.all():
        return members
    at = np.flatnonzero(keep[members["batch"]])
    return members.at(at).having(batch=(np.cumsum(keep) - 1)[members["batch"][at]])


class RunBatches(Mapping[str, Batches]):
    """The batches of each run of a table that is sorted by run and time.

    Cheap for those who ask run by run in the order of the table: one block of runs is held as columns at a time.
    """

    def __init__(self, table: pa.Table, inside: Inside | None = None) -> None:
        """`inside`: what was seen inside addBatch, if anything was."""
        self._table, self._inside = table, inside
        runs = pc.run_end_encode(pc.fill_null(_dense(table["run_id"].combine_chunks()), ""))
        self._ends = np.asarray(runs.run_ends)
        self._starts = np.append(0, self._ends[:-1])
        self._number = {run: number for number, run in enumerate(runs.values.to_pylist())}
        self._block = 0, Batches.of(table.slice(0, 0))
        self._last: tuple[str | None, Batches] = None, self._block[1]

    def __getitem__(self, run_id: str) -> Batches:
        if self._last[0] != run_id:  # a run is asked for several times while it is judged
            self._last = run_id, self._made(run_id)
        return self._last[1]

    def _made(self, run_id: str) -> Batches:
        number = self._number[run_id]
        start, end = int(self._starts[number]), int(self._ends[number])
        first, block = self._block_with(start, end)
        batches = block.part(start - first, end - first)
        return batches.opened(run_id, self._inside) if self._inside else batches

    def __iter__(self) -> Iterator[str]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)

    def _block_with(self, start: int, end: int) -> tuple[int, Batches]:
        """(its first row, the block with these rows)."""
        first, block = self._block
        if not first <= start < end <= first + len(block):
            whole = int(np.searchsorted(self._ends, start + _BLOCK, "right"))
            last = max(end, int(self._ends[whole - 1])) if whole else end
            self._block = start, Batches.of(self._table.slice(start, last - start))
        return self._block


def _dense(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
