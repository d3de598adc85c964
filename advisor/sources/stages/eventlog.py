"""Jobs, stages and tasks of Spark's event logs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec
import pyarrow as pa

from advisor.redaction import redact
from advisor.sources.harvest import Stretch
from advisor.sources.stages.owners import name_batches
from advisor.sources.stages.sparkevents import (
    Dataset,
    ExecutorAdded,
    ExecutorRemoved,
    JobEnd,
    JobStart,
    Metrics,
    Properties,
    Stage,
    StageCompleted,
    Sum,
    Task,
    TaskEnd,
)
from advisor.stages import FAILED, KILLED, LOCALITIES, SPECULATIVE, Attempt, Batch, Job, Work, kind_of, streams

_NAME_AT = len('{"Event":"SparkListener')
_DIGITS = 15
"""More digits are no number of a batch, and none that a float holds."""
_WORD = 8
"""Letters that tell an event's name behind that."""
_PLACES = {name: place for place, name in enumerate(LOCALITIES)}
_NAME = '"name":"'
_CODEGEN = re.compile(r"WholeStageCodegen \(\d+\)|mapPartitions\w*|InputAdapter")
_RUN = re.compile(r"runId = ([0-9a-f-]{36})")
_BATCH_LINE = re.compile(r"batch = (?:\d+|init)\s*")
_SNAPSHOT = "Compute snapshot for version"
_COUNTS = re.compile(rb'"Name":"(?:time to [cur]|RocksDB: load|(?:total )?time to run P)')
"""What each name of _SQL begins with."""
_SQL = {
    "time to commit changes": "state_commit_ms",
    "time to update": "state_update_ms",
    "time to remove": "state_update_ms",
    "RocksDB: load - time taken to load the store": "state_load_ms",
    "total time to run Python workers": "python_ms",
    "time to run Python workers": "python_ms",
}
"""Sums over tasks that Spark's SQL operators count, and the columns that hold them."""


_decode_sums = msgspec.json.Decoder(list[Sum]).decode


_Executor = ExecutorAdded | ExecutorRemoved
_UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


class EventLog:
    """Reads what an event log tells of jobs, stages and tasks; one for all files of a log."""

    def __init__(self, log: str) -> None:
        self._work = Work(log, "event_log")
        self._jobs: dict[int, Job] = {}
        self._since: dict[int, int] = {}
        """When each job began: a file may hold its lines twice."""
        self._results: set[tuple[int, int]] = set()
        self._files: dict[str, int] = {}
        self._kept: set[int] = set()
        """Data sets that were computed whole and stay in a cache."""
        self._takes: dict[bytes, tuple[Callable[[bytes], Any], Callable[[Any], None], tuple[bytes, bytes] | None]] = {
            b'TaskEnd"': (_decoder(TaskEnd), self._task, (b',"Accumulables":[', b'},"Task Metrics":')),
            b"StageCom": (_decoder(StageCompleted), self._stage, None),
            b"JobStart": (_decoder(JobStart), self._starts, (b',"Stage Infos":[', b',"Stage IDs":[')),
            b'JobEnd",': (_decoder(JobEnd), self._ends, None),
            b"Executor": (_decoder(_Executor), self._executor, None),
        }
        """By the letters of an event's name: how it is decoded and taken, and what of its line is left out."""

    def read(self, window: Stretch, resume: int, file: str) -> None:
        """Take what has been read of a window; a line that is broken is passed over."""
        self._files.setdefault(file, len(self._files))
        buffer, start, takes = window.buffer, window.begin, self._takes
        find, before = buffer.find, b""
        while start < resume:
            stop = find(b"\n", start)
            stop = stop if 0 <= stop < resume else resume
            name = start + _NAME_AT
            if found := takes.get(buffer[name : name + _WORD]):
                decode, take, needless = found
                line = buffer[start:stop]
                try:
                    if line != before:
                        take(decode(_without(line, *needless) if needless else line))
                except _UNREADABLE:  # contextlib.suppress takes a tenth of all the time
                    pass
                before = line
            start = stop + 1

    def finish(self, batches: pa.Table) -> Work:
        """All of it."""
        name_batches(self._work.jobs, self._files, batches)
        self._work.strangers = [job for job in self._work.jobs if job.batch is None]
        return self._work

    def _starts(self, event: JobStart) -> None:
        if self._since.get(event.job) == event.time:
            return
        self._since[event.job] = event.time
        properties = event.properties or Properties()
        if _is_number(properties.cpus):
            self._work.cpus = max(1, int(properties.cpus or 1))
        name, description = described(properties.description or "")
        job = self._jobs[event.job] = Job(event.job, _batch(properties), event.time, None, name, description)
        self._work.starts(job, event.stages)

    def _ends(self, event: JobEnd) -> None:
        job = self._jobs.pop(event.job, None)
        if job:
            job.end = event.time

    def _task(self, event: TaskEnd) -> None:
        task = event.task
        flags = FAILED * task.failed + KILLED * task.killed + SPECULATIVE * task.speculative
        if event.kind == "ResultTask":
            self._results.add((event.stage, event.attempt))
        self._work.task(
            event.stage,
            event.attempt,
            task.launch,
            task.finish,
            _PLACES.get(task.locality, -1),
            flags,
            _sums(event.metrics or Metrics(), task),
        )

    def _stage(self, event: StageCompleted) -> None:
        info = event.info
        if info.submitted is None or info.completed is None or info.completed < info.submitted:
            return
        ended = self._work.ended(info.stage, info.attempt)
        if ended and ended.submitted == info.submitted:
            return
        job, last = self._work.job_of(info.stage), (info.stage, info.attempt) in self._results
        names = _operators(info.datasets)
        if job and job.batch is None and streams(names):
            job.streams = True
        kind, what = _meant(names, job.description if job else "", last, self._from_cache(info))
        attempt = Attempt(
            job,
            info.stage,
            info.attempt,
            info.submitted,
            info.completed,
            kind,
            what or redact(info.name),
            last,
            info.tasks,
        )
        attempt.numbers.update(_sql(info.sums))
        self._results.discard((info.stage, info.attempt))
        self._work.completes(attempt)

    def _from_cache(self, stage: Stage) -> bool:
        """Whether it reads what an earlier stage computed and left in a cache; `stage`: its data sets in order."""
        kept = {each.number for each in stage.datasets if each.kept}
        found = not self._kept.isdisjoint(kept)
        if stage.failure is None and kept and stage.tasks >= stage.datasets[0].partitions:
            self._kept |= kept
        return found

    def _executor(self, event: ExecutorAdded | ExecutorRemoved) -> None:
        cores = event.info.cores if isinstance(event, ExecutorAdded) else 0
        self._work.has(event.time, event.executor, cores)


