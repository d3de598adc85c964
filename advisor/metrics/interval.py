"""What a batch costs whatever its rows, the interval that a trigger needs, and what a longer one makes records wait."""

from __future__ import annotations

import math

import numpy as np

from advisor.facts.trigger import SHORTEST_REAL_TIME_MS
from advisor.metrics.backlog import NO_BACKLOG
from advisor.metrics.flow import held_back_wait_ms
from advisor.metrics.latency import latency_target_excess_ms
from advisor.metrics.measure import measure
from advisor.metrics.metric import Estimate, remembered, window_metric
from advisor.metrics.missing import NO_BATCHES, NO_INTERVAL, Missing, MissingError, needed
from advisor.metrics.phases import trigger_execution_ms
from advisor.metrics.slopes import theil_sen
from advisor.statistics import mean, median, quantile, rank_correlation, rounded_up
from advisor.window import Window

FEWEST_FOR_FIT = 30
MOST_FOR_FIT = 400  # Theil-Sen looks at all pairs
ROWS_MUST_VARY = 1.2  # p90 / p10 of the rows
ROWS_FOLLOW_BATCH = 0.5  # rank correlation of rows with the interval before them
SAFETY = 1.3  # advised interval over the shortest stable one
FEWEST_FOR_P95, SAFETY_OF_FEW = 10, 2.0  # of fewer batches p95 is one of them, and a longer one will come
MOST_MORE_COMMITS = 10  # to which nobody is sent whose sink keeps the files of each batch
_KEEPS_NO_FILES = ("kafka", "console", "memory", "noop", "foreach")
USUAL_REAL_TIME_MS = 60_000.0
REAL_TIME_PAUSE_MS = 250.0  # between two batches of real-time mode: 124 to 222 ms on local disk
LONG_INTERVAL = 3.0  # times the interval that holds: from there on it is said though nobody named a target
WORTH_A_RESTART = 1.5  # times the advised interval, which is longer where few batches are there
NO_DURATION = Missing("no batch shows how long it took")
TOO_SHORT = Missing("batches take less than a millisecond, the least that Spark counts")


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
    chosen = present[sample(len(present))]
    rows, duration = rows[chosen], duration[chosen]
    low, beta, high = (max(0.0, end) for end in theil_sen(duration, rows).ends)
    low_a, mid_a, high_a = (max(0.0, float(np.median(duration - b * rows))) for b in (high, beta, low))
    return Estimate(low_a, mid_a, high_a), Estimate(low, beta, high)


def sample(count: int) -> np.ndarray:
    """Return which of so many batches a line is drawn through: all, or some at even distances."""
    return np.linspace(0, count - 1, min(count, MOST_FOR_FIT)).astype(int)


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
def fixed_cost_ms(window: Window) -> Estimate:
    """What a batch costs whatever its rows (alpha)."""
    return needed(fit(window))[0]


@window_metric("ms", label="the cost of 1,000 rows")
def cost_per_1000_rows_ms(window: Window) -> Estimate:
    """What 1000 more rows cost (1000 x beta)."""
    low, value, high = (1000 * end for end in needed(fit(window))[1].ends)
    return Estimate(low, value, high)


@window_metric("share", label="the fixed cost's share of the batch")
def fixed_cost_share(window: Window) -> Estimate | Missing:
    """Fixed cost over the mean batch."""
    fixed, whole = needed(fit(window))[0], mean(window.batches["trigger_execution_ms"])
    if not whole > 0:
        return NO_DURATION
    low, value, high = (end * (1 / whole) for end in fixed.ends)
    return Estimate(low, value, high)


