"""What a batch waits for that lies in files: the checkpoint, and the snapshot of a Delta table."""

from __future__ import annotations

import math

import pandas as pd

from advisor.metrics.measure import measure
from advisor.metrics.phases import OFFSET_LOG, offset_log_ms
from advisor.metrics.registry import (
    Batchwise,
    Bounds,
    Estimate,
    Missing,
    Windowed,
    batch_metric,
    share_of,
    window_metric,
)
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


@window_metric("ms", phases=OFFSET_LOG)
def async_progress_saving_ms(window: Window) -> Windowed:
    """What a typical batch loses when its logs are written asynchronously.

    Measured in turns on Spark 4.3.0 and 4.0.0 (local disk and S3A, to nowhere and through Kafka), a batch fell by 0.84
    to 1.17 x its logs' own time, at the median 1.02 x. One run after the other, on five Sparks and two storages, it was
    1.20 to 1.38 x: the second run is warmer. That is the most, within logs + 0.75 x rest. What may be relied on is 2 x
    commitOffsets, since walCommit also holds source.commit() and a purge, which stay, and at most 0.84 x logs.
    """
    logs, commit, whole = (
        measure(window, name) for name in ("offset_log_ms", "commit_offsets_ms", "trigger_execution_ms")
    )
    for value in (logs, commit, whole):
        if isinstance(value, Missing):
            return value
    own, rest = logs.safe, whole.safe - logs.safe  # type: ignore[union-attr]
    most = min(1.4 * own, own + 0.75 * rest)
    return Estimate(min(2 * commit.safe, 0.84 * own), min(1.02 * own, most), most)  # type: ignore[union-attr]


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
