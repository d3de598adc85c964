"""What one log tells of jobs, stages and tasks, as it is read: flat arrays, folded into rows stage by stage."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

SUMS = (
    "run_ms",
    "cpu_ms",
    "deserialize_ms",
    "result_ms",
    "gc_ms",
    "shuffle_read_bytes",
    "shuffle_read_rows",
    "fetch_wait_ms",
    "shuffle_write_bytes",
    "shuffle_write_rows",
    "shuffle_write_ms",
    "memory_spilled_bytes",
    "disk_spilled_bytes",
    "input_rows",
    "input_bytes",
    "output_rows",
    "output_bytes",
)
"""Numbers of a task that are summed, in the order in which `Work.task` takes them; a negative one is not told."""
_SCALES = [1e-6 if name in ("cpu_ms", "shuffle_write_ms") else 1.0 for name in SUMS]
"""Two of them are told in nanoseconds."""
LOCALITIES = ("PROCESS_LOCAL", "NODE_LOCAL", "RACK_LOCAL", "NO_PREF", "ANY")
FAILED, KILLED, SPECULATIVE = 1, 2, 4
"""Flags of a task's attempt."""
_FIXED = 5
_WIDTH = _FIXED + len(SUMS)
_RUN = SUMS.index("run_ms") + _FIXED
_OWN = [SUMS.index(name) + _FIXED for name in ("run_ms", "deserialize_ms", "result_ms")]
_READ = [SUMS.index(name) + _FIXED for name in ("shuffle_read_rows", "input_rows")]


class Batch(NamedTuple):
    """Which micro-batch a job belongs to; what is not named is None."""

    id: str | None
    run_id: str | None
    batch_id: int


@dataclass
class Job:
    """One Spark job; times are ms since 1970, of the log's own line of time where its clock knows only seconds."""

    job: int
    batch: Batch | None
    start: float
    end: float | None = None
    name: str = ""
    description: str = ""


@dataclass
class Attempt:
    """One attempt of a stage. `kind` and `what` as in the table; `numbers` are those of its columns that are known."""

    job: Job | None
    stage: int
    attempt: int
    submitted: float
    completed: float
    kind: str = "other"
    what: str = ""
    last: bool | None = None
    tasks: int | None = None
    slots: int | None = None
    waited_for: list[str] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)
    busy: list[tuple[float, float]] = field(default_factory=list)
    """Stretches of time in which one of its tasks ran."""


class Work:
    """Jobs, stage attempts and tasks of one log.

    Tasks of a stage are held until the stage is complete; of each task its span alone is kept for longer, since it
    may hold slots that other queries wait for.
    """

    def __init__(self, log: str, source: str, *, clock: bool = True) -> None:
        """`clock`: whether the times are those of a clock that knows milliseconds."""
        self.log, self.source, self.clock = log, source, clock
        self.jobs: dict[int, Job] = {}
        self.attempts: list[Attempt] = []
        self.cores: dict[str, int] = {}
        self.cpus = 1
        self.spans = Spans()
        self._tasks = array("q")
        self._owners: dict[tuple[int, int], int] = {}
        self._of_stage: dict[int, Job] = {}
        self._complete: dict[int, Attempt] = {}

    @property
    def slots(self) -> int | None:
        """Task slots of the executors that are there; None where none was named."""
        cores = sum(self.cores.values())
        return cores // self.cpus if cores else None

    def starts(self, job: Job, stages: Sequence[int]) -> None:
        """A job starts, with these stages; those that another running job has begun stay that one's."""
        self.jobs[job.job] = job
        for stage in stages:
            owner = self._of_stage.get(stage)
            if owner is None or owner.end is not None:
                self._of_stage[stage] = job

    def job_of(self, stage: int) -> Job | None:
        """The job for which a stage runs."""
        return self._of_stage.get(stage)

    def task(self, stage: int, attempt: int, launch: int, finish: int, locality: int, flags: int, *sums: int) -> None:
        """One attempt of a task that has ended; `locality` is its place in LOCALITIES, -1 without one."""
        owner = self._owners.setdefault((stage, attempt), len(self._owners))
        self._tasks.extend((owner, launch, finish, locality, flags, *sums))

    def completes(self, attempt: Attempt) -> None:
        """A stage attempt has ended."""
        attempt.slots = self.slots
        self.attempts.append(attempt)
        self._complete[self._owners.setdefault((attempt.stage, attempt.attempt), len(self._owners))] = attempt

    def fold(self) -> None:
        """Fold the tasks of complete stages into their attempts."""
        if not self._complete or not self._tasks:
            return
        tasks = np.frombuffer(self._tasks, np.int64).reshape(-1, _WIDTH)
        owners = tasks[:, 0]
        done = np.isin(owners, np.fromiter(self._complete, np.int64, len(self._complete)))
        folded = tasks[done]
        left = array("q", tasks[~done].tobytes())
        for owner, rows in _grouped(folded):
            attempt = self._complete[owner]
            _fill(attempt, rows)
            self.spans.add(attempt.job.batch if attempt.job else None, rows[:, 1], rows[:, 2])
        del tasks, owners
        self._tasks, self._complete = left, {}


