"""What a batch waits for that lies in files: the checkpoint, state read from it, a table's log, the sink's commits."""

from __future__ import annotations

import math

import numpy as np

from advisor.metrics.addbatch import of_jobs
from advisor.metrics.measure import measure
from advisor.metrics.numbers import fact_number, known, mean
from advisor.metrics.operators import CACHE_COUNTERS, per_batch
from advisor.metrics.phases import OFFSET_LOG, commit_offsets_ms, offset_log_ms, share_of
from advisor.metrics.registry import (
    Batchwise,
    Bounds,
    Estimate,
    Missing,
    Windowed,
    batch_metric,
    window_metric,
)
from advisor.metrics.slots import slots
from advisor.metrics.state_operators import state_commit_wall_ms
from advisor.metrics.tasks import per_batch as stages_per_batch
from advisor.metrics.tasks import spread
from advisor.stages import LOG_CHECKPOINT
from advisor.window import Window


@batch_metric("ms", phases=(*OFFSET_LOG, "add_batch_ms"), label="the time for writing the checkpoint")
def checkpoint_write_ms(window: Window) -> Batchwise:
    """Both logs and the state commits as wall time: all that a batch writes to its checkpoint."""
    logs, state = offset_log_ms(window), state_commit_wall_ms(window)
    if isinstance(logs, Missing) or isinstance(state, Missing):
        return logs
    if isinstance(logs, np.ndarray) and isinstance(state, np.ndarray):
        both: np.ndarray = logs + state
        return both
    (low, high), (least, most) = _ends(logs), _ends(state)
    return Bounds(low + least, high + most, state.fact if isinstance(state, Bounds) else None)


def _ends(values: np.ndarray | Bounds) -> tuple[np.ndarray, np.ndarray]:
    return (values.low, values.high) if isinstance(values, Bounds) else (values, values)


@window_metric("ms", phases=OFFSET_LOG, label="the time in both logs")
def async_progress_saving_ms(window: Window) -> Windowed:
    """Both logs of a typical batch; at least 2 x commitOffsets: walCommit also holds source.commit() and a purge.

    No more where the purge is not asynchronous: it stays in walCommit.
    """
    logs, commit = measure(window, offset_log_ms), measure(window, commit_offsets_ms)
    if isinstance(logs, Missing) or isinstance(commit, Missing):
        return logs if isinstance(logs, Missing) else commit
    writes = min(2 * commit.safe, logs.safe)
    return (
        Estimate.exactly(writes)
        if window.facts.value("async_log_purge") is False
        else Estimate(writes, logs.safe, logs.safe)
    )


@batch_metric("ms", phases=("add_batch_ms",), label="rebuilding Delta's snapshot")
def delta_snapshot_ms(window: Window) -> Batchwise:
    """What the waves after the first take of the stages that rebuild a Delta table's snapshot, as the jobs show it.

    Where they do not: addBatch x (1 - 1 / waves), the most that it can be.
    """
    shown = _snapshot_waves(window)
    if shown is not None:
        return shown
    tasks, free = fact_number(window, "delta_snapshot_tasks"), slots(window)
    if "delta_snapshot_tasks" not in window.facts:
        return Missing("no stage that rebuilds a Delta snapshot was seen", "delta_snapshot_tasks")
    if tasks is None:
        return Missing("no stage rebuilds a Delta snapshot")
    if free is None:
        return Missing("the number of task slots is not known", "task_slots")
    return window.batches["add_batch_ms"] * (1 - 1 / max(1, math.ceil(tasks / free)))


def _snapshot_waves(window: Window) -> np.ndarray | None:
    """The time of stages on a table's log beyond their first wave; None where none was seen, or slots are not known.

    Not those that write the log's checkpoint, in every tenth batch.
    """
    snapshot = _of_snapshot(window)
    if not snapshot.any():
        return None
    of = spread(window)
    if np.isnan(of.rounds[snapshot]).any():
        return None
    waves = stages_per_batch(window, of.wall * (1 - 1 / np.maximum(of.rounds, 1)), snapshot)
    return waves if isinstance(waves, np.ndarray) else None


