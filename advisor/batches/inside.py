"""What was seen inside addBatch, beside the batches of a run: the parts of each batch, and its stages."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.arrays import Columns, rows_of

KEYS = frozenset({"id", "run_id", "batch_id", "timestamp", "add_batch_ms", "origin", "log"})
"""Columns of the table of parts that the table of batches has, too."""


class Inside:
    """The tables `batch_parts` and `stages` by run."""

    def __init__(self, parts: pa.Table, stages: pa.Table) -> None:
        self._parts, self._stages = _ByRun(parts), _ByRun(stages)

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

    def of(self, run_id: str) -> Columns:
        """The run's rows in order of the table; none where it has none."""
        return self._rows.at(self._at.get(run_id, np.zeros(0, dtype=int)))


def _places(batch_ids: np.ndarray, rows: Columns) -> np.ndarray:
    """For each batch id its position among the batches that ran; -1 where there is none."""
    ran = np.flatnonzero(~rows["idle"])
    numbers = rows["batch_id"][ran]
    order = np.argsort(numbers, kind="stable")
    place = np.searchsorted(numbers[order], batch_ids)
    near = order[np.minimum(place, len(order) - 1)] if len(order) else np.zeros(len(batch_ids), dtype=int)
    same = (place < len(order)) & (numbers[near] == batch_ids) if len(order) else np.zeros(len(batch_ids), dtype=bool)
    return np.where(same, ran[near] if len(ran) else -1, -1)


def _taken(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The values at these positions; none where a position is below 0."""
    nothing = np.array([None], dtype=object) if values.dtype == object else np.array([np.nan])
    taken: np.ndarray = np.concatenate([values, nothing])[at]
    return taken
