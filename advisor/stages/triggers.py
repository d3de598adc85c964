"""Batches by their progress, in arrays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.stages.batchjobs import Gathered
from advisor.stages.jobs import Batch, Job, key_of
from advisor.stages.parts import Times

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


def _floats(column: pa.ChunkedArray) -> np.ndarray:
    """The numbers; NaN where one is missing."""
    return np.asarray(column.to_numpy(), float)


def bounds_of(gathered: Gathered, triggers: Triggers, at: np.ndarray) -> np.ndarray:
    """When addBatch of each batch began and ended, ms since 1970; `at`: its trigger.

    It ends before the commit log, which ends the trigger. Without that phase (before Spark 3.4) it begins behind the
    phases before it. Jobs that reach out a little, as the phases leave some milliseconds out, move it; its length
    stays Spark's own. If the log's clock does not show it, it is its jobs' own time.
    """
    start, length = triggers.start[at], triggers.add_batch[at]
    till_commit, in_order = triggers.whole[at] - triggers.commit[at], triggers.before[at] + length
    end = start + np.where(np.isnan(till_commit), in_order, till_commit)
    of, starts, ends = gathered.of_job, gathered.start, gathered.end
    there = (starts < end[of]) & (ends > (end - length)[of])
    ended = there & np.isfinite(ends)
    np.maximum.at(end, of[ended], ends[ended])
    np.minimum.at(end, of[there], (starts + length[of])[there])
    own = np.tile([np.inf, -np.inf], (len(gathered), 1))
    np.minimum.at(own[:, 0], of, starts)
    np.maximum.at(own[:, 1], of, np.where(np.isfinite(ends), ends, starts))
    return np.where(gathered.clock[:, None], np.column_stack([end - length, end]), own)


def strangers_of(gathered: Gathered, bounds: np.ndarray) -> Times:
    """Jobs without a batch that began and ended while addBatch of one ran: only they may be that batch's."""
    found = [
        (place, job.start, job.end)
        for place, inside in enumerate(gathered.insides)
        if inside.work.strangers and inside.work.clock
        for job in _between(inside.work.strangers, *bounds[place].tolist())
    ]
    rows = np.array(found, float).reshape(-1, 3)
    return Times(rows[:, 0].astype(np.int64), rows[:, 1:])


def _between(jobs: Sequence[Job], begin: float, end: float) -> list[Job]:
    """Those of these jobs, which are in order, that began and ended in that time."""
    some = jobs[bisect_left(jobs, begin, key=attrgetter("start")) : bisect_left(jobs, end, key=attrgetter("start"))]
    return [job for job in some if job.end is not None and job.end <= end]