def _of_snapshot(window: Window) -> np.ndarray:
    stages = window.stages
    if not len(stages):
        return np.zeros(0, dtype=bool)
    found: np.ndarray = (stages["kind"].astype(str) == "table_log") & (stages["what"].astype(str) != LOG_CHECKPOINT)
    return found


@batch_metric("count", "count", label="tasks that rebuild Delta's snapshot")
def snapshot_tasks(window: Window) -> Batchwise:
    """Tasks of the largest stage that rebuilds a Delta table's snapshot, from its jobs, else from a log's line."""
    snapshot = _of_snapshot(window)
    if snapshot.any():
        most = np.zeros(len(window))
        np.fmax.at(most, window.stages["batch"], np.where(snapshot, window.stages["tasks"], 0.0))
        return most
    if "delta_snapshot_tasks" not in window.facts:
        return Missing("no stage that rebuilds a Delta snapshot was seen", "delta_snapshot_tasks")
    return np.full(len(window), fact_number(window, "delta_snapshot_tasks") or 0.0)


@window_metric("share", label="the share of state loads that read files")
def state_reload_share(window: Window) -> Windowed:
    """Loads of state that the default store did not find in memory, of all: they read the checkpoint's files again."""
    missed, found = (_risen(window, name) for name in CACHE_COUNTERS[::-1])
    if np.isnan(missed + found):
        return Missing("the state store does not report how often it reads its state again")
    share = missed / (missed + found) if missed + found else 0.0
    return Estimate.exactly(share)


@window_metric("count", "count", label="state loads from files per batch")
def state_reloads(window: Window) -> Windowed:
    """How often a batch reads state again from the checkpoint's files: each partition loads it up to twice."""
    missed, ids = _risen(window, CACHE_COUNTERS[1]), window.batches["batch_id"]
    if np.isnan(missed) or len(ids) < 2 or not ids[-1] > ids[0]:
        return Missing("the state store does not report how often it reads its state again")
    each = missed / (ids[-1] - ids[0])
    return Estimate.exactly(each)


def _risen(window: Window, name: str) -> float:
    """By how much a count of the state stores rises in the window; where it falls, stores began anew."""
    if name not in window.operators or np.isnan(window.operators[name]).all():  # another run's may have the column
        return math.nan
    counts = per_batch(window, window.operators[name])
    return float(np.diff(known(counts)).clip(min=0).sum())


checkpoint_write_share = share_of(checkpoint_write_ms, label="the share of writing the checkpoint")
delta_snapshot_share = share_of(delta_snapshot_ms)


def _known(window: Window, column: str) -> np.ndarray | Missing:
    values = of_jobs(window, column)
    return values if isinstance(values, Missing) else known(values)


@window_metric("share", inside=True, label="the share of batches whose commit was tried again")
def commit_retry_share(window: Window) -> Windowed:
    """Batches whose commit was tried more than once, of those whose commits were seen."""
    retries = _known(window, "commit_retries")
    return retries if isinstance(retries, Missing) else Estimate.exactly(float((retries > 0).mean()))


@window_metric("count", "count", inside=True, label="the most retries of one commit")
def most_commit_retries(window: Window) -> Windowed:
    """The most times that a commit of one batch was tried again."""
    retries = _known(window, "commit_retries")
    return retries if isinstance(retries, Missing) else Estimate.exactly(float(retries.max()))


@window_metric("ms", phases=("add_batch_ms",), inside=True, label="writing the sink's list of files again")
def log_compaction_ms(window: Window) -> Windowed:
    """Writing the list of all files of a file sink again, in the batches that do so; 0 where none does."""
    found = _known(window, "log_compaction_ms")
    if isinstance(found, Missing):
        return found
    return Estimate.exactly(mean(found[found > 0]) if (found > 0).any() else 0.0)


@window_metric(
    "share", phases=("add_batch_ms",), inside=True, label="the share of writing the sink's list of files again"
)
def log_compaction_share(window: Window) -> Windowed:
    """Writing the list of all files of a file sink again over the time of all batches."""
    found = _known(window, "log_compaction_ms")
    if isinstance(found, Missing):
        return found
    return Estimate.exactly(mean(found) / mean(window.batches["trigger_execution_ms"]))
