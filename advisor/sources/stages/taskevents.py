"""Spark's events of tasks in an event log, as far as they are read, and the numbers in them."""

from __future__ import annotations

import msgspec

from advisor.sources.stages.sparkevents import Whole
from advisor.stages import FAILED, KILLED, LOCALITIES, SPECULATIVE, SUMS

_PLACES = {name: place for place, name in enumerate(LOCALITIES)}


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


_NO_METRICS = Metrics()
WIDTH = 6 + len(SUMS)
"""So many numbers are told of a task."""


def row(event: TaskEnd) -> tuple[float, ...]:
    """Stage, attempt, launch, finish, locality and flags of a task, then the numbers of SUMS."""
    task, metrics = event.task, event.metrics or _NO_METRICS
    read, write, input, output = metrics.read, metrics.write, metrics.input, metrics.output
    return (
        event.stage,
        event.attempt,
        task.launch,
        task.finish,
        _PLACES.get(task.locality, -1),
        FAILED * task.failed + KILLED * task.killed + SPECULATIVE * task.speculative,
        metrics.run,
        metrics.cpu_ns,
        metrics.deserialize,
        metrics.result + (task.finish - task.getting if task.getting else 0),
        metrics.gc,
        read.remote + read.local,
        read.rows,
        read.wait,
        write.bytes,
        write.rows,
        write.ns,
        metrics.memory_spilled,
        metrics.disk_spilled,
        input.rows,
        input.bytes,
        output.rows,
        output.bytes,
    )
