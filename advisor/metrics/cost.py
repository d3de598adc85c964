"""What a batch costs whatever its rows, and the numbers that advice takes from it."""

from __future__ import annotations

import math

import numpy as np

from advisor.facts.confs import ASYNC_INTERVAL_MS
from advisor.facts.trigger import SHORTEST_REAL_TIME_MS
from advisor.metrics.numbers import fact_number, known, mean, median, quantile, rank_correlation
from advisor.metrics.operators import partitions
from advisor.metrics.phases import offset_log_ms
from advisor.metrics.registry import Estimate, Missing, Windowed, remembered, window_metric
from advisor.metrics.slopes import theil_sen
from advisor.metrics.slots import slots
from advisor.window import Window

FEWEST_FOR_FIT = 30
MOST_FOR_FIT = 400  # Theil-Sen looks at all pairs
ROWS_MUST_VARY = 1.2  # p90 / p10 of the rows
ROWS_FOLLOW_BATCH = 0.5  # rank correlation of rows with the interval before them
SAFETY = 1.3  # advised interval over the shortest stable one
FEWEST_FOR_P95, SAFETY_OF_FEW = 10, 2.0  # of fewer batches p95 is one of them, and a longer one will come
MOST_MORE_COMMITS = 10  # to which nobody is sent whose sink keeps the files of each batch
_KEEPS_NO_FILES = ("kafka", "console", "memory", "noop", "foreach")
ADVISED_LOG_INTERVAL_MS = 5000  # the documented example for a queue that is full
USUAL_REAL_TIME_MS = 60_000.0
REAL_TIME_PAUSE_MS = 250.0  # between two batches of real-time mode: 124 to 222 ms on local disk


@remembered
def fit(window: Window) -> tuple[Estimate, Estimate] | Missing:
    """(fixed cost in ms, cost per row in ms) of trigger_execution = alpha + beta x rows, Theil-Sen with 95 % intervals.

    Only where rows vary on their own: with the default trigger rows = lambda x the interval before, and the fit returns
    the mean batch whatever alpha is.
    """
    if (reason := _cannot_fit(window)) is not None:
        return reason
    rows, duration = window.batches["input_rows"], window.batches["trigger_execution_ms"]
    present = np.flatnonzero(~np.isnan(rows) & ~np.isnan(duration))
    sample = present[np.linspace(0, len(present) - 1, min(len(present), MOST_FOR_FIT)).astype(int)]
    rows, duration = rows[sample], duration[sample]
    low, beta, high = (max(0.0, end) for end in _ends(theil_sen(duration, rows)))
    alpha = [float(np.median(duration - b * rows)) for b in (high, beta, low)]
    low_a, mid_a, high_a = (max(0.0, a) for a in alpha)
    return Estimate(low_a, mid_a, high_a), Estimate(low, beta, high)


def _cannot_fit(window: Window) -> Missing | None:
    trigger = window.facts.get("trigger")
    if trigger is None:
        return Missing("the trigger is not known", "trigger")
    if trigger.value != "processing_time":
        return Missing("a batch has more rows when the batch before took longer, unless the trigger has an interval")
    if len(window) < FEWEST_FOR_FIT:
        return Missing(f"a fit needs {FEWEST_FOR_FIT} steady batches, there are {len(window)}")
    rows = window.batches["input_rows"]
    if not quantile(rows, 0.9) >= ROWS_MUST_VARY * max(quantile(rows, 0.1), 1):
        return Missing("the row counts do not vary")
    if rank_correlation(rows, window.batches["interval_ms"]) > ROWS_FOLLOW_BATCH:
        return Missing("the row counts follow the length of the batch before")
    return None


@window_metric("ms", label="the fixed cost of a batch")
def fixed_cost_ms(window: Window) -> Windowed:
    """What a batch costs whatever its rows (alpha)."""
    fitted = fit(window)
    return fitted if isinstance(fitted, Missing) else fitted[0]


