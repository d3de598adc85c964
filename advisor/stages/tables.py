"""The two tables of what was read of some logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from advisor.stages.columns import BATCH_PARTS, PARTS, STAGES
from advisor.stages.parts import Division
from advisor.stages.waits import Others
from advisor.stages.work import Attempt, Batch, Job, Work

_SOURCES = ("event_log", "session", "driver_log")
"""Of two that tell of the same batch the earlier one counts."""
_BEFORE = ("latest_offset", "get_offset", "get_end_offset", "set_offset_range", "wal_commit", "get_batch")
_OF_BATCHES = (
    "id",
    "run_id",
    "name",
    "batch_id",
    "timestamp",
    "idle",
    "add_batch_ms",
    "trigger_execution_ms",
    "commit_offsets_ms",
    "query_planning_ms",
    *(f"{phase}_ms" for phase in _BEFORE),
)
_NAMES = [part.name for part in PARTS]


@dataclass
class Inside:
    """One batch: the jobs and stage attempts in it."""

    batch: Batch
    work: Work
    jobs: list[Job]
    attempts: list[Attempt]


def tables(works: Iterable[Work], batches: pa.Table) -> tuple[pa.Table, pa.Table]:
    """(the table of stages, the table of batch parts) of these logs; `batches` tell how long addBatch took, and when.

    A batch of which two sources tell stands there once: the event log's counts most.
    """
    rows = _rows_of(batches)
    names = {row["id"]: row["name"] for row in rows.values() if row["name"]}
    of_stages: list[dict[str, Any]] = []
    of_parts: list[dict[str, Any]] = []
    for work in works:
        work.fold()
    for inside in _chosen(works):
        row = rows.get(_key(inside.batch.id, inside.batch.run_id, inside.batch.batch_id))
        _settle_kinds(inside.attempts)
        part = None if row is None else _part_row(inside, row, names)
        of_stages += [_stage_row(inside, attempt) for attempt in inside.attempts]
        if part is not None:
            of_parts.append(part)
    return _table(of_stages, STAGES), _table(of_parts, BATCH_PARTS)


def _rows_of(batches: pa.Table) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The batches by (run, batch), and by (query, batch) for jobs that do not name their run: the newest one."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in batches.select(list(_OF_BATCHES)).to_pylist():
        if row["add_batch_ms"] is not None:
            found[_key(row["id"], row["run_id"], row["batch_id"])] = row
            found[_key(row["id"], None, row["batch_id"])] = row
    return found


def _key(id: str | None, run_id: str | None, batch_id: int | None) -> tuple[Any, ...]:
    return (run_id, batch_id) if run_id else (None, id, batch_id)


def _chosen(works: Iterable[Work]) -> list[Inside]:
    """The batches of all logs, in order, each from the source that tells most."""
    chosen: dict[tuple[Any, ...], Inside] = {}
    for work in sorted(works, key=lambda work: _SOURCES.index(work.source)):
        for key, inside in _batches_of(work).items():
            chosen.setdefault(key, inside)
    return list(chosen.values())


def _batches_of(work: Work) -> dict[tuple[Any, ...], Inside]:
    found: dict[tuple[Any, ...], Inside] = {}
    for job in work.jobs.values():
        if job.batch:
            found.setdefault(_key(*job.batch), Inside(job.batch, work, [], [])).jobs.append(job)
    for attempt in work.attempts:
        if attempt.job and attempt.job.batch and (inside := found.get(_key(*attempt.job.batch))):
            inside.attempts.append(attempt)
    return found


def _settle_kinds(attempts: Sequence[Attempt]) -> None:
    """A scan of files is the source where nothing else is; else it is of a static side."""
    streams = any(attempt.kind == "source_read" for attempt in attempts)
    for attempt in attempts:
        if attempt.kind == "scan":
            attempt.kind = "other" if streams else "source_read"


def _part_row(inside: Inside, row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    begin, end = _span(inside.jobs, row)
    division = Division(begin, end)
    division.divide(_during(inside.jobs, begin, end), inside.attempts)
    waited_for = _wait(inside, division, names)
    return {
        "id": row["id"],
        "run_id": row["run_id"],
        "batch_id": row["batch_id"],
        "timestamp": row["timestamp"],
        "add_batch_ms": float(row["add_batch_ms"]),
        **_told(inside, division),
        "together": _together(inside),
        "waited_for": sorted(waited_for),
        "jobs": len(inside.jobs),
        "stages": len(inside.attempts),
        "tasks": sum(attempt.tasks or 0 for attempt in inside.attempts),
        "reads": sum(attempt.kind == "source_read" for attempt in inside.attempts),
        "source": inside.work.source,
        "log": inside.work.log,
    }


def _span(jobs: Sequence[Job], row: Mapping[str, Any]) -> tuple[float, float]:
    """When addBatch began and ended, ms since 1970: it ends before the commit log, which ends the trigger.

    Without that phase (before Spark 3.4) it begins behind the phases before it. Jobs that reach out a little, as the
    phases leave some milliseconds out, move it; its length stays Spark's own.
    """
    start, length = row["timestamp"].timestamp() * 1000, float(row["add_batch_ms"])
    if row["commit_offsets_ms"] is not None and row["trigger_execution_ms"] is not None:
        end = start + row["trigger_execution_ms"] - row["commit_offsets_ms"]
    else:
        end = start + sum(row[f"{phase}_ms"] or 0 for phase in (*_BEFORE, "query_planning")) + length
    there = _during(jobs, end - length, end)
    end = max([end, *(job.end for job in there if job.end is not None)])
    end = min([end, *(job.start + length for job in there)])
    return end - length, end


def _during(jobs: Sequence[Job], begin: float, end: float) -> list[Job]:
    return [job for job in jobs if job.start < end and (job.end is None or job.end > begin)]


def _wait(inside: Inside, division: Division, names: Mapping[str, str]) -> set[str]:
    """Note in the stages and in the parts what others' tasks held; the names of the others."""
    if inside.work.spans.alone:
        return set()
    others = Others(inside.work.spans, inside.batch.id, names)
    found: set[str] = set()
    for gap, attempt in division.idle:
        waits = others.hold(gap, attempt.slots)
        if waits.ms > 0:
            division.waits(waits)
            found |= waits.names
            attempt.numbers["slots_wait_ms"] = attempt.numbers.get("slots_wait_ms", 0.0) + waits.ms
            attempt.waited_for = sorted({*attempt.waited_for, *waits.names})
    return found


