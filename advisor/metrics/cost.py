"""What a batch costs whatever its rows, and the numbers that advice takes from it."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from advisor.facts.confs import ASYNC_INTERVAL_MS
from advisor.metrics.latency import record_latency_ms
from advisor.metrics.phases import offset_log_ms
from advisor.metrics.registry import Estimate, Missing, Quantiles, Windowed, remembered, window_metric
from advisor.metrics.state import partitions, slots
from advisor.window import Window

FEWEST_FOR_FIT = 30
MOST_FOR_FIT = 400  # Theil-Sen looks at all pairs
ROWS_MUST_VARY = 1.2  # p90 / p10 of the rows
ROWS_FOLLOW_BATCH = 0.5  # rank correlation of rows with the interval before them
SAFETY = 1.3  # advised interval over the shortest stable one
ADVISED_LOG_INTERVAL_MS = 5000  # the documented example for a queue that is full


@remembered
def fit(window: Window) -> tuple[Estimate, Estimate] | Missing:
    """(fixed cost in ms, cost per row in ms) of trigger_execution = alpha + beta x rows, Theil-Sen with 95 % intervals.

    Only where rows vary on their own: with the default trigger rows = lambda x the interval before, and the fit returns
    the mean batch whatever alpha is.
    """
    if (reason := _cannot_fit(window)) is not None:
        return reason
    from scipy import stats  # noqa: PLC0415 - half a second to import, and few windows need it

    frame = window.batches
    sample = frame.iloc[np.linspace(0, len(frame) - 1, min(len(frame), MOST_FOR_FIT)).astype(int)]
    rows, duration = sample["input_rows"].to_numpy(), sample["trigger_execution_ms"].to_numpy()
    slope = stats.theilslopes(duration, rows)
    low, beta, high = (max(0.0, float(b)) for b in (slope.low_slope, slope.slope, slope.high_slope))
    alpha = [float(np.median(duration - b * rows)) for b in (high, beta, low)]
    low_a, mid_a, high_a = (max(0.0, a) for a in alpha)
    return Estimate(low_a, mid_a, high_a), Estimate(low, beta, high)


def _cannot_fit(window: Window) -> Missing | None:
    trigger = window.facts.get("trigger")
    if trigger is None:
        return Missing("the trigger is not known", "trigger")
    if trigger.value != "processing_time":
        return Missing("rows follow the length of the batch before unless the trigger has an interval")
    if len(window) < FEWEST_FOR_FIT:
        return Missing(f"a fit needs {FEWEST_FOR_FIT} steady batches, there are {len(window)}")
    rows = window.batches["input_rows"]
    if rows.quantile(0.9) < ROWS_MUST_VARY * max(rows.quantile(0.1), 1):
        return Missing("the row counts do not vary")
    interval = window.batches["interval_ms"]
    if interval.nunique() > 1 and rows.rank().corr(interval.rank()) > ROWS_FOLLOW_BATCH:
        return Missing("the row counts follow the length of the batch before")
    return None


@window_metric("ms")
def fixed_cost_ms(window: Window) -> Windowed:
    """What a batch costs whatever its rows (alpha)."""
    fitted = fit(window)
    return fitted if isinstance(fitted, Missing) else fitted[0]


@window_metric("ms")
def cost_per_1000_rows_ms(window: Window) -> Windowed:
    """What 1000 more rows cost (1000 x beta)."""
    fitted = fit(window)
    return fitted if isinstance(fitted, Missing) else _scaled(fitted[1], 1000)


@window_metric("share")
def fixed_cost_share(window: Window) -> Windowed:
    """Fixed cost over the mean batch."""
    fitted = fit(window)
    mean = float(window.batches["trigger_execution_ms"].mean()) if len(window) else 0.0
    return fitted if isinstance(fitted, Missing) else _scaled(fitted[0], 1 / mean)


@window_metric("ms")
def shortest_stable_interval_ms(window: Window) -> Windowed:
    """alpha / (1 - lambda x beta), lambda = rows per ms: the shortest interval that holds at this load."""
    fitted = fit(window)
    if isinstance(fitted, Missing):
        return fitted
    load = _rows_per_ms(window)
    ends = [(a, load * b) for a, b in zip(_ends(fitted[0]), _ends(fitted[1]), strict=True)]
    if ends[1][1] >= 1:
        return Missing("at this load no interval holds: rows cost more time than passes between them")
    low, value, high = (a / (1 - busy) if busy < 1 else math.inf for a, busy in ends)
    return Estimate(min(low, value), value, max(high, value))


@window_metric("ms")
def interval_shortfall_ms(window: Window) -> Windowed:
    """Shortest stable interval less the trigger interval: above 0 the interval cannot be kept."""
    shortest = shortest_stable_interval_ms(window)
    interval = window.facts.get("trigger_interval_ms")
    if not isinstance(shortest, Estimate):
        return shortest
    if interval is None:
        return Missing("the trigger interval is not known", "trigger_interval_ms")
    low, value, high = (end - float(interval.value) for end in _ends(shortest))
    return Estimate(low, value, high)


@window_metric("ms")
def advised_interval_ms(window: Window) -> Windowed:
    """1.3 x the shortest stable interval, or, where that cannot be fitted, 1.3 x p95 of the batch; rounded up."""
    if not len(window):
        return Missing("there are no steady batches")
    shortest = shortest_stable_interval_ms(window)
    p95 = float(window.batches["trigger_execution_ms"].quantile(0.95))
    # A fit may leave no fixed cost at all; an interval of nothing is no advice, nor can anything be divided by it.
    advised = rounded_up(max(1.0, SAFETY * (shortest.safe if isinstance(shortest, Estimate) else p95)))
    return Estimate(advised, advised, advised)


@window_metric("ms", time="latency")
def interval_wait_ms(window: Window) -> Windowed:
    """Half of what the trigger interval is longer than the advised one: the mean wait that a record is spared."""
    interval = window.facts.get("trigger_interval_ms")
    advised = advised_interval_ms(window)
    if interval is None:
        return Missing("the trigger interval is not known", "trigger_interval_ms")
    if not isinstance(advised, Estimate):
        return advised
    wait = max(0.0, float(interval.value) - advised.safe) / 2
    return Estimate(wait, wait, wait)


@window_metric("ratio")
def interval_over_advised(window: Window) -> Windowed:
    """The trigger interval over the advised one."""
    interval = window.facts.get("trigger_interval_ms")
    advised = advised_interval_ms(window)
    if interval is None:
        return Missing("the trigger interval is not known", "trigger_interval_ms")
    if not isinstance(advised, Estimate):
        return advised
    return _scaled_of(float(interval.value), advised)


@window_metric("ms", time="latency")
def latency_over_advised_interval_ms(window: Window) -> Windowed:
    """p50 record latency now less I/2 + alpha + beta x lambda x I at the advised interval I; at least 0."""
    fitted, latency, advised = fit(window), record_latency_ms(window), advised_interval_ms(window)
    if isinstance(fitted, Missing):
        return fitted
    if not isinstance(latency, Quantiles) or not isinstance(advised, Estimate):
        return latency if isinstance(latency, Missing) else Missing("no interval can be advised")
    interval, load = advised.safe, _rows_per_ms(window)
    then = [interval / 2 + a + b * load * interval for a, b in zip(_ends(fitted[0]), _ends(fitted[1]), strict=True)]
    low, value, high = sorted(max(0.0, latency.p50 - ms) for ms in then)
    return Estimate(low, value, high)


@window_metric("ms")
def shortest_async_interval_ms(window: Window) -> Windowed:
    """An interval at which storage keeps up with asynchronous log writes: 1000 ms, or 3 x p50 of the logs' time.

    One thread writes both logs. Where that takes longer than the interval, batches wait for it as before: measured on
    S3A with 20 ms more per request, logs of 1290 ms and an interval of 1000 ms made no batch shorter.
    """
    return _log_interval(window, ASYNC_INTERVAL_MS, 0.50)


@window_metric("ms")
def advised_async_interval_ms(window: Window) -> Windowed:
    """Where writes are asynchronous already and batches wait for them: 5000 ms, or 3 x p95 of that wait."""
    return _log_interval(window, ADVISED_LOG_INTERVAL_MS, 0.95)


def _log_interval(window: Window, least: int, quantile: float) -> Windowed:
    logs = offset_log_ms(window)
    slow = float(logs.quantile(quantile)) if isinstance(logs, pd.Series) and len(logs) else 0.0
    advised = max(float(least), math.ceil(3 * slow / 1000) * 1000.0)
    return Estimate(advised, advised, advised)


@window_metric("count", "count")
def advised_state_partitions(window: Window) -> Windowed:
    """As many state partitions as task slots, never fewer: each slot then has one task per batch."""
    free = slots(window)
    if free is None:
        return Missing("the number of task slots is not known", "task_slots")
    most = float(partitions(window).max()) if len(window.operators) else free
    advised = min(free, most)
    return Estimate(advised, advised, advised)


def rounded_up(ms: float) -> float:
    """The next number of milliseconds with two significant figures."""
    step = 10.0 ** max(0, math.floor(math.log10(max(ms, 1.0))) - 1)
    return math.ceil(ms / step - 1e-9) * step


def _rows_per_ms(window: Window) -> float:
    frame = window.batches[window.batches["interval_ms"].notna()]
    return float(frame["input_rows"].sum() / frame["interval_ms"].sum())


def _ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.low, estimate.safe, estimate.high


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    low, value, high = (end * factor for end in _ends(estimate))
    return Estimate(low, value, high)


def _scaled_of(number: float, estimate: Estimate) -> Estimate:
    ratio = number / estimate.safe
    return Estimate(ratio, ratio, ratio)
