"""Spark's own events in an event log, as far as jobs, stages and tasks are read of them, and what a job is for."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from math import nan
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec
from msgspec import field

from advisor.redaction import redact
from advisor.stages import FAILED, FILE_CHOICE, KILLED, LOCALITIES, MERGE, SPECULATIVE, SUMS, Batch, kind_of

Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A number that the tables can hold; a line with a larger one is passed over."""
_LARGEST = 2.0**53
_PLACES = {name: place for place, name in enumerate(LOCALITIES)}
_DIGITS = 15
"""More digits are no number of a batch, and none that a float holds."""
_NAME = '"name":"'
_CODEGEN = re.compile(r"WholeStageCodegen \(\d+\)|mapPartitions\w*|InputAdapter")
_RUN = re.compile(r"runId = ([0-9a-f-]{36})")
_BATCH_LINE = re.compile(r"batch = (?:\d+|init)\s*")
_BATCH = "\nbatch = "
"""What Spark writes before a batch's number, with which its descriptions end."""
_ID = len("00000000-0000-0000-0000-000000000000")
_SNAPSHOT = "Compute snapshot for version"
_STATISTICS = "Delta Table State with Stats"
"""How Delta names what it keeps of its snapshot to choose files by; its jobs do not say that they read it."""
_SQL = {
    "time to commit changes": "state_commit_ms",
    "time to update": "state_update_ms",
    "time to remove": "state_update_ms",
    "RocksDB: load - time taken to load the store": "state_load_ms",
    "total time to run Python workers": "python_ms",
    "time to run Python workers": "python_ms",
}
"""Sums over tasks that Spark's SQL operators count, and the columns that hold them."""


class Event(msgspec.Struct, tag_field="Event", tag=lambda name: f"SparkListener{name}"):
    """A line of an event log; the class has the name of Spark's."""


class ApplicationStart(Event):
    """An application begins."""

    id: str | None = field(name="App ID", default=None)
    time: Whole = field(name="Timestamp", default=0)


class Properties(msgspec.Struct):
    """Of which query and batch a job is, as its properties say."""

    query: str | None = field(name="sql.streaming.queryId", default=None)
    batch: str | None = field(name="streaming.sql.batchId", default=None)
    group: str | None = field(name="spark.jobGroup.id", default=None)
    description: str | None = field(name="spark.job.description", default=None)
    cpus: str | None = field(name="spark.task.cpus", default=None)


class JobStart(Event):
    """A job begins, with the stages that it may need."""

    job: Whole = field(name="Job ID")
    time: Whole = field(name="Submission Time")
    stages: list[Whole] = field(name="Stage IDs")
    properties: Properties | None = field(name="Properties", default=None)


class JobEnd(Event):
    """A job ends."""

    job: Whole = field(name="Job ID")
    time: Whole = field(name="Completion Time")


class _Level(msgspec.Struct, frozen=True):
    memory: bool = field(name="Use Memory", default=False)
    disk: bool = field(name="Use Disk", default=False)


class Dataset(msgspec.Struct):
    """One step of what a stage computes."""

    number: Whole = field(name="RDD ID", default=0)
    name: str = field(name="Name", default="")
    scope: str | None = field(name="Scope", default=None)
    partitions: Whole = field(name="Number of Partitions", default=0)
    level: _Level = field(name="Storage Level", default=_Level())
    parents: list[Whole] = field(name="Parent IDs", default_factory=list)


class Sum(msgspec.Struct):
    """A sum over the tasks of a stage, by its name."""

    name: str | None = field(name="Name", default=None)
    id: Whole = field(name="ID", default=-1)
    value: Any = field(name="Value", default=None)

    @property
    def number(self) -> float | None:
        """The value, where it is a number; then from 0 to as much as the tables can hold."""
        with suppress(ValueError, OverflowError):
            return max(0.0, min(float(self.value), _LARGEST)) if isinstance(self.value, int | float | str) else None
        return None


class Stage(msgspec.Struct):
    """A stage, when it is over."""

    stage: Whole = field(name="Stage ID")
    tasks: Whole = field(name="Number of Tasks")
    attempt: Whole = field(name="Stage Attempt ID", default=0)
    name: str = field(name="Stage Name", default="")
    datasets: list[Dataset] = field(name="RDD Info", default_factory=list)
    submitted: Whole | None = field(name="Submission Time", default=None)
    completed: Whole | None = field(name="Completion Time", default=None)
    failure: str | None = field(name="Failure Reason", default=None)
    sums: list[Sum] = field(name="Accumulables", default_factory=list)


