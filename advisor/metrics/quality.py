"""What is wrong with the numbers themselves."""

from __future__ import annotations

import pandas as pd

from advisor.metrics.registry import METRICS, Estimate, Windowed, window_metric
from advisor.window import Window


def _count(number: float) -> Estimate:
    return Estimate(float(number), float(number), float(number))


@window_metric("count", "count")
def missing_batches(window: Window) -> Windowed:
    """Batch ids that lie between the first and the last seen and were not seen: a lost log file, a dropped event."""
    ids = window.executed["batch_id"].dropna()
    steps = ids.diff().dropna()
    async_jumps = window.facts.get("async_progress")
    if async_jumps is not None and async_jumps.value:
        return _count(0)  # batch ids jump by design after a restart with asynchronous tracking
    return _count(float((steps[steps > 1] - 1).sum()))


@window_metric("count", "count")
def inflated_partitions(window: Window) -> Windowed:
    """Batches whose numShufflePartitions counts retried tasks too (Spark before SPARK-45084)."""
    if window.operators.empty:
        return _count(0)
    shown = window.operators["shuffle_partitions"]
    least = shown.groupby(window.operators["name"], dropna=False).transform("min")
    return _count(window.operators.loc[shown > least, "batch"].nunique())


@window_metric("count", "count")
def clock_steps(window: Window) -> Windowed:
    """Batches that start before the batch before them ended by more than a second: the driver's clock was set back."""
    frame = window.executed
    ended = frame["timestamp"] + pd.to_timedelta(frame["trigger_execution_ms"], unit="ms")
    early = (ended.shift() - frame["timestamp"]).dt.total_seconds() > 1
    return _count(int(early.sum()))


@window_metric("count", "count")
def impossible_times(window: Window) -> Windowed:
    """Batches with a phase that is longer than the whole trigger, by more than 50 ms and 5 %: mixed units."""
    frame = window.executed
    whole = frame["trigger_execution_ms"]
    longest = frame[["add_batch_ms", "wal_commit_ms", "commit_offsets_ms", "latest_offset_ms"]].max(axis=1)
    return _count(int((longest > whole * 1.05 + 50).sum()))


_PROBLEMS = (
    ("missing_batches", "{n} batches between the first and the last are missing from the log"),
    ("inflated_partitions", "numShufflePartitions counts retried tasks in {n} batches (before SPARK-45084)"),
    ("clock_steps", "the driver's clock was set back {n} times"),
    ("impossible_times", "{n} batches have a phase longer than the whole trigger: units are mixed"),
)


def data_problem(window: Window) -> str | None:
    """What is wrong with the numbers of a run that has executed batches, in words; None where nothing is."""
    counts = {name: METRICS[name].compute(window) for name, _ in _PROBLEMS}
    said = [
        words.format(n=f"{count.low:.0f}")
        for name, words in _PROBLEMS
        if isinstance(count := counts[name], Estimate) and count.low > 0
    ]
    return "; ".join(said) or None
