"""Spark's own events in an event log, as far as jobs, stages and tasks are read of them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A number that the tables can hold; a line with a larger one is passed over."""


class ApplicationStart(msgspec.Struct, tag_field="Event", tag="SparkListenerApplicationStart", rename={
    "id": "App ID",
    "time": "Timestamp",
}):  # fmt: skip
    """An application begins."""

    id: str | None = None
    time: Whole = 0


class Properties(msgspec.Struct, rename={
    "query": "sql.streaming.queryId",
    "batch": "streaming.sql.batchId",
    "group": "spark.jobGroup.id",
    "description": "spark.job.description",
    "cpus": "spark.task.cpus",
}):  # fmt: skip
    """Of which query and batch a job is, as its properties say."""

    query: str | None = None
    batch: str | None = None
    group: str | None = None
    description: str | None = None
    cpus: str | None = None


class JobStart(msgspec.Struct, tag_field="Event", tag="SparkListenerJobStart", rename={
    "job": "Job ID",
    "time": "Submission Time",
    "stages": "Stage IDs",
    "properties": "Properties",
}):  # fmt: skip
    """A job begins, with the stages that it may need."""

    job: Whole
    time: Whole
    stages: list[Whole]
    properties: Properties | None = None


class JobEnd(msgspec.Struct, tag_field="Event", tag="SparkListenerJobEnd", rename={
    "job": "Job ID",
    "time": "Completion Time",
}):  # fmt: skip
    """A job ends."""

    job: Whole
    time: Whole


class Level(msgspec.Struct, frozen=True, rename={"memory": "Use Memory", "disk": "Use Disk"}):
    """Where a data set is kept once it was computed."""

    memory: bool = False
    disk: bool = False


class Dataset(msgspec.Struct, rename={
    "number": "RDD ID",
    "name": "Name",
    "scope": "Scope",
    "partitions": "Number of Partitions",
    "level": "Storage Level",
}):  # fmt: skip
    """One step of what a stage computes."""

    number: Whole = 0
    name: str = ""
    scope: str | None = None
    partitions: Whole = 0
    level: Level = Level()


class Sum(msgspec.Struct, rename={"name": "Name", "value": "Value"}):
    """A sum over the tasks of a stage, by its name."""

    name: str = ""
    value: Whole | float | str | list[Any] | dict[str, Any] | None = None


class Stage(msgspec.Struct, rename={
    "stage": "Stage ID",
    "attempt": "Stage Attempt ID",
    "name": "Stage Name",
    "tasks": "Number of Tasks",
    "datasets": "RDD Info",
    "submitted": "Submission Time",
    "completed": "Completion Time",
    "failure": "Failure Reason",
    "sums": "Accumulables",
}):  # fmt: skip
    """A stage, when it is over."""

    stage: Whole
    tasks: Whole
    attempt: Whole = 0
    name: str = ""
    datasets: list[Dataset] = []
    submitted: Whole | None = None
    completed: Whole | None = None
    failure: str | None = None
    sums: msgspec.Raw = msgspec.Raw(b"[]")


class StageCompleted(msgspec.Struct, tag_field="Event", tag="SparkListenerStageCompleted", rename={
    "info": "Stage Info",
}):  # fmt: skip
    """A stage ends, or an attempt at it."""

    info: Stage


class Unpersisted(msgspec.Struct, tag_field="Event", tag="SparkListenerUnpersistRDD", rename={
    "dataset": "RDD ID",
}):  # fmt: skip
    """A data set leaves the cache."""

    dataset: Whole


class Task(msgspec.Struct, rename={
    "launch": "Launch Time",
    "finish": "Finish Time",
    "locality": "Locality",
    "speculative": "Speculative",
    "failed": "Failed",
    "killed": "Killed",
    "getting": "Getting Result Time",
}):  # fmt: skip
    """When and where a task ran, and how it ended."""

    launch: Whole
    finish: Whole
    locality: str = ""
    speculative: bool = False
    failed: bool = False
    killed: bool = False
    getting: Whole = 0


class ShuffleRead(msgspec.Struct, frozen=True, rename={
    "wait": "Fetch Wait Time",
    "remote": "Remote Bytes Read",
    "local": "Local Bytes Read",
    "rows": "Total Records Read",
}):  # fmt: skip
    """What a task fetched of other tasks' output."""

    wait: Whole = 0
    remote: Whole = 0
    local: Whole = 0
    rows: Whole = 0


class ShuffleWrite(msgspec.Struct, frozen=True, rename={
    "bytes": "Shuffle Bytes Written",
    "ns": "Shuffle Write Time",
    "rows": "Shuffle Records Written",
}):  # fmt: skip
    """What a task wrote for later stages."""

    bytes: Whole = 0
    ns: Whole = 0
    rows: Whole = 0


class Input(msgspec.Struct, frozen=True, rename={"bytes": "Bytes Read", "rows": "Records Read"}):
    """What a task read."""

    bytes: Whole = 0
    rows: Whole = 0


class Output(msgspec.Struct, frozen=True, rename={"bytes": "Bytes Written", "rows": "Records Written"}):
    """What a task wrote to the sink."""

    bytes: Whole = 0
    rows: Whole = 0


class Metrics(msgspec.Struct, rename={
    "deserialize": "Executor Deserialize Time",
    "run": "Executor Run Time",
    "cpu_ns": "Executor CPU Time",
    "gc": "JVM GC Time",
    "result": "Result Serialization Time",
    "memory_spilled": "Memory Bytes Spilled",
    "disk_spilled": "Disk Bytes Spilled",
    "read": "Shuffle Read Metrics",
    "write": "Shuffle Write Metrics",
    "input": "Input Metrics",
    "output": "Output Metrics",
}):  # fmt: skip
    """Where the time of a task went."""

    deserialize: Whole = 0
    run: Whole = 0
    cpu_ns: Whole = 0
    gc: Whole = 0
    result: Whole = 0
    memory_spilled: Whole = 0
    disk_spilled: Whole = 0
    read: ShuffleRead = ShuffleRead()
    write: ShuffleWrite = ShuffleWrite()
    input: Input = Input()
    output: Output = Output()


class TaskEnd(msgspec.Struct, tag_field="Event", tag="SparkListenerTaskEnd", rename={
    "stage": "Stage ID",
    "attempt": "Stage Attempt ID",
    "kind": "Task Type",
    "task": "Task Info",
    "metrics": "Task Metrics",
}):  # fmt: skip
    """A task ends."""

    stage: Whole
    task: Task
    attempt: Whole = 0
    kind: str = ""
    metrics: Metrics | None = None


class Cores(msgspec.Struct, frozen=True, rename={"cores": "Total Cores"}):
    """The cores of an executor."""

    cores: Whole = 0


class ExecutorAdded(msgspec.Struct, tag_field="Event", tag="SparkListenerExecutorAdded", rename={
    "time": "Timestamp",
    "executor": "Executor ID",
    "info": "Executor Info",
}):  # fmt: skip
    """An executor has come."""

    executor: str
    time: Whole = 0
    info: Cores = Cores()


class ExecutorRemoved(msgspec.Struct, tag_field="Event", tag="SparkListenerExecutorRemoved", rename={
    "time": "Timestamp",
    "executor": "Executor ID",
}):  # fmt: skip
    """An executor is gone."""

    executor: str
    time: Whole = 0