class StageCompleted(Event):
    """A stage ends, or an attempt at it."""

    info: Stage = field(name="Stage Info")


class DriverAccumUpdates(msgspec.Struct):
    """The driver tells sums of one SQL execution that no task counts."""

    sums: list[tuple[Whole, Whole]] = field(name="accumUpdates", default_factory=list)

    def written(self) -> dict[int, tuple[int, int]]:
        """Return the (files, bytes) of writes, by the number of their sum of times of task commits.

        Spark numbers the sums of a write one behind the other: files, bytes, rows, partitions, and that one.
        """
        found = dict(self.sums)
        return {at + 4: (found[at], found[at + 1]) for at in found if found.keys() >= {at + 1, at + 2, at + 3}}


class UnpersistRDD(Event):
    """A data set leaves the cache."""

    dataset: Whole = field(name="RDD ID")


class _Cores(msgspec.Struct, frozen=True):
    cores: Whole = field(name="Total Cores", default=0)


class ExecutorChange(msgspec.Struct):
    """An executor has come, or is gone and has no cores."""

    event: Literal["SparkListenerExecutorAdded", "SparkListenerExecutorRemoved"] = field(name="Event")
    executor: str = field(name="Executor ID")
    time: Whole = field(name="Timestamp", default=0)
    info: _Cores = field(name="Executor Info", default=_Cores())


class Task(msgspec.Struct):
    """When and where a task ran, and how it ended."""

    launch: Whole = field(name="Launch Time")
    finish: Whole = field(name="Finish Time")
    locality: str = field(name="Locality", default="")
    speculative: bool = field(name="Speculative", default=False)
    failed: bool = field(name="Failed", default=False)
    killed: bool = field(name="Killed", default=False)
    getting: Whole = field(name="Getting Result Time", default=0)


class _ShuffleRead(msgspec.Struct, frozen=True):
    wait: Whole = field(name="Fetch Wait Time", default=0)
    remote: Whole = field(name="Remote Bytes Read", default=0)
    local: Whole = field(name="Local Bytes Read", default=0)
    rows: Whole = field(name="Total Records Read", default=0)


class _ShuffleWrite(msgspec.Struct, frozen=True):
    bytes: Whole = field(name="Shuffle Bytes Written", default=0)
    ns: Whole = field(name="Shuffle Write Time", default=0)
    rows: Whole = field(name="Shuffle Records Written", default=0)


class _Input(msgspec.Struct, frozen=True):
    bytes: Whole = field(name="Bytes Read", default=0)
    rows: Whole = field(name="Records Read", default=0)


class _Output(msgspec.Struct, frozen=True):
    bytes: Whole = field(name="Bytes Written", default=0)
    rows: Whole = field(name="Records Written", default=0)


class _Metrics(msgspec.Struct):
    deserialize: Whole = field(name="Executor Deserialize Time", default=0)
    run: Whole = field(name="Executor Run Time", default=0)
    cpu_ns: Whole = field(name="Executor CPU Time", default=0)
    gc: Whole = field(name="JVM GC Time", default=0)
    result: Whole = field(name="Result Serialization Time", default=0)
    memory_spilled: Whole = field(name="Memory Bytes Spilled", default=0)
    disk_spilled: Whole = field(name="Disk Bytes Spilled", default=0)
    read: _ShuffleRead = field(name="Shuffle Read Metrics", default=_ShuffleRead())
    write: _ShuffleWrite = field(name="Shuffle Write Metrics", default=_ShuffleWrite())
    input: _Input = field(name="Input Metrics", default=_Input())
    output: _Output = field(name="Output Metrics", default=_Output())


_NO_METRICS = _Metrics()


