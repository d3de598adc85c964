"""Task slots that a query does not use."""

from __future__ import annotations

import numpy as np

from advisor.metrics.phases import share_of
from advisor.metrics.registry import NOT_SEEN, Batchwise, Missing, batch_metric
from advisor.metrics.slots import NO_SLOTS
from advisor.metrics.tasks import per_batch, spread
from advisor.window import Window


@batch_metric("count", "count", inside=True, label="task slots that a batch uses")
def used_slots(window: Window) -> Batchwise:
    """Task slots that the batch's largest job can use at once: all its tasks, as many as there are slots at most."""
    found = _of_largest_job(window)
    return found if isinstance(found, Missing) else np.fmin(*found)


@batch_metric("share", inside=True, label="the share of task slots that stay idle")
def idle_slots_share(window: Window) -> Batchwise:
    """Task slots of which no job of the batch can make use / task slots."""
    found = _of_largest_job(window)
    if isinstance(found, Missing):
        return found
    tasks, slots = found
    idle: np.ndarray = 1 - np.fmin(tasks, slots) / slots
    return idle


def _of_largest_job(window: Window) -> tuple[np.ndarray, np.ndarray] | Missing:
    """(tasks of the job that has most, task slots) of each batch; NaN where no stage was seen.

    Stages of a job count as if all ran at once, though most follow each other.
    """
    if not len(window.stages):
        return NOT_SEEN
    of, stages = spread(window), window.stages
    if np.isnan(of.slots).all():
        return NO_SLOTS
    jobs, at = np.unique(np.stack([stages["batch"], stages["job"]]), axis=1, return_inverse=True)
    tasks, slots = np.full(len(window), np.nan), np.full(len(window), np.nan)
    np.fmax.at(tasks, jobs[0].astype(int), np.bincount(at.ravel(), np.nan_to_num(of.tasks), jobs.shape[1]))
    np.fmax.at(slots, stages["batch"], of.slots)
    return tasks, slots


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="too few tasks that work on state")
def too_few_state_tasks_ms(window: Window) -> Batchwise:
    """What stages with state take beyond their work spread over all slots, where they have fewer tasks than slots."""
    if not len(window.stages):
        return NOT_SEEN
    of = spread(window)
    if np.isnan(of.slots).all():
        return NO_SLOTS
    few = (of.tasks < of.slots) & (window.stages["kind"].astype(str) == "state")
    return per_batch(window, of.wall - of.total / of.slots, few)


@batch_metric("count", "count", inside=True, label="tasks that work on state")
def state_tasks(window: Window) -> Batchwise:
    """Tasks of the stage with state that has most; 0 without state."""
    if not len(window.stages):
        return NOT_SEEN
    most = np.zeros(len(window))
    of_state = window.stages["kind"].astype(str) == "state"
    np.fmax.at(most, window.stages["batch"], np.where(of_state, window.stages["tasks"], 0.0))
    return most


too_few_state_tasks_share = share_of(too_few_state_tasks_ms)
