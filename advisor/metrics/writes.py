"""What a batch waits for that lies in files: the checkpoint, state read from it, a table's log, the sink's commits."""

from __future__ import annotations

import math

import numpy as np

from advisor.facts.confs import ASYNC_INTERVAL_MS
from advisor.metrics.addbatch import OWN_CODE, of_jobs
from advisor.metrics.measure import measure
from advisor.metrics.metric import (
    Batchwise,
    Bounds,
    Estimate,
    batch_metric,
    bounded_metric,
    stage_metric,
    window_metric,
)
from advisor.metrics.missing import NO_SLOTS, Missing, needed
from advisor.metrics.operators import CACHE_COUNTERS, per_batch
from advisor.metrics.phases import OFFSET_LOG, commit_offsets_ms, offset_log_ms, share_of
from advisor.metrics.slow_batches import rhythm
from advisor.metrics.state import state_commit_wall_ms
from advisor.metrics.tasks import longest_stage_ms, most, of_batch, of_kind, slots, spread
from advisor.metrics.tasks import per_batch as stages_per_batch
from advisor.stages import LOG_CHECKPOINT
from advisor.statistics import above_zero, known, mean, median, quantile
from advisor.window import Window

ADVISED_LOG_INTERVAL_MS = 5000  # the documented example for a queue that is full
_SMALL_FILE_MS = 50.0  # of a task: a small file takes no longer, or its rows may be what takes long
_FEW_ROWS = 10_000  # of a file, or writing its rows takes long, too
NO_SNAPSHOT = Missing("no stage that rebuilds a Delta snapshot was seen", "delta_snapshot_tasks")
NO_LOADS = Missing("the state store does not report how often it reads its state again")


@bounded_metric("ms", phases=(*OFFSET_LOG, "add_batch_ms"), label="the time for writing the checkpoint")
def checkpoint_write_ms(window: Window) -> Batchwise | Missing:
    """Both logs and the state commits as wall time: all that a batch writes to its checkpoint."""
    logs, state = offset_log_ms(window), state_commit_wall_ms(window)
    if isinstance(logs, Missing) or isinstance(state, Missing):
        return logs
    if isinstance(logs, np.ndarray) and isinstance(state, np.ndarray):
        return logs + state
    (low, high), (least, most) = _ends(logs), _ends(state)
    return Bounds(low + least, high + most, state.fact if isinstance(state, Bounds) else None)


def _ends(values: Batchwise) -> tuple[np.ndarray, np.ndarray]:
    return (values.low, values.high) if isinstance(values, Bounds) else (values, values)


@window_metric("ms", phases=OFFSET_LOG, label="the time in both logs")
def async_progress_saving_ms(window: Window) -> float | Estimate:
    """Both logs of a typical batch; at least 2 x commitOffsets: walCommit also holds source.commit() and a purge.

    No more where the purge is not asynchronous: it stays in walCommit.
    """
    logs, commit = (needed(measure(window, metric)).safe for metric in (offset_log_ms, commit_offsets_ms))
    writes = min(2 * commit, logs)
    return writes if window.facts.value("async_log_purge") is False else Estimate(writes, logs, logs)


@window_metric("ms", label="the shortest interval of asynchronous log writes")
def shortest_async_interval_ms(window: Window) -> float:
    """An interval at which storage keeps up with asynchronous log writes: 1000 ms, or 3 x p50 of the logs' time.

    One thread writes both logs. Where that takes longer than the interval, batches wait for it as before: measured on
    S3A with 20 ms more per request, logs of 1290 ms and an interval of 1000 ms made no batch shorter.
    """
    return _log_interval(window, ASYNC_INTERVAL_MS, 0.50)


@window_metric("ms", label="the advised interval of asynchronous log writes")
def advised_async_interval_ms(window: Window) -> float:
    """Where writes are asynchronous already and batches wait for them: 5000 ms, or 3 x p95 of that wait."""
    return _log_interval(window, ADVISED_LOG_INTERVAL_MS, 0.95)