@window_metric("ms", label="the shortest interval that can be kept")
def shortest_stable_interval_ms(window: Window) -> Estimate | Missing:
    """alpha / (1 - lambda x beta), lambda = rows per ms: the shortest interval that holds at this load."""
    fixed, per_row = needed(fit(window))
    interval = window.batches["interval_ms"]
    present = ~np.isnan(interval)
    load = float(np.nansum(window.batches["input_rows"][present]) / interval[present].sum())
    if load * per_row.safe >= 1:
        return Missing("at this load no interval holds: rows cost more time than passes between them")
    ends = [(a, load * b) for a, b in zip(fixed.ends, per_row.ends, strict=True)]
    low, value, high = (a / (1 - busy) if busy < 1 else math.inf for a, busy in ends)
    return Estimate(min(low, value), value, max(high, value))


@window_metric("ms", label="what the interval is too short by")
def interval_shortfall_ms(window: Window) -> Estimate:
    """Shortest stable interval less the trigger interval: above 0 the interval cannot be kept."""
    shortest, interval = needed(shortest_stable_interval_ms(window)), _interval(window)
    low, value, high = (end - interval for end in shortest.ends)
    return Estimate(low, value, high)


def _interval(window: Window) -> float:
    """The interval of the trigger as it is set; raises MissingError where it is not known."""
    interval = window.facts.number("trigger_interval_ms")
    if interval is None:
        raise MissingError(NO_INTERVAL)
    return interval


@window_metric("ms", label="the advised trigger interval")
def advised_interval_ms(window: Window) -> float:
    """1.3 x the shortest stable interval, or, where that cannot be fitted, 1.3 x p95 of the batch; rounded up.

    Of fewer than ten batches 2 x p95, rounded up to one figure: no more is known. A tenth of the set interval at least
    if the sink may keep files of each batch and no latency target is known: ten times as many files are
    enough for one step.
    """
    return advised_after_ms(window, 0.0)


def advised_after_ms(window: Window, shorter_ms: float) -> float:
    """Return the advised interval once batches are shorter by so much; raises MissingError if it is unknown."""
    holds = needed(holding_interval_ms(window, shorter_ms))
    figures = 1 if len(window) < FEWEST_FOR_P95 else 2
    return rounded_up(max(holds, _for_the_files_ms(window)), figures)


def holding_interval_ms(window: Window, shorter_ms: float = 0.0) -> float | Missing:
    """The shortest interval that batches keep: 1.3 x the stable one, or, where that cannot be fitted, 1.3 x p95.

    Of fewer than ten batches 2 x p95: a longer one may come. `shorter_ms`: by how much batches become shorter.
    """
    if not len(window):
        return NO_BATCHES
    p95 = quantile(window.batches["trigger_execution_ms"], 0.95)
    if np.isnan(p95):
        return NO_DURATION
    if p95 < 1:
        return TOO_SHORT
    shortest = shortest_stable_interval_ms(window)
    safety = SAFETY_OF_FEW if len(window) < FEWEST_FOR_P95 else SAFETY
    # A fit may leave no fixed cost at all; an interval of nothing is no advice, nor can anything be divided by it.
    if isinstance(shortest, Missing):
        return max(1.0, safety * (p95 - shorter_ms))
    fixed = needed(fit(window))[0].safe
    return max(1.0, SAFETY * shortest.safe * (max(0.0, 1 - shorter_ms / fixed) if fixed > 0 else 1.0))


def _for_the_files_ms(window: Window) -> float:
    """The interval that makes ten times the commits of the set one; 0 where files are no concern, or the target is."""
    if window.facts.value("sink") in _KEEPS_NO_FILES or window.facts.number("latency_target_ms") is not None:
        return 0.0
    return (window.facts.number("trigger_interval_ms") or 0.0) / MOST_MORE_COMMITS


@window_metric("ms", time="latency", label="the wait for a longer interval than needed")
def interval_wait_ms(window: Window) -> float:
    """Half of what the trigger interval is longer than the advised one: the mean wait that a record is spared.

    Batches that started sooner, as a few after a start do, spare no more than half of the time between them.
    """
    interval, advised = _interval(window), needed(advised_interval_ms(window))
    between = window.batches["interval_ms"]
    passed = median(between) if (~np.isnan(between)).any() else math.inf
    return max(0.0, min(interval, passed) - advised.safe) / 2


