"""What a live source shows of a run at one moment, beside its batches."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Doing(NamedTuple):
    """A look at a run.

    `at`: the clock. `thread`: the frames of the query's thread, the innermost first, or the query's status.
    `job`: its job that runs, in words. `newest`, `oldest`: the batches that anything else than progress names. `idle`:
    when the source last said that there is nothing to read. `met`: when the run was first seen.
    """

    at: datetime
    thread: str = ""
    job: str = ""
    newest: int | None = None
    idle: datetime | None = None
    oldest: int | None = None
    met: datetime | None = None


def job_in_words(job: int, done: int, tasks: int) -> str:
    """Return `job 12 runs, 3 of 200 tasks done`."""
    return f"job {job} runs, {done} of {tasks} tasks done"
