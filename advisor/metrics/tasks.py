"""What the tasks of a batch wait for and do again, as wall time: stages in, one value per batch out."""

from __future__ import annotations

import msgspec
import numpy as np

from advisor.metrics.addbatch import NOT_TOLD
from advisor.metrics.numbers import fact_number, mean, median
from advisor.metrics.phases import share_of
from advisor.metrics.registry import (
    NOT_SEEN,
    Batchwise,
    Estimate,
    Missing,
    Windowed,
    batch_metric,
    remembered,
    window_metric,
)
from advisor.metrics.slots import NO_SLOTS
from advisor.metrics.spikes import rhythm
from advisor.numbers import zero_filled
from advisor.window import Window

LEAST_MS = 20.0  # by which a stage or a task is longer, or it is noise


class Spread(msgspec.Struct, frozen=True):
    """The stages of the batches: tasks, slots, their milliseconds. NaN where it is not known.

    `wall`: from the first task's launch to the stage's end, without waiting for slots that others held. `total`,
    `longest`: of its tasks, from launch to finish. `others`: the mean task but the longest. `rounds`: of tasks that
    run one after the other.
    """

    tasks: np.ndarray
    slots: np.ndarray
    wall: np.ndarray
    total: np.ndarray
    longest: np.ndarray
    others: np.ndarray
    rounds: np.ndarray


@remembered
def spread(window: Window) -> Spread:
    """The stages of the window in numbers."""
    stages = window.stages
    tasks, total, longest = stages["tasks"], stages["task_ms"], stages["task_max_ms"]
    slots = np.where(np.isnan(stages["slots"]), fact_number(window, "task_slots") or np.nan, stages["slots"])
    before = np.fmax(zero_filled(stages["first_task_ms"]), zero_filled(stages["slots_wait_ms"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.where(tasks > 1, (total - longest) / (tasks - 1), longest)
    wall = np.maximum(stages["wall_ms"] - before, longest)
    rounds = np.where(tasks <= _seen_at_once(window), 1.0, np.ceil(tasks / slots))
    return Spread(tasks, slots, wall, total, longest, others, rounds)


def at_once(of: Spread) -> np.ndarray:
    """How many tasks of each stage run at once: all of them, or as many as there are slots."""
    tasks: np.ndarray = np.fmin(of.tasks, np.where(np.isnan(of.slots), of.tasks, of.slots))
    return tasks


def _seen_at_once(window: Window) -> float:
    """Tasks that were seen to run at once: one at least."""
    return fact_number(window, "task_slots_at_least") or 1.0


def per_batch(window: Window, values: np.ndarray, keep: np.ndarray) -> Batchwise:
    """The values of the stages that are kept, summed per batch, at most addBatch; 0 where it has none.

    NaN for a batch without a visible stage; Missing if there is none, or if no stage has a value.
    """
    if not len(window.stages):
        return NOT_SEEN
    if np.isnan(values).all():
        return NOT_TOLD
    batch = window.stages["batch"]
    present = keep & ~np.isnan(values)
    total = np.bincount(batch[present], np.maximum(values[present], 0.0), len(window))
    seen = np.bincount(batch, minlength=len(window)) > 0
    return np.where(seen, np.minimum(total, window.batches["add_batch_ms"]), np.nan)


def of_kind(window: Window, *kinds: str) -> np.ndarray:
    """Which stages of the window are of one of these kinds."""
    return np.isin(window.stages["kind"].astype(str), kinds)


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="extra waves of tasks")
def waves_ms(window: Window) -> Batchwise:
    """What stages with more tasks than slots take beyond their longest task: the most that more slots could save."""
    if not len(window.stages):
        return NOT_SEEN
    of = spread(window)
    if np.isnan(of.rounds).any():
        return NO_SLOTS
    return per_batch(window, of.wall - of.longest, (of.rounds > 1) & ~of_kind(window, "table_log"))


@batch_metric("count", "count", inside=True, label="waves of tasks in the largest stage")
def most_waves(window: Window) -> Batchwise:
    """The most waves of tasks of a stage of the batch: its tasks over the slots, rounded up."""
    if not len(window.stages):
        return NOT_SEEN
    of = spread(window)
    if np.isnan(of.rounds).any():
        return NO_SLOTS
    most = np.full(len(window), np.nan)
    np.fmax.at(most, window.stages["batch"], np.where(of_kind(window, "table_log"), np.nan, of.rounds))
    return most


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="too few reading tasks")
def too_few_readers_ms(window: Window) -> Batchwise:
    """What reading the source takes beyond its work spread over all slots, where it has fewer tasks than slots."""
    if not len(window.stages):
        return NOT_SEEN
    of = spread(window)
    if np.isnan(of.slots).all():
        return NO_SLOTS
    few = (of.tasks < of.slots) & of_kind(window, "source_read")
    return per_batch(window, of.wall - of.total / of.slots, few)


@window_metric("count", "count", label="the advised number of shuffle partitions")
def advised_shuffle_partitions(window: Window) -> Windowed:
    """As many partitions as there are task slots."""
    slots = median(spread(window).slots) if len(window.stages) else fact_number(window, "task_slots")
    return NO_SLOTS if slots is None or np.isnan(slots) else Estimate.exactly(slots)


@window_metric("count", "count", inside=True, label="the advised number of tasks that read the source")
def advised_source_tasks(window: Window) -> Windowed:
    """As many tasks for the source as there are slots; twice its tasks where they are as many already.

    Kafka's reader splits a partition only where minPartitions is more than the partitions that have new records.
    """
    slots, reads = advised_shuffle_partitions(window), source_tasks(window)
    if not isinstance(slots, Estimate) or not isinstance(reads, np.ndarray):
        return reads if isinstance(reads, Missing) else slots
    tasks = median(reads)
    advised = slots.safe if not tasks >= slots.safe else 2 * tasks
    return Estimate.exactly(advised)


@batch_metric("count", "count", inside=True, label="tasks that read the source")
def source_tasks(window: Window) -> Batchwise:
    """Tasks of the stage that reads the source; of several the most."""
    if not len(window.stages):
        return NOT_SEEN
    most = np.full(len(window), np.nan)
    np.fmax.at(most, window.stages["batch"], np.where(of_kind(window, "source_read"), window.stages["tasks"], np.nan))
    return most


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="waits for a slot close to the data")
def locality_wait_ms(window: Window) -> Batchwise:
    """What tasks that all ran beside their data waited for it, while slots elsewhere were free.

    The time of a stage's tasks less what as many slots need for them; where an executor for each was free at once, it
    is 0. Not in local mode, where every place is the same.
    """
    if not len(window.stages):
        return NOT_SEEN
    of, stages = spread(window), window.stages
    slots = np.where(np.isnan(of.slots), _seen_at_once(window), of.slots)
    with np.errstate(divide="ignore", invalid="ignore"):
        enough = np.fmax(of.longest, np.fmax(of.total / slots, of.rounds * of.total / of.tasks))
    beside = zero_filled(stages["process_local"]) + zero_filled(stages["node_local"])
    waits = (beside >= of.tasks) & (of.tasks > 1) & (of.wall - enough >= LEAST_MS)
    if waits.any() and window.facts.value("local_mode") is not False:
        return Missing("on one machine every task is beside its data; whether this is one is not known", "local_mode")
    return per_batch(window, of.wall - enough, waits)


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="garbage collection")
def gc_ms(window: Window) -> Batchwise:
    """Garbage collection during tasks as wall time: its sum over the tasks that run at once."""
    if not len(window.stages):
        return NOT_SEEN
    every = np.ones(len(window.stages), dtype=bool)
    return per_batch(window, window.stages["gc_ms"] / at_once(spread(window)), every)


