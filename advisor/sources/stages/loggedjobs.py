"""Jobs and stage attempts while their lines in a driver's log are read."""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapreplace

from advisor.metrics.flow import folder
from advisor.stages import Attempt, Job

Place = tuple[int, int]
"""(the file's number in its log, the byte in it)."""
BEGINNING: Place = (-1, -1)
"""Before all that a log holds."""
Named = tuple[str, int]
"""(beginning of a query's id, batch), where a line names them."""
LOST = 2048
"""Behind so many others a job that has not ended will not: the line is lost."""
HOUR_MS, CLOCKS_MS = 3_600_000, 1_000
"""By how much a zone's clock is put forward for summer, and by how much a line may precede what it follows."""
OPEN = (1 << 63) - 1
"""The end of an attempt that has not ended."""


@dataclass(slots=True)
class Moment:
    """Where a log is read: at one of its lines."""

    number: int = 0
    """How many lines of the log stand before it."""
    place: Place = BEGINNING
    now: float = 0.0
    """The line's time; where the log's clock knows only seconds, the sum of the lengths that lines gave."""
    set_back: float = 0.0
    """By how much the clock was set back so far, ms: `now` goes on."""
    fine: bool = False
    """Whether the log's clock knows milliseconds."""
    utc: bool = False
    """Whether its lines say that they are in UTC."""


@dataclass(slots=True)
class LoggedJob(Job):
    """A job that has begun, and its place in the log."""

    place: Place = BEGINNING
    before: int | None = None
    """The batch whose offsets are committed next in the log: only then does its sink run."""
    background: bool = False
    final: int = -1
    """Its last stage."""
    has_parents: bool = False
    """Whether its last stage has parents."""
    ended: int = 0
    """How many of its stages have ended."""
    attempts: list[Attempt] = field(default_factory=list)
    leaves: list[Attempt] = field(default_factory=list)
    """Attempts at stages without parents."""
    named: Named | None = None
    now: float = 0.0
    """When its last stage ended, without a clock that knows milliseconds."""


@dataclass(slots=True, eq=False)
class LoggedStage:
    """A stage attempt whose tasks were submitted, and what the lines of its tasks say."""

    stage: int
    line: int
    """How many lines of the log stand before that line."""
    time: float
    tasks: int
    job: LoggedJob | None
    leaf: bool
    what: str
    """The data set that it ends with, of Python's own; empty of any other."""
    attempt: Attempt | None = None
    """What it became, once the log has said that it ended."""
    end: int = OPEN
    """The line that ends it."""
    until: int = OPEN
    """The line that starts the last of its tasks."""
    started: int = 0
    running: int = 0
    run: int = 0
    at_once: int = 0
    """Starts in lines behind each other, the last ones and the most: those of one round of offers."""
    lost: int = 0
    localities: array[int] = field(default_factory=lambda: array("b"))
    """Where each task that started runs: its place in LOCALITIES, -1 for no place."""
    lengths: array[float] = field(default_factory=lambda: array("d"))
    ends: array[float] = field(default_factory=lambda: array("d"))
    """How long each finished task took, and when it ended."""
    longest: tuple[float, int] = (-1.0, -1)
    """(length, place in the stage) of the longest task."""
    files: set[tuple[bytes, ...]] = field(default_factory=set)
    """The (folder, name) of each file that its tasks read."""
    busy_since: int = 0
    """The line since which some of its tasks run."""
    python_ms: float | None = None
    """What its tasks' Python workers took; NaN where lines may be of another stage."""

    def add_python(self, ms: float) -> None:
        """Add the time of a Python worker; NaN where it may have been another stage's."""
        self.python_ms = (self.python_ms or 0.0) + ms

    @property
    def paths(self) -> frozenset[str]:
        """Folders whose files its tasks read, with the only file, or with `*.csv`, say, where all names end so."""
        folders, names = {at for at, _ in self.files}, {name for _, name in self.files}
        ends = {b"*." + name.partition(b".")[2] for name in names}
        below = names if len(self.files) == 1 else ends if len(ends) == 1 else ()
        read = folders | {b"/".join((at, end)) for at in sorted(folders)[:1] for end in below}
        return frozenset(folder(path.decode(errors="replace")) for path in read)

    def task_times(self, *, fine: bool) -> tuple[Sequence[float], Sequence[float]]:
        """Return when its finished tasks began and ended, as far as the clock shows it (`fine`) or their lengths do."""
        if fine:
            return [end - ms for end, ms in zip(self.ends, self.lengths, strict=True)], self.ends
        assert self.attempt
        length = self.attempt.completed - self.attempt.submitted
        spans = packed(self.lengths, max(1, self.at_once), self.attempt.completed, length)
        return [begin for begin, _ in spans], [end for _, end in spans]