class TaskEnd(Event):
    """A task ends."""

    stage: Whole = field(name="Stage ID")
    task: Task = field(name="Task Info")
    attempt: Whole = field(name="Stage Attempt ID", default=0)
    kind: str = field(name="Task Type", default="")
    metrics: _Metrics | None = field(name="Task Metrics", default=None)

    def row(self, at: int) -> tuple[float, ...]:
        """Return the task at this place in the log as `Work.tasks` takes it."""
        task, metrics = self.task, self.metrics or _NO_METRICS
        read, write, input, output = metrics.read, metrics.write, metrics.input, metrics.output
        return (
            self.stage, self.attempt, at, task.launch, task.finish, _PLACES.get(task.locality, -1),
            FAILED * task.failed + KILLED * task.killed + SPECULATIVE * task.speculative,
            metrics.run, metrics.cpu_ns, metrics.deserialize,
            metrics.result + (task.finish - task.getting if task.getting else 0), metrics.gc,
            read.remote + read.local, read.rows, read.wait, write.bytes, write.rows, write.ns,
            metrics.memory_spilled, metrics.disk_spilled, input.rows, input.bytes, output.rows, output.bytes,
        )  # fmt: skip


WIDTH = 7 + len(SUMS)
"""So many numbers a task's row has."""


def sql_sums(sums: list[Sum]) -> dict[str, float]:
    """Return the times that Spark's SQL operators count."""
    found: dict[str, float] = {}
    for each in sums:
        if (column := _SQL.get(each.name or "")) and (number := each.number) is not None:
            found[column] = found.get(column, 0.0) + number
    return found


def writing_share(sums: list[Sum]) -> float:
    """Return the part of a stage's run time in which its tasks write files: behind the sort of its rows.

    NaN where it sorts nothing, runs Python, or generated code does not say when it had given all rows.
    """
    most = {each.name or "": each.number or 0.0 for each in sorted(sums, key=lambda each: each.number or 0.0)}
    run, given, sort = (most.get(name, nan) for name in ("internal.metrics.executorRunTime", "duration", "sort time"))
    return nan if any("Python" in name for name in most) else max(1 - (given + sort) / (run or nan), 0.0)


def operators(datasets: list[Dataset]) -> tuple[str, ...]:
    """Return the operators whose data sets a stage computes, each once, the last one first; sort these so."""
    datasets.sort(key=attrgetter("number"), reverse=True)
    names = [_named(each) for each in datasets]
    return tuple(filter(None, dict.fromkeys(map(_shown, names))))


def _named(step: Dataset) -> str:
    if step.name.startswith(_STATISTICS):
        return _STATISTICS
    return (step.scope or "").partition(_NAME)[2].partition('"')[0] or step.name


@lru_cache(maxsize=4096)
def _shown(name: str) -> str:
    """Return the name of an operator; nothing for what only wraps generated code."""
    return "" if _CODEGEN.fullmatch(name) else name


@lru_cache(maxsize=4096)
def meant(names: tuple[str, ...], description: str, last: bool, cached: bool) -> tuple[str, str]:
    """Return (the kind of a stage with these operators in a job of this description, what it does)."""
    if (at := description.find(_SNAPSHOT)) >= 0:  # of a MERGE, say, behind what that does
        description = f"Delta: {description[at:]}{f' ({MERGE})' * (MERGE in description)}"
    elif _STATISTICS in names:
        description = FILE_CHOICE
    kind = kind_of(names, description, last=last, cached=cached)
    return kind, redact(description or ", ".join(names))


def is_number(text: str | None) -> bool:
    """Whether it is a number of a batch or of cores."""
    return text is not None and len(text) <= _DIGITS and text.isascii() and text.isdigit()


def batch_of(properties: Properties) -> Batch | None:
    """Return the batch of a job with these properties; None where they name none."""
    query, number = properties.query, properties.batch
    if not (query and number and is_number(number)):
        return None
    group = properties.group or ""
    named = _run(_of_any_batch(properties.description or "")) or (group if len(group) == _ID else None)
    return Batch(redact(query), redact(named) if named else None, int(number))  # one text for all batches


@lru_cache(maxsize=4096)
def _run(description: str) -> str | None:
    found = _RUN.search(description)
    return found[1] if found else None


def described(description: str) -> tuple[str, str]:
    """Return (the query's name, the rest of a job's description)."""
    return _described(_of_any_batch(description))


@lru_cache(maxsize=4096)
def _described(description: str) -> tuple[str, str]:
    head, *rest = description.split("\n")
    batch = _BATCH_LINE.search(description)
    if not batch:
        return "", redact(description)
    return redact(head) if rest and not head.startswith("id = ") else "", redact(description[batch.end() :].strip(" :"))


def _of_any_batch(description: str) -> str:
    """Return a description that Spark wrote with batch 0, the same for all of a run; any other one as it is."""
    head, line, number = description.rpartition(_BATCH)
    return f"{head}{line}0" if number.isdigit() else description