def _log_interval(window: Window, least: int, at: float) -> float:
    logs = offset_log_ms(window)
    slow = quantile(logs, at) if isinstance(logs, np.ndarray) and len(logs) else 0.0
    return max(float(least), math.ceil(3 * slow / 1000) * 1000.0)


@batch_metric("ms", phases=("add_batch_ms",), label="rebuilding Delta's snapshot", share=True)
def delta_snapshot_ms(window: Window) -> np.ndarray | Missing:
    """What the waves after the first take of the stages that rebuild a Delta table's snapshot, as the jobs show it.

    Where they do not: addBatch x (1 - 1 / waves), the most that it can be.
    """
    snapshot = _of_snapshot(window)
    if snapshot.any() and not np.isnan((of := spread(window)).rounds[snapshot]).any():
        waves = stages_per_batch(window, of.wall * (1 - 1 / np.maximum(of.rounds, 1)), snapshot)
        if isinstance(waves, np.ndarray):
            return waves
    if window.facts.value("sink") in OWN_CODE:  # its addBatch holds much else
        return NO_SLOTS if snapshot.any() else 0.0 * needed(of_jobs(window, "jobs"))
    tasks, free = window.facts.number("delta_snapshot_tasks"), slots(window)
    if "delta_snapshot_tasks" not in window.facts:
        return NO_SNAPSHOT
    if tasks is None:
        return Missing("no stage rebuilds a Delta snapshot")
    return NO_SLOTS if free is None else window.batches["add_batch_ms"] * (1 - 1 / max(1, math.ceil(tasks / free)))


def _of_snapshot(window: Window) -> np.ndarray:
    """Stages on a Delta table's log but those that write its checkpoint, in every tenth batch."""
    if not len(window.stages):
        return np.zeros(0, dtype=bool)
    return of_kind(window, "table_log") & (window.stages["what"].astype(str) != LOG_CHECKPOINT)


@batch_metric("count", "count", label="tasks that rebuild Delta's snapshot")
def snapshot_tasks(window: Window) -> np.ndarray | Missing:
    """Tasks of the largest stage that rebuilds a Delta table's snapshot, from its jobs, else from a log's line."""
    snapshot = _of_snapshot(window)
    if snapshot.any():
        return most(window, np.where(snapshot, window.stages["tasks"], 0.0), 0.0)
    if window.facts.value("sink") in OWN_CODE:
        return 0.0 * needed(of_jobs(window, "jobs"))
    if "delta_snapshot_tasks" not in window.facts:
        return NO_SNAPSHOT
    return np.full(len(window), window.facts.number("delta_snapshot_tasks") or 0.0)


@stage_metric("count", "count", label="files for each task")
def files_per_task(window: Window) -> np.ndarray:
    """Files that a batch writes over all its tasks: at least so many a task writes, where one writes several."""
    return needed(of_jobs(window, "files_written")) / of_batch(window, "tasks")


@stage_metric("ms", label="writing small files", share=True)
def small_files_ms(window: Window) -> np.ndarray:
    """What the longest stage takes for its files, where each gets few of the batch's rows; 0 where it gets many.

    All of it where the files take its tasks less than 50 ms each. Else what its tasks take from the first file on, or
    behind the sort of their rows: before, they compute.
    """
    longest, files = needed(longest_stage_ms(window)), above_zero(needed(of_jobs(window, "files_written")))
    shown = of_jobs(window, "writing_ms")
    writing = np.minimum(longest, np.nan if isinstance(shown, Missing) else shown)
    few, quick = window.batches["input_rows"] < _FEW_ROWS * files, of_batch(window, "task_ms") < _SMALL_FILE_MS * files
    return np.where(quick, longest, np.where(few, writing, 0.0))


