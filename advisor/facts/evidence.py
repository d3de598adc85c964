"""Which sightings count for which run."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import instant, rows_of
from advisor.facts.names import APPLICATION_STARTS, EXECUTOR, FACTS, LATE_BATCH, Known, Sighting

_NEVER = datetime(1, 1, 1, tzinfo=timezone.utc)
_AT_ONCE = 16384
"""Sightings that are made objects at a time: what is needed for all of them at once is as much again."""
_REACH_BYTES = 8192
"""How far behind its last event a run's own lines still stand."""
_AFTER_MS, _AFTER_SHARE = 100.0, 0.02
"""How much longer than its triggerExecution a late batch may have been: progress is reported in between."""
_BACK: Final = 100
"""Events before the line that are looked at: one of each query that runs beside the late one."""


@dataclass
class Run:
    """One start of a query, as far as its batches and the sightings that name it tell."""

    id: str | None
    run_id: str
    name: str | None = None
    logs: set[str] = field(default_factory=set)
    first: datetime | None = None
    last: datetime | None = None
    ends: dict[str, int] = field(default_factory=dict)
    """Offset of the last thing that names the run, per file."""
    begins: dict[str, int] = field(default_factory=dict)
    batches: int = 0


class Evidence:
    """All that was read, arranged so that each run gets the sightings that count for it, however many runs there are.

    `sightings`: rows of the table of sightings; `batches`: of the table of batches, at least id, run_id, name,
    timestamp, file, offset and log, the rows of a run together and in order of time.
    """

    def __init__(self, sightings: pa.Table, batches: pa.Table) -> None:
        rows = _rows(sightings)
        rows += late_batches(rows, batches)
        self.runs: dict[str, Run] = _runs(batches, rows)
        self._of_query: dict[str | None, list[Run]] = defaultdict(list)
        self._of_log: dict[str, list[Run]] = defaultdict(list)
        self._named: dict[str, list[Sighting]] = defaultdict(list)
        self._unnamed: dict[str, list[Sighting]] = defaultdict(list)
        for run in self.runs.values():
            self._of_query[run.id].append(run)
            for log in run.logs:
                self._of_log[log].append(run)
        for row in _with_runs(rows, self.runs.values()):
            (self._named[row.run_id] if row.run_id else self._unnamed[row.log]).append(row)
        self._queries = _queries_per_log(self.runs.values(), rows)
        self._starts: dict[str, list[int]] = defaultdict(list)
        """Where an application starts, per file, in order."""
        for row in rows:
            if row.fact == APPLICATION_STARTS:
                self._starts[row.file].append(row.offset)
        alone = {log for log in self._unnamed if len(self._queries[log]) <= 1}  # else a row must name its own, or all
        for log, told in self._unnamed.items():
            self._unnamed[log] = [row for row in told if row.id is not None or log in alone or _application_wide(row)]
        self._overlaps = {log: _Overlaps(runs) for log, runs in self._of_log.items()}
        self._async = {query: self._told_async(runs) for query, runs in self._of_query.items()}

    def of(self, run_id: str) -> list[Sighting]:
        """The sightings that count for a run, the least trusted first: of two that differ, the later is right.

        A sighting that names no run counts where its log holds one query, or where it speaks of the whole application,
        and only when it stands before the run's end. What an application says of itself counts until the next one
        starts in that file.
        """
        run = self.runs[run_id]
        unnamed = [row for log in sorted(run.logs) for row in self._unnamed.get(log, ()) if self._counts(row, run)]
        return sorted(unnamed, key=lambda row: (row.file in run.ends, row.file, row.offset)) + self._named[run_id]

    def around(self, run_id: str) -> dict[str, Known]:
        """slots_shared, where the run has times, and async_progress_before, where earlier runs of its query tell.

        One batch between those of other queries does not show whether they ran beside it.
        """
        run = self.runs[run_id]
        told: dict[str, bool] = {}
        shared = any(self._overlaps[log].beside(run) for log in run.logs)
        alone = run.batches > 1 or all(len(self._queries[log]) == 1 for log in run.logs)
        if run.first is not None and (shared or alone):
            told["slots_shared"] = shared
        if earlier := [value for other, value in self._async[run.id] if _before(other, run)]:
            told["async_progress_before"] = any(earlier)
        return {name: Known(value, "computed") for name, value in told.items()}

    def _told_async(self, runs: Iterable[Run]) -> list[tuple[Run, bool]]:
        """The runs that tell, each with whether it tracked so: of those that tell the same, the first in time.

        Runs without a time are all kept: their place may tell that they came before.
        """
        rows = ((run, row) for run in runs for row in self._named[run.run_id])
        told = [(run, row.value == "true") for run, row in rows if row.fact == "async_progress"]
        timed = sorted((pair for pair in told if pair[0].first is not None), key=lambda pair: pair[0].first or _NEVER)
        first = {value: (run, value) for run, value in reversed(timed)}
        return [*first.values(), *(pair for pair in told if pair[0].first is None)]

    def _counts(self, row: Sighting, run: Run) -> bool:
        own = row.id in (None, run.id) or _application_wide(row)
        if row.fact == "stopped":  # the end of an application ends all that ran in it before
            return own and row.offset >= run.begins.get(row.file, 0)
        end = run.ends.get(row.file)
        if not own or end is None:
            return own
        starts = self._starts[row.file]
        later = bisect_right(starts, end)
        of_its_own = row.fact.startswith((EXECUTOR, "task_slots")) or row.origin == "event_log"
        gone = of_its_own and later > 0 and row.offset < starts[later - 1]
        return not gone and row.offset <= end + _REACH_BYTES and not (starts[later:] and row.offset >= starts[later])