class Spans:
    """When tasks ran, and for whom."""

    def __init__(self) -> None:
        self._names: dict[str | None, int] = {}
        self._launch, self._finish, self._whose = array("d"), array("d"), array("q")

    def add(self, batch: Batch | None, launch: np.ndarray, finish: np.ndarray) -> None:
        """Tasks of a query, or of none, ran in these times."""
        name = batch.id if batch else None
        whose = self._names.setdefault(name, len(self._names))
        self._launch.extend(launch.tolist())
        self._finish.extend(finish.tolist())
        self._whose.extend([whose] * len(launch))

    @property
    def alone(self) -> bool:
        """Whether all tasks were one query's."""
        return len(self._names) < 2

    def others(self, query: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str | None]]:
        """(launch, finish, whose) of the tasks that are not the query's, and the names that `whose` counts."""
        whose = np.frombuffer(self._whose, np.int64)
        foreign = whose != self._names.get(query, -1)
        launch, finish = np.frombuffer(self._launch), np.frombuffer(self._finish)
        return launch[foreign], finish[foreign], whose[foreign], list(self._names)


def _grouped(tasks: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """(owner, its tasks in the order of their launch) of each owner."""
    ordered = tasks[np.lexsort((tasks[:, 1], tasks[:, 0]))]
    starts = np.flatnonzero(np.diff(ordered[:, 0], prepend=-1))
    ends = np.append(starts[1:], len(ordered))
    return [(int(ordered[start, 0]), ordered[start:end]) for start, end in zip(starts, ends, strict=True)]


def _fill(attempt: Attempt, rows: np.ndarray) -> None:
    """The numbers of a stage attempt, of all its tasks."""
    launch, finish, flags = rows[:, 1], rows[:, 2], rows[:, 4]
    whole = rows[(flags & (FAILED | KILLED)) == 0]
    lengths = np.sort(whole[:, 2] - whole[:, 1])
    numbers = attempt.numbers
    numbers["first_task_ms"] = max(0.0, float(launch[0]) - attempt.submitted)
    numbers["failed"], numbers["killed"], numbers["speculative"] = (
        float(np.count_nonzero(flags & flag)) for flag in (FAILED, KILLED, SPECULATIVE)
    )
    attempt.busy = _union(launch, finish)
    if not len(whole):
        return
    numbers["task_ms"] = float(lengths.sum())
    numbers["task_max_ms"] = float(lengths[-1])
    numbers["task_median_ms"] = middle(lengths)
    numbers["task_p95_ms"] = float(lengths[-(-len(lengths) * 95 // 100) - 1])
    sums = (whole[:, _FIXED:].sum(axis=0) * _SCALES).tolist()
    told = (whole[:, _FIXED:] >= 0).all(axis=0).tolist()
    numbers.update((name, float(each)) for name, each, known in zip(SUMS, sums, told, strict=True) if known)
    if told[_RUN - _FIXED]:
        own = sum(whole[:, at] for at in _OWN)
        numbers["scheduler_delay_ms"] = float(np.maximum(whole[:, 2] - whole[:, 1] - own, 0).sum())
    if all(told[at - _FIXED] for at in _READ):
        read = np.sort(whole[:, _READ[0]] + whole[:, _READ[1]])
        numbers["rows_max"], numbers["rows_median"] = float(read[-1]), middle(read)
    counts = np.bincount(whole[:, 3] + 1, minlength=len(LOCALITIES) + 1)
    if not counts[0]:
        names = ("process_local", "node_local", "rack_local", "no_pref", "any_local")
        numbers.update(zip(names, counts[1:].tolist(), strict=True))


def middle(ordered: np.ndarray) -> float:
    """The median of numbers in order."""
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else float(ordered[half - 1] + ordered[half]) / 2


def _union(launch: np.ndarray, finish: np.ndarray) -> list[tuple[float, float]]:
    """Stretches that these spans, in the order of their beginnings, cover."""
    reach = np.maximum.accumulate(finish)
    starts = np.append(True, launch[1:] > reach[:-1])
    ends = np.append(starts[1:], True)
    return list(zip(launch[starts].astype(float).tolist(), reach[ends].astype(float).tolist(), strict=True))