@stage_metric("ms", "task", label="processor time for each written megabyte")
def cpu_per_written_mb_ms(window: Window) -> np.ndarray:
    """Processor time of all tasks of a batch over the megabytes (10^6 bytes) that it writes."""
    return of_batch(window, "cpu_ms") / above_zero(needed(of_jobs(window, "bytes_written")) / 1e6)


@window_metric("share", label="the share of state loads that read files")
def state_reload_share(window: Window) -> float | Missing:
    """Loads of state that the default store did not find in memory, of all: they read the checkpoint's files again."""
    found, missed = _loads(window)
    if np.isnan(missed):
        return NO_LOADS
    return missed / (missed + found) if missed + found else 0.0


@window_metric("count", "count", label="state loads from files per batch")
def state_reloads(window: Window) -> float | Missing:
    """How often a batch reads state again from the checkpoint's files: each partition loads it up to twice."""
    (_, missed), ids = _loads(window), window.batches["batch_id"]
    if np.isnan(missed) or len(ids) < 2 or not ids[-1] > ids[0]:
        return NO_LOADS
    return missed / (ids[-1] - ids[0])


def _loads(window: Window) -> tuple[float, float]:
    """Loads of state in the window that its stores found in memory, and those that they did not; NaN if not told.

    A store counts from its start on, and each load is one or the other: where neither rises, all stores are new.
    """
    told = [name for name in CACHE_COUNTERS if name in window.operators and len(window.operators)]
    each = [window.operators[name] for name in told]
    counts = np.array([per_batch(window, counts) for counts in each])
    counts = counts[:, ~np.isnan(counts).any(axis=0)] if len(each) == len(CACHE_COUNTERS) else np.empty((2, 0))
    if not counts.shape[1]:  # another run's operators may have the columns
        return math.nan, math.nan
    rises = np.diff(counts)
    found, missed = np.where(rises.sum(axis=0) <= 0, counts[:, 1:], rises.clip(min=0)).sum(axis=1).tolist()
    return found, missed


checkpoint_write_share = share_of(checkpoint_write_ms, label="the share of writing the checkpoint")


def _known(window: Window, column: str) -> np.ndarray:
    return known(needed(of_jobs(window, column)))


@window_metric("share", inside=True, label="the share of batches whose commit was tried again")
def commit_retry_share(window: Window) -> float:
    """Batches whose commit was tried more than once, of those whose commits were seen."""
    return float((_known(window, "commit_retries") > 0).mean())


@window_metric("count", "count", inside=True, label="the most retries of one commit")
def most_commit_retries(window: Window) -> float:
    """The most times that a commit of one batch was tried again."""
    return float(_known(window, "commit_retries").max())


@window_metric("ms", phases=("add_batch_ms",), inside=True, label="writing the sink's list of files again")
def log_compaction_ms(window: Window) -> float:
    """Writing the list of all files of a file sink again, in the batches that do so; 0 where none does."""
    found = _known(window, "log_compaction_ms")
    return mean(found[found > 0]) if (found > 0).any() else 0.0


@window_metric(
    "share", phases=("add_batch_ms",), inside=True, label="the share of writing the sink's list of files again"
)
def log_compaction_share(window: Window) -> float:
    """Writing the list of all files of a file sink again over the time of all batches."""
    return mean(_known(window, "log_compaction_ms")) / mean(window.batches["trigger_execution_ms"])


@window_metric("ms", phases=("add_batch_ms",), inside=True, label="the sink's commit in batches that rewrite its list")
def likely_compaction_ms(window: Window) -> float:
    """What the driver takes longer after the jobs of the slow batches that are due to rewrite a file sink's list."""
    after, slow = needed(of_jobs(window, "driver_after_ms")), rhythm(window)
    if window.facts.value("sink") != "file" or isinstance(slow, Missing) or slow.offset != slow.every - 1:
        return 0.0
    return max(0.0, median(after[slow.slow]) - median(after[~slow.slow]))
