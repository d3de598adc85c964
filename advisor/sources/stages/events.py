"""The events of one log: which batch they end, and where in the log and in time they stand."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.sources.stages.horizon import LOST
from advisor.stages import Batch

if TYPE_CHECKING:
    from advisor.sources.stages.begun import Begun, Named

Place = tuple[int, int]
"""(the file's number in its log, the byte in it)."""

BEGINNING: Place = (-1, -1)
"""Before all that a log holds."""
_LOAD = "rocksdbLoadLatencyMs"
_UPDATES = "all_updates_ms", "all_removals_ms"
_NOTHING: Mapping[str, float] = {}
_COLUMNS = ("timestamp", "trigger_execution_ms", "add_batch_ms", "file", "offset", "operators", "sources")


@dataclass(slots=True)
class Event:
    """A batch's event: it stands behind the lines of the batch's jobs."""

    place: Place
    batch: Batch
    begin: float
    end: float
    partitions: frozenset[int]
    sums: Mapping[str, float]
    reads: int | None


class Events:
    """The events of one log in order, and which of them a place belongs to."""

    def __init__(
        self, batches: pa.Table, files: Mapping[str, int], since: Place = BEGINNING, until: Place | None = None
    ) -> None:
        """Those of `batches` that stand in these files, which are numbered, from a place on and before another one."""
        own = between(batches.select([*Batch._fields, *_COLUMNS]), files, since, until)
        self.all = sorted(_events(own, files), key=attrgetter("place"))
        self._places = [event.place for event in self.all]
        self._named: dict[int, list[Event]] = defaultdict(list)
        self._reach: dict[str | None, tuple[Place, Place]] = {}
        for event in self.all:
            self._named[event.batch.batch_id].append(event)
            first, _ = self._reach.get(event.batch.run_id, (event.place, event.place))
            self._reach[event.batch.run_id] = first, event.place
        self._alone = len(self._reach) < 2

    @property
    def of_one_query(self) -> bool:
        """Whether there are some, all of one query."""
        return len({event.batch.id for event in self.all}) == 1

    def of(self, place: Place, named: Named | None) -> Event | None:
        """The event of the batch that a line at this place belongs to; None if unknown.

        A line may name the batch; else it belongs to the next event, if no other query runs beside it.
        """
        if named:
            behind = (event for event in self._named[named[1]] if event.place > place and _names(named, event))
            return next(behind, None)
        at = bisect_right(self._places, place)
        if at == len(self.all):
            return None
        coming = self.all[at]
        return coming if self._alone or self._only(coming, place) else None

    def over(self, jobs: Sequence[Begun]) -> tuple[int, Place]:
        """Return (how many of the first jobs are complete, the place behind their events)."""
        count, until, reach = 0, BEGINNING, BEGINNING
        for at, begun in enumerate(jobs):
            if begun.place > reach:
                count, until = at, reach
            if begun.job.end is None and begun.number > jobs[-1].number - LOST:
                return count, until
            if event := self.of(begun.place, begun.named):
                reach = max(reach, event.place)
            elif not self._lost(begun):
                return count, until
        return len(jobs), reach

    def _lost(self, begun: Begun) -> bool:
        """Whether there will be no event of its batch, as there is one of a later batch of its query."""
        named, behind = begun.named, self.all[bisect_right(self._places, begun.place) :]
        return named is not None and any(_names(named, event) and event.batch.batch_id > named[1] for event in behind)

    def _only(self, coming: Event, place: Place) -> bool:
        running = {run for run, (first, last) in self._reach.items() if first < place < last}
        return running <= {coming.batch.run_id}


def _names(named: Named, event: Event) -> bool:
    """Whether a line that names a query means that of the event."""
    return (event.batch.id or "").startswith(named[0])


def between(batches: pa.Table, files: Mapping[str, int], since: Place, until: Place | None = None) -> pa.Table:
    """The events that stand in these files, which are numbered, from a place on and before another one."""
    number = pc.index_in(batches["file"], pa.array(list(files), pa.string()))
    offset = pc.fill_null(batches["offset"], 0)
    rows = _not_before(number, offset, since)
    if until is not None:
        rows = pc.and_not(rows, _not_before(number, offset, until))
    return batches.filter(rows)


def _not_before(number: pa.ChunkedArray, offset: pa.ChunkedArray, place: Place) -> pa.ChunkedArray:
    behind = pc.and_(pc.equal(number, place[0]), pc.greater_equal(offset, place[1]))
    return pc.or_(pc.greater(number, place[0]), behind)


def _events(batches: pa.Table, files: Mapping[str, int]) -> Iterator[Event]:
    known = [pc.is_valid(batches[name]) for name in ("add_batch_ms", "batch_id", "timestamp")]
    rows = batches.filter(reduce(pc.and_, known))
    begin = rows["timestamp"].cast(pa.int64())
    end = pc.add(begin, pc.fill_null(rows["trigger_execution_ms"], 0))
    columns = {name: rows[name].to_pylist() for name in ("file", *Batch._fields)}
    places = zip(map(files.__getitem__, columns["file"]), pc.fill_null(rows["offset"], 0).to_pylist(), strict=True)
    names = map(Batch, *(columns[name] for name in Batch._fields))
    times = (_floats(column).tolist() for column in (begin, end))
    return map(Event, places, names, *times, *_states(rows), _reads(rows))


def _states(rows: pa.Table) -> tuple[list[frozenset[int]], list[Mapping[str, float]]]:
    """(partitions of the state, its sums over tasks) of each row."""
    members, of = _members(rows, "operators")
    partitions: list[frozenset[int]] = [frozenset()] * len(rows)
    sums: list[Mapping[str, float]] = [_NOTHING] * len(rows)
    if not len(of):
        return partitions, sums
    custom = pc.struct_field(members, "custom").cast(pa.map_(pa.string(), pa.float64()))
    loads = _floats(pc.map_lookup(custom, _LOAD, "first"))
    updates = [np.nan_to_num(_floats(pc.struct_field(members, name))) for name in _UPDATES]
    commits = np.nan_to_num(_floats(pc.struct_field(members, "commit_ms")))
    own = np.unique(of)
    commit_ms, update_ms, load_ms = (
        np.bincount(of, ms)[own].tolist() for ms in (commits, sum(updates), np.nan_to_num(loads))
    )
    loaded = np.bincount(of, ~np.isnan(loads))[own].tolist()
    for at, commit, update, load, loads in zip(own.tolist(), commit_ms, update_ms, load_ms, loaded, strict=True):
        sums[at] = {"state_commit_ms": commit, "state_update_ms": update} | ({"state_load_ms": load} if loads else {})
    for at, count in zip(of.tolist(), pc.struct_field(members, "shuffle_partitions").to_pylist(), strict=True):
        partitions[at] |= {count} - {None}
    return partitions, sums


def _reads(rows: pa.Table) -> list[int | None]:
    """How often the source was read, in part at least: rows over those between its offsets, of one that counts rows."""
    members, of = _members(rows, "sources")
    alone = np.ones(len(rows), bool)
    values = []
    for name in ("input_rows", "offset_rows"):
        column = _floats(pc.struct_field(members, name))
        present = ~np.isnan(column)
        alone &= np.bincount(of[present], minlength=len(rows)) == 1
        values.append(np.bincount(of[present], column[present], len(rows)))
    read, between = values
    reads = np.maximum(1, -(-read // np.where(between == 0, 1, between)))
    present = (alone & (between != 0)).tolist()
    return [int(count) if known else None for count, known in zip(reads.tolist(), present, strict=True)]


def _members(rows: pa.Table, column: str) -> tuple[pa.StructArray, np.ndarray]:
    """(the operators or sources of all rows, the row of each)."""
    lists = rows[column].combine_chunks()
    lists = pa.concat_arrays(lists.chunks) if isinstance(lists, pa.ChunkedArray) else lists
    return lists.flatten(), np.asarray(pc.list_parent_indices(lists))


def _floats(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Numbers, as near as floats come to them; NaN where there is none."""
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
