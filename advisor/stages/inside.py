"""Batches with what ran in them: jobs, stage attempts and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from advisor.column import longest
from advisor.stages.work import Attempt, Batch, Job, Note, Work

_BEFORE = ("latest_offset", "get_offset", "get_end_offset", "set_offset_range", "wal_commit", "get_batch")
_OBJECTS = "DeserializeToObject"
LOG_CHECKPOINT = "Delta: log checkpoint"
"""What a job says that writes the checkpoint of a Delta table's log; Delta itself does not name it."""


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


def rows_of(batches: pa.Table) -> dict[tuple[Any, ...], Row]:
    """The batches by (run, batch), and by (query, batch) for jobs that do not name their run: the newest one."""
    before = [f"{phase}_ms" for phase in (*_BEFORE, "query_planning")]
    executed = batches.select([*Row._fields[:-1], *before]).filter(pc.is_valid(batches["add_batch_ms"]))
    executed = executed.set_column(Row._fields.index("timestamp"), "timestamp", executed["timestamp"].cast(pa.int64()))
    phases = zip(*(executed[name].to_pylist() for name in before), strict=True)
    found: dict[tuple[Any, ...], Row] = {}
    for each in zip(*(executed[name].to_pylist() for name in Row._fields[:-1]), phases, strict=True):
        row = Row(*each)
        found[key_of(row.id, row.run_id, row.batch_id)] = found[key_of(row.id, None, row.batch_id)] = row
    return found


def key_of(id: str | None, run_id: str | None, batch_id: int | None) -> tuple[Any, ...]:
    """What a batch is found by: its run and number, or query and number where the run is not named."""
    return (run_id, batch_id) if run_id else (None, id, batch_id)


def batches_of(work: Work) -> list[Inside]:
    """The batches of a log, in order."""
    found: dict[tuple[Any, ...], Inside] = {}
    for job in work.jobs:
        if job.batch:
            key = key_of(*job.batch)
            if key not in found:
                found[key] = Inside(job.batch, work)
            found[key].jobs.append(job)
    for attempt in work.attempts:
        if attempt.job and attempt.job.batch and (inside := found.get(key_of(*attempt.job.batch))):
            inside.attempts.append(attempt)
    for note in work.notes:
        if note.batch and (inside := found.get(key_of(*note.batch))):
            inside.notes.append(note)
    return list(found.values())


class Kinds:
    """What stages are for, where other batches of their query tell it; for one origin: each names stages in its way."""

    def __init__(self) -> None:
        self._streams: set[str | None] = set()
        self._snapshots: dict[str | None, int] = {}

    def settle(self, chosen: Sequence[Inside]) -> None:
        """A scan of files is the source where the query has no other; else it is of a static side.

        Batches that were settled before count, too.
        """
        attempts = [(inside.batch.id, attempt) for inside in chosen for attempt in inside.attempts]
        self._streams |= {query for query, attempt in attempts if attempt.kind == "source_read"}
        for query, attempt in attempts:
            if attempt.kind == "scan":
                attempt.kind = "other" if query in self._streams else "source_read"
        snapshots = self._snapshots
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


def too_long_of(inside: Inside, row: Row) -> int:
    """How many jobs, stages and tasks of the batch are longer than its trigger, in which they ran."""
    whole = row.add_batch_ms if row.trigger_execution_ms is None else row.trigger_execution_ms
    lengths = [job.end - job.start for job in inside.jobs if job.end is not None]
    for attempt in inside.attempts:
        lengths += [attempt.completed - attempt.submitted, attempt.numbers.get("task_max_ms", 0.0)]
    return sum(length > longest(whole) for length in lengths)