@window_metric("ms", label="the cost of 1,000 rows")
def cost_per_1000_rows_ms(window: Window) -> Windowed:
    """What 1000 more rows cost (1000 x beta)."""
    fitted = fit(window)
    return fitted if isinstance(fitted, Missing) else _scaled(fitted[1], 1000)


@window_metric("share", label="the fixed cost's share of the batch")
def fixed_cost_share(window: Window) -> Windowed:
    """Fixed cost over the mean batch."""
    fitted = fit(window)
    if isinstance(fitted, Missing):
        return fitted
    whole = mean(window.batches["trigger_execution_ms"])
    return _scaled(fitted[0], 1 / whole) if whole > 0 else Missing("no batch shows how long it took")


@window_metric("ms", label="the shortest interval that can be kept")
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


@window_metric("ms", label="what the interval is too short by")
def interval_shortfall_ms(window: Window) -> Windowed:
    """Shortest stable interval less the trigger interval: above 0 the interval cannot be kept."""
    shortest = shortest_stable_interval_ms(window)
    interval = fact_number(window, "trigger_interval_ms")
    if not isinstance(shortest, Estimate):
        return shortest
    if interval is None:
        return Missing("the trigger interval is not known", "trigger_interval_ms")
    low, value, high = (end - interval for end in _ends(shortest))
    return Estimate(low, value, high)


@window_metric("ms", label="the advised trigger interval")
def advised_interval_ms(window: Window) -> Windowed:
    """1.3 x the shortest stable interval, or, where that cannot be fitted, 1.3 x p95 of the batch; rounded up.

    Of fewer than ten batches 2 x p95, rounded up to one figure: no more is known. A tenth of the set interval at least
    if the sink may keep files of each batch and no latency target is known: ten times as many files are
    enough for one step.
    """
    holds = holding_interval_ms(window)
    if isinstance(holds, Missing):
        return holds
    figures = 1 if len(window) < FEWEST_FOR_P95 else 2
    return Estimate.exactly(rounded_up(max(holds, _for_the_files_ms(window)), figures))


def holding_interval_ms(window: Window) -> float | Missing:
    """The shortest interval that batches keep: 1.3 x the stable one, or, where that cannot be fitted, 1.3 x p95.

    Of fewer than ten batches 2 x p95: a longer one may come.
    """
    if not len(window):
        return Missing("there are no steady batches")
    shortest = shortest_stable_interval_ms(window)
    p95 = quantile(window.batches["trigger_execution_ms"], 0.95)
    if np.isnan(p95):
        return Missing("no batch shows how long it took")
    safety = SAFETY_OF_FEW if len(window) < FEWEST_FOR_P95 else SAFETY
    # A fit may leave no fixed cost at all; an interval of nothing is no advice, nor can anything be divided by it.
    return max(1.0, SAFETY * shortest.safe if isinstance(shortest, Estimate) else safety * p95)


def _for_the_files_ms(window: Window) -> float:
    """The interval that makes ten times the commits of the set one; 0 where files are no concern, or the target is."""
    if window.facts.value("sink") in _KEEPS_NO_FILES or fact_number(window, "latency_target_ms") is not None:
        return 0.0
    return (fact_number(window, "trigger_interval_ms") or 0.0) / MOST_MORE_COMMITS


@window_metric("ms", time="latency", label="the wait for a longer interval than needed")
def interval_wait_ms(window: Window) -> Windowed:
    """Half of what the trigger interval is longer than the advised one: the mean wait that a record is spared.

    Batches that started sooner, as a few after a start do, spare no more than half of the time between them.
    """
    both = _set_and_advised(window)
    if isinstance(both, Missing):
        return both
    between = window.batches["interval_ms"]
    passed = median(between) if (~np.isnan(between)).any() else math.inf
    return Estimate.exactly(max(0.0, min(both[0], passed) - both[1].safe) / 2)


@window_metric("ratio", label="the interval over the one that would do")
def interval_over_advised(window: Window) -> Windowed:
    """The trigger interval over the advised one."""
    both = _set_and_advised(window)
    return both if isinstance(both, Missing) else _scaled_of(*both)


