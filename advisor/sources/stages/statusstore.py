"""Jobs and stages that a session's JVM still holds, as its status store writes them."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from operator import attrgetter
from typing import Annotated, NamedTuple, TypeVar

import msgspec
import pyarrow as pa

from advisor.redaction import redact
from advisor.sources.stages.begun import Begun
from advisor.sources.stages.described import described
from advisor.sources.stages.events import Events
from advisor.sources.stages.owners import settle
from advisor.stages import Attempt, Job, Work

_BATCH = re.compile(r"\bid = ([0-9a-f-]{36})\nrunId = [0-9a-f-]{36}\nbatch = (\d{1,18})\b")
_DONE = frozenset({"COMPLETE", "FAILED"})
_NS = 1e-6


Whole = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
Sum = Annotated[float, msgspec.Meta(ge=-(2**63), le=2**63)]


class _Job(msgspec.Struct, rename="camel"):
    job_id: Whole
    job_group: str | None = None
    stage_ids: list[Whole] = []
    description: str | None = None
    submission_time: str | None = None
    completion_time: str | None = None


class _Stage(msgspec.Struct, rename="camel"):
    status: str
    stage_id: Whole
    attempt_id: Whole
    num_tasks: Whole
    num_failed_tasks: Whole = 0
    num_killed_tasks: Whole = 0
    submission_time: str | None = None
    first_task_launched_time: str | None = None
    completion_time: str | None = None
    executor_deserialize_time: Sum = 0
    executor_run_time: Sum = 0
    executor_cpu_time: Sum = 0
    result_serialization_time: Sum = 0
    jvm_gc_time: Sum = 0
    memory_bytes_spilled: Sum = 0
    disk_bytes_spilled: Sum = 0
    input_bytes: Sum = 0
    input_records: Sum = 0
    output_bytes: Sum = 0
    output_records: Sum = 0
    shuffle_fetch_wait_time: Sum = 0
    shuffle_read_bytes: Sum = 0
    shuffle_read_records: Sum = 0
    shuffle_write_bytes: Sum = 0
    shuffle_write_records: Sum = 0
    shuffle_write_time: Sum = 0
    name: str = ""


_Entry = TypeVar("_Entry", _Job, _Stage)
_entries = msgspec.json.Decoder(list[msgspec.Raw]).decode


class _Trigger(NamedTuple):
    """When a batch's trigger began and ended, ms since 1970, and (its query, its number)."""

    begin: float
    end: float
    batch: tuple[str, int]


def _told(raw: bytes, kind: type[_Entry]) -> Iterator[_Entry]:
    """The entries of a list; one that Spark cannot have written is left out."""
    for entry in _entries(raw):
        with suppress(msgspec.DecodeError):
            yield msgspec.json.decode(entry, type=kind)


def work_of(jobs: bytes, stages: bytes, *, log: str, file: str, slots: int | None, batches: pa.Table) -> Work:
    """What the status store tells, each job with its batch; `file`: what `batches` name as theirs."""
    work = Work(log, "session")
    told = sorted(_told(jobs, _Job), key=lambda job: job.job_id)
    triggers = _triggers(batches)
    begun = [one for job in told if (one := _begun(job, triggers)) is not None]
    of_stage = {stage: one for one, ids in begun for stage in ids}
    for stage in sorted(_told(stages, _Stage), key=lambda stage: (stage.stage_id, stage.attempt_id)):
        owner = of_stage.get(stage.stage_id)
        if stage.status in _DONE and owner is not None:
            _add(work, stage, owner, slots)
    known = {one.job.job for one, _ in begun}
    work.jobs += [one.job for one, _ in begun]
    work.strangers += [job for each in told if each.job_id not in known for job in _stranger(each)]
    settle(work, [one for one, _ in begun], [], Events(batches, {file: 0}), shift=False)
    return work


def _triggers(batches: pa.Table) -> dict[str, list[_Trigger]]:
    """When the batches of each run began and ended, in order."""
    rows = batches.select(["run_id", "timestamp", "trigger_execution_ms", "id", "batch_id"]).drop_null()
    rows = rows.set_column(1, "timestamp", rows["timestamp"].cast(pa.int64())).sort_by("timestamp")
    found: dict[str, list[_Trigger]] = {}
    for run, begin, ms, query, batch in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        found.setdefault(run, []).append(_Trigger(begin, begin + ms, (query, batch)))
    return found


