"""What the cluster offers: the table of batches, and the report's entries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa

from advisor.batches import SCHEMA, Reading
from advisor.catalogue import Catalogue
from advisor.errors import InputError
from advisor.report import Asked
from advisor.sources.files import nothing_found
from advisor.sources.paths import STDIN, Input, expand, is_url
from advisor.sources.spark.frames import batch_rows, batches_frame, sighting_rows
from advisor.sources.spark.jobs import SETTINGS, Jobs, Progressed, families
from advisor.sources.spark.judging import Shape
from advisor.sources.spark.places import sizes
from advisor.sources.spark.planning import outcome, planned
from advisor.sources.spark.rows import Row
from advisor.sources.spark.saving import Saved, Table, changed, seen
from advisor.sources.spark.session import explained, is_local, settings, ship
from advisor.sources.spark.trimming import Summary
from advisor.sources.spark.units import Log, Unit, grown, logs, tasks

LARGEST = 64 << 20
SMALLEST = 4 << 20
"""Bytes of a task; between, each core gets some tasks."""
_TASKS_PER_CORE = 4

Paths = Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class Judged:
    """The counts of a reading, whose tables stay on the cluster, and the entries of the report in order of time."""

    reading: Reading
    entries: list[dict[str, Any]]


def judge(
    spark: Any,
    paths: Paths,
    catalogue: Catalogue,
    asked: Asked,
    *,
    shape: Shape = dict,
    progress: Callable[[Progressed], None] | None = None,
    split: int | None = None,
    table: Table | None = None,
) -> Judged:
    """All runs in `paths`, read and judged on the cluster.

    `shape` makes of each entry, on the worker, what the driver is to get. `progress` hears what has been read. `table`:
    where the tables are saved; with an incremental one, all that stands there is judged. Raises InputError as the
    local engine does.
    """
    jobs = Jobs(spark, progress)
    ship(spark)
    try:
        with explained(), settings(spark, SETTINGS):
            return _Hearing(jobs, spark, paths, asked, table).judged(catalogue, shape, split)
    finally:
        jobs.forget()


def read(spark: Any, paths: Paths, split: int | None = None) -> Any:
    """The table of batches as a Spark data frame, read when it is asked for; each batch once."""
    jobs = Jobs(spark)
    ship(spark)
    with explained(), settings(spark, SETTINGS):
        inputs = _inputs(spark, paths)
        found = logs(inputs, sizes(one.path for one in inputs))
        size = split or _size(sum(log.size for log in found), jobs.parallel)
        units = planned(found, size, jobs.looks)
        jobs.expect(units)
        return batches_frame(jobs.rows(tasks(units, size), sightings=False), jobs.spread)


class _Hearing:
    """One judgement of everything in some paths."""

    def __init__(self, jobs: Jobs, spark: Any, paths: Paths, asked: Asked, table: Table | None) -> None:
        self._jobs = jobs
        self._paths = paths
        self._asked = asked
        self._inputs = _inputs(spark, paths)
        self._saved = Saved(spark, table) if table else None
        self._logs = logs(self._inputs, sizes(one.path for one in self._inputs))
        self._known = self._saved.files() if self._saved else {}

    def judged(self, catalogue: Catalogue, shape: Shape, split: int | None) -> Judged:
        """Read, put together, judge."""
        size = split or _size(sum(log.size for log in self._logs), self._jobs.parallel)
        units = self._units(size)
        if not self._saved:
            self._jobs.expect(units)
        rows = self._jobs.read(tasks(units, size))
        sightings = rows.filter("kind = 'sightings'")
        if any(unit.kind for unit in units):
            sightings = sightings.union(self._jobs.looked_again(rows))
        batches = rows
        if self._saved:
            self._saved.add(rows, sightings, self._jobs.spread)
            batches, sightings = batch_rows(self._saved.batches()), sighting_rows(self._saved.sightings())
        found = self._entries(rows, batches, sightings, catalogue, shape)
        if self._saved:
            self._saved.add_findings(found.entries)
            self._saved.add_files((seen(file) for log in self._logs for file in log.files), self._known)
        return found

    def _units(self, size: int) -> list[Unit]:
        if not self._known:
            return planned(self._logs, size, self._jobs.looks)
        return self._new_units(self._saved, size) if self._saved else []

    def _new_units(self, saved: Saved, size: int) -> list[Unit]:
        """What is new since the tables were saved."""
        parts = [(log, *changed(log, self._known)) for log in self._logs]
        last = saved.last_events([file.path for _, _, longer in parts for file in longer])
        fresh = [Log(log.log, tuple(new)) for log, new, _ in parts if new]
        units = planned(fresh, size, self._jobs.looks)
        ends = [(log, [f._replace(begin=last.get(f.path, 0)) for f in longer]) for log, _, longer in parts if longer]
        looks = dict(self._jobs.looks([(file.path, file.begin, file.size) for _, files in ends for file in files]))
        return units + [unit for log, files in ends for unit in grown(log, files, looks, size)]

    def _entries(self, rows: Any, batches: Any, sightings: Any, catalogue: Catalogue, shape: Shape) -> Judged:
        runs = self._jobs.runs(batches, self._asked)
        summaries = [_summary(row.note) for row in runs.filter("kind = 'run'").select("note").collect()]
        told = [(row.key, row.note) for row in sightings.select("key", "note").collect()]
        reading = _counts(rows, self._inputs, summaries)
        if not reading.events and not reading.broken and not any(_names_a_run(note) for _, note in told):
            raise InputError(*nothing_found(self._paths, reading))
        if not summaries and not told:
            return Judged(reading, [])
        kin = families(summaries, told)
        entries = self._jobs.judged(runs.union(sightings), kin, catalogue, self._asked, shape)
        return Judged(reading, _in_order(entries.select("start", "note", "payload").collect()))


def _inputs(spark: Any, paths: Paths) -> list[Input]:
    """The files behind the paths, by names that mean the same in every worker's directory."""
    inputs = expand(paths if is_local(spark) else [_absolute(os.fspath(path)) for path in paths])
    if any(one.path == STDIN for one in inputs):
        raise InputError(STDIN, "standard input cannot be read by a cluster", "use --engine local, or give files")
    return inputs


def _absolute(path: str) -> str:
    return path if is_url(path) or path == STDIN or path.startswith("dbfs:/") else os.path.abspath(path)  # noqa: PTH100


def _size(total: int, parallel: int) -> int:
    return min(LARGEST, max(SMALLEST, -(-total // (parallel * _TASKS_PER_CORE))))


def _summary(note: str) -> Summary:
    return msgspec.json.decode(note, type=Summary)


def _names_a_run(note: str) -> bool:
    return any(run for _, run in msgspec.json.decode(note, type=list[tuple[str, str]]))


def _counts(rows: Any, inputs: Sequence[Input], summaries: Iterable[Summary]) -> Reading:
    """A reading without its tables."""
    told = rows.filter("kind in ('read', 'broken')").collect()
    came_to = outcome([Row(*row) for row in told], inputs)
    summaries = list(summaries)
    return Reading(
        SCHEMA.empty_table(),
        pa.table({}),
        came_to.broken,
        came_to.files,
        came_to.bytes,
        sum(one.events for one in summaries),
        sum(one.idle for one in summaries),
        sum(one.duplicates for one in summaries),
    )


def _in_order(rows: Iterable[Any]) -> list[dict[str, Any]]:
    ordered = sorted(rows, key=lambda row: (row.start, row.note))
    return [msgspec.json.decode(bytes(row.payload)) for row in ordered]
