"""The events of one log: which batch they end, and where in the log and in time they stand."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.stages import Batch

if TYPE_CHECKING:
    from advisor.sources.stages.begun import Begun, Named

Place = tuple[int, int]
"""(the file's number in its log, the byte in it)."""

BEGINNING: Place = (-1, -1)
"""Before all that a log holds."""
_LOST = 2048
"""Behind so many others a job that has not ended will not: the line is lost."""
_LOAD = "rocksdbLoadLatencyMs"
_COLUMNS = ("id", "run_id", "batch_id", "timestamp", "trigger_execution_ms", "file", "offset")


@dataclass
class Event:
    """A batch's event: it stands behind the lines of the batch's jobs."""

    place: Place
    batch: Batch
    begin: float
    end: float
    partitions: frozenset[int]
    sums: dict[str, float]
    reads: int | None


class Events:
    """The events of one log in order, and which of them a place belongs to."""

    def __init__(
        self, batches: pa.Table, files: Mapping[str, int], since: Place = BEGINNING, until: Place | None = None
    ) -> None:
        """Those of `batches` that stand in these files, which are numbered, from a place on and before another one."""
        own = between(batches.select([*_COLUMNS, "add_batch_ms", *_WANTED]), files, since, until)
        self.all = sorted(_events(own, files), key=lambda event: event.place)
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
        """The event of the batch that a line at this place belongs to; None where that cannot be told.

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
        """(how many of the first jobs no later line tells more of, the place behind the events of these)."""
        count, until, reach = 0, BEGINNING, BEGINNING
        for at, begun in enumerate(jobs):
            if begun.place > reach:
                count, until = at, reach
            if begun.job.end is None and begun.number > jobs[-1].number - _LOST:
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
    rows = batches.filter(pc.is_valid(batches["add_batch_ms"]))
    if not len(rows):
        return
    states, reads = _states(rows), _reads(rows)
    for at, row in enumerate(rows.select(_COLUMNS).to_pylist()):
        if row["batch_id"] is None or row["timestamp"] is None:
            continue
        begin = row["timestamp"].timestamp() * 1000
        end = begin + (row["trigger_execution_ms"] or 0)
        partitions, sums = states.get(at, (frozenset(), {}))
        place = files[row["file"]], row["offset"] or 0
        batch = Batch(row["id"], row["run_id"], row["batch_id"])
        yield Event(place, batch, begin, end, partitions, sums, reads.get(at))


def _states(rows: pa.Table) -> dict[int, tuple[frozenset[int], dict[str, float]]]:
    """(partitions of the state, its sums over tasks) of each row with state operators."""
    found: dict[int, tuple[frozenset[int], dict[str, float]]] = {}
    for at, members in _members(rows, "operators"):
        partitions = frozenset(members["shuffle_partitions"])
        sums = {
            "state_commit_ms": sum(members["commit_ms"]),
            "state_update_ms": sum(members["all_updates_ms"]) + sum(members["all_removals_ms"]),
        }
        if members["load"]:
            sums["state_load_ms"] = sum(members["load"])
        found[at] = partitions, {name: float(ms) for name, ms in sums.items()}
    return found


def _reads(rows: pa.Table) -> dict[int, int]:
    """How often the source was read, in part at least: rows over those between its offsets, of one that counts rows."""
    return {
        at: max(1, -(-members["input_rows"][0] // members["offset_rows"][0]))
        for at, members in _members(rows, "sources")
        if len(members["offset_rows"]) == len(members["input_rows"]) == 1 and members["offset_rows"][0]
    }


_WANTED = {
    "operators": ("shuffle_partitions", "commit_ms", "all_updates_ms", "all_removals_ms"),
    "sources": ("input_rows", "offset_rows"),
}


def _members(rows: pa.Table, column: str) -> Iterable[tuple[int, dict[str, list[Any]]]]:
    """(row, its operators' or sources' numbers that are known, by name) of each row that has some."""
    lists = rows[column].combine_chunks()
    lists = pa.concat_arrays(lists.chunks) if isinstance(lists, pa.ChunkedArray) else lists
    members = lists.flatten()
    values = {name: pc.struct_field(members, name).to_pylist() for name in _WANTED[column]}
    if column == "operators":
        custom = pc.struct_field(members, "custom")
        values["load"] = pc.map_lookup(custom.cast(pa.map_(pa.string(), pa.float64())), _LOAD, "first").to_pylist()
    parents = np.asarray(pc.list_parent_indices(lists)).tolist()
    found: dict[int, dict[str, list[Any]]] = {}
    for at, parent in enumerate(parents):
        held = found.setdefault(parent, {name: [] for name in values})
        for name, each in values.items():
            if each[at] is not None:
                held[name].append(each[at])
    return found.items()
