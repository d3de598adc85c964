"""The batches of each run as columns: views of those of many runs, which are made at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.arrays import Columns, Members, rows_of

NO_STAGES = Columns(0, {"batch": np.zeros(0, dtype=int)}.__getitem__)
KEYS = frozenset({"id", "run_id", "batch_id", "timestamp", "add_batch_ms", "origin", "log"})
"""Columns of the table of parts that the table of batches has, too."""
_BLOCK = 8192
"""Rows that are made into columns together; enough that what each conversion costs does not show."""


class Inside:
    """The tables `batch_parts` and `stages` by run."""

    def __init__(self, parts: pa.Table, stages: pa.Table) -> None:
        self._parts, self._stages = _ByRun(parts), _ByRun(stages)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._parts or run_id in self._stages

    def parts(self, run_id: str, rows: Columns) -> dict[str, np.ndarray]:
        """The columns of a run's parts beside these batches, nothing where a batch has none; {} if none has any."""
        found = self._parts.of(run_id)
        at = _places(found["batch_id"], rows)
        if not (at >= 0).any():
            return {}
        beside = np.full(len(rows), -1)
        beside[at[at >= 0]] = np.flatnonzero(at >= 0)
        return {name: _taken(found[name], beside) for name in self._parts.names if name not in KEYS}

    def stages(self, run_id: str, rows: Columns) -> Columns:
        """The stages of these batches, in order; column `batch` is the position of its batch."""
        found = self._stages.of(run_id)
        at = _places(found["batch_id"], rows)
        order = np.flatnonzero(at >= 0)[np.argsort(at[at >= 0], kind="stable")]
        return found.at(order).having(batch=at[order])


class _ByRun:
    """The rows of each run of a table, as columns; lists of text are one text, their members between commas."""

    def __init__(self, table: pa.Table) -> None:
        self.names = table.column_names
        for number, field in enumerate(table.schema):
            if pa.types.is_list(field.type):
                joined = pc.binary_join(table.column(number), ", ")
                table = table.set_column(number, field.name, joined)
        coded = table["run_id"].combine_chunks().dictionary_encode()
        codes = np.asarray(pc.fill_null(coded.indices, -1))
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(coded.dictionary)), side="right")
        starts = np.searchsorted(codes[order], np.arange(len(coded.dictionary)))
        names = coded.dictionary.to_pylist()
        self._at = {run: order[start:end] for run, start, end in zip(names, starts, ends, strict=True)}
        self._rows = rows_of(table)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._at

    def of(self, run_id: str) -> Columns:
        """The run's rows in order of the table; none where it has none."""
        return self._rows.at(self._at.get(run_id, np.zeros(0, dtype=int)))


def _places(batch_ids: np.ndarray, rows: Columns) -> np.ndarray:
    """Return for each batch id its position among the batches that ran; -1 where there is none."""
    ran = np.flatnonzero(~rows["idle"])
    if not len(ran):
        return np.full(len(batch_ids), -1)
    numbers = rows["batch_id"][ran]
    order = np.argsort(numbers, kind="stable")
    near = order[np.minimum(np.searchsorted(numbers[order], batch_ids), len(order) - 1)]
    return np.where(numbers[near] == batch_ids, ran[near], -1)


def _taken(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The values at these positions; none where a position is below 0."""
    nothing = np.array([None], dtype=object) if values.dtype == object else np.array([np.nan])
    return np.concatenate([values, nothing])[at]


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
        run_ids = table["run_id"].combine_chunks()
        if pa.types.is_dictionary(run_ids.type):
            run_ids = run_ids.dictionary_decode()
        runs = pc.run_end_encode(pc.fill_null(run_ids, ""))
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
        return batches.opened(run_id, self._inside) if self._inside and run_id in self._inside else batches

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