@window_metric("ratio", label="the interval over the one that would do")
def interval_over_advised(window: Window) -> float:
    """The trigger interval over the advised one."""
    return _interval(window) / needed(advised_interval_ms(window)).safe


@window_metric("share", label="the part of the interval that a batch uses")
def interval_used_share(window: Window) -> float:
    """The typical batch over the trigger interval."""
    interval, batch = _interval_and_batch(window)
    return batch / interval


@window_metric("ms", label="the time left in the interval")
def headroom_ms(window: Window) -> float:
    """What the typical batch leaves of the trigger interval; 0 when it takes longer."""
    interval, batch = _interval_and_batch(window)
    return max(0.0, interval - batch)


@window_metric("share", label="the headroom")
def headroom_share(window: Window) -> float:
    """How much more the typical batch may take before it outlasts the interval."""
    interval, batch = _interval_and_batch(window)
    return max(0.0, interval / max(batch, 1.0) - 1)


@window_metric("ratio", "count", label="times as many commits by the default trigger")
def commits_by_default(window: Window) -> float:
    """How many times as many batches, and commits, the default trigger would make: interval / typical batch."""
    interval, batch = _interval_and_batch(window)
    return interval / max(batch, 1.0)


def _interval_and_batch(window: Window) -> tuple[float, float]:
    """The trigger's interval and the typical batch, in ms; raises MissingError where one is not known."""
    batch, interval = needed(measure(window, trigger_execution_ms)), _interval(window)
    if not interval:
        raise MissingError(NO_INTERVAL)
    return interval, batch.safe


@window_metric("ms", time="latency", label="the wait for an interval many times as long as needed")
def unwanted_interval_wait_ms(window: Window) -> float | Estimate | Missing:
    """What a record waits for a longer interval than batches need.

    0 where a target is known and kept, and where rows wait for more rows, whatever the interval. Without a target 0
    where the interval is less than three times one that holds, or hardly longer than the advised one.
    """
    held, excess = held_back_wait_ms(window), latency_target_excess_ms(window)
    for_rows = isinstance(held, Estimate) and held.safe > 0
    kept = excess == NO_BACKLOG or (isinstance(excess, Estimate) and excess.safe <= 0)
    if for_rows or kept or ("latency_target_ms" not in window.facts and _is_usual(window)):
        return 0.0
    return interval_wait_ms(window)


def _is_usual(window: Window) -> bool:
    """Whether the interval is one that nobody minds: not long for its batches, or not to be much shortened."""
    interval, ratio = window.facts.number("trigger_interval_ms"), interval_over_advised(window)
    holds = holding_interval_ms(window)
    if interval is None or isinstance(ratio, Missing) or isinstance(holds, Missing):
        return False  # what is missing is said where the wait is
    return interval < LONG_INTERVAL * holds or ratio.safe < WORTH_A_RESTART


@window_metric("ms", time="latency", label="the advised length of a real-time batch")
def advised_real_time_interval_ms(window: Window) -> float:
    """How long a batch of real-time mode is to last: 1 minute, or 5 seconds where the target allows for its pause.

    Between two batches records wait for the pause (124 to 222 ms on local disk): measured p99 119 ms at 5 s, 7 ms at
    1 minute, 5.9 ms at 5 minutes. After a failure all since the last batch's end is processed again: at most
    `repeated_at_most_ms` where that is given, never under Spark's 5 seconds.
    """
    target, repeated = window.facts.number("latency_target_ms"), window.facts.number("repeated_at_most_ms")
    usual = SHORTEST_REAL_TIME_MS if target is not None and target >= REAL_TIME_PAUSE_MS else USUAL_REAL_TIME_MS
    return max(SHORTEST_REAL_TIME_MS, min(usual, repeated if repeated is not None else usual))
