"""Where a batch's own milliseconds go: the phases of the micro-batch, on the driver's clock."""

from __future__ import annotations

import numpy as np
import pandas as pd

from advisor.metrics.registry import Batchwise, Missing, batch_metric, share_of
from advisor.window import PHASES, Window

DISCOVERY = ("latest_offset_ms", "get_offset_ms", "get_end_offset_ms", "set_offset_range_ms")
OFFSET_LOG = ("wal_commit_ms", "commit_offsets_ms")
DATABRICKS = (
    "commit_batch_ms",
    "collect_source_metrics_ms",
    "post_add_batch_callback_ms",
    "post_commit_batch_callback_ms",
)


def summed(window: Window, columns: tuple[str, ...]) -> pd.Series[float]:
    """The sum of these phases per batch; a phase that Spark did not name counts as 0."""
    named = np.array([window.batches[column].to_numpy(dtype=float) for column in columns])
    return pd.Series(np.nansum(named, axis=0), index=window.batches.index)


@batch_metric("ms", phases=tuple(PHASES))
def trigger_execution_ms(window: Window) -> Batchwise:
    """Everything inside one trigger: finding the batch, running it, both logs."""
    return window.batches["trigger_execution_ms"]


@batch_metric("ms", phases=DISCOVERY)
def source_discovery_ms(window: Window) -> Batchwise:
    """Asking the sources for new data (latestOffset; getOffset, getEndOffset and setOffsetRange in old versions)."""
    return summed(window, DISCOVERY)


@batch_metric("ms", phases=("get_batch_ms",))
def get_batch_ms(window: Window) -> Batchwise:
    """Building the batch's input plan; about 0 for version 2 sources."""
    return summed(window, ("get_batch_ms",))


@batch_metric("ms", phases=("query_planning_ms",))
def query_planning_ms(window: Window) -> Batchwise:
    """Planning the batch's query."""
    return summed(window, ("query_planning_ms",))


@batch_metric("ms", phases=("add_batch_ms",))
def add_batch_ms(window: Window) -> Batchwise:
    """The Spark jobs of the batch: tasks, state, sink, foreachBatch code."""
    return summed(window, ("add_batch_ms",))


@batch_metric("ms", phases=("wal_commit_ms",))
def wal_commit_ms(window: Window) -> Batchwise:
    """Writing the offset log; also source.commit() of the batch before and a purge that is done inline."""
    return summed(window, ("wal_commit_ms",))


@batch_metric("ms", phases=("commit_offsets_ms",))
def commit_offsets_ms(window: Window) -> Batchwise:
    """Writing the commit log (Spark 3.4 on; earlier versions hide it in the unaccounted time)."""
    return summed(window, ("commit_offsets_ms",))


@batch_metric("ms", phases=OFFSET_LOG)
def offset_log_ms(window: Window) -> Batchwise:
    """walCommit + commitOffsets: what the batch waits for its two logs."""
    return summed(window, OFFSET_LOG)


@batch_metric("ms", phases=("wal_commit_ms",))
def log_purge_ms(window: Window) -> Batchwise:
    """walCommit less commitOffsets, at least 0: what walCommit holds beyond one file write (source.commit, a purge)."""
    if window.batches["commit_offsets_ms"].isna().all():
        return Missing("this Spark version does not report commitOffsets")
    extra: pd.Series[float] = (window.batches["wal_commit_ms"] - window.batches["commit_offsets_ms"]).clip(lower=0)
    return extra


@batch_metric("ms", phases=DATABRICKS)
def databricks_phases_ms(window: Window) -> Batchwise:
    """The phases that only Databricks reports: commitBatch, collectSourceMetrics and the callbacks."""
    return summed(window, DATABRICKS)


@batch_metric("ms")
def unaccounted_ms(window: Window) -> Batchwise:
    """triggerExecution less all its phases, named here or not; at least 0."""
    other = window.batches["other_phases_ms"]
    rest: pd.Series[float] = window.batches["trigger_execution_ms"] - summed(window, tuple(PHASES)) - other
    return rest.clip(lower=0)


share_of("offset_log_ms", "offset_log_share", "(walCommit + commitOffsets) / triggerExecution")
share_of("wal_commit_ms", "wal_commit_share", "walCommit / triggerExecution")
share_of("log_purge_ms", "log_purge_share", "(walCommit - commitOffsets) / triggerExecution")
share_of("source_discovery_ms", "source_discovery_share", "latestOffset / triggerExecution")
share_of("query_planning_ms", "query_planning_share", "queryPlanning / triggerExecution")
share_of("add_batch_ms", "add_batch_share", "addBatch / triggerExecution")
share_of("unaccounted_ms", "unaccounted_share", "time in no phase / triggerExecution")