class OpenJobs:
    """Jobs that have begun and not ended, by number and by final stage; of thousands the log may never say the end."""

    def __init__(self) -> None:
        self._jobs: dict[int, LoggedJob] = {}
        self._finals: list[tuple[int, int, LoggedJob]] = []
        """(final stage, how many jobs began before, job) of those whose final stage is known, in order."""
        self._over: set[int] = set()
        """Jobs whose final stage is over."""

    @property
    def idle(self) -> bool:
        """Whether none of them runs."""
        return len(self._over) == len(self._jobs)

    def begins(self, job: LoggedJob) -> None:
        """Add a job; forget those whose final stage is over.

        Spark logs the end of a job only where a thread waits for it; adaptive execution runs each shuffle, and what it
        puts into a cache, as a job for which none does.
        """
        for number in (*self._over, job.job):
            self.ends(number)
        self._jobs[job.job] = job

    def final(self, job: LoggedJob, stage: int) -> None:
        """Note the final stage of a job."""
        if self._has(job):
            self._leave(job)
            insort(self._finals, (stage, job.nth, job))
        job.final = stage

    def of(self, stage: int) -> LoggedJob | None:
        """Return the job of a stage: stages of one job are numbered up to its final one."""
        at = bisect_left(self._finals, (stage,))
        return self._finals[at][-1] if at < len(self._finals) else None

    def over(self, job: LoggedJob) -> None:
        """Note that the final stage of a job is over."""
        if self._has(job):
            self._over.add(job.job)

    def ends(self, number: int) -> LoggedJob | None:
        """Return the job, which ends; None where it was not open."""
        job = self._jobs.pop(number, None)
        if job:
            self._over.discard(number)
            self._leave(job)
        return job

    def _has(self, job: LoggedJob) -> bool:
        return self._jobs.get(job.job) is job

    def _leave(self, job: LoggedJob) -> None:
        if job.final >= 0:
            del self._finals[bisect_left(self._finals, (job.final, job.nth))]


def packed(lengths: Sequence[float], slots: int, end: float, most: float) -> list[tuple[float, float]]:
    """Return spans of tasks of these lengths, one behind the other, the last of which ends at `end`; within `most` ms.

    They run on so many slots, or on as many more as they need to fit into this time.
    """
    if not lengths:
        return []
    slots = min(slots, len(lengths))
    spans, whole = _laid(lengths, slots)
    while whole > most and slots < len(lengths):
        slots = min(len(lengths), max(slots + 1, int(slots * whole / most) if most > 0 else len(lengths)))
        spans, whole = _laid(lengths, slots)
    begin = end - min(most, whole)
    return [(begin + start, min(end, begin + finish)) for start, finish in spans]


def _laid(lengths: Sequence[float], slots: int) -> tuple[list[tuple[float, float]], float]:
    """Return (spans from 0 on of tasks on so many slots, when the last of them ends)."""
    free = [0.0] * slots
    spans = []
    for length in lengths:
        start = free[0]
        heapreplace(free, start + length)
        spans.append((start, start + length))
    return spans, max(free)
