"""What is wrong with the numbers themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from advisor.metrics.metric import remembered
from advisor.metrics.operators import least_shown
from advisor.window import Window

FEWEST_OF_A_LOG = 10


def missing_batches(window: Window) -> int:
    """Batch ids that lie between the first and the last seen and were not seen: a lost log file, a dropped event."""
    if window.facts.value("async_progress") or len(window.executed) < FEWEST_OF_A_LOG:
        return 0  # ids jump by design after a restart with asynchronous tracking; a few pasted events are no log
    steps, possible = _steps(window)
    return int((steps[possible] - 1).sum())


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


def _problems(window: Window) -> Iterator[tuple[int, str]]:
    """In how many batches something is wrong, and what."""
    ran = window.executed
    too_long = ran["too_long"] if "too_long" in ran else np.zeros(1)
    ids = ran["batch_id"][~np.isnan(ran["batch_id"] + ran["timestamp"])]
    damaged = (~_steps(window)[1]).sum() + len(ids) - len(np.unique(ids))  # no batch takes less than a millisecond
    lasts_on, implausible = ran["lasts_on"].sum(), ran["implausible"].sum()
    mixed = (ran["impossible"] & ~ran["lasts_on"] & ~ran["belied"]).sum()
    yield missing_batches(window), "the log lacks {n} between the first and the last"
    yield damaged, "batch ids rise in {n} by more than can have run, or not at all: these ids are damaged"
    yield inflated_partitions(window), "numShufflePartitions counts retried tasks in {n} (before SPARK-45084)"
    yield lasts_on, "{n} lasted into the next one: a clock was set back, or times are damaged; these were left out"
    yield mixed, "phases outlast the whole trigger in {n}: units are mixed, these were left out"
    yield ran["belied"].sum(), "rows and processedRowsPerSecond contradict triggerExecution in {n}: left out"
    yield (too_long > 0).sum(), "jobs, stages or tasks outlast the trigger in {n}: addBatch is not opened there"
    yield implausible, "a time, a duration or a number of rows cannot be right in {n}; these numbers were left out"


def data_problem(window: Window) -> str | None:
    """What is wrong with the numbers of a run that has executed batches, in words; None where nothing is."""
    found = [(int(count), words) for count, words in _problems(window) if count > 0]
    together = "; ".join(words.format(n=f"{count:,} batch{'' if count == 1 else 'es'}") for count, words in found)
    return together[:1].upper() + together[1:] or None
