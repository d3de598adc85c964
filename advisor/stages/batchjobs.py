"""The jobs and stage attempts of each batch, and what each stage is for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from advisor.column import longest
from advisor.stages.jobs import Attempt, Batch, Job, Note, column, key_of, matrix
from advisor.stages.work import Work

KINDS = (None, "source_read", "state", "shuffle", "result", "table_log", "other")
"""What stages are for, when all of their query is known."""
_STATE = re.compile(r"StateStore|StateStoreRDD|StreamingDeduplicate|WithState|SymmetricHashJoin|SessionWindowState")
_STREAM = re.compile(r"MicroBatchScan|KafkaSourceRDD|StreamingSource")
_FILES = re.compile(r"^(?:Scan|FileScan|LocalTableScan|BatchScan)\b")
_TABLE_LOG = re.compile(
    r"^Delta: (?!.*(?:write|Write))|snapshot for version|Delta Lake Checkpoint|log ?checkpoint|manifest", re.IGNORECASE
)
_OBJECTS = "DeserializeToObject"
_PLACES = {kind: place for place, kind in enumerate(KINDS)}
LOG_CHECKPOINT = "Delta: log checkpoint"
"""The description of a job that writes the checkpoint of a Delta table's log; Delta itself does not name it."""


def streams(names: Sequence[str]) -> bool:
    """Whether a stage with operators of these names reads a stream or holds its state, cached or not."""
    return any(_STREAM.search(name) or _STATE.search(name) for name in names)


def kind_of(names: Sequence[str], description: str, *, last: bool, cached: bool = False) -> str:
    """The kind of a stage with operators of these names, in a job of this description.

    `last`: it ends its job. `cached`: what it reads lies in a cache, so that the source is not read again.
    """
    if any(_STATE.search(name) for name in names):
        return "state"
    if _TABLE_LOG.search(description):
        return "table_log"
    if any(_STREAM.search(name) for name in names) and not cached:
        return "source_read"
    if any(_FILES.search(name) for name in names):
        return "scan"
    return "result" if last else "shuffle"


@dataclass(slots=True)
class Inside:
    """One batch: the jobs and stage attempts in it."""

    batch: Batch
    work: Work
    jobs: list[Job] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class Gathered:
    """What ran in some batches, one behind the other: of each job and stage attempt the place of its batch."""

    def __init__(self, insides: Sequence[Inside]) -> None:
        """In the order of the batches."""
        self.insides = insides
        self.jobs = [job for inside in insides for job in inside.jobs]
        self.attempts = [attempt for inside in insides for attempt in inside.attempts]
        places = np.arange(len(insides))
        self.of_job = np.repeat(places, [len(inside.jobs) for inside in insides])
        self.of_attempt = np.repeat(places, [len(inside.attempts) for inside in insides])
        self.clock = np.array([inside.work.clock for inside in insides], bool)
        self.start = np.array([job.start for job in self.jobs], float)
        self.end = np.array([np.inf if job.end is None else job.end for job in self.jobs], float)
        """Of jobs; one without an end is until its batch ends."""
        self.submitted = np.array([attempt.submitted for attempt in self.attempts], float)
        self.completed = np.array([attempt.completed for attempt in self.attempts], float)
        self.kinds = np.array([_PLACES[attempt.kind] for attempt in self.attempts], np.int64)
        """The place of each attempt's in KINDS."""
        self.seen = np.array([attempt.seen for attempt in self.attempts], bool)

    def __len__(self) -> int:
        return len(self.insides)

    @cached_property
    def numbers(self) -> np.ndarray:
        """A row of NUMBERS for each attempt, as they were when it was asked first."""
        return matrix(attempt.numbers for attempt in self.attempts)

    def number(self, name: str) -> np.ndarray:
        """One of NUMBERS, of each attempt."""
        return column(self.numbers, name)

    def where(self, which: np.ndarray) -> Gathered:
        """These of the batches."""
        return self if which.all() else Gathered([self.insides[place] for place in np.flatnonzero(which).tolist()])

    def count(self, which: np.ndarray) -> np.ndarray:
        """How many such attempts each batch has; `which`: whether an attempt is one."""
        return np.bincount(self.of_attempt[which], minlength=len(self))


def batches_of(work: Work) -> list[Inside]:
    """The batches of a log, in order."""
    found: dict[tuple[Any, ...], Inside] = {}
    of_job: dict[int, Inside] = {}
    for job in work.jobs:
        if job.batch:
            key = key_of(job.batch)
            inside = found.get(key)
            if inside is None:
                inside = found[key] = Inside(job.batch, work)
            inside.jobs.append(job)
            of_job[id(job)] = inside
    for attempt in work.attempts:
        if of := of_job.get(id(attempt.job)):
            of.attempts.append(attempt)
    for note in work.notes:
        if note.batch and (of := found.get(key_of(note.batch))):
            of.notes.append(note)
    return list(found.values())


class Kinds:
    """Find what stages are for from other batches of their query, of one origin: each has its own names."""

    def __init__(self) -> None:
        self._streams: set[str | None] = set()
        self._snapshots: dict[str | None, int] = {}

    def settle(self, chosen: Sequence[Inside]) -> None:
        """A scan of files is the source where the query has no other; else it is of a static side.

        Batches that were settled before count, too.
        """
        scans, snapshots = [], self._snapshots
        for inside in chosen:
            query = inside.batch.id
            for attempt in inside.attempts:
                if attempt.kind == "source_read":
                    self._streams.add(query)
                elif attempt.kind == "scan":
                    scans.append((query, attempt))
                elif attempt.kind == "table_log":
                    snapshots[query] = max(snapshots.get(query, 0), attempt.tasks or 0)
        for query, attempt in scans:
            attempt.kind = "other" if query in self._streams else "source_read"
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


def too_long_of(gathered: Gathered, whole: np.ndarray) -> np.ndarray:
    """How many jobs, stages and tasks of each batch are longer than its trigger, of so many ms, in which they ran."""
    most: np.ndarray = longest(whole)
    jobs = (gathered.end - gathered.start > most[gathered.of_job]) & np.isfinite(gathered.end)
    of_stages = most[gathered.of_attempt]
    stages = gathered.completed - gathered.submitted > of_stages
    tasks = gathered.number("task_max_ms") > of_stages
    of_jobs = np.bincount(gathered.of_job[jobs], minlength=len(gathered))
    return np.asarray(of_jobs + gathered.count(stages) + gathered.count(tasks))