def _set_and_advised(window: Window) -> tuple[float, Estimate] | Missing:
    """The trigger interval as it is set, and the advised one."""
    interval, advised = fact_number(window, "trigger_interval_ms"), advised_interval_ms(window)
    if interval is None:
        return Missing("the trigger interval is not known", "trigger_interval_ms")
    if not isinstance(advised, Estimate):
        return advised if isinstance(advised, Missing) else Missing("no interval can be advised")
    return interval, advised


@window_metric("ms", label="the shortest interval of asynchronous log writes")
def shortest_async_interval_ms(window: Window) -> Windowed:
    """An interval at which storage keeps up with asynchronous log writes: 1000 ms, or 3 x p50 of the logs' time.

    One thread writes both logs. Where that takes longer than the interval, batches wait for it as before: measured on
    S3A with 20 ms more per request, logs of 1290 ms and an interval of 1000 ms made no batch shorter.
    """
    return _log_interval(window, ASYNC_INTERVAL_MS, 0.50)


@window_metric("ms", label="the advised interval of asynchronous log writes")
def advised_async_interval_ms(window: Window) -> Windowed:
    """Where writes are asynchronous already and batches wait for them: 5000 ms, or 3 x p95 of that wait."""
    return _log_interval(window, ADVISED_LOG_INTERVAL_MS, 0.95)


def _log_interval(window: Window, least: int, at: float) -> Windowed:
    logs = offset_log_ms(window)
    slow = quantile(logs, at) if isinstance(logs, np.ndarray) and len(logs) else 0.0
    advised = max(float(least), math.ceil(3 * slow / 1000) * 1000.0)
    return Estimate.exactly(advised)


@window_metric("ms", time="latency", label="the advised length of a real-time batch")
def advised_real_time_interval_ms(window: Window) -> Windowed:
    """How long a batch of real-time mode is to last: 1 minute, or 5 seconds where the target allows for its pause.

    Between two batches records wait for the pause (124 to 222 ms on local disk): measured p99 119 ms at 5 s, 7 ms at
    1 minute, 5.9 ms at 5 minutes. After a failure all since the last batch's end is processed again: at most
    `repeated_at_most_ms` where that is given, never under Spark's 5 seconds.
    """
    target, repeated = fact_number(window, "latency_target_ms"), fact_number(window, "repeated_at_most_ms")
    usual = SHORTEST_REAL_TIME_MS if target is not None and target >= REAL_TIME_PAUSE_MS else USUAL_REAL_TIME_MS
    advised = max(SHORTEST_REAL_TIME_MS, min(usual, repeated if repeated is not None else usual))
    return Estimate.exactly(advised)


@window_metric("count", "count", label="the advised number of state partitions")
def advised_state_partitions(window: Window) -> Windowed:
    """As many state partitions as task slots, never fewer: each slot then has one task per batch."""
    free = slots(window)
    if free is None:
        return Missing("the number of task slots is not known", "task_slots")
    shown = known(partitions(window))
    advised = min(free, float(shown.max())) if len(shown) else free
    return Estimate.exactly(advised)


def rounded_up(ms: float, figures: int = 2) -> float:
    """The next whole number of milliseconds with so many significant figures."""
    step = 10.0 ** max(0, math.floor(math.log10(max(ms, 1.0))) + 1 - figures)
    return math.ceil(ms / step - 1e-9) * step


def _rows_per_ms(window: Window) -> float:
    interval = window.batches["interval_ms"]
    present = ~np.isnan(interval)
    return float(np.nansum(window.batches["input_rows"][present]) / interval[present].sum())


def _ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.low, estimate.safe, estimate.high


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    low, value, high = (end * factor for end in _ends(estimate))
    return Estimate(low, value, high)


def _scaled_of(number: float, estimate: Estimate) -> Estimate:
    ratio = number / estimate.safe
    return Estimate.exactly(ratio)
