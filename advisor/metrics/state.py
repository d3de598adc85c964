"""The state as it is: its partitions, stores, rows and memory."""

from __future__ import annotations

import numpy as np

from advisor.metrics.numbers import known
from advisor.metrics.operators import AGGREGATIONS, largest_told, partitions, per_batch
from advisor.metrics.registry import Batchwise, Estimate, Missing, Windowed, batch_metric, window_metric
from advisor.numbers import middle
from advisor.window import Window

NO_STORES = Missing("no operator reports its state stores")


@batch_metric("count", "count")
def state_partitions(window: Window) -> Batchwise:
    """State partitions of the operator that has most."""
    return largest_told(window, partitions(window))


@window_metric("count", "count", label="state stores of a batch")
def state_stores(window: Window) -> Windowed:
    """State stores that a batch opens, of all operators together (median)."""
    found = known(per_batch(window, window.operators["store_instances"]))
    return Estimate.exactly(middle(found)) if len(found) else NO_STORES


@window_metric("ratio", "count", label="state stores in each partition")
def state_stores_per_partition(window: Window) -> Windowed:
    """State stores in each partition, of the operator that has most: four of a join, else one."""
    ratio = known(window.operators["store_instances"] / partitions(window)) if len(window.operators) else np.zeros(0)
    return Estimate.exactly(float(ratio.max())) if len(ratio) else NO_STORES


@batch_metric("rows", "count", label="keys in the state")
def state_rows(window: Window) -> Batchwise:
    """Keys in the state (numRowsTotal), all operators."""
    return per_batch(window, window.operators["rows_total"])


@batch_metric("rows", "count", label="state keys that a batch changes")
def state_rows_updated(window: Window) -> Batchwise:
    """Keys that the batch changed (numRowsUpdated), all operators."""
    return per_batch(window, window.operators["rows_updated"])


@batch_metric("rows", "count", label="unchanged keys that a batch writes again")
def unchanged_rows_written(window: Window) -> Batchwise:
    """Keys of the state that the batch did not change: what complete mode writes again."""
    return per_batch(window, window.operators["rows_total"] - window.operators["rows_updated"])


@batch_metric("rows", "count", label="rows in each state partition")
def rows_per_state_partition(window: Window) -> Batchwise:
    """Rows that each state partition works on, of the operator with most: rows read over partitions.

    An aggregation combines its rows before they reach the state: there it is the changed keys, and so it is for an
    operator without a name (before Spark 3.2), most often an aggregation. Elsewhere numRowsUpdated counts keys, not
    rows. A mean: one hot key does not show.
    """
    names = window.operators["name"].tolist()
    combined = np.array([name is None or name in AGGREGATIONS for name in names], bool)
    read = window.batches["input_rows"][window.operators["batch"]]
    return largest_told(window, np.where(combined, window.operators["rows_updated"], read) / partitions(window))


@batch_metric("bytes", "bytes", label="memory of the state")
def state_memory_bytes(window: Window) -> Batchwise:
    """Memory of the state stores (0 for RocksDB with bounded memory)."""
    return per_batch(window, window.operators["memory_bytes"])
