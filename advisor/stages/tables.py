"""The two tables of what was read of some logs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.column import longest
from advisor.stages.columns import BATCH_PARTS, STAGES
from advisor.stages.numbers import NUMBERS, column, matrix
from advisor.stages.parts import DRIVER, HOME, NAMES, PLACE, Clock, Idle, divide
from advisor.stages.tasks import Spans
from advisor.stages.waits import Slots
from advisor.stages.work import Attempt, Batch, Job, Note, Work

ORIGINS = ("event_log", "session", "driver_log")
"""Of two that tell of the same batch the earlier one counts."""
_BEFORE = ("latest_offset", "get_offset", "get_end_offset", "set_offset_range", "wal_commit", "get_batch")
_OBJECTS = "DeserializeToObject"
LOG_CHECKPOINT = "Delta: log checkpoint"
"""What a job says that writes the checkpoint of a Delta table's log; Delta itself does not name it."""
_SHORT_MS = 2.0
"""Between a stage's submission and its tasks there are always some; no other need have held a slot."""
_TOGETHER = 1024
"""Batches that are divided at once: enough that what numpy takes for each call does not show, and a little memory."""
_NOTED = ("code_generated_ms", "code_too_long", "code_refused", "commit_retries", "files_written", "bytes_written")
"""What a driver's log tells of each batch: 0 without a line."""
_SELDOM = ("log_compaction_ms", "kafka_polls", "kafka_poll_ms")
"""What is not known without a line: consumers may write to the executors' logs."""
_KEYS = ("id", "run_id", "batch_id", "timestamp", "add_batch_ms")
_AS_THEY_ARE = ("stage", "attempt", "kind", "last", "tasks", "slots", "waited_for")

SlotsOf = Callable[[Spans], Slots]
"""What held the slots of a log's application."""


class Row(NamedTuple):
    """What progress says of one batch; times in ms."""

    id: str | None
    run_id: str | None
    batch_id: int | None
    name: str | None
    timestamp: int
    add_batch_ms: float
    trigger_execution_ms: float | None
    commit_offsets_ms: float | None
    before: tuple[float | None, ...]
    """The phases before addBatch."""


@dataclass
class Inside:
    """One batch: the jobs and stage attempts in it."""

    batch: Batch
    work: Work
    jobs: list[Job] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def tables(works: Iterable[Work], batches: pa.Table) -> tuple[pa.Table, pa.Table]:
    """(the table of stages, the table of batch parts) of these logs; `batches` tell how long addBatch took, and when.

    A batch of which two origins tell stands there once: the event log's counts most.
    """
    works = list(works)
    for work in works:
        work.fold()
        work.strangers.sort(key=attrgetter("start"))
    chosen = _chosen(works)
    _settle_kinds(chosen)
    rows = _rows_of(batches)
    names = {row.id: row.name for row in rows.values() if row.id and row.name}
    slots_of: SlotsOf = cache(lambda spans: Slots(spans, names))
    of_stages, of_parts = [STAGES.empty_table()], [BATCH_PARTS.empty_table()]
    for at in range(0, len(chosen), _TOGETHER):
        some = chosen[at : at + _TOGETHER]
        timed = [(inside, row) for inside in some if (row := rows.get(_key(*inside.batch)))]
        odd = [(inside, row, too_long) for inside, row in timed if (too_long := _too_long(inside, row))]
        wrong = {id(inside) for inside, *_ in odd}
        of_parts.append(_parts_table([pair for pair in timed if id(pair[0]) not in wrong], names, slots_of))
        of_parts.append(_untold(odd))
        of_stages.append(_stages_table([inside for inside in some if id(inside) not in wrong]))
    return pa.concat_tables(of_stages), pa.concat_tables(of_parts)


def _rows_of(batches: pa.Table) -> dict[tuple[Any, ...], Row]:
    """The batches by (run, batch), and by (query, batch) for jobs that do not name their run: the newest one."""
    before = [f"{phase}_ms" for phase in (*_BEFORE, "query_planning")]
    executed = batches.select([*Row._fields[:-1], *before]).filter(pc.is_valid(batches["add_batch_ms"]))
    executed = executed.set_column(Row._fields.index("timestamp"), "timestamp", executed["timestamp"].cast(pa.int64()))
    phases = zip(*(executed[name].to_pylist() for name in before), strict=True)
    found: dict[tuple[Any, ...], Row] = {}
    for each in zip(*(executed[name].to_pylist() for name in Row._fields[:-1]), phases, strict=True):
        row = Row(*each)
        found[_key(row.id, row.run_id, row.batch_id)] = found[_key(row.id, None, row.batch_id)] = row
    return found


def _key(id: str | None, run_id: str | None, batch_id: int | None) -> tuple[Any, ...]:
    return (run_id, batch_id) if run_id else (None, id, batch_id)


