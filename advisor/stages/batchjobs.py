"""The jobs and stage attempts of each batch, what each stage is for, and the trigger in which they ran."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.column import longest
from advisor.stages.jobs import Attempt, Batch, Job, Note, column, key_of, matrix
from advisor.stages.work import Work

KEYS = ["id", "run_id", "batch_id", "timestamp", "add_batch_ms"]
"""Columns of the table of batch parts that come from progress."""
_LENGTHS = ("trigger_execution_ms", "commit_offsets_ms")
_BEFORE = (
    "latest_offset_ms", "get_offset_ms", "get_end_offset_ms", "set_offset_range_ms", "wal_commit_ms", "get_batch_ms",
    "query_planning_ms",
)  # fmt: skip
"""The phases before addBatch."""

KINDS = (None, "source_read", "state", "shuffle", "result", "table_log", "other")
"""What stages are for, when all of their query is known."""
_STATE = ("StateStore", "StreamingDeduplicate", "WithState", "SymmetricHashJoin", "SessionWindowState")
_STREAM = ("MicroBatchScan", "KafkaSourceRDD", "StreamingSource")
_FILES = re.compile(r"^(?:Scan|FileScan|LocalTableScan|BatchScan)\b")
_ROWS = ("Scan", "Scan ExistingRDD")
"""A scan of rows that code made of another frame, as `spark.read.json(batch.rdd)` does: no table's."""
_TABLE_LOG = re.compile(
    r"^Delta: (?!.*(?:write|Write))|snapshot for version|Delta Lake Checkpoint|log ?checkpoint|manifest", re.IGNORECASE
)
LISTING = "Listing leaf files and directories"
"""How Spark describes the job that lists a table's folders where these are many."""
_OBJECTS = "DeserializeToObject"
_PLACES = {kind: place for place, kind in enumerate(KINDS)}
PYTHON_RDD = "PythonRDD"
"""The last data set of a stage whose rows a Python function takes, and no operator behind it (foreachPartition)."""
MERGE = "MERGE operation"
"""What Delta's description of each job of a MERGE holds."""
DELTA_COMMAND = re.compile(r"\b(DELETE|MERGE|UPDATE) operation\b")
"""The same, of each command that writes files of a table again."""
OPTIMIZES, DRIVER_WITHIN = "optimizes", "driver_within_executions"
"""Traces whose numbers are how long OPTIMIZE takes, and the driver alone in executions of the batch's own code, ms."""
VACUUM = "VACUUM"
"""What this program calls each job of a VACUUM in a driver log; Delta itself does not name them."""
CALLS_SHOWN = 3
"""Functions that an operator is shown with, at most."""
LOG_CHECKPOINT = "Delta: log checkpoint"
"""The description of a job that writes the checkpoint of a Delta table's log; Delta itself does not name it."""
FILE_CHOICE = "Delta: choosing files"
"""That of a job that looks in a Delta table's snapshot for the files to read or to write again, behind its own."""


def streams(names: Sequence[str]) -> bool:
    """Whether a stage with operators of these names reads a stream or holds its state, cached or not."""
    return _named(names, _STREAM) or _named(names, _STATE)


def _named(names: Sequence[str], words: tuple[str, ...]) -> bool:
    return any(word in name for name in names for word in words)


def kind_of(names: Sequence[str], description: str, *, last: bool, cached: bool = False) -> str:
    """The kind of a stage with operators of these names, in a job of this description.

    `last`: it ends its job. `cached`: what it reads lies in a cache, so that the source is not read again.
    """
    if _named(names, _STATE):
        return "state"
    if _TABLE_LOG.search(description):
        return "table_log"
    if description.startswith(LISTING):
        return "listing"
    scans = [name for name in names if _FILES.search(name)]
    if _named(names, _STREAM) and not cached:
        return "source_read" if all(name in _ROWS for name in scans) else "both"
    if scans:
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
            inside.notes += job.notes
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
        """A scan of files, or their listing, is the source's where the query has no other; else it is of a static side.

        What reads the cache of such a scan does not read the source again.

        Which part of a stage is a table's that reads both, as a union does, is not known.
        Batches that were settled before count, too.
        """
        scans, snapshots = [], self._snapshots
        for inside in chosen:
            query = inside.batch.id
            for attempt in inside.attempts:
                if attempt.kind in ("source_read", "both"):
                    self._streams.add(query)
                    attempt.kind = None if attempt.kind == "both" else attempt.kind
                elif attempt.kind in ("scan", "listing", "cached"):
                    scans.append((query, attempt))
                elif attempt.kind == "table_log":
                    snapshots[query] = max(snapshots.get(query, 0), attempt.tasks or 0)
        for query, attempt in scans:
            of_source = "source_read" if attempt.kind == "scan" else "result" if attempt.last else "shuffle"
            attempt.kind = "other" if query in self._streams else of_source
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


