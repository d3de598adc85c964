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