@batch_metric("bytes", "bytes", inside=True, label="bytes written to disk for lack of memory")
def spilled_bytes(window: Window) -> Batchwise:
    """Bytes that tasks wrote to disk because their memory was full."""
    if not len(window.stages):
        return NOT_SEEN
    spilled, batch = window.stages["disk_spilled_bytes"], window.stages["batch"]
    if np.isnan(spilled).all():
        return NOT_TOLD
    total: np.ndarray = np.bincount(batch, zero_filled(spilled), len(window)).astype(float)
    return total


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="the table's own log")
def table_log_ms(window: Window) -> Batchwise:
    """Stages on a table format's own log: Delta's snapshot, the checkpoint of its log."""
    if not len(window.stages):
        return NOT_SEEN
    return per_batch(window, window.stages["wall_ms"], of_kind(window, "table_log"))


@window_metric("ms", phases=("add_batch_ms",), label="the table log's longest jobs")
def table_log_spike_ms(window: Window) -> Windowed:
    """What stages on the table's own log take more in a batch of the rhythm than in the others."""
    found, read = rhythm(window), table_log_ms(window)
    if isinstance(found, Missing):
        return found
    if not isinstance(read, np.ndarray):
        return read if isinstance(read, Missing) else NOT_TOLD
    more = max(0.0, mean(read[found.slow]) - mean(read[~found.slow]))
    return NOT_TOLD if np.isnan(more) else Estimate.exactly(more)


@window_metric("share", phases=("add_batch_ms",), label="the share of the table log's longest jobs")
def table_log_spike_share(window: Window) -> Windowed:
    """What stages on the table's own log take more in periodic slow batches, over the time of all batches."""
    more, found, duration = table_log_spike_ms(window), rhythm(window), window.batches["trigger_execution_ms"]
    if isinstance(found, Missing) or not isinstance(more, Estimate):
        return more
    share = more.safe * float(found.slow.sum()) / float(np.nansum(duration))
    return Estimate.exactly(share)


waves_share = share_of(waves_ms)
too_few_readers_share = share_of(too_few_readers_ms)
locality_wait_share = share_of(locality_wait_ms)
gc_share = share_of(gc_ms)
