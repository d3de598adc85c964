"""How batches follow each other and keep up with their sources: intervals, rates, backlog, event time."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from advisor.metrics.registry import Batchwise, Estimate, Missing, Windowed, batch_metric, window_metric
from advisor.metrics.state import per_batch
from advisor.window import Window

NO_EVENT_TIME = Missing("the query has no event time")
NO_BACKLOG = Missing("the sources do not report how far behind they are")
FEWEST_FOR_TREND = 10  # Kendall's test at 1 % then asks for a rank correlation of 0.6
MAY_BE_TREND = 2.0  # rank correlation in standard errors below which Kendall's test at 1 % sees nothing either
AS_LARGE, MOST_BATCHES = 0.98, 0.9  # of the largest batch (a limit is split over partitions), of the batches
SAME_LOAD = 1.1  # loads that differ by less are the same
MOST_POINTS = 200  # a trend is taken over at most this many medians: its cost grows with the square


@batch_metric("ms")
def interval_ms(window: Window) -> Batchwise:
    """From the start of the trigger before to this one's."""
    return window.batches["interval_ms"]


@batch_metric("ms")
def between_batches_ms(window: Window) -> Batchwise:
    """From the end of the batch before to this one's start: progress building, listeners, waiting for the trigger."""
    return window.batches["between_batches_ms"]


@batch_metric("ratio")
def utilisation(window: Window) -> Batchwise:
    """triggerExecution / interval: how much of the time the query is busy."""
    busy: pd.Series[float] = window.batches["trigger_execution_ms"] / window.batches["interval_ms"]
    return busy


@batch_metric("rows", "count")
def input_rows(window: Window) -> Batchwise:
    """Rows that the batch read (twice as many when the source is read twice)."""
    return window.batches["input_rows"]


@batch_metric("per_second", "count")
def input_rows_per_second(window: Window) -> Batchwise:
    """Rows over the time since the trigger before."""
    return window.batches["input_rows_per_second"]


@batch_metric("per_second", "count")
def processed_rows_per_second(window: Window) -> Batchwise:
    """Rows over the batch's own duration."""
    return window.batches["processed_rows_per_second"]


def of_sources(window: Window, column: str) -> pd.Series[float]:
    """A number of each source summed per batch; NaN for a batch of which one source does not tell."""
    by_batch = window.sources[column].groupby(window.sources["batch"])
    told = by_batch.count() == by_batch.size()
    total: pd.Series[float] = by_batch.sum(min_count=1).where(told).reindex(window.batches.index)
    return total


@batch_metric("rows", "count")
def backlog_rows(window: Window) -> Batchwise:
    """Rows that waited in the sources after the batch (latestOffset - endOffset), at the trigger's start."""
    backlog = of_sources(window, "backlog_rows")
    return NO_BACKLOG if backlog.isna().all() else backlog


@batch_metric("ms")
def backlog_ms(window: Window) -> Batchwise:
    """The backlog over the rows that the query takes per millisecond: the age of the oldest row that waits."""
    backlog = backlog_rows(window)
    if not isinstance(backlog, pd.Series):
        return backlog
    taken = rows_taken(window)
    pace = taken.sum() / window.batches["interval_ms"].where(taken.notna()).sum()
    if not backlog.any():
        return backlog.astype(float)
    return backlog / pace if np.isfinite(pace) and pace > 0 else Missing("the pace of the query is not known")


@batch_metric("ms")
def watermark_lag_ms(window: Window) -> Batchwise:
    """The trigger's start less the watermark: append mode holds a window's result at least this long after its rows."""
    return _behind_clock(window, "watermark")


@batch_metric("ms")
def event_time_lag_ms(window: Window) -> Batchwise:
    """The trigger's start less the newest event time of the batch: the delay before Spark reads a row."""
    return _behind_clock(window, "event_time_max")


def _behind_clock(window: Window, column: str) -> Batchwise:
    moment = window.batches[column]
    moment = moment.where(moment > pd.Timestamp(0, tz="UTC"))  # Spark starts every watermark at 1970
    if moment.isna().all():
        return NO_EVENT_TIME
    lag: pd.Series[float] = (window.batches["timestamp"] - moment).dt.total_seconds() * 1000
    return lag


@batch_metric("ratio", "count")
def reread_factor(window: Window) -> Batchwise:
    """Rows that the batch counted over the rows between its offsets: 2 when the source was read twice."""
    delta = of_sources(window, "offset_rows")
    if delta.isna().all():
        return Missing("the sources' offsets do not tell how many rows lie between them")
    return window.batches["input_rows"] / delta.where(delta > 0)


@batch_metric("ms", phases=("add_batch_ms",))
def reread_ms(window: Window) -> Batchwise:
    """addBatch x (1 - 1 / reread factor): at most this much is spent on reading and computing again."""
    factor = reread_factor(window)
    if not isinstance(factor, pd.Series):
        return factor
    again: pd.Series[float] = window.batches["add_batch_ms"] * (1 - 1 / factor.clip(lower=1))
    return again


@batch_metric("rows", "count")
def late_rows(window: Window) -> Batchwise:
    """Rows that the watermark dropped."""
    return per_batch(window, window.operators["rows_dropped_by_watermark"])


