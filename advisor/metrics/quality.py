"""What is wrong with the numbers themselves."""

from __future__ import annotations

import numpy as np

from advisor.metrics.metric import remembered
from advisor.metrics.operators import least_shown
from advisor.window import Window

FEWEST_OF_A_LOG = 10


def missing_batches(window: Window) -> int:
    """Batch ids that lie between the first and the last seen and were not seen: a lost log file, a dropped event."""
    if window.facts.value("async_progress"):
        return 0  # batch ids jump by design after a restart with asynchronous tracking
    if len(window.executed) < FEWEST_OF_A_LOG:
        return 0  # a few pasted events are no log with a gap
    steps, possible = _steps(window)
    return int((steps[possible] - 1).sum())


def jumps(window: Window) -> int:
    """Steps from one batch id to the next that are larger than the milliseconds between: no batch takes less."""
    return int((~_steps(window)[1]).sum())


@remembered
def _steps(window: Window) -> tuple[np.ndarray, np.ndarray]:
    """By how much the ids rise from batch to batch, and which of these steps are possible in the time between."""
    rise = np.diff(window.executed["batch_id"])
    if ((rise >= 0) & (rise <= 1)).all():
        return rise[:0], rise[:0] > 0
    present = ~np.isnan(window.executed["batch_id"])
    ids, times = window.executed["batch_id"][present], window.executed["timestamp"][present]
    in_line = ids <= np.minimum.accumulate(ids[::-1])[::-1]  # one that later ones fall below is damaged
    line, elsewhere = ids[in_line], np.unique(ids[~in_line])  # of a batch with a wrong time the id is seen, too
    seen = np.searchsorted(elsewhere, line[1:], "left") - np.searchsorted(elsewhere, line[:-1], "right")
    steps = (np.diff(line) - seen)[:-1]  # nothing stands behind the last that would bear it out
    steps, passed = steps[steps > 1], np.diff(times[in_line])[:-1][steps > 1]
    return steps, ~(steps > passed)


def inflated_partitions(window: Window) -> int:
    """Batches whose numShufflePartitions counts retried tasks too (Spark before SPARK-45084)."""
    shown = window.operators["shuffle_partitions"]
    return len(set(window.operators["batch"][shown > least_shown(window, shown)]))


def clock_steps(window: Window) -> int:
    """Batches that end after the next one began, or have a higher number: a clock that stands or goes back."""
    return int(window.executed["lasts_on"].sum())


def impossible_times(window: Window) -> int:
    """Batches whose phases together outlast their trigger, by more than 50 ms and 5 %: mixed units."""
    other = window.executed["lasts_on"] | window.executed["belied"]
    return int((window.executed["impossible"] & ~other).sum())


def belied_times(window: Window) -> int:
    """Batches whose rows and rate contradict the trigger's length, by a second and by more than twice."""
    return int(window.executed["belied"].sum())


def impossible_inside(window: Window) -> int:
    """Batches with a job, a stage or a task that is longer than their trigger, by more than 50 ms and 5 %."""
    found = window.executed["too_long"] if "too_long" in window.executed else np.zeros(1)
    return int((found > 0).sum())


def implausible_batches(window: Window) -> int:
    """Batches with an instant, a phase or a number of rows that cannot be right."""
    return int(window.executed["implausible"].sum())


_PROBLEMS = (
    (missing_batches, "the log lacks {n} between the first and the last"),
    (jumps, "batch ids rise in {n} by more than can have run: these ids are damaged"),
    (inflated_partitions, "numShufflePartitions counts retried tasks in {n} (before SPARK-45084)"),
    (clock_steps, "{n} lasted into the next one: a clock was set back, or times are damaged; these were left out"),
    (impossible_times, "phases outlast the whole trigger in {n}: units are mixed, these were left out"),
    (belied_times, "rows and processedRowsPerSecond contradict triggerExecution in {n}: left out"),
    (impossible_inside, "jobs, stages or tasks outlast the trigger in {n}: addBatch is not opened there"),
    (implausible_batches, "a time, a duration or a number of rows cannot be right in {n}; these numbers were left out"),
)


def data_problem(window: Window) -> str | None:
    """What is wrong with the numbers of a run that has executed batches, in words; None where nothing is."""
    counts = [(count(window), words) for count, words in _PROBLEMS]
    together = "; ".join(words.format(n=_batches(n)) for n, words in counts if n > 0)
    return together[:1].upper() + together[1:] or None


def _batches(count: int) -> str:
    return f"{count:,} batch{'' if count == 1 else 'es'}"