def _application_wide(row: Sighting) -> bool:
    """Without naming a run, an event log or a driver's UI gives properties and executors that all its queries share."""
    fact = FACTS.get(row.fact)
    shared = fact is not None and fact.scope == "application"
    return shared or row.origin in ("event_log", "ui") or row.fact.startswith(EXECUTOR)


def _rows(sightings: pa.Table) -> list[Sighting]:
    """The table's rows in order of place, missing ids as None."""
    rows = []
    for some in sightings.to_batches(max_chunksize=_AT_ONCE):
        columns = (_shared(some.column(name)) for name in Sighting._fields)
        rows += [Sighting(one or None, run or None, *rest) for one, run, *rest in zip(*columns, strict=True)]
    rows.sort(key=lambda row: (row.log or "", row.file or "", row.offset or 0))
    return rows


def _shared(column: pa.Array) -> list[Any]:
    """The column's values, equal ones as one object: a log says the same in many lines."""
    coded = column.dictionary_encode()
    values = [*coded.dictionary.to_pylist(), None]
    return [values[number] for number in pc.fill_null(coded.indices, len(values) - 1).to_pylist()]


def _runs(batches: pa.Table, sightings: Iterable[Sighting]) -> dict[str, Run]:
    runs = _with_batches(batches)
    for row in sightings:
        if row.run_id:
            run = runs.setdefault(row.run_id, Run(row.id, row.run_id))
            run.id = run.id or row.id
            if row.fact == "query_name":
                run.name = run.name or json.loads(row.value)
            run.logs.add(row.log)
            run.ends[row.file] = max(run.ends.get(row.file, 0), row.offset)
            run.begins[row.file] = min(run.begins.get(row.file, row.offset), row.offset)
    return runs


def _with_batches(batches: pa.Table) -> dict[str, Run]:
    """The runs that executed or idled, by their id, in the order of the table."""
    if not len(batches):
        return {}
    numbers, ids = _coded(batches["run_id"])
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    ends = np.append(starts[1:], len(numbers)) - 1
    query, name = (batches[column].take(pa.array(at)).to_pylist() for column, at in (("id", starts), ("name", ends)))
    times = rows_of(batches)["timestamp"]
    first, last = np.fmin.reduceat(times, starts), np.fmax.reduceat(times, starts)
    runs = {}
    for nth, (start, end) in enumerate(zip(starts, ends, strict=True)):
        run_id = ids[numbers[start]] or ""
        run = runs[run_id] = Run(query[nth] or None, run_id, name[nth] or None)
        run.first, run.last, run.batches = instant(first[nth]), instant(last[nth]), int(end - start + 1)
    _place(list(runs.values()), np.repeat(np.arange(len(starts)), ends - starts + 1), batches)
    return runs


def _place(runs: list[Run], number: np.ndarray, batches: pa.Table) -> None:
    """Tell each run its logs, and where it begins and ends in each file."""
    logs, names = _coded(batches["log"])
    for run, log in {*zip(number.tolist(), logs.tolist(), strict=True)}:
        if names[log] is not None:
            runs[run].logs.add(names[log])
    files, paths = _coded(batches["file"])
    places, inverse = np.unique(number * len(paths) + files, return_inverse=True)
    offsets = np.asarray(pc.fill_null(batches["offset"], 0))
    begins, ends = np.full(len(places), np.iinfo(np.int64).max), np.zeros(len(places), np.int64)
    np.minimum.at(begins, inverse, offsets)
    np.maximum.at(ends, inverse, offsets)
    for place, begin, end in zip(places.tolist(), begins.tolist(), ends.tolist(), strict=True):
        run, path = runs[place // len(paths)], str(paths[place % len(paths)])
        run.begins[path], run.ends[path] = begin, end


def _coded(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str | None]]:
    """(a number for each value, the values by number)."""
    distinct = pc.unique(column)
    return np.asarray(pc.index_in(column, value_set=distinct)), distinct.to_pylist()


