"""The state: its partitions, stores, rows and memory, and whether it only ever grows."""

from __future__ import annotations

import numpy as np

from advisor.metrics.event_time import watermark_stands_still_ms
from advisor.metrics.flow import passed_ms
from advisor.metrics.metric import Estimate, batch_metric, window_metric
from advisor.metrics.missing import Missing
from advisor.metrics.operators import AGGREGATIONS, largest_told, partitions, per_batch
from advisor.metrics.slopes import trend
from advisor.statistics import known, middle
from advisor.window import Window

NO_STORES = Missing("no operator reports its state stores")
DAY_MS = 86_400_000.0
MAY_REMOVE = Missing("there is a watermark, which may still remove rows of the state")
ALL_KEPT = 0.98
"""Of the rows that were added: a row that is added and changed within one batch counts once."""
SLOWS_DOWN = Missing("the growth of the state slows down, as where there are only so many keys")
STILL_GROWS = 0.8
"""Of its pace in the first half: a set of keys that fills up grows ever more slowly."""


@batch_metric("count", "count")
def state_partitions(window: Window) -> np.ndarray:
    """State partitions of the operator that has most."""
    return largest_told(window, partitions(window))


@window_metric("count", "count", label="state stores of a batch")
def state_stores(window: Window) -> float | Missing:
    """State stores that a batch opens, of all operators together (median)."""
    found = known(per_batch(window, window.operators["store_instances"]))
    return middle(found) if len(found) else NO_STORES


@window_metric("ratio", "count", label="state stores in each partition")
def state_stores_per_partition(window: Window) -> float | Missing:
    """State stores in each partition, of the operator that has most: four of a join, else one."""
    ratio = known(window.operators["store_instances"] / partitions(window))
    return float(ratio.max()) if len(ratio) else NO_STORES


@batch_metric("rows", "count", label="keys in the state")
def state_rows(window: Window) -> np.ndarray:
    """Keys in the state (numRowsTotal), all operators."""
    return per_batch(window, window.operators["rows_total"])


@batch_metric("rows", "count", label="state keys that a batch changes")
def state_rows_updated(window: Window) -> np.ndarray:
    """Keys that the batch changed (numRowsUpdated), all operators."""
    return per_batch(window, window.operators["rows_updated"])


@batch_metric("rows", "count", label="unchanged keys that a batch writes again")
def unchanged_rows_written(window: Window) -> np.ndarray:
    """Keys of the state that the batch did not change: what complete mode writes again."""
    return per_batch(window, window.operators["rows_total"] - window.operators["rows_updated"])


@batch_metric("rows", "count", label="rows in each state partition")
def rows_per_state_partition(window: Window) -> np.ndarray:
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
def state_memory_bytes(window: Window) -> np.ndarray:
    """Memory of the state stores (0 for RocksDB with bounded memory)."""
    return per_batch(window, window.operators["memory_bytes"])


@window_metric("rows", "count", label="the growth of the state in a day")
def state_growth_per_day(window: Window) -> float | Estimate | Missing:
    """Rows by which the state grows in a day where nothing removes any: Theil-Sen slope with its 95 % interval.

    0 if the state ever shrinks from one batch to the next, or shows no trend (Kendall's test); missing if its growth
    slows down. With a watermark it is known if the watermark stands still while event times advance, and for
    dropDuplicates, whose updates are all new rows.
    """
    rows = state_rows(window)
    if isinstance(rows, Missing) or not len(known(rows)):
        return Missing("the rows of the state are not known")
    if (np.diff(known(rows)) < 0).any():
        return 0.0
    watermarked = window.facts.value("watermarked")
    if watermarked is None:
        return Missing("whether there is a watermark is not known", "watermarked")
    if watermarked and not (_never_comes(window) or _kept_in_spite_of_the_watermark(window, rows)):
        return MAY_REMOVE
    return SLOWS_DOWN if _slows_down(passed_ms(window), rows) else trend(passed_ms(window) / DAY_MS, rows)


def _slows_down(when: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the second half of the batches adds rows more slowly than the first."""
    present = ~np.isnan(when) & ~np.isnan(rows)
    when, rows = when[present], rows[present]
    half = len(rows) // 2
    if half < 2:
        return False
    early, late = (rows[half] - rows[0]) * (when[-1] - when[half]), (rows[-1] - rows[half]) * (when[half] - when[0])
    return bool(late < STILL_GROWS * early)


def _never_comes(window: Window) -> bool:
    """Whether the watermark rests while event times move on: it never comes to remove a row."""
    rests = watermark_stands_still_ms(window)
    return isinstance(rests, Estimate) and rests.safe > 0


def _kept_in_spite_of_the_watermark(window: Window, rows: np.ndarray) -> bool:
    """Whether dropDuplicates kept all its rows although the watermark has passed those of the first batch."""
    watermark, newest = window.batches["watermark"], window.batches["event_time_max"]
    updated = state_rows_updated(window)
    if set(window.operators["name"]) != {"dedupe"} or isinstance(updated, Missing):
        return False
    added = float(np.nansum(updated[1:]))
    return bool(watermark[-1] > newest[0] and added > 0 and rows[-1] - rows[0] >= ALL_KEPT * added)
