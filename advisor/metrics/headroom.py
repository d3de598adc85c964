"""What a fixed trigger interval leaves free, and what a record waits for it."""

from __future__ import annotations

from advisor.metrics.cost import holding_interval_ms, interval_over_advised, interval_wait_ms
from advisor.metrics.flow import held_back_wait_ms
from advisor.metrics.latency import latency_target_excess_ms
from advisor.metrics.measure import measure
from advisor.metrics.numbers import fact_number
from advisor.metrics.phases import trigger_execution_ms
from advisor.metrics.registry import Estimate, Missing, Windowed, window_metric
from advisor.window import Window

LONG_INTERVAL = 3.0  # times the interval that holds: from there on it is said though nobody named a target
WORTH_A_RESTART = 1.5  # times the advised interval, which is longer where few batches are there


def _interval_and_batch(window: Window) -> tuple[float, float] | Missing:
    """The trigger's interval and the typical batch, in ms."""
    interval, batch = fact_number(window, "trigger_interval_ms"), measure(window, trigger_execution_ms, "typical")
    if isinstance(batch, Missing):
        return batch
    if not interval:
        return Missing("the trigger interval is not known", "trigger_interval_ms")
    return interval, batch.safe


@window_metric("share", label="the part of the interval that a batch uses")
def interval_used_share(window: Window) -> Windowed:
    """The typical batch over the trigger interval."""
    known = _interval_and_batch(window)
    return known if isinstance(known, Missing) else Estimate.exactly(known[1] / known[0])


@window_metric("ms", label="the time left in the interval")
def headroom_ms(window: Window) -> Windowed:
    """What the typical batch leaves of the trigger interval; 0 when it takes longer."""
    known = _interval_and_batch(window)
    return known if isinstance(known, Missing) else Estimate.exactly(max(0.0, known[0] - known[1]))


@window_metric("share", label="the headroom")
def headroom_share(window: Window) -> Windowed:
    """How much more the typical batch may take before it outlasts the interval."""
    known = _interval_and_batch(window)
    return known if isinstance(known, Missing) else Estimate.exactly(max(0.0, known[0] / max(known[1], 1.0) - 1))


@window_metric("ratio", "count", label="times as many commits by the default trigger")
def commits_by_default(window: Window) -> Windowed:
    """How many times as many batches, and commits, the default trigger would make: interval / typical batch."""
    known = _interval_and_batch(window)
    return known if isinstance(known, Missing) else Estimate.exactly(known[0] / max(known[1], 1.0))


@window_metric("ms", time="latency", label="the wait for an interval many times as long as needed")
def unwanted_interval_wait_ms(window: Window) -> Windowed:
    """What a record waits for a longer interval than batches need.

    0 where a target is known and kept, and where rows wait for more rows, whatever the interval. Without a target 0
    where the interval is less than three times one that holds, or hardly longer than the advised one.
    """
    held = held_back_wait_ms(window)
    if isinstance(held, Estimate) and held.safe > 0:
        return Estimate.exactly(0.0)
    excess = latency_target_excess_ms(window)
    if isinstance(excess, Estimate) and excess.safe <= 0:
        return Estimate.exactly(0.0)
    if "latency_target_ms" not in window.facts and _is_usual(window):
        return Estimate.exactly(0.0)
    return interval_wait_ms(window)


def _is_usual(window: Window) -> bool:
    """Whether the interval is one that nobody minds: not long for its batches, or not to be much shortened."""
    interval, ratio = fact_number(window, "trigger_interval_ms"), interval_over_advised(window)
    holds = holding_interval_ms(window)
    if interval is None or not isinstance(ratio, Estimate) or isinstance(holds, Missing):
        return False  # what is missing is said where the wait is
    return interval < LONG_INTERVAL * holds or ratio.safe < WORTH_A_RESTART
