"""Jobs and stages that a session's JVM still holds, as its status store writes them."""

from __future__ import annotations

import re
from array import array
from contextlib import suppress
from datetime import datetime
from operator import attrgetter
from typing import Annotated, TypeVar

import msgspec
import pyarrow as pa
from msgspec import field

from advisor.redaction import redact
from advisor.sources.stages.jobbatches import Events, settle
from advisor.sources.stages.loggedjobs import LoggedJob, Named
from advisor.sources.stages.sparkevents import described
from advisor.stages import SUMS, Attempt, Work, tables

JOB_OF_BATCH = re.compile(r"\bid = ([0-9a-f-]{36})\nrunId = ([0-9a-f-]{36})\nbatch = (\d{1,18})\b")
"""How Spark describes a job of a micro-batch: its query, run and number."""
_DONE = frozenset({"COMPLETE", "FAILED"})
Whole = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
Sum = Annotated[float, msgspec.Meta(ge=-(2**63), le=2**63)]
_T = TypeVar("_T")


class StoredJob(msgspec.Struct, rename="camel"):
    """A job; in a micro-batch `job_group` is the run's id."""

    job_id: Whole
    name: str = ""
    job_group: str | None = None
    stage_ids: list[Whole] = []
    description: str | None = None
    submission_time: str | None = None
    completion_time: str | None = None
    num_tasks: int = 0
    num_completed_tasks: int = 0


class _Stage(msgspec.Struct, rename="camel"):
    """A stage with sums over its tasks, by the names of their columns."""

    status: str
    stage_id: Whole
    attempt_id: Whole
    num_tasks: Whole
    submission_time: str | None = None
    first_task_launched_time: str | None = None
    completion_time: str | None = None
    name: str = ""
    run_ms: Sum = field(name="executorRunTime", default=0)
    cpu_ms: Sum = field(name="executorCpuTime", default=0)
    deserialize_ms: Sum = field(name="executorDeserializeTime", default=0)
    result_ms: Sum = field(name="resultSerializationTime", default=0)
    gc_ms: Sum = field(name="jvmGcTime", default=0)
    shuffle_read_bytes: Sum = field(name="shuffleReadBytes", default=0)
    shuffle_read_rows: Sum = field(name="shuffleReadRecords", default=0)
    fetch_wait_ms: Sum = field(name="shuffleFetchWaitTime", default=0)
    shuffle_write_bytes: Sum = field(name="shuffleWriteBytes", default=0)
    shuffle_write_rows: Sum = field(name="shuffleWriteRecords", default=0)
    shuffle_write_ms: Sum = field(name="shuffleWriteTime", default=0)
    memory_spilled_bytes: Sum = field(name="memoryBytesSpilled", default=0)
    disk_spilled_bytes: Sum = field(name="diskBytesSpilled", default=0)
    input_rows: Sum = field(name="inputRecords", default=0)
    input_bytes: Sum = field(name="inputBytes", default=0)
    output_rows: Sum = field(name="outputRecords", default=0)
    output_bytes: Sum = field(name="outputBytes", default=0)
    failed: Whole = field(name="numFailedTasks", default=0)
    killed: Whole = field(name="numKilledTasks", default=0)


_SUMS = (*SUMS, "failed", "killed")
_NS = ("cpu_ms", "shuffle_write_ms")
"""Sums that the store has in nanoseconds."""


def _list(raw: bytes, kind: type[_T]) -> list[_T]:
    """Return the jobs or stages of a list; one that Spark cannot have written is left out."""
    found = []
    for entry in msgspec.json.decode(raw, type=list[msgspec.Raw]):
        with suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(entry, type=kind))
    return found


def opened(
    jobs: bytes, stages: bytes, *, log: str, file: str, slots: int | None, batches: pa.Table
) -> dict[str, pa.Table]:
    """Return the tables that open addBatch, of a status store's jobs and stages; `file`: as in `batches`."""
    return tables([work_of(jobs, stages, log=log, file=file, slots=slots, batches=batches)], batches)


def work_of(jobs: bytes, stages: bytes, *, log: str, file: str, slots: int | None, batches: pa.Table) -> Work:
    """Return the status store's jobs and stages, each job with its batch."""
    work, events = Work(log, "session"), Events(batches, {file: 0})
    known: list[LoggedJob] = []
    of_stage: dict[int, LoggedJob] = {}
    for job in sorted(_list(jobs, StoredJob), key=attrgetter("job_id")):
        if (one := _logged(job, events)) is None:
            continue
        if one.named is None:
            work.strangers.append(one)
        else:
            known.append(one)
            of_stage |= dict.fromkeys(job.stage_ids, one)
    for stage in sorted(_list(stages, _Stage), key=attrgetter("stage_id", "attempt_id")):
        owner = of_stage.get(stage.stage_id)
        if stage.status in _DONE and owner is not None:
            _add(work, stage, owner, slots)
    work.jobs += known
    settle(work, known, [], events, shift=False)
    return work


def _named(job: StoredJob, start: float, events: Events) -> Named | None:
    """Return (query, batch) of a job that began then; None if neither its description nor its group names it.

    Its description names it. If a function gave it another one, its group is still the query's run, and it belongs to
    the batch of that run in whose trigger it began.
    """
    if found := JOB_OF_BATCH.search(job.description or ""):
        return found[1], int(found[3])
    event = events.running(start, job.job_group)
    return (event.batch.id or "", event.batch.batch_id) if event else None


def _logged(job: StoredJob, events: Events) -> LoggedJob | None:
    """Return the job, unnamed where its batch is not known; None before its submission.

    The store keeps no order of jobs and progress, so that a job without a name would fall to the first batch of all.
    """
    start = _ms(job.submission_time)
    if start is None:
        return None
    named, final = _named(job, start, events), max(job.stage_ids, default=-1)
    end = _ms(job.completion_time)
    return LoggedJob(job.job_id, None, start, end, *described(job.description or ""), named=named, final=final)


def _add(work: Work, stage: _Stage, one: LoggedJob, slots: int | None) -> None:
    submitted, completed = _ms(stage.submission_time), _ms(stage.completion_time)
    if submitted is None or completed is None:
        return
    last = stage.stage_id == one.final
    what = one.description or redact(stage.name)
    attempt = Attempt(one, stage.stage_id, stage.attempt_id, submitted, completed, what=what, last=last)
    attempt.tasks, attempt.slots = stage.num_tasks, slots
    sums = {name: getattr(stage, name) for name in _SUMS}
    attempt.numbers.update({name: value * 1e-6 if name in _NS else value for name, value in sums.items()})
    launched = _ms(stage.first_task_launched_time)
    if launched is not None:
        attempt.numbers["first_task_ms"] = launched - submitted
        attempt.busy = array("d", (launched, max(launched, completed)))
    work.attempts.append(attempt)
    one.attempts.append(attempt)
    if not stage.shuffle_read_rows and not (one.leaves and last):
        one.leaves.append(attempt)


def _ms(text: str | None) -> float | None:
    """Return `2026-11-22T19:28:55.922GMT` as ms since 1970."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text.replace("GMT", "+00:00")).timestamp() * 1000
    except ValueError:
        return None