class Times(NamedTuple):
    """Things that take time: of each the place of its batch, its first and its last ms."""

    of: np.ndarray
    times: np.ndarray


class Triggers:
    """The triggers in which addBatch ran; times in ms, of which NaN is not known."""

    def __init__(self, batches: pa.Table) -> None:
        """`batches`: of each trigger its events; of several the last one counts."""
        executed = batches.select([*KEYS, "name", *_LENGTHS, *_BEFORE])
        executed = executed.filter(pc.and_(pc.is_valid(executed["add_batch_ms"]), pc.is_valid(executed["timestamp"])))
        self.table = executed.select(KEYS)
        """A row for each of them."""
        self.start = _floats(executed["timestamp"].cast(pa.int64()))
        self.add_batch = _floats(executed["add_batch_ms"])
        self.whole = _floats(executed["trigger_execution_ms"])
        self.length = np.append(np.where(np.isnan(self.whole), self.add_batch, self.whole), np.nan)
        """How long each took, or addBatch alone if unknown; index -1 means unknown."""
        commit = _floats(executed["commit_offsets_ms"])
        self.commit = np.where(commit > self.whole, np.nan, commit)  # what outlasts its trigger is no duration
        self.before = np.nansum([_floats(executed[phase]) for phase in _BEFORE], axis=0)
        ids, runs, numbers = (executed[name].to_pylist() for name in ("id", "run_id", "batch_id"))
        self.names = {id: name for id, name in zip(ids, executed["name"].to_pylist(), strict=True) if id and name}
        """The names of queries, by id."""
        places = range(len(executed))
        self._at: dict[tuple[Any, ...], int] = dict(zip(zip(repeat(None), ids, numbers), places, strict=False))
        self._at.update(zip(zip(runs, numbers, strict=True), places, strict=True))

    def at(self, batches: Iterable[Batch]) -> np.ndarray:
        """The row of each of these batches, by its run, or by its query where the run is not named; -1 without one."""
        return np.array([self._at.get(key_of(batch), -1) for batch in batches], np.int64)

    @property
    def ended(self) -> np.ndarray:
        """When each trigger ended, or began if its length is unknown."""
        return self.start + np.nan_to_num(self.whole)


def _floats(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(column.to_numpy(), float)


def bounds_of(gathered: Gathered, triggers: Triggers, at: np.ndarray) -> np.ndarray:
    """When addBatch of each batch began and ended, ms since 1970; `at`: its trigger.

    It ends before the commit log, which ends the trigger. Without that phase (before Spark 3.4) it begins behind the
    phases before it. Jobs that reach out a little, as the phases leave some milliseconds out, move it; its length
    stays Spark's own. If the log's clock does not show it, it is its jobs' own time.
    """
    start, length = triggers.start[at], triggers.add_batch[at]
    till_commit, in_order = triggers.whole[at] - triggers.commit[at], triggers.before[at] + length
    end = start + np.where(np.isnan(till_commit), in_order, till_commit)
    of, starts, ends = gathered.of_job, gathered.start, gathered.end
    there = (starts < end[of]) & (ends > (end - length)[of])
    ended = there & np.isfinite(ends)
    np.maximum.at(end, of[ended], ends[ended])
    np.minimum.at(end, of[there], (starts + length[of])[there])
    own = np.tile([np.inf, -np.inf], (len(gathered), 1))
    np.minimum.at(own[:, 0], of, starts)
    np.maximum.at(own[:, 1], of, np.where(np.isfinite(ends), ends, starts))
    return np.where(gathered.clock[:, None], np.column_stack([end - length, end]), own)


def strangers_of(gathered: Gathered, bounds: np.ndarray) -> Times:
    """Jobs without a batch that began and ended while addBatch of one ran: only they may be that batch's."""
    found = [
        (place, job.start, job.end)
        for place, inside in enumerate(gathered.insides)
        if inside.work.strangers and inside.work.clock
        for job in _between(inside.work.strangers, *bounds[place].tolist())
    ]
    rows = np.array(found, float).reshape(-1, 3)
    return Times(rows[:, 0].astype(np.int64), rows[:, 1:])


def _between(jobs: Sequence[Job], begin: float, end: float) -> list[Job]:
    """Those of these jobs, which are in order, that began and ended in that time."""
    some = jobs[bisect_left(jobs, begin, key=attrgetter("start")) : bisect_left(jobs, end, key=attrgetter("start"))]
    return [job for job in some if job.end is not None and job.end <= end]