def _decoder(kind: Any) -> Callable[[bytes], Any]:
    return msgspec.json.Decoder(kind).decode


def _sums(metrics: Metrics, task: Task) -> tuple[int, ...]:
    """In the order of SUMS."""
    read, write = metrics.read, metrics.write
    getting = task.finish - task.getting if task.getting else 0
    return (
        metrics.run,
        metrics.cpu_ns,
        metrics.deserialize,
        metrics.result + getting,
        metrics.gc,
        read.remote + read.local,
        read.rows,
        read.wait,
        write.bytes,
        write.rows,
        write.ns,
        metrics.memory_spilled,
        metrics.disk_spilled,
        metrics.input.rows,
        metrics.input.bytes,
        metrics.output.rows,
        metrics.output.bytes,
    )


def _without(line: bytes, first: bytes, behind: bytes) -> bytes:
    """The line without what stands from `first` to `behind`, half of its bytes and more.

    These begin and end with quotation marks that have no backslash before them: no text in JSON holds them.
    """
    begin, end = line.find(first), line.rfind(behind)
    return line[:begin] + line[end:] if 0 <= begin < end else line


def _sql(raw: msgspec.Raw) -> dict[str, float]:
    """The sums that Spark's SQL operators count."""
    found: dict[str, float] = {}
    if not _COUNTS.search(raw):
        return found
    for each in _decode_sums(raw):
        column = _SQL.get(each.name)
        if column and isinstance(each.value, int | float | str):
            try:
                found[column] = found.get(column, 0.0) + max(0.0, float(each.value))
            except ValueError:
                continue
    return found


def _operators(datasets: list[Dataset]) -> tuple[str, ...]:
    """Names of the operators whose data sets a stage computes, each once, the last one first; sorts them so."""
    datasets.sort(key=attrgetter("number"), reverse=True)
    return tuple(filter(None, dict.fromkeys([_operator(_named(each)) for each in datasets])))


def _named(dataset: Dataset) -> str:
    scope = (dataset.scope or "").partition(_NAME)[2].partition('"')[0]
    return scope or dataset.name


@lru_cache(maxsize=4096)
def _operator(name: str) -> str:
    """The name; none of what only wraps generated code."""
    return "" if _CODEGEN.fullmatch(name) else name


@lru_cache(maxsize=4096)
def _meant(names: tuple[str, ...], description: str, last: bool, cached: bool) -> tuple[str, str]:
    """(the kind of a stage with these operators in a job of this description, what is said of it)."""
    if description.startswith(_SNAPSHOT):
        description = f"Delta: {description}"
    kind = kind_of(names, description, last=last, cached=cached)
    return kind, redact(description or ", ".join(names))


def _is_number(text: str | None) -> bool:
    return text is not None and len(text) <= _DIGITS and text.isascii() and text.isdigit()


def _batch(properties: Properties) -> Batch | None:
    if not (properties.query and properties.batch and _is_number(properties.batch)):
        return None
    run = _RUN.search(properties.description or "")
    group = properties.group or ""
    named = run[1] if run else group if len(group) == len("00000000-0000-0000-0000-000000000000") else None
    return Batch(_once(properties.query), _once(named) if named else None, int(properties.batch))


@lru_cache(maxsize=4096)
def _once(id: str) -> str:
    """An id without credentials, as one text for all batches."""
    return redact(id)


def described(description: str) -> tuple[str, str]:
    """(the query's name, what is said of the job beside query and batch) of a job's description."""
    head, *rest = description.split("\n")
    batch = _BATCH_LINE.search(description)
    if not batch:
        return "", redact(description)
    return redact(head) if rest and not head.startswith("id = ") else "", redact(description[batch.end() :].strip(" :"))
