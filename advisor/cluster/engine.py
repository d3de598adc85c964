"""What the cluster offers: the tables as Spark data frames, and the report's entries."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic

import msgspec
import pyarrow as pa

from advisor.batches import SCHEMA, Broken, Overrun, Reading
from advisor.catalogue import Catalogue
from advisor.cluster.inputs import Paths, given, read_by_jvm
from advisor.cluster.jobs import SETTINGS, Jobs, Work
from advisor.cluster.judging import Shape, Summary, T, families, judge_groups, named_in
from advisor.cluster.rows import KEYS, KINDS, Done, Row, batches_frame, opened_frame, rows_again
from advisor.cluster.saving import Saved, Table, changed, saved_tables
from advisor.cluster.session import explained, settings, ship
from advisor.cluster.units import Unit, grown, planned, tasks
from advisor.errors import InputError
from advisor.report import Asked
from advisor.report.absent import Span, whole
from advisor.report.assemble import refuse_many
from advisor.sources.files import is_empty, nothing_found
from advisor.sources.harvest import LINE_UNKNOWN, MOST_BROKEN, Lines, Stretch
from advisor.sources.paths import Input, shown
from advisor.sources.random_access import opened

LARGEST = 256 << 20
SMALLEST = 4 << 20
"""Bytes of a task; between, each core gets some tasks. Each costs Spark and its Python worker 50 ms besides."""
_TASKS_PER_CORE = 4
_CLOSED = "latency-advisor: %d logs are read without stages; a run with stages opens only those that have grown since"


@dataclass(frozen=True)
class Judged(Generic[T]):
    """The counts of a reading, whose tables stay on the cluster, and the entries of the report in order of time.

    `by_jvm`: how many files only the JVM could reach, which is slower. `span`: from when to when there are batches.
    """

    reading: Reading
    entries: list[T]
    by_jvm: int = 0
    span: Span | None = None


def judge(
    spark: Any,
    paths: Paths,
    catalogue: Catalogue,
    asked: Asked,
    *,
    shape: Shape[T],
    brief: bool = False,
    progress: Callable[[int], None] | None = None,
    split: int | None = None,
    table: Table | None = None,
    stages: bool = True,
) -> Judged[T]:
    """All runs in `paths`, read and judged on the cluster.

    `shape` makes of each entry, a `brief` one if so asked, on the worker what the driver is to get. `progress` hears
    the bytes that have been read. `table`: where the tables are saved; with an incremental one, all that stands there
    is judged. `stages`: whether addBatch is opened; each log is then read as a whole, by one task.
    Raises InputError as the local engine does.
    """
    jobs = Jobs(spark, progress)
    ship(spark)
    try:
        with explained(), settings(spark, SETTINGS), saved_tables(spark, table) as saved:
            hearing = _Hearing(jobs, spark, paths, asked, saved, stages)
            return hearing.judged(lambda rows: judge_groups(rows, catalogue, asked, shape, brief), shape.type, split)
    finally:
        jobs.forget()


def read(spark: Any, paths: Paths, table: str = "batches", *, split: int | None = None) -> Any:
    """Return a table of logs as a Spark data frame, read when it is asked for; each batch once."""
    jobs, stages = Jobs(spark), table in KEYS
    ship(spark)
    with explained(), settings(spark, SETTINGS):
        found = given(spark, paths)
        size = split or _size(found.cost, jobs.parallel)
        units = planned(found.logs, size, jobs.looks, whole=stages)
        jobs.expect([*units, *found.by_jvm])
        rows = jobs.rows(tasks(units, size), sightings=False, stages=stages)
        if found.by_jvm:
            rows = rows.union(read_by_jvm(spark, found, jobs.spread, sightings=False, stages=stages))
        return opened_frame(rows, table) if stages else batches_frame(rows, jobs.spread)


class _Hearing:
    """One judgement of everything in some paths."""

    def __init__(self, jobs: Jobs, spark: Any, paths: Paths, asked: Asked, saved: Saved | None, stages: bool) -> None:
        self._jobs = jobs
        self._stages = stages
        self._spark = spark
        self._paths = paths
        self._asked = asked
        self._given = given(spark, paths)
        self._saved = saved
        self._known = saved.files(self._given.logs) if saved else {}

    def judged(self, work: Work, kind: type[T], split: int | None) -> Judged[T]:
        """Read, put together, and let `work` judge, which gives entries of this kind."""
        size, far = split or _size(self._given.cost, self._jobs.parallel), self._given.by_jvm
        units = self._units(size)
        if not self._saved:
            self._jobs.expect([*units, *far])
        beside = read_by_jvm(self._spark, self._given, self._jobs.spread, stages=self._stages) if far else None
        rows = self._jobs.read(tasks(units, size), beside, stages=self._stages)
        sightings = rows.filter("kind = 'sightings'")
        if any(unit.format for unit in units):
            sightings = sightings.union(self._jobs.looked_again(rows))
        batches, opened = rows, rows.filter(KINDS) if self._stages else None
        if self._saved:
            again = {file.path for unit in [*units, *far] for file in unit.files if not file.begin}
            self._saved.add(rows, sightings, self._jobs.spread, again)
            batches, sightings = (rows_again(self._saved.table(name), name) for name in ("batches", "sightings"))
            if self._stages:
                opened = self._saved.with_opened(rows)
        found = self._entries(rows, batches, sightings, opened, work, kind)
        if self._saved:
            self._saved.commit(found.entries, self._known)
        return found

    def _units(self, size: int) -> list[Unit]:
        """Return what is new since the tables were saved; with stages, all of each log that has changed."""
        parts = [(log, *changed(log, self._known)) for log in self._given.logs]
        if self._saved:
            self._known = self._saved.set_apart(parts, self._known)
        if self._stages or not (self._saved and self._known):
            closed = bool(self._saved and not self._saved.has_stages())  # what is saved was read without them
            fresh = [log for log, *some in parts if closed or any(some)]
            return planned(fresh, size, self._jobs.looks, whole=self._stages)
        if self._saved.has_stages() and (left := sum(any(some) for _, *some in parts)):
            logging.getLogger(__name__).warning(_CLOSED, left)
        last = self._saved.last_events([self._known[file.path] for _, _, longer in parts for file in longer])
        fresh = [Unit(log.log, tuple(new)) for log, new, _ in parts if new]
        units = planned(fresh, size, self._jobs.looks)
        ends = [(log, [f._replace(begin=last.get(f.path, 0)) for f in longer]) for log, _, longer in parts if longer]
        looks = dict(self._jobs.looks([(file.path, file.begin, file.size) for _, files in ends for file in files]))
        return units + [unit for log, files in ends for unit in grown(log, files, looks, size)]

    def _entries(self, rows: Any, batches: Any, sightings: Any, opened: Any, work: Work, kind: type[T]) -> Judged[T]:
        runs = self._jobs.runs(batches, self._asked)
        notes = runs.filter("kind = 'run'").select("note").collect()
        summaries = [msgspec.json.decode(row.note, type=Summary) for row in notes]
        found = [(row.key, row.note) for row in sightings.select("key", "note").collect()]
        reading = _counts(rows, self._given.inputs, summaries)
        named = any(kind == "run" for _, note in found for kind, _ in named_in(note))
        if not named and is_empty(reading):
            raise InputError(*nothing_found(self._paths, reading))
        by_jvm = sum(len(log.files) for log in self._given.by_jvm)
        if not summaries and not found:
            return Judged(reading, [], by_jvm)
        kin = families(summaries, found)
        refuse_many(max(Counter(group for family, _, group in kin if family == "run").values(), default=0))
        told_of = runs.union(sightings) if opened is None else runs.union(sightings).union(opened)
        entries = self._jobs.judged(told_of, kin, work)
        in_order = sorted(entries.select("start", "note", "payload").collect(), key=lambda row: (row.start, row.note))
        judged = [msgspec.json.decode(bytes(row.payload), type=kind) for row in in_order]
        return Judged(reading, judged, by_jvm, whole(one.span for one in summaries))


def _size(total: int, parallel: int) -> int:
    return min(LARGEST, max(SMALLEST, -(-total // (parallel * _TASKS_PER_CORE))))


def _counts(rows: Any, inputs: Sequence[Input], summaries: Sequence[Summary]) -> Reading:
    """The same, with the counts of the runs."""
    found = rows.filter("kind in ('read', 'broken', 'overruns')").collect()
    counts = {name: sum(getattr(one, name) for one in summaries) for name in ("events", "idle", "duplicates")}
    return replace(outcome([Row(*row) for row in found], inputs), **counts)


def outcome(rows: Iterable[Row], inputs: Sequence[Input]) -> Reading:
    """A reading without its tables: what the rows `read`, `broken` and `overruns` say, in the order of the files."""
    rows = list(rows)
    done = [row.said(Done) for row in rows if row.kind == "read"]
    by_file = {number: [Broken(shown(one.path), 0, 0, one.unfit)] for number, one in enumerate(inputs) if one.unfit}
    for row in sorted((row for row in rows if row.kind == "broken"), key=lambda row: (row.number, row.start)):
        by_file.setdefault(row.number, []).extend(row.said(list[Broken]))
    broken = [entry for number in sorted(by_file) for entry in _in_lines(by_file[number])]
    in_order = sorted((row for row in rows if row.kind == "overruns"), key=lambda row: (row.number, row.start))
    overruns = [one for row in in_order for one in row.said(list[Overrun])]
    files, size = sum(one.files for one in done), sum(one.bytes for one in done)
    return Reading(SCHEMA.empty_table(), pa.table({}), tuple(broken), files, size, overruns=tuple(overruns))


def _in_lines(broken: list[Broken]) -> list[Broken]:
    """The broken records of one file, each once, with the lines that its ranges could not know."""
    broken = _bounded(dict.fromkeys(broken))
    unknown = sorted(one.offset for one in broken if one.line == LINE_UNKNOWN)
    lines = _lines(broken[0].file, unknown) if unknown else {}
    return [replace(one, line=lines[one.offset]) if one.line == LINE_UNKNOWN else one for one in broken]


def _bounded(broken: Iterable[Broken]) -> list[Broken]:
    """The first of these one by one; of the others one entry, and one for those that were read in part."""
    listed: list[Broken] = []
    more: dict[bool, Broken] = {}
    for one in broken:
        if one.times == 1 and len(listed) < MOST_BROKEN:
            listed.append(one)
        else:
            before = more.get(one.partial)
            more[one.partial] = before.and_more(one.times) if before else one
    return [*listed, *more.values()]


def _lines(path: str, offsets: Sequence[int]) -> dict[int, int]:
    """The line, from 1, of each offset of a file; offsets rise. 0 where it can no longer be read."""
    found: dict[int, int] = {}
    with suppress(OSError), opened(path) as place:
        lines, whole = Lines(), Stretch(place, 0, 0, final=True)
        for offset in offsets:
            found[offset] = lines.number(whole, offset)
    return {offset: found.get(offset, 0) for offset in offsets}