def _named(job: _Job, start: float, triggers: Mapping[str, Sequence[_Trigger]]) -> tuple[str, int] | None:
    """(query, batch) of a job that began then; None where that is not told.

    Its description says it. Where a function gave it another one, its group is still the query's run, and it belongs to
    the batch of that run in whose trigger it began.
    """
    found = _BATCH.search(job.description or "")
    if found:
        return found[1], int(found[2])
    of_run = triggers.get(job.job_group or "", ())
    at = bisect_right(of_run, start, key=attrgetter("begin")) - 1
    return of_run[at].batch if at >= 0 and start <= of_run[at].end else None


def _begun(job: _Job, triggers: Mapping[str, Sequence[_Trigger]]) -> tuple[Begun, Sequence[int]] | None:
    """The job and the numbers of its stages; None before its submission, and where its batch is not told.

    The store keeps no order of jobs and progress, so that a job without a name would fall to the first batch of all.
    """
    start = _ms(job.submission_time)
    named = None if start is None else _named(job, start, triggers)
    if start is None or named is None:
        return None
    name, what = described(job.description or "")
    begun = Begun(Job(job.job_id, None, start, _ms(job.completion_time), name, what), job.job_id, (0, -1), what)
    begun.named = named
    begun.final = max(job.stage_ids, default=-1)
    return begun, job.stage_ids


def _stranger(job: _Job) -> Iterator[Job]:
    """A job of which is not told whose it is: its time is not the driver's alone."""
    start = _ms(job.submission_time)
    if start is not None:
        yield Job(job.job_id, None, start, _ms(job.completion_time))


def _add(work: Work, stage: _Stage, begun: Begun, slots: int | None) -> None:
    submitted, completed = _ms(stage.submission_time), _ms(stage.completion_time)
    if submitted is None or completed is None:
        return
    last = stage.stage_id == begun.final
    attempt = Attempt(
        begun.job,
        stage.stage_id,
        stage.attempt_id,
        submitted,
        completed,
        what=begun.what or redact(stage.name),
        last=last,
    )
    attempt.tasks, attempt.slots = stage.num_tasks, slots
    attempt.numbers.update(_numbers(stage))
    launched = _ms(stage.first_task_launched_time)
    if launched is not None:
        attempt.numbers["first_task_ms"] = launched - submitted
        attempt.busy = array("d", (launched, max(launched, completed)))
    work.attempts.append(attempt)
    begun.attempts.append(attempt)
    if not stage.shuffle_read_records and not (begun.leaves and last):
        begun.leaves.append(attempt)


def _numbers(stage: _Stage) -> dict[str, float]:
    return {
        "run_ms": stage.executor_run_time,
        "cpu_ms": stage.executor_cpu_time * _NS,
        "deserialize_ms": stage.executor_deserialize_time,
        "result_ms": stage.result_serialization_time,
        "gc_ms": stage.jvm_gc_time,
        "shuffle_read_bytes": stage.shuffle_read_bytes,
        "shuffle_read_rows": stage.shuffle_read_records,
        "fetch_wait_ms": stage.shuffle_fetch_wait_time,
        "shuffle_write_bytes": stage.shuffle_write_bytes,
        "shuffle_write_rows": stage.shuffle_write_records,
        "shuffle_write_ms": stage.shuffle_write_time * _NS,
        "memory_spilled_bytes": stage.memory_bytes_spilled,
        "disk_spilled_bytes": stage.disk_bytes_spilled,
        "input_rows": stage.input_records,
        "input_bytes": stage.input_bytes,
        "output_rows": stage.output_records,
        "output_bytes": stage.output_bytes,
        "failed": stage.num_failed_tasks,
        "killed": stage.num_killed_tasks,
    }


def _ms(text: str | None) -> float | None:
    """`2026-11-22T19:28:55.922GMT` as ms since 1970."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text.replace("GMT", "+00:00")).timestamp() * 1000
    except ValueError:
        return None
