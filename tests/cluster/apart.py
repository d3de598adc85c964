"""Reads in ranges as a cluster does, in one process: what Spark shuffles is sorted here."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
import pyarrow as pa

from advisor import catalogue
from advisor.batches import SCHEMA, SIGHTINGS, Reading
from advisor.cluster.engine import outcome
from advisor.cluster.judging import WHOLE, Summary, families, judge_groups, runs_of
from advisor.cluster.reading import look_again, read_unit
from advisor.cluster.rows import KEYS, Row, batches_of, rows_of, unpacked
from advisor.cluster.units import logs, look, planned
from advisor.contract import QueryEntry, plain
from advisor.report import Asked
from advisor.report.assemble import report_on
from advisor.sources.paths import Input, expand
from advisor.sources.random_access import sizes

own_rules = cache(catalogue.load)


def read_apart(paths: list[str], split: int) -> Reading:
    """The reading of these paths, in ranges of at most `split` bytes."""
    inputs = expand(paths)
    return _reading(_rows(inputs, split, stages=False), inputs)


def _reading(rows: list[Row], inputs: list[Input]) -> Reading:
    came_to = outcome(rows, inputs)
    return Reading.of(
        _together(rows, "batches", SCHEMA),
        _together(rows, "sightings", SIGHTINGS),
        broken=came_to.broken,
        files=came_to.files,
        size=came_to.bytes,
        overruns=came_to.overruns,
    )


def judge_apart(paths: list[str], split: int, asked: Asked | None = None, *, stages: bool = True) -> dict[str, Any]:
    """The report of these paths, judged group by group."""
    inputs = expand(paths)
    rows = _rows(inputs, split, stages=stages)
    reading = _reading(rows, inputs)
    batches = sorted((row for row in rows if row.kind == "batches"), key=lambda row: (row.key, row.number, row.start))
    runs = list(runs_of(batches, asked.until if asked else None))
    sightings = [row for row in rows if row.kind == "sightings"]
    summaries = [msgspec.json.decode(row.note, type=Summary) for row in runs if row.kind == "run"]
    named = {name for family, name, _ in families(summaries, []) if family == "run"}
    groups = {
        (family, name): group for family, name, group in families(summaries, [(row.key, row.note) for row in sightings])
    }
    keyed = [row._replace(key=groups["run", row.key]) for row in runs]
    keyed += [row._replace(key=groups["log", row.key]) for row in sightings]
    keyed += [row._replace(key=groups["run", row.key]) for row in rows if row.kind in KEYS and row.key in named]
    judged = judge_groups(_ordered(keyed), own_rules(), asked or Asked(), WHOLE)
    found = sorted(judged, key=lambda row: (row.start, row.note))
    return plain(report_on(reading, [msgspec.json.decode(row.payload, type=QueryEntry) for row in found]))


def _rows(inputs: list[Input], split: int, *, stages: bool) -> list[Row]:
    found = logs(inputs, sizes(one.path for one in inputs))
    units = planned(
        found, split, lambda asked: [(path, look(path, start, end)) for path, start, end in asked], whole=stages
    )
    rows = list(rows_of(batches_of(row for unit in reversed(units) for row in read_unit(unit, stages=stages))))
    marks = _ordered(row for row in rows if row.kind == "marks")
    return rows + list(look_again(marks))


def _ordered(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.key, row.number, row.start))


def _together(rows: list[Row], kind: str, schema: pa.Schema) -> pa.Table:
    chosen = sorted((row for row in rows if row.kind == kind), key=lambda row: (row.number, row.start))
    return pa.concat_tables([schema.empty_table(), *(unpacked(row.payload) for row in chosen)])
