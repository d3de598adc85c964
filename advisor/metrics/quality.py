"""What is wrong with the numbers themselves."""

from __future__ import annotations

import numpy as np

from advisor.metrics.numbers import known
from advisor.metrics.registry import Estimate, Windowed, window_metric
from advisor.metrics.state import least_shown
from advisor.window import Window

FEWEST_OF_A_LOG = 10
_COMPARED = ("add_batch_ms", "wal_commit_ms", "commit_offsets_ms", "latest_offset_ms")


def _count(number: float) -> Estimate:
    return Estimate.exactly(float(number))


@window_metric("count", "count")
def missing_batches(window: Window) -> Windowed:
    """Batch ids that lie between the first and the last seen and were not seen: a lost log file, a dropped event."""
    if window.facts.value("async_progress"):
        return _count(0)  # batch ids jump by design after a restart with asynchronous tracking
    if len(window.executed) < FEWEST_OF_A_LOG:
        return _count(0)  # a few pasted events are no log with a gap
    steps = np.diff(known(window.executed["batch_id"]))
    return _count((steps[steps > 1] - 1).sum())


@window_metric("count", "count")
def inflated_partitions(window: Window) -> Windowed:
    """Batches whose numShufflePartitions counts retried tasks too (Spark before SPARK-45084)."""
    shown = window.operators["shuffle_partitions"]
    return _count(len(np.unique(window.operators["batch"][shown > least_shown(window, shown)])))


@window_metric("count", "count")
def clock_steps(window: Window) -> Windowed:
    """Batches that start before the batch before them ended by more than a second: the driver's clock was set back."""
    starts = window.executed["timestamp"]
    ended = starts + window.executed["trigger_execution_ms"]
    return _count((ended[:-1] - starts[1:] > 1000).sum())


@window_metric("count", "count")
def impossible_times(window: Window) -> Windowed:
    """Batches with a phase that is longer than the whole trigger, by more than 50 ms and 5 %: mixed units."""
    allowed = window.executed["trigger_execution_ms"] * 1.05 + 50
    longer = [window.executed[phase] > allowed for phase in _COMPARED]
    return _count(np.logical_or.reduce(longer).sum())


def odd_batches(window: Window) -> Estimate:
    """Batches with an instant, a phase or a number of rows that cannot be right."""
    return _count(window.executed["odd"].sum())


_PROBLEMS = (
    (missing_batches, "{n} batches between the first and the last are missing from the log"),
    (inflated_partitions, "numShufflePartitions counts retried tasks in {n} batches (before SPARK-45084)"),
    (clock_steps, "the driver's clock was set back {n} times"),
    (impossible_times, "{n} batches have a phase longer than the whole trigger: units are mixed"),
    (odd_batches, "{n} batches have a time, a duration or a number of rows that cannot be right; these were left out"),
)


def data_problem(window: Window) -> str | None:
    """What is wrong with the numbers of a run that has executed batches, in words; None where nothing is."""
    counts = [(count(window), words) for count, words in _PROBLEMS]
    said = [words.format(n=f"{n.low:.0f}") for n, words in counts if isinstance(n, Estimate) and n.low > 0]
    return "; ".join(said) or None
