"""Puts runs together, in little memory, and judges them where their rows are: only entries leave the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import SCHEMA, SIGHTINGS, Batches, Inside, deduplicate
from advisor.catalogue import Catalogue
from advisor.cluster.rows import Row, inside_of, packed, unpacked
from advisor.contract import FleetQuery, QueryEntry, encoded
from advisor.report.absent import Span, span
from advisor.report.runs import LOOKED_AT, NARROW, Asked, RunJudge
from advisor.window import LONGEST_WARM_UP, MOST_BATCHES, newest

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T", bound=QueryEntry | FleetQuery)


@dataclass(frozen=True)
class Shape(Generic[T]):
    """What of an entry leaves the worker, and of which type that is."""

    of: Callable[[QueryEntry], T]
    type: type[T]


WHOLE = Shape(lambda entry: entry, QueryEntry)
"""The entry as it is."""
_FULL = 2 * MOST_BATCHES
_WORDS = ("id", "run_id", "name", "file", "log")
_LAST = 1 << 62
"""Where runs stand that have no time."""


def judge_groups(
    rows: Iterable[Row], catalogue: Catalogue, asked: Asked, shape: Shape[Any], brief: bool = False
) -> Iterator[Row]:
    """One row per run, its entry of the report as JSON; `rows` come group by group (runs that share a log or query).

    `start` is the time of the run's first event, for order.
    """
    for group, members in groupby(rows, key=lambda row: row.key):
        for first, entry in _entries(list(members), catalogue, asked, brief):
            yield Row("entry", group, start=first, note=entry.run_id, payload=encoded(shape.of(entry)))


def _entries(rows: list[Row], catalogue: Catalogue, asked: Asked, brief: bool) -> Iterator[tuple[int, QueryEntry]]:
    places = _places([row for row in rows if row.kind == "narrow"])
    sightings = [unpacked(row.payload) for row in rows if row.kind == "sightings"]
    found = pa.concat_tables([SIGHTINGS.empty_table(), *sightings])
    firsts = _firsts(places)
    judge_of = RunJudge(_Batches(rows, inside_of(rows)), places, found, catalogue, asked, brief)
    for entry in map(judge_of.entry, judge_of.runs):
        yield firsts.get(entry.run_id, _LAST), entry


def _places(rows: Iterable[Row]) -> pa.Table:
    empty = SCHEMA.empty_table().select(NARROW)
    return deduplicate(pa.concat_tables([empty, *(as_text(unpacked(row.payload)) for row in rows)]))[0]


def _firsts(places: pa.Table) -> dict[str, int]:
    """Time of each run's first event in milliseconds."""
    found = places.select(["run_id", "timestamp"]).group_by("run_id").aggregate([("timestamp", "min")])
    times = found["timestamp_min"].cast(pa.int64()).to_pylist()
    return dict(zip(found["run_id"].to_pylist(), times, strict=True))


class _Batches(Mapping[str, Batches]):
    """The last batches of each run, unpacked when they are asked for, and opened where their jobs were read."""

    def __init__(self, rows: Iterable[Row], inside: Inside | None) -> None:
        self._inside = inside
        runs = [row for row in rows if row.kind == "run"]
        self._packed = {row.said(Summary).run_id: row.payload for row in runs}

    def __getitem__(self, run_id: str) -> Batches:
        batches = Batches.of(unpacked(self._packed[run_id]))
        return batches.opened(run_id, self._inside) if self._inside else batches

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