@window_metric("share", "count")
def over_interval_share(window: Window) -> Windowed:
    """Share of the batches that took longer than the trigger interval."""
    interval, trigger = window.facts.get("trigger_interval_ms"), window.facts.get("trigger")
    if (trigger is not None and trigger.value != "processing_time") or (interval is not None and not interval.value):
        return Missing("the trigger has no interval to overrun, and the sources do not report a backlog")
    if interval is None:
        return Missing("the trigger interval is not known", "trigger_interval_ms")
    over = float((window.batches["trigger_execution_ms"] > interval.value).mean())
    return Estimate(over, over, over)


@window_metric("share", "count")
def falling_behind_share(window: Window) -> Windowed:
    """Share of the batches longer than the trigger interval; 1 where the backlog grows by more than a batch waits."""
    over, slope = over_interval_share(window), backlog_trend_ms_per_minute(window)
    if not isinstance(slope, Estimate):
        none_is_over = isinstance(over, Estimate) and not over.value
        return slope if none_is_over and slope != NO_BACKLOG else over
    if _grows(window, slope):
        return Estimate(1.0, 1.0, 1.0)
    return Estimate(0.0, 0.0, 0.0) if isinstance(over, Missing) else over


def _grows(window: Window, slope: Estimate) -> bool:
    """Whether the backlog's age grew over the window by at least one mean interval."""
    times = window.batches["timestamp"]
    minutes = (times.iloc[-1] - times.iloc[0]).total_seconds() / 60
    return slope.low > 0 and slope.safe * minutes >= float(window.batches["interval_ms"].mean())


@window_metric("ms", time="latency")
def backlog_wait_ms(window: Window) -> Windowed:
    """Median age of the backlog: what a record waits for those before it, and would not if the query kept up."""
    age = backlog_ms(window)
    if not isinstance(age, pd.Series):
        return age if isinstance(age, Missing) else NO_BACKLOG
    wait = float(age.median())
    return Estimate(wait, wait, wait)


@window_metric("share", "count")
def full_batches_share(window: Window) -> Windowed:
    """Share of the batches as large as the largest after which rows wait on: a limit of the source holds them."""
    rows, backlog = rows_taken(window), backlog_rows(window)
    alike = rows >= AS_LARGE * rows.max()
    if alike.mean() < MOST_BATCHES:
        return Estimate(0.0, 0.0, 0.0)
    if not isinstance(backlog, pd.Series):
        return NO_BACKLOG
    full = float((alike & (backlog > 0)).mean())
    return Estimate(full, full, full)


@window_metric("rows", "count")
def advised_rows_per_batch(window: Window) -> Windowed:
    """Twice the rows that arrive between two triggers (taken + growth of the backlog), two digits, rounded up."""
    rows, backlog = rows_taken(window), backlog_rows(window)
    if not isinstance(backlog, pd.Series) or len(rows) < 2:
        return NO_BACKLOG
    arriving = (rows.iloc[1:].sum() + backlog.iloc[-1] - backlog.iloc[0]) / (len(rows) - 1)
    if not arriving > 0:
        return Missing("the rows that arrive between two triggers are not known")
    digit = 10 ** max(0, math.floor(math.log10(2 * arriving)) - 1)
    advised = float(math.ceil(2 * arriving / digit) * digit)
    return Estimate(advised, advised, advised)


def rows_taken(window: Window) -> pd.Series[float]:
    """Rows between a batch's offsets; rows that it counted, where offsets do not tell."""
    return of_sources(window, "offset_rows").fillna(window.batches["input_rows"])


@window_metric("ms_per_minute")
def backlog_trend_ms_per_minute(window: Window) -> Windowed:
    """Growth of the backlog's age: Theil-Sen slope with its 95 % interval; 0 where Kendall's test sees no trend."""
    age = backlog_ms(window)
    if not isinstance(age, pd.Series):
        return age if isinstance(age, Missing) else Missing("the backlog is not known")
    minutes = (window.batches["timestamp"] - window.batches["timestamp"].iloc[0]).dt.total_seconds() / 60
    return trend(minutes.to_numpy(), age.to_numpy(dtype=float))


def trend(at: np.ndarray, values: np.ndarray) -> Estimate | Missing:
    """Change of `values` per unit of `at` with its 95 % interval, over at most 200 medians of neighbours."""
    known = np.isfinite(at) & np.isfinite(values)
    at, values = at[known], values[known]
    if len(at) < FEWEST_FOR_TREND:
        return Missing(f"a trend needs {FEWEST_FOR_TREND} batches, there are {len(at)}")
    groups = np.array_split(np.arange(len(at)), min(MOST_POINTS, len(at)))
    x = np.array([np.median(at[group]) for group in groups])
    y = np.array([np.median(values[group]) for group in groups])
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(0.0, 0.0, 0.0)
    if abs(pd.Series(x).rank().corr(pd.Series(y).rank())) * math.sqrt(len(x) - 1) < MAY_BE_TREND:
        return Estimate(0.0, 0.0, 0.0)
    from scipy import stats  # noqa: PLC0415 - takes as long to import as all else, and most windows are even

    if stats.kendalltau(x, y).pvalue >= 0.01:
        return Estimate(0.0, 0.0, 0.0)
    slope = stats.theilslopes(y, x)
    return Estimate(float(slope.low_slope), float(slope.slope), float(slope.high_slope))
