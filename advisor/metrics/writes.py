"""What a batch waits for that lies in files: the checkpoint, and the snapshot of a Delta table."""

from __future__ import annotations

import math

import numpy as np

from advisor.metrics.measure import measure
from advisor.metrics.numbers import fact_number
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
from advisor.metrics.state import slots, state_commit_wall_ms
from advisor.window import Window


@batch_metric("ms", phases=(*OFFSET_LOG, "add_batch_ms"))
def checkpoint_write_ms(window: Window) -> Batchwise:
    """Both logs and the state commits as wall time: all that a batch writes to its checkpoint."""
    logs, state = offset_log_ms(window), state_commit_wall_ms(window)
    assert not isinstance(logs, Missing)
    if isinstance(state, Missing):
        return logs
    if isinstance(logs, np.ndarray) and isinstance(state, np.ndarray):
        both: np.ndarray = logs + state
        return both
    (low, high), (least, most) = _ends(logs), _ends(state)
    return Bounds(low + least, high + most, state.fact if isinstance(state, Bounds) else None)


def _ends(values: np.ndarray | Bounds) -> tuple[np.ndarray, np.ndarray]:
    return (values.low, values.high) if isinstance(values, Bounds) else (values, values)


@window_metric("ms", phases=OFFSET_LOG)
def async_progress_saving_ms(window: Window) -> Windowed:
    """Both logs of a typical batch; at least 2 x commitOffsets: walCommit also holds source.commit() and a purge."""
    logs, commit = measure(window, offset_log_ms), measure(window, commit_offsets_ms)
    if isinstance(logs, Missing) or isinstance(commit, Missing):
        return logs if isinstance(logs, Missing) else commit
    return Estimate(min(2 * commit.safe, logs.safe), logs.safe, logs.safe)


@batch_metric("ms", phases=("add_batch_ms",))
def delta_snapshot_ms(window: Window) -> Batchwise:
    """addBatch x (1 - 1 / waves) of the stage that rebuilds a Delta table's snapshot: the most that its waves take."""
    tasks, free = fact_number(window, "delta_snapshot_tasks"), slots(window)
    if "delta_snapshot_tasks" not in window.facts:
        return Missing("no stage that rebuilds a Delta snapshot was seen", "delta_snapshot_tasks")
    if tasks is None:
        return Missing("no stage rebuilds a Delta snapshot")
    if free is None:
        return Missing("the number of task slots is not known", "task_slots")
    return window.batches["add_batch_ms"] * (1 - 1 / max(1, math.ceil(tasks / free)))


checkpoint_write_share = share_of(
    checkpoint_write_ms,
    "checkpoint_write_share",
    "both logs and state commits as wall time / triggerExecution",
)
delta_snapshot_share = share_of(
    delta_snapshot_ms,
    "delta_snapshot_share",
    "extra waves of the Delta snapshot / triggerExecution",
)