def families(summaries: Iterable[Summary], notes: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """(run or log, its name, its group): runs that share a log or a query, also by `notes`.

    `notes`: (log, note of its sightings: JSON of the pairs (query, run) that they name).
    """
    kin = Kinship()
    runs, logs = [], []
    for one in summaries:
        kin.join([("run", one.run_id), ("query", one.id or ""), *(("log", log) for log in one.logs)])
        runs.append(one.run_id)
    for log, note in notes:
        logs.append(log)
        kin.join([("log", log), *named_in(note)])
    members = [*(("run", run) for run in runs), *(("log", log) for log in dict.fromkeys(logs))]
    return [(kind, name, " ".join(kin.group((kind, name)))) for kind, name in members]


_Name = tuple[str, str]
"""Whether it is of a run, a query or a log, and its text; runs of which no query is known count as runs of one."""


def named_in(note: str) -> Iterator[_Name]:
    """The queries and runs that a note of sightings names."""
    for query, run in msgspec.json.decode(note, type=list[tuple[str, str]]):
        yield "query", query
        if run:
            yield "run", run


class Kinship:
    """Groups of names that were said to belong together."""

    def __init__(self) -> None:
        self._parent: dict[_Name, _Name] = {}

    def join(self, names: Iterable[_Name]) -> None:
        """Say that these belong together."""
        first, *others = map(self.group, names)
        for other in others:
            self._parent[other] = first

    def group(self, name: _Name) -> _Name:
        """The name that stands for the group of this one."""
        root = name
        while (parent := self._parent.setdefault(root, root)) != root:
            root = parent
        while self._parent[name] != root:
            self._parent[name], name = root, self._parent[name]
        return root


class Summary(msgspec.Struct):
    """What the driver must know of a run."""

    run_id: str
    id: str | None
    logs: list[str]
    events: int
    idle: int
    duplicates: int
    span: Span | None


def runs_of(rows: Iterable[Row], until: pd.Timestamp | None = None) -> Iterator[Row]:
    """Two rows for each run: `run` (its summary; payload: the last batches) and `narrow` (payload: all events' places).

    `rows` are chunks of batches, run by run in order of file and place, so that of equal batches the first stays.
    """
    for run_id, chunks in groupby(rows, key=lambda row: row.key):
        run = _Run(until)
        for chunk in chunks:
            run.add(unpacked(chunk.payload))
        yield from run.rows(run_id)


class _Run:
    def __init__(self, until: pd.Timestamp | None) -> None:
        self._until = until
        self._narrow: list[bytes] = []
        self._wide: list[pa.Table] = []
        self._held = 0

    def add(self, table: pa.Table) -> None:
        """Take a chunk; what cannot be among the last batches is let go."""
        self._narrow.append(packed(_encoded(table.select(NARROW))))  # a part of a table would hold all of it
        self._wide.append(table)
        self._held += len(table)
        if self._held > _FULL + MOST_BATCHES:
            self._wide = [self._trimmed()]
            self._held = len(self._wide[0])

    def _trimmed(self) -> pa.Table:
        rows, _ = deduplicate(pa.concat_tables(self._wide))
        return rows.filter(pa.array(wanted(rows, self._until)))

    def rows(self, run_id: str) -> Iterator[Row]:
        """The run's two rows."""
        narrow, dropped = deduplicate(pa.concat_tables(map(unpacked, self._narrow)).unify_dictionaries())
        whole = narrow["partial"].is_null()
        count, idle = (pc.sum(flags).as_py() or 0 for flags in (whole, pc.and_(whole, narrow["idle"])))
        logs = pc.unique(narrow["log"]).to_pylist()
        summary = Summary(run_id, narrow["id"][0].as_py(), logs, count, idle, dropped, span(narrow))
        note = msgspec.json.encode(summary).decode()
        wide = self._trimmed()
        yield Row("run", run_id, rows=len(wide), note=note, payload=packed(wide))
        yield Row("narrow", run_id, rows=len(narrow), payload=packed(narrow))


def wanted(table: pa.Table, until: pd.Timestamp | None) -> np.ndarray:
    """Which rows of a run's table, in order of time, its judgement may look at, as a mask."""
    executed = ~np.asarray(table["idle"])
    keep = executed & newest(executed, LOOKED_AT)
    keep[-LOOKED_AT:] = True
    judged = executed
    if until is not None:
        limit = pa.scalar(until, table["timestamp"].type)
        judged = executed & np.asarray(pc.fill_null(pc.less_equal(table["timestamp"], limit), False))
    return np.asarray(keep | (judged & newest(judged, MOST_BATCHES + LONGEST_WARM_UP)))


def _encoded(table: pa.Table) -> pa.Table:
    """The table with words as numbers into dictionaries: a run's million events have the same few."""
    columns = [
        pc.dictionary_encode(column) if name in _WORDS else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def as_text(table: pa.Table) -> pa.Table:
    """A table of narrow rows in the types of the table of batches."""
    return table.cast(pa.schema([SCHEMA.field(name) for name in NARROW]))
