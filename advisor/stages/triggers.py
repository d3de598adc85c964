"""Batches by their progress, in arrays."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.stages.work import Batch

KEYS = ["id", "run_id", "batch_id", "timestamp", "add_batch_ms"]
"""Columns of the table of batch parts that come from progress."""
_LENGTHS = ("trigger_execution_ms", "commit_offsets_ms")
_BEFORE = (
    "latest_offset_ms",
    "get_offset_ms",
    "get_end_offset_ms",
    "set_offset_range_ms",
    "wal_commit_ms",
    "get_batch_ms",
    "query_planning_ms",
)
"""The phases before addBatch."""


class Triggers:
    """The triggers in which addBatch ran; times in ms, of which NaN is not known."""

    def __init__(self, batches: pa.Table) -> None:
        """`batches`: of each trigger its events; of several the last one counts."""
        executed = batches.select([*KEYS, "name", *_LENGTHS, *_BEFORE])
        executed = executed.filter(pc.and_(pc.is_valid(executed["add_batch_ms"]), pc.is_valid(executed["timestamp"])))
        self.table = executed.select(KEYS)
        """A row for each of them."""
        self.start = _floats(executed["timestamp"].cast(pa.int64()))
        self.add_batch = _floats(executed["add_batch_ms"])
        self.whole = _floats(executed["trigger_execution_ms"])
        self.length = np.append(np.where(np.isnan(self.whole), self.add_batch, self.whole), np.nan)
        """How long each took, or addBatch alone if unknown; index -1 means unknown."""
        self.commit = _floats(executed["commit_offsets_ms"])
        self.before = np.nansum([_floats(executed[phase]) for phase in _BEFORE], axis=0)
        ids, runs, numbers = (executed[name].to_pylist() for name in ("id", "run_id", "batch_id"))
        self.names = {id: name for id, name in zip(ids, executed["name"].to_pylist(), strict=True) if id and name}
        """The names of queries, by id."""
        places = range(len(executed))
        self._at: dict[tuple[Any, ...], int] = dict(zip(zip(repeat(None), ids, numbers), places, strict=False))
        self._at.update(zip(zip(runs, numbers, strict=True), places, strict=True))

    def at(self, batches: Iterable[Batch]) -> np.ndarray:
        """The row of each of these batches, by its run, or by its query where the run is not named; -1 without one."""
        return np.array([self._at.get(key_of(batch), -1) for batch in batches], np.int64)

    @property
    def ended(self) -> np.ndarray:
        """When each trigger ended, or began if its length is unknown."""
        ended: np.ndarray = self.start + np.nan_to_num(self.whole)
        return ended


def key_of(batch: Batch) -> tuple[Any, ...]:
    """What a batch is found by: its run and number, or query and number where the run is not named."""
    return (batch.run_id, batch.batch_id) if batch.run_id else (None, batch.id, batch.batch_id)


def _floats(column: pa.ChunkedArray) -> np.ndarray:
    """The numbers; NaN where one is missing."""
    return np.asarray(column.to_numpy(), float)