def _chosen(works: Iterable[Work]) -> list[Inside]:
    """The batches of all logs, in order, each from the origin that tells most."""
    chosen: dict[tuple[Any, ...], Inside] = {}
    for work in sorted(works, key=lambda work: ORIGINS.index(work.origin)):
        for key, inside in _batches_of(work).items():
            chosen.setdefault(key, inside)
    return list(chosen.values())


def _batches_of(work: Work) -> dict[tuple[Any, ...], Inside]:
    found: dict[tuple[Any, ...], Inside] = {}
    for job in work.jobs:
        if job.batch:
            key = _key(*job.batch)
            if key not in found:
                found[key] = Inside(job.batch, work)
            found[key].jobs.append(job)
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


def _too_long(inside: Inside, row: Row) -> int:
    """How many jobs, stages and tasks of the batch are longer than its trigger, in which they ran."""
    whole = row.add_batch_ms if row.trigger_execution_ms is None else row.trigger_execution_ms
    lengths = [job.end - job.start for job in inside.jobs if job.end is not None]
    for attempt in inside.attempts:
        lengths += [attempt.completed - attempt.submitted, attempt.numbers.get("task_max_ms", 0.0)]
    return sum(length > longest(whole) for length in lengths)


def _untold(odd: Sequence[tuple[Inside, Row, int]]) -> pa.Table:
    """Rows of the table of batch parts that say nothing of a batch but how much of it cannot be right."""
    columns: dict[str, Any] = {name: [None] * len(odd) for name in BATCH_PARTS.names}
    columns |= {name: [getattr(row, name) for _, row, _ in odd] for name in _KEYS}
    columns |= {
        "too_long": [too_long for *_, too_long in odd],
        "origin": [inside.work.origin for inside, *_ in odd],
        "log": [inside.work.log for inside, *_ in odd],
    }
    return _table(columns, BATCH_PARTS)


def _parts_table(timed: Sequence[tuple[Inside, Row]], names: Mapping[str, str], slots_of: SlotsOf) -> pa.Table:
    """The table of batch parts, a row per batch."""
    insides = [inside for inside, _ in timed]
    parts, idle = divide([_clock(inside, row) for inside, row in timed])
    waited_for = _wait(insides, parts, idle, names, slots_of)
    for (inside, row), of_batch in zip(timed, parts, strict=True):
        if not inside.work.clock:
            _gather(of_batch, row.add_batch_ms)
        for note in inside.notes:
            if note.name in PLACE:
                _move(of_batch, note.name, note.value, _homes(inside, note))
    columns: dict[str, Any] = {name: [getattr(row, name) for _, row in timed] for name in _KEYS}
    columns.update(zip(NAMES, _told(insides, parts).T, strict=True))
    noted = [_noted(inside) for inside in insides]
    columns |= {name: [of_batch.get(name) for of_batch in noted] for name in (*_NOTED, *_SELDOM)}
    columns |= {
        "together": [_together(inside) for inside in insides],
        "waited_for": list(map(sorted, waited_for)),
        "jobs": [len(inside.jobs) for inside in insides],
        "stages": [len(inside.attempts) for inside in insides],
        "tasks": [sum(attempt.tasks or 0 for attempt in inside.attempts) for inside in insides],
        "too_long": [0] * len(insides),
        "reads": [_reads(inside.attempts) for inside in insides],
        "origin": [inside.work.origin for inside in insides],
        "log": [inside.work.log for inside in insides],
    }
    return _table(columns, BATCH_PARTS)


def _noted(inside: Inside) -> Mapping[str, float]:
    """What lines told of the batch, each by its column."""
    found = dict.fromkeys(_NOTED, 0.0) if inside.work.origin == "driver_log" else {}
    for note in inside.notes:
        found[note.name] = found.get(note.name, 0.0) + note.value
    return found


def _reads(attempts: Sequence[Attempt]) -> int | None:
    if any(attempt.kind is None for attempt in attempts):
        return None
    return sum(attempt.kind == "source_read" for attempt in attempts)


def _clock(inside: Inside, row: Row) -> Clock:
    """When addBatch was; where the log's clock does not tell, its jobs' own time."""
    jobs = inside.jobs
    if inside.work.clock:
        begin, end = _span(jobs, row)
        return Clock(
            begin, end, _during(jobs, begin, end), inside.attempts, _strangers(inside.work.strangers, begin, end)
        )
    ends = (job.start if job.end is None else job.end for job in jobs)
    return Clock(min(job.start for job in jobs), max(ends), jobs, inside.attempts)


def _move(parts: np.ndarray, part: str, ms: float, homes: Sequence[str]) -> None:
    """So many milliseconds of the parts `homes`, as far as they hold as much, are of this part."""
    for home in homes:
        taken = min(ms, parts[PLACE[home]])
        parts[PLACE[home]] -= taken
        parts[PLACE[part]] += taken
        ms -= taken