def _told(inside: Inside, division: Division) -> dict[str, float | None]:
    """Each part's milliseconds; those of which the source says nothing are None."""
    silent = {"planning_ms", "sink_commit_ms", "driver_ms"}
    silent |= {name for name in ("state_load_ms", "python_ms") if not _tells(inside, name)}
    if not any(attempt.kind == "state" for attempt in inside.attempts):
        silent -= {"state_load_ms"}
    parts = division.parts
    return {name: max(0.0, parts.get(name, 0.0)) if name in parts or name not in silent else None for name in _NAMES}


def _tells(inside: Inside, name: str) -> bool:
    return any(name in attempt.numbers for attempt in inside.attempts)


def _together(inside: Inside) -> list[str]:
    """Which parts hold another's time, as Spark works on both in one stage or the source names neither apart."""
    found: dict[str, None] = {"driver_before+planning": None, "driver_after+sink_commit": None}
    for attempt in inside.attempts:
        if attempt.last and attempt.kind == "source_read":
            found["source_read+sink_write"] = None
        elif attempt.last and attempt.kind == "state":
            found["state_update+sink_write"] = None
        if attempt.kind == "state" and "state_load_ms" not in attempt.numbers:
            found["state_update+state_load"] = None
    return list(found)


def _stage_row(inside: Inside, attempt: Attempt) -> dict[str, Any]:
    batch, job = inside.batch, attempt.job
    return {
        **attempt.numbers,
        "id": batch.id,
        "run_id": batch.run_id,
        "batch_id": batch.batch_id,
        "job": job.job if job else None,
        "stage": attempt.stage,
        "attempt": attempt.attempt,
        "kind": attempt.kind,
        "what": attempt.what,
        "last": attempt.last,
        "tasks": attempt.tasks,
        "slots": attempt.slots,
        "submitted": round(attempt.submitted) if inside.work.clock else None,
        "wall_ms": attempt.completed - attempt.submitted,
        "slots_wait_ms": attempt.numbers.get("slots_wait_ms", 0.0) if inside.work.clock else None,
        "waited_for": attempt.waited_for,
        "source": inside.work.source,
        "log": inside.work.log,
    }


def _table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows by the names of the columns; a number that is whole may come as a float."""
    held: dict[str, list[Any]] = defaultdict(list)
    for name in schema.names:
        held[name] = [row.get(name) for row in rows]
    columns = [_column(held[field.name], field.type) for field in schema]
    return pa.table(columns, schema)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_integer(kind):
        values = [
            None if value is None or (isinstance(value, float) and np.isnan(value)) else int(value) for value in values
        ]
    return pa.array(values, kind)
