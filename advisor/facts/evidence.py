"""Which sightings count for which run."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from advisor.facts.names import EXECUTOR, FACTS, Known
from advisor.facts.sighting import Sighting

_REACH_BYTES = 8192
"""How far behind its last event a run's own lines still stand."""


@dataclass
class Run:
    """One start of a query, as far as its batches and the sightings that name it tell."""

    id: str | None
    run_id: str
    name: str | None = None
    logs: set[str] = field(default_factory=set)
    first: pd.Timestamp | None = None
    last: pd.Timestamp | None = None
    ends: dict[str, int] = field(default_factory=dict)
    """Offset of the last thing that names the run, per file."""
    begins: dict[str, int] = field(default_factory=dict)
    batches: int = 0


class Evidence:
    """All that was read, arranged so that each run gets the sightings that count for it."""

    def __init__(self, sightings: pd.DataFrame, batches: pd.DataFrame) -> None:
        rows = _rows(sightings)
        self.runs: dict[str, Run] = _runs(batches, rows)
        self._of_query: dict[str | None, list[Run]] = defaultdict(list)
        self._of_log: dict[str, list[Run]] = defaultdict(list)
        self._named: dict[str, list[Sighting]] = defaultdict(list)
        self._unnamed: dict[str, list[Sighting]] = defaultdict(list)
        for run in self.runs.values():
            self._of_query[run.id].append(run)
            for log in run.logs:
                self._of_log[log].append(run)
        for row in (_with_run(row, self._of_query[row.id]) for row in rows):
            (self._named[row.run_id] if row.run_id else self._unnamed[row.log]).append(row)
        self._queries = _queries_per_log(self.runs.values(), rows)

    def of(self, run_id: str) -> list[Sighting]:
        """The sightings that count for a run, in order of trust: of two that differ, the later is right.

        A sighting that names no run counts where its log holds one query, or where it speaks of the whole application,
        and only when it stands before the run's end.
        """
        run = self.runs[run_id]
        unnamed = [row for log in sorted(run.logs) for row in self._unnamed[log] if self._counts(row, run)]
        return sorted(unnamed, key=lambda row: (row.file in run.ends, row.file, row.offset)) + self._named[run_id]

    def around(self, run_id: str) -> dict[str, Known]:
        """slots_shared, executors_changed and async_progress_before, as other runs and the executors tell."""
        run = self.runs[run_id]
        told = {
            "slots_shared": self._shares_slots(run),
            "executors_changed": self._executors_changed(run),
            "async_progress_before": self._async_before(run),
        }
        return {name: Known(value, "computed") for name, value in told.items() if value is not None}

    def _shares_slots(self, run: Run) -> bool | None:
        """Whether another query ran in the same application at the same time; None when the run has no times."""
        if run.first is None:
            return None
        beside = (other for log in run.logs for other in self._of_log[log] if other.id != run.id)
        return any(_overlap(run, other) for other in beside)

    def _executors_changed(self, run: Run) -> bool | None:
        """Whether executors came or went between the run's first and last batch; None when no executor was seen."""
        rows = [row for log in run.logs for row in self._unnamed[log] if row.fact.startswith(EXECUTOR)]
        if any(run.begins.get(row.file, row.offset) < row.offset < run.ends.get(row.file, row.offset) for row in rows):
            return True
        times = [row.timestamp for row in rows if not pd.isna(row.timestamp)]
        if not times or run.first is None or run.last is None:
            return None  # driver logs are not read in full: what was not seen there may still have been
        return any(run.first < time < run.last for time in times)

    def _async_before(self, run: Run) -> bool | None:
        """Whether an earlier run of the query tracked progress asynchronously; None when no earlier run tells."""
        earlier = [other.run_id for other in self._of_query[run.id] if _before(other, run)]
        told = [row.value for other in earlier for row in self._named[other] if row.fact == "async_progress"]
        return "true" in told if told else None

    def _counts(self, row: Sighting, run: Run) -> bool:
        alone = len(self._queries[row.log]) <= 1 if row.id is None else row.id == run.id
        end = run.ends.get(row.file)
        return (alone or _application_wide(row)) and (end is None or row.offset <= end + _REACH_BYTES)


def _application_wide(row: Sighting) -> bool:
    """What an event log says without naming a run are the properties and executors that all its queries share."""
    fact = FACTS.get(row.fact)
    shared = fact is not None and fact.scope == "application"
    return shared or row.source == "event_log" or row.fact.startswith(EXECUTOR)


def _rows(sightings: pd.DataFrame) -> list[Sighting]:
    """The table's rows in order of place, missing ids as None."""
    if sightings.empty:
        return []
    ordered = sightings.sort_values(["log", "file", "offset"], kind="stable")
    columns = [ordered[name] if name in ordered else [None] * len(ordered) for name in Sighting._fields]
    rows = zip(*columns, strict=True)
    return [Sighting(_text(one), _text(run), *rest) for one, run, *rest in rows]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _runs(batches: pd.DataFrame, sightings: Iterable[Sighting]) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    if not batches.empty:
        for run_id, frame in batches.groupby(batches["run_id"].fillna(""), sort=False):
            runs[str(run_id)] = _run_of(str(run_id), frame)
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


def _with_run(row: Sighting, runs: Iterable[Run]) -> Sighting:
    """A sighting that names its query alone belongs to the run of it that began last before."""
    if row.run_id or not row.id:
        return row
    begun = [run for run in runs if run.begins.get(row.file, row.offset + 1) <= row.offset]
    latest = max(begun, key=lambda run: run.begins[row.file], default=None)
    return row if latest is None else row._replace(run_id=latest.run_id)


def _run_of(run_id: str, frame: pd.DataFrame) -> Run:
    run = Run(_text(frame["id"].iloc[0]), run_id, _text(frame["name"].iloc[-1]), set(frame["log"].dropna()))
    run.first, run.last, run.batches = frame["timestamp"].min(), frame["timestamp"].max(), len(frame)
    places = frame.groupby("file")["offset"]
    run.ends = {str(file): int(offset) for file, offset in places.max().items()}
    run.begins = {str(file): int(offset) for file, offset in places.min().items()}
    return run


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


def _overlap(one: Run, other: Run) -> bool:
    if one.first is None or other.first is None or one.last is None or other.last is None:
        return False
    return bool(one.first <= other.last and other.first <= one.last)