def _gather(parts: np.ndarray, ms: float) -> None:
    """All but jobs is the driver's, of which is not known when; together they are so many milliseconds."""
    parts[[PLACE[part] for part in DRIVER]] = 0.0
    jobs = parts.sum()
    if jobs > ms:
        parts *= ms / jobs
    else:
        parts[PLACE["driver_ms"]] = ms - jobs


def _homes(inside: Inside, note: Note) -> Sequence[str]:
    """Which of the driver's parts the time is taken from that a line tells of."""
    if not inside.work.clock:
        return ["driver_ms"]
    if note.time <= min(job.start for job in inside.jobs):
        return DRIVER[:1]
    return DRIVER[:0:-1] if note.name == "sink_commit_ms" else DRIVER[1:]


def _span(jobs: Sequence[Job], row: Row) -> tuple[float, float]:
    """When addBatch began and ended, ms since 1970: it ends before the commit log, which ends the trigger.

    Without that phase (before Spark 3.4) it begins behind the phases before it. Jobs that reach out a little, as the
    phases leave some milliseconds out, move it; its length stays Spark's own.
    """
    start, length = float(row.timestamp), float(row.add_batch_ms)
    if row.commit_offsets_ms is not None and row.trigger_execution_ms is not None:
        end = start + row.trigger_execution_ms - row.commit_offsets_ms
    else:
        end = start + sum(ms or 0 for ms in row.before) + length
    there = _during(jobs, end - length, end)
    end = max([end, *(job.end for job in there if job.end is not None)])
    end = min([end, *(job.start + length for job in there)])
    return end - length, end


def _during(jobs: Sequence[Job], begin: float, end: float) -> list[Job]:
    return [job for job in jobs if job.start < end and (job.end is None or job.end > begin)]


def _strangers(jobs: Sequence[Job], begin: float, end: float) -> list[Job]:
    """Those of these jobs, which are in order, that began and ended in that time: only they may be the batch's."""
    some = jobs[bisect_left(jobs, begin, key=attrgetter("start")) : bisect_left(jobs, end, key=attrgetter("start"))]
    return [job for job in some if job.end is not None and job.end <= end]


def _wait(
    insides: Sequence[Inside],
    parts: np.ndarray,
    idle: Sequence[Idle],
    names: Mapping[str, str],
    slots_of: SlotsOf,
) -> list[set[str]]:
    """Note in the stages and in the parts what others' tasks held; the names of the others, for each batch."""
    found: list[set[str]] = [set() for _ in insides]
    for each in idle:
        inside, attempt = insides[each.batch], each.attempt
        if inside.work.origin == "driver_log" or inside.work.spans.alone or each.gap[1] - each.gap[0] < _SHORT_MS:
            continue
        waits = slots_of(inside.work.spans).held(each.gap, attempt.slots, inside.batch.id)
        if waits.ms > 0:
            _move(parts[each.batch], "slots_wait_ms", waits.ms, [each.part])
            found[each.batch] |= waits.names
            attempt.numbers["slots_wait_ms"] = attempt.numbers.get("slots_wait_ms", 0.0) + waits.ms
            attempt.waited_for = sorted({*attempt.waited_for, *waits.names})
    for at, inside in enumerate(insides):
        if inside.work.origin == "driver_log":
            found[at] = _lined_waits(inside.attempts, parts[at], names)
    return found


def _lined_waits(attempts: Sequence[Attempt], parts: np.ndarray, names: Mapping[str, str]) -> set[str]:
    """The same where lines told how long stages waited, and the ids of the queries that they waited for."""
    for attempt in attempts:
        if attempt.waited_for:
            _move(parts, "slots_wait_ms", attempt.numbers.get("slots_wait_ms", 0.0), ["scheduling_ms"])
            attempt.waited_for = sorted(names.get(id, id) for id in attempt.waited_for)
    return {name for attempt in attempts for name in attempt.waited_for}


def _tells_waits(inside: Inside) -> bool:
    """Whether it is known how long stages waited for other queries: by the order of lines, or by the slots' number."""
    work = inside.work
    alone = work.spans.alone or all(attempt.slots is not None for attempt in inside.attempts)
    return work.origin == "driver_log" or (work.tells_waits and alone)


def _told(insides: Sequence[Inside], parts: np.ndarray) -> np.ndarray:
    """The parts; NaN where the source says nothing of one."""
    silent = np.zeros(parts.shape, bool)
    for part, of_batches in _silent(insides).items():
        silent[:, PLACE[part]] = of_batches
    return np.where(silent & (parts == 0), np.nan, np.maximum(parts, 0.0))


