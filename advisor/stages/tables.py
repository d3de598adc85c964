"""The two tables of what was read of some logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa

from advisor.stages.columns import BATCH_PARTS, PARTS, STAGES
from advisor.stages.parts import DRIVER, Division
from advisor.stages.tasks import Spans
from advisor.stages.waits import Others
from advisor.stages.work import Attempt, Batch, Job, Note, Work

SOURCES = ("event_log", "session", "driver_log")
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
_ROWS = 1024
_OBJECTS = "DeserializeToObject"
LOG_CHECKPOINT = "Delta: log checkpoint"
"""What a job says that writes the checkpoint of a Delta table's log; Delta itself does not name it."""
_SHORT_MS = 2.0
"""Between a stage's submission and its tasks there are always some; no other need have held a slot."""
_NOTED = ("code_generated_ms", "code_too_long", "commit_retries", "files_written", "bytes_written")


OthersOf = Callable[[Spans, str | None], Others]
"""The tasks of a log that are not a query's."""


@dataclass
class Inside:
    """One batch: the jobs and stage attempts in it."""

    batch: Batch
    work: Work
    jobs: list[Job]
    attempts: list[Attempt]
    notes: list[Note]


def tables(works: Iterable[Work], batches: pa.Table) -> tuple[pa.Table, pa.Table]:
    """(the table of stages, the table of batch parts) of these logs; `batches` tell how long addBatch took, and when.

    A batch of which two sources tell stands there once: the event log's counts most.
    """
    rows = _rows_of(batches)
    names = {row["id"]: row["name"] for row in rows.values() if row["name"]}
    of_stages, of_parts = _Rows(STAGES), _Rows(BATCH_PARTS)
    for work in works:
        work.fold()
    chosen = _chosen(works)
    others_of: OthersOf = cache(lambda spans, query: Others(spans, query, names))
    _settle_kinds(chosen)
    for inside in chosen:
        row = rows.get(_key(inside.batch.id, inside.batch.run_id, inside.batch.batch_id))
        part = None if row is None else _part_row(inside, row, names, others_of)
        of_stages.add(_stage_row(inside, attempt) for attempt in inside.attempts)
        of_parts.add([] if part is None else [part])
    return of_stages.table(), of_parts.table()


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
    for work in sorted(works, key=lambda work: SOURCES.index(work.source)):
        for key, inside in _batches_of(work).items():
            chosen.setdefault(key, inside)
    return list(chosen.values())


def _batches_of(work: Work) -> dict[tuple[Any, ...], Inside]:
    found: dict[tuple[Any, ...], Inside] = {}
    for job in work.jobs:
        if job.batch:
            found.setdefault(_key(*job.batch), Inside(job.batch, work, [], [], [])).jobs.append(job)
    for attempt in work.attempts:
        if attempt.job and attempt.job.batch and (inside := found.get(_key(*attempt.job.batch))):
            inside.attempts.append(attempt)
    for note in work.notes:
        if note.batch and (inside := found.get(_key(*note.batch))):
            inside.notes.append(note)
    return found


def _settle_kinds(chosen: Sequence[Inside]) -> None:
    """A scan of files is the source where the query has no other; else it is of a static side."""
    attempts = [(inside.batch.id, attempt) for inside in chosen for attempt in inside.attempts]
    streams = {query for query, attempt in attempts if attempt.kind == "source_read"}
    for query, attempt in attempts:
        if attempt.kind == "scan":
            attempt.kind = "other" if query in streams else "source_read"
    snapshots: dict[str | None, int] = {}
    for query, attempt in attempts:
        if attempt.kind == "table_log":
            snapshots[query] = max(snapshots.get(query, 0), attempt.tasks or 0)
    for inside in chosen:
        if inside.batch.id in snapshots:
            _settle_checkpoints(inside.attempts, snapshots[inside.batch.id])


def _settle_checkpoints(attempts: Sequence[Attempt], tasks: int) -> None:
    """Delta names its snapshot's jobs, not those of its log's checkpoint: these have as many tasks, over objects."""
    of_job: dict[int, list[Attempt]] = {}
    for attempt in attempts:
        of_job.setdefault(id(attempt.job), []).append(attempt)
    for members in of_job.values():
        own = all(attempt.kind in ("result", "shuffle") for attempt in members)
        if own and any(attempt.tasks == tasks > 1 and _OBJECTS in attempt.what for attempt in members):
            for attempt in members:
                attempt.kind, attempt.what = "table_log", LOG_CHECKPOINT


def _part_row(inside: Inside, row: Mapping[str, Any], names: Mapping[str, str], others_of: OthersOf) -> dict[str, Any]:
    division = _divided(inside, row)
    waited_for = _wait(inside, division, names, others_of)
    told = {name: [note.value for note in inside.notes if note.name == name] for name in _NOTED}
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
        "reads": _reads(inside.attempts),
        **{
            name: sum(values) if values or inside.work.source == "driver_log" else None for name, values in told.items()
        },
        "source": inside.work.source,
        "log": inside.work.log,
    }


def _reads(attempts: Sequence[Attempt]) -> int | None:
    if any(attempt.kind is None for attempt in attempts):
        return None
    return sum(attempt.kind == "source_read" for attempt in attempts)


