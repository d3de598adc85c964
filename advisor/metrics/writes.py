"""What a batch waits for that lies in files: the checkpoint, and the snapshot of a Delta table."""

from __future__ import annotations

import math

import pandas as pd

from advisor.metrics.phases import OFFSET_LOG, offset_log_ms
from advisor.metrics.registry import Batchwise, Bounds, Missing, batch_metric, share_of
from advisor.metrics.state import slots, state_commit_wall_ms
from advisor.window import Window


@batch_metric("ms", phases=(*OFFSET_LOG, "add_batch_ms"))
def checkpoint_write_ms(window: Window) -> Batchwise:
    """Both logs and the state commits as wall time: all that a batch writes to its checkpoint."""
    logs, state = offset_log_ms(window), state_commit_wall_ms(window)
    assert isinstance(logs, pd.Series)
    if isinstance(state, Bounds):
        return Bounds(logs + state.low, logs + state.high)
    return logs if isinstance(state, Missing) else logs + state


@batch_metric("ms", phases=("add_batch_ms",))
def delta_snapshot_ms(window: Window) -> Batchwise:
    """addBatch x (1 - 1 / waves) of the stage that rebuilds a Delta table's snapshot: the most that its waves take."""
    tasks, free = window.facts.get("delta_snapshot_tasks"), slots(window)
    if tasks is None:
        return Missing("no stage that rebuilds a Delta snapshot was seen", "delta_snapshot_tasks")
    if free is None:
        return Missing("the number of task slots is not known", "task_slots")
    return window.batches["add_batch_ms"] * (1 - 1 / math.ceil(float(tasks.value) / free))


share_of("checkpoint_write_ms", "checkpoint_write_share", "both logs and state commits as wall time / triggerExecution")
share_of("delta_snapshot_ms", "delta_snapshot_share", "extra waves of the Delta snapshot / triggerExecution")
