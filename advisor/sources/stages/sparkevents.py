"""Spark's own events in an event log, as far as jobs, stages and tasks are read of them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import field

from advisor.stages import FAILED, KILLED, LOCALITIES, SPECULATIVE, SUMS

Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A number that the tables can hold; a line with a larger one is passed over."""
_PLACES = {name: place for place, name in enumerate(LOCALITIES)}


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


class Level(msgspec.Struct, frozen=True):
    """Where a data set is kept once it was computed."""

    memory: bool = field(name="Use Memory", default=False)
    disk: bool = field(name="Use Disk", default=False)


class Dataset(msgspec.Struct):
    """One step of what a stage computes."""

    number: Whole = field(name="RDD ID", default=0)
    name: str = field(name="Name", default="")
    scope: str | None = field(name="Scope", default=None)
    partitions: Whole = field(name="Number of Partitions", default=0)
    level: Level = field(name="Storage Level", default=Level())


class Sum(msgspec.Struct):
    """A sum over the tasks of a stage, by its name."""

    name: str = field(name="Name", default="")
    value: Whole | float | str | list[Any] | dict[str, Any] | None = field(name="Value", default=None)


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
    sums: msgspec.Raw = field(name="Accumulables", default=msgspec.Raw(b"[]"))


class StageCompleted(Event):
    """A stage ends, or an attempt at it."""

    info: Stage = field(name="Stage Info")


class UnpersistRDD(Event):
    """A data set leaves the cache."""

    dataset: Whole = field(name="RDD ID")


class Cores(msgspec.Struct, frozen=True):
    """The cores of an executor."""

    cores: Whole = field(name="Total Cores", default=0)


class ExecutorAdded(Event):
    """An executor has come."""

    executor: str = field(name="Executor ID")
    time: Whole = field(name="Timestamp", default=0)
    info: Cores = field(name="Executor Info", default=Cores())


class ExecutorRemoved(Event):
    """An executor is gone."""

    executor: str = field(name="Executor ID")
    time: Whole = field(name="Timestamp", default=0)


class Task(msgspec.Struct):
    """When and where a task ran, and how it ended."""

    launch: Whole = field(name="Launch Time")
    finish: Whole = field(name="Finish Time")
    locality: str = field(name="Locality", default="")
    speculative: bool = field(name="Speculative", default=False)
    failed: bool = field(name="Failed", default=False)
    killed: bool = field(name="Killed", default=False)
    getting: Whole = field(name="Getting Result Time", default=0)


class ShuffleRead(msgspec.Struct, frozen=True):
    """What a task fetched of other tasks' output."""

    wait: Whole = field(name="Fetch Wait Time", default=0)
    remote: Whole = field(name="Remote Bytes Read", default=0)
    local: Whole = field(name="Local Bytes Read", default=0)
    rows: Whole = field(name="Total Records Read", default=0)


class ShuffleWrite(msgspec.Struct, frozen=True):
    """What a task wrote for later stages."""

    bytes: Whole = field(name="Shuffle Bytes Written", default=0)
    ns: Whole = field(name="Shuffle Write Time", default=0)
    rows: Whole = field(name="Shuffle Records Written", default=0)


class Input(msgspec.Struct, frozen=True):
    """What a task read."""

    bytes: Whole = field(name="Bytes Read", default=0)
    rows: Whole = field(name="Records Read", default=0)


class Output(msgspec.Struct, frozen=True):
    """What a task wrote to the sink."""

    bytes: Whole = field(name="Bytes Written", default=0)
    rows: Whole = field(name="Records Written", default=0)


class Metrics(msgspec.Struct):
    """Where the time of a task went."""

    deserialize: Whole = field(name="Executor Deserialize Time", default=0)
    run: Whole = field(name="Executor Run Time", default=0)
    cpu_ns: Whole = field(name="Executor CPU Time", default=0)
    gc: Whole = field(name="JVM GC Time", default=0)
    result: Whole = field(name="Result Serialization Time", default=0)
    memory_spilled: Whole = field(name="Memory Bytes Spilled", default=0)
    disk_spilled: Whole = field(name="Disk Bytes Spilled", default=0)
    read: ShuffleRead = field(name="Shuffle Read Metrics", default=ShuffleRead())
    write: ShuffleWrite = field(name="Shuffle Write Metrics", default=ShuffleWrite())
    input: Input = field(name="Input Metrics", default=Input())
    output: Output = field(name="Output Metrics", default=Output())


_NO_METRICS = Metrics()


class TaskEnd(Event):
    """A task ends."""

    stage: Whole = field(name="Stage ID")
    task: Task = field(name="Task Info")
    attempt: Whole = field(name="Stage Attempt ID", default=0)
    kind: str = field(name="Task Type", default="")
    metrics: Metrics | None = field(name="Task Metrics", default=None)

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