def _divided(inside: Inside, row: Mapping[str, Any]) -> Division:
    """The clock of addBatch, divided."""
    length = float(row["add_batch_ms"])
    if inside.work.clock:
        begin, end = _span(inside.jobs, row)
        jobs = _during(inside.jobs, begin, end)
        division = Division(begin, end)
        division.divide(jobs, inside.attempts)
    else:
        begin = min(job.start for job in inside.jobs)
        end = max(job.start if job.end is None else job.end for job in inside.jobs)
        division = Division(begin, end)
        division.divide(inside.jobs, inside.attempts)
        for attempt in inside.attempts:
            waited = attempt.numbers.get("slots_wait_ms", 0.0)
            division.moves("slots_wait_ms", waited, ["scheduling_ms"])
        division.gathers(length)
    for note in inside.notes:
        if note.name in _NAMES:
            division.moves(note.name, note.value, _homes(inside, note))
    return division


def _homes(inside: Inside, note: Note) -> Sequence[str]:
    """Which of the driver's parts the time is taken from that a line tells of."""
    if not inside.work.clock:
        return ["driver_ms"]
    if note.time <= min(job.start for job in inside.jobs):
        return DRIVER[:1]
    return DRIVER[:0:-1] if note.name == "sink_commit_ms" else DRIVER[1:]


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


def _wait(inside: Inside, division: Division, names: Mapping[str, str], others_of: OthersOf) -> set[str]:
    """Note in the stages and in the parts what others' tasks held; the names of the others."""
    if not inside.work.clock:
        return _named_waits(inside.attempts, names)
    if inside.work.spans.alone:
        return set()
    others = others_of(inside.work.spans, inside.batch.id)
    found: set[str] = set()
    for idle in division.idle:
        if idle.gap[1] - idle.gap[0] < _SHORT_MS:
            continue
        attempt = idle.attempt
        waits = others.hold(idle.gap, attempt.slots)
        if waits.ms > 0:
            division.waits(idle, waits.ms)
            found |= waits.names
            attempt.numbers["slots_wait_ms"] = attempt.numbers.get("slots_wait_ms", 0.0) + waits.ms
            attempt.waited_for = sorted({*attempt.waited_for, *waits.names})
    return found


def _named_waits(attempts: Sequence[Attempt], names: Mapping[str, str]) -> set[str]:
    """The names of the queries whose ids the stages waited for."""
    for attempt in attempts:
        attempt.waited_for = sorted(names.get(id, id) for id in attempt.waited_for)
    return {name for attempt in attempts for name in attempt.waited_for}


def _told(inside: Inside, division: Division) -> dict[str, float | None]:
    """Each part's milliseconds; those of which the source says nothing are None."""
    silent = {"planning_ms", "sink_commit_ms"} | ({"driver_ms"} if inside.work.clock else set(DRIVER))
    silent |= {name for name in ("state_load_ms", "python_ms") if not _tells(inside, name)}
    if not any(attempt.kind == "state" for attempt in inside.attempts):
        silent -= {"state_load_ms"}
    if inside.work.source == "driver_log":
        silent -= {"planning_ms"}
    if not inside.work.tells_waits:
        silent |= {"slots_wait_ms"}
    parts = division.parts
    return {name: max(0.0, parts.get(name, 0.0)) if name in parts or name not in silent else None for name in _NAMES}


def _tells(inside: Inside, name: str) -> bool:
    return any(name in attempt.numbers for attempt in inside.attempts)


def _together(inside: Inside) -> list[str]:
    """Which parts hold another's time, as Spark works on both in one stage or the source names neither apart."""
    notes = {note.name for note in inside.notes}
    before, after = ("driver_before", "driver_after") if inside.work.clock else ("driver", "driver")
    found = dict.fromkeys(
        f"{home}+{part}" for home, part in ((before, "planning"), (after, "sink_commit")) if f"{part}_ms" not in notes
    )
    if not inside.work.tells_waits:
        found["scheduling+slots_wait"] = None
    for attempt in inside.attempts:
        if attempt.kind is None:
            found["source_read+other"] = None
        if attempt.last and attempt.kind in ("source_read", None):
            found["source_read+sink_write"] = None
        if attempt.last and attempt.kind == "state":
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
        "what": attempt.what or None,
        "last": attempt.last,
        "tasks": attempt.tasks,
        "slots": attempt.slots,
        "submitted": round(attempt.submitted) if inside.work.clock else None,
        "wall_ms": attempt.completed - attempt.submitted,
        "slots_wait_ms": attempt.numbers.get("slots_wait_ms", 0.0) if inside.work.tells_waits else None,
        "first_task_ms": attempt.numbers.get("first_task_ms") if inside.work.clock else None,
        "waited_for": attempt.waited_for,
        "source": inside.work.source,
        "log": inside.work.log,
    }


class _Rows:
    """Rows by the names of a schema's columns; a number that is whole may come as a float."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[Mapping[str, Any]] = []
        self._tables: list[pa.Table] = [schema.empty_table()]

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Some more; every thousand become columns, which take a tenth of the memory."""
        self._rows += rows
        if len(self._rows) >= _ROWS:
            self._flush()

    def table(self) -> pa.Table:
        """All of them."""
        self._flush()
        return pa.concat_tables(self._tables)

    def _flush(self) -> None:
        columns = [_column([row.get(field.name) for row in self._rows], field.type) for field in self._schema]
        self._tables.append(pa.table(columns, self._schema))
        self._rows = []


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_integer(kind):
        return pa.array(values, pa.float64(), from_pandas=True).cast(kind)
    return pa.array(values, kind)