def _silent(insides: Sequence[Inside]) -> dict[str, np.ndarray | bool]:
    """The parts that the source does not tell, if they hold nothing, and of which batches it does not."""
    clock = np.array([inside.work.clock for inside in insides], bool)
    attempts = [attempt for inside in insides for attempt in inside.attempts]
    of = np.repeat(np.arange(len(insides)), [len(inside.attempts) for inside in insides])
    numbers = matrix(attempt.numbers for attempt in attempts)

    def any_of(which: np.ndarray) -> np.ndarray:
        return np.bincount(of[which], minlength=len(insides)) > 0

    holds_state = any_of(np.array([attempt.kind == "state" for attempt in attempts], bool))
    return {
        **dict.fromkeys(DRIVER, ~clock),
        "driver_ms": clock,
        "sink_commit_ms": True,
        "planning_ms": np.array([inside.work.origin != "driver_log" for inside in insides], bool),
        "slots_wait_ms": np.array([not _tells_waits(inside) for inside in insides], bool),
        "python_ms": ~any_of(~np.isnan(column(numbers, "python_ms"))),
        "state_load_ms": holds_state & ~any_of(~np.isnan(column(numbers, "state_load_ms"))),
    }


def _together(inside: Inside) -> Sequence[str]:
    """Which parts hold another's time, as Spark works on both in one stage or the source names neither apart."""
    notes = {note.name for note in inside.notes}
    stages = [
        (attempt.kind, attempt.last, "state_load_ms" in attempt.numbers, attempt.seen) for attempt in inside.attempts
    ]
    lacking = tuple(part for part in ("planning", "sink_commit") if f"{part}_ms" not in notes)
    return _joined(inside.work.clock, _tells_waits(inside), lacking, tuple(dict.fromkeys(stages)))


@lru_cache(maxsize=256)
def _joined(
    clock: bool, tells_waits: bool, lacking: Sequence[str], stages: Sequence[tuple[str | None, bool | None, bool, bool]]
) -> Sequence[str]:
    """`lacking`: the driver's parts of which no line tells.

    Of each stage its kind, `last`, whether it tells of loads, and whether its tasks were seen.
    """
    homes = {"planning": "driver_before", "sink_commit": "driver_after"}
    found = dict.fromkeys(f"{homes[part] if clock else 'driver'}+{part}" for part in lacking)
    if not tells_waits:
        found["scheduling+slots_wait"] = None
    for kind, last, tells_load, seen in stages:
        if not seen:
            found[f"{HOME[kind].removesuffix('_ms')}+scheduling"] = None
        if kind is None:
            found["source_read+other"] = None
        if last and kind in ("source_read", None):
            found["source_read+sink_write"] = None
        if last and kind == "state":
            found["state_update+sink_write"] = None
        if kind == "state" and not tells_load:
            found["state_update+state_load"] = None
    return list(found)


def _stages_table(chosen: Sequence[Inside]) -> pa.Table:
    """The table of stages, a row per stage attempt."""
    pairs = [(inside, attempt) for inside in chosen for attempt in inside.attempts]
    attempts = [attempt for _, attempt in pairs]
    clock = np.array([inside.work.clock for inside, _ in pairs], bool)
    tells_waits = np.array([_tells_waits(inside) for inside, _ in pairs], bool)
    numbers = matrix(attempt.numbers for attempt in attempts)
    submitted = np.array([attempt.submitted for attempt in attempts], float)
    columns: dict[str, Any] = {name: column(numbers, name) for name in NUMBERS if name in STAGES.names}
    columns |= {name: [getattr(attempt, name) for attempt in attempts] for name in _AS_THEY_ARE}
    columns |= {name: [getattr(inside.batch, name) for inside, _ in pairs] for name in Batch._fields}
    columns |= {
        "job": [attempt.job.job if attempt.job else None for attempt in attempts],
        "what": [attempt.what or None for attempt in attempts],
        "submitted": np.where(clock, np.round(submitted), np.nan).astype("datetime64[ms]"),
        "wall_ms": np.array([attempt.completed for attempt in attempts], float) - submitted,
        "slots_wait_ms": np.where(tells_waits, np.nan_to_num(columns["slots_wait_ms"]), np.nan),
        "first_task_ms": np.where(clock, columns["first_task_ms"], np.nan),
        "origin": [inside.work.origin for inside, _ in pairs],
        "log": [inside.work.log for inside, _ in pairs],
    }
    return _table(columns, STAGES)


def _table(columns: Mapping[str, Any], schema: pa.Schema) -> pa.Table:
    """The table; a whole number may come as a float, and NaN is null."""
    arrays = [pa.array(columns[field.name], from_pandas=True) for field in schema]
    return pa.table([array.cast(field.type) for array, field in zip(arrays, schema, strict=True)], schema)