def _with_runs(rows: Iterable[Sighting], runs: Iterable[Run]) -> Iterator[Sighting]:
    """The sightings; one that names its query alone belongs to the run of it that began last before in that file."""
    begins: dict[tuple[str | None, str], list[tuple[int, str]]] = defaultdict(list)
    for run in runs:
        for file, offset in run.begins.items():
            begins[run.id, file].append((offset, run.run_id))
    for places in begins.values():
        places.sort()
    for row in rows:
        own = begins.get((row.id, row.file), []) if row.id and not row.run_id else []
        at = bisect_right(own, row.offset, key=lambda place: place[0])
        yield row._replace(run_id=own[at - 1][1]) if at else row


class _Overlaps:
    """Which runs of a log ran at the same time as one of another query."""

    def __init__(self, runs: Iterable[Run]) -> None:
        timed = sorted((run for run in runs if run.first is not None), key=lambda run: run.first or _NEVER)
        self._starts = [run.first or _NEVER for run in timed]
        self._latest: list[dict[str | None, datetime]] = []
        """Of those that started so far, the two queries that went on longest, and until when."""
        latest: dict[str | None, datetime] = {}
        for run in timed:
            latest = latest | {run.id: max(run.last or _NEVER, latest.get(run.id, _NEVER))}
            latest = dict(sorted(latest.items(), key=lambda item: item[1])[-2:])
            self._latest.append(latest)

    def beside(self, run: Run) -> bool:
        """Whether a run of another query had begun before this one's end and ended after its beginning."""
        if run.first is None or run.last is None:
            return False
        at = bisect_right(self._starts, run.last)
        latest = self._latest[at - 1] if at else {}
        return any(until >= run.first for query, until in latest.items() if query != run.id)


def _queries_per_log(runs: Iterable[Run], sightings: Iterable[Sighting]) -> dict[str, set[str]]:
    queries: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        for log in run.logs:
            queries[log].add(run.id or run.run_id)
    for row in sightings:
        if row.id:
            queries[row.log].add(row.id)
    return queries


def _before(one: Run, other: Run) -> bool:
    """Whether `one` started before `other`, by time or else by place in a file that holds both."""
    if one.run_id == other.run_id:
        return False
    if one.first is not None and other.first is not None:
        return one.first < other.first
    return any(offset < other.begins[file] for file, offset in one.begins.items() if file in other.begins)


def late_batches(rows: Iterable[Sighting], batches: pa.Table) -> list[Sighting]:
    """Trigger, interval and `falling_behind` of the runs whose batches those were; of a line that fits two, of none.

    Spark writes the line right after the progress of the batch.
    """
    late = [row for row in rows if row.fact == LATE_BATCH and not row.run_id]
    if not late or pc.count_distinct(batches["run_id"]).as_py() < 2:
        return []
    events = {file: _finished(batches, file) for file in {row.file for row in late}}
    found: list[Sighting] = []
    for row in late:
        interval, spent = json.loads(row.value)
        run_id = _whose(events[row.file], row.offset, spent)
        read = {"falling_behind": True, "trigger": "processing_time", "trigger_interval_ms": interval}
        if run_id is not None:
            found += [row._replace(run_id=run_id, fact=fact, value=json.dumps(value)) for fact, value in read.items()]
    return found


def _finished(batches: pa.Table, file: str) -> list[tuple[int, str, float]]:
    """(offset, run, how long it took) of the events of a file, in order of place."""
    own = batches.filter(pc.equal(batches["file"], file))
    took = np.asarray(own["trigger_execution_ms"].cast(pa.float64()))
    return sorted(zip(own["offset"].to_pylist(), own["run_id"].to_pylist(), took.tolist(), strict=True))


def _whose(events: list[tuple[int, str, float]], offset: int, spent: int) -> str | None:
    """The run whose last batch before this place took so long; None where none did, or several."""
    end = bisect_left(events, offset, key=lambda event: event[0])
    last = {run_id: took for _, run_id, took in events[max(0, end - _BACK) : end]}
    allowed = max(_AFTER_MS, _AFTER_SHARE * spent)
    fitting = [run_id for run_id, took in last.items() if 0 <= spent - took <= allowed]
    return fitting[0] if len(fitting) == 1 else None
