"""Jobs and stage attempts of micro-batches, and the numbers of an attempt: a row of floats, NaN where unknown."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

SUMS = (
    "run_ms", "cpu_ms", "deserialize_ms", "result_ms", "gc_ms", "shuffle_read_bytes", "shuffle_read_rows",
    "fetch_wait_ms", "shuffle_write_bytes", "shuffle_write_rows", "shuffle_write_ms", "memory_spilled_bytes",
    "disk_spilled_bytes", "input_rows", "input_bytes", "output_rows", "output_bytes",
)  # fmt: skip
"""Numbers of a task that are summed, in the order in which `Work.task` takes them."""
COUNTED = ("failed", "killed", "speculative")
LENGTHS = ("task_ms", "task_max_ms", "task_median_ms", "task_p95_ms")
LOCAL = ("process_local", "node_local", "rack_local", "no_pref", "any_local")
NUMBERS = (
    *(*COUNTED, *LENGTHS, *LOCAL, *SUMS, "scheduler_delay_ms", "rows_max", "rows_median", "first_task_ms"),
    "longest_task",
    *("slots_wait_ms", "slots_overtaken_ms", "state_load_ms", "state_update_ms", "state_commit_ms", "python_ms"),
    *("given_rows", "made_rows"),
)
"""The columns of a row, as the table of stages names them."""
_AT: Mapping[str, int] = {name: at for at, name in enumerate(NUMBERS)}
_NOTHING = array("d", [np.nan] * len(NUMBERS))


class Numbers:
    """Numbers by name."""

    __slots__ = ("row",)

    def __init__(self, known: Mapping[str, float] | None = None) -> None:
        """Those that are known."""
        self.row = _NOTHING[:]
        if known:
            self.update(known)

    def __contains__(self, name: str) -> bool:
        value = self.row[_AT[name]]
        return value == value  # noqa: PLR0124 - NaN

    def __setitem__(self, name: str, value: float) -> None:
        self.row[_AT[name]] = value

    def get(self, name: str, default: Any = None) -> Any:
        """The number of this name, or the default."""
        return self.row[_AT[name]] if name in self else default

    def update(self, known: Mapping[str, float]) -> None:
        """These are known, too."""
        for name, value in known.items():
            self[name] = value


def fill(numbers: Sequence[Numbers], rows: np.ndarray) -> None:
    """Give each what its row knows and it does not."""
    own = matrix(numbers)
    for each, row in zip(numbers, np.where(np.isnan(own), rows, own), strict=True):
        each.row = array("d", row.tobytes())


def matrix(rows: Iterable[Numbers]) -> np.ndarray:
    """A row of NUMBERS for each."""
    return np.frombuffer(b"".join(each.row for each in rows)).reshape(-1, len(NUMBERS))


def column(rows: np.ndarray, name: str) -> np.ndarray:
    """The numbers of one name in a matrix."""
    return rows[:, _AT[name]]


class Batch(NamedTuple):
    """Which micro-batch a job belongs to; what is not named is None."""

    id: str | None
    run_id: str | None
    batch_id: int


class Note(NamedTuple):
    """A line's number about the batch around it: a column of the table of batch parts, and its value.

    `time`: of the line, ms since 1970, where the log's clock knows milliseconds. `trace`: of `traces`, name and path.
    """

    batch: Batch | None
    name: str
    value: float
    time: float = 0.0
    trace: str = ""


@dataclass(slots=True)
class Job:
    """One Spark job; times are ms since 1970, of the log's own line of time where its clock knows only seconds."""

    job: int
    batch: Batch | None
    start: float
    end: float | None = None
    name: str = ""
    description: str = ""
    streams: bool = False
    """Whether one of its stages reads a stream or holds its state."""
    nth: int = 0
    """How many jobs of the log began before it."""
    notes: list[Note] = field(default_factory=list)
    """What events said of it alone."""


@dataclass(slots=True)
class Attempt:
    """One attempt of a stage. `kind` and `what` as in the table; `numbers` are those of its columns that are known."""

    job: Job | None
    stage: int
    attempt: int
    submitted: float
    completed: float
    kind: str | None = "other"
    what: str = ""
    last: bool | None = None
    tasks: int | None = None
    slots: int | None = None
    waited_for: Sequence[str] = ()
    operators: str | None = None
    paths: frozenset[str] = frozenset()
    """Folders and files that its scans read, as far as known, and ROWS of `plans`."""
    multiplied_by: str | None = None
    paused: bool = False
    """Whether it may have waited for others' tasks in a time of which its log does not say how long it was."""
    unseen: int = 0
    """Attempts at its tasks of which is not known when they ran."""
    numbers: Numbers = field(default_factory=Numbers)
    busy: array[float] = field(default_factory=lambda: array("d"))
    """Stretches of time in which one of its tasks ran: starts and ends in turn."""

    @property
    def seen(self) -> bool:
        """Whether it is known when its tasks ran."""
        return bool(self.busy) and not self.unseen


def key_of(batch: Batch) -> tuple[Any, ...]:
    """What a batch is found by: its run and number, or query and number where the run is not named."""
    return (batch.run_id, batch.batch_id) if batch.run_id else (None, batch.id, batch.batch_id)
