"""What the order of lines tells of a stage's wait for slots, where the log's clock knows only seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from advisor.sources.stages.kinds import Kind

if TYPE_CHECKING:
    from advisor.sources.stages.stagetasks import Submitted

_OFTEN = 0.5
"""Spark may log a task's start before the end that made room for it: then one task too many seems to run."""


def note_ends(fresh: np.ndarray, ran: np.ndarray, rows: np.ndarray, submitted: Sequence[Submitted]) -> None:
    """Note in each attempt the tasks of other jobs that ended while it had tasks to start, and how many ran then.

    `fresh` are lines of tasks, `ran` how many tasks ran before each; `rows` have earlier ones of these attempts, too.
    The end that made room for a start may stand right behind it.
    """
    jobs = np.array([one.begun.number if one.begun else -1 for one in submitted], np.int64)
    told = (fresh["kind"] == Kind.FINISHES) & (jobs[fresh["of"]] >= 0)
    ends, ran, jobs = fresh[told], ran[told], jobs[fresh["of"]][told]
    starts = rows[rows["kind"] == Kind.STARTS]
    behind = _behind(ends["line"], starts)
    for at, own in _waiting(ends, starts, submitted):
        others = (ends["of"][own] != at) & (behind[own] != at)
        _note(submitted[at].full, jobs[own][others], ran[own][others])
    late = (behind >= 0) & (behind != ends["of"])
    for at, job, running in zip(behind[late].tolist(), jobs[late], ran[late] - 1, strict=True):
        _note(submitted[at].full, [job], [running])


def _behind(lines: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Of which attempt a task started in the line right before each of these; -1 where none did."""
    at = np.searchsorted(starts["line"], lines) - 1
    return np.where((at >= 0) & (starts["line"][at] == lines - 1), starts["of"][at], -1) if len(starts) else at


def _waiting(ends: np.ndarray, starts: np.ndarray, submitted: Sequence[Submitted]) -> Iterator[tuple[int, slice]]:
    """(which attempt, the stretch of these ends in which it had tasks to start), where other attempts' are in it."""
    since, until, tasks = np.array([(one.line, one.end, one.tasks) for one in submitted], np.int64).T
    starts = starts[np.argsort(starts["of"], kind="stable")]
    first, last = (np.searchsorted(starts["of"], np.arange(len(tasks)), side) for side in ("left", "right"))
    all = (tasks > 0) & (first + tasks <= last)
    until[all] = np.minimum(until[all], starts["line"][first[all] + tasks[all] - 1])
    until[tasks <= 0] = 0
    first, behind = np.searchsorted(ends["line"], since), np.searchsorted(ends["line"], until)
    changes = np.cumsum(np.diff(ends["of"], prepend=-1) != 0)
    for at in np.flatnonzero(first < behind).tolist():
        own = slice(first[at], behind[at])
        if ends["of"][own.start] != at or changes[own.start] != changes[own.stop - 1]:
            yield at, own


def _note(full: dict[int, int], jobs: Iterable[int], running: Iterable[int]) -> None:
    for job, ran in zip(jobs, running, strict=True):
        full[int(job)] = max(full.get(int(job), 0), int(ran))


def most_at_once(running: Counter[int]) -> int:
    """Task slots at least, from how many tasks seemed to run when one started: so many did, how often."""
    most = max(running, default=0)
    at_least = [sum(times for count, times in running.items() if count >= least) for least in range(1, most + 1)]
    for found in range(1, most):
        if at_least[found] < _OFTEN * at_least[found - 1]:
            return found
    return most
