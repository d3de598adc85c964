"""How long a record waits until its result is visible, from progress alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from advisor.metrics.flow import backlog_ms
from advisor.metrics.phases import DISCOVERY, summed
from advisor.metrics.registry import Estimate, Missing, Quantiles, Windowed, window_metric
from advisor.window import Window

VISIBLE_BEFORE_END = 1 / 3
"""Of addBatch: how long before its end the typical row was in Kafka (local broker, 110 batches, four settings)."""
ONE_SHOT = {
    "once": "a one-shot trigger: records wait for the next start, which progress does not show",
    "available_now": "a one-shot trigger: records wait for the next start, which progress does not show",
    "continuous": "continuous processing writes no progress",
    "real_time": "in real-time mode the trigger's length is no latency",
}


@window_metric("ms", time="latency")
def record_latency_ms(window: Window) -> Windowed:
    """Record created -> result visible, p50 and p99.

    A batch takes what came until latestOffset asked, half way through that phase; its rows came uniformly over the gap
    g to the trigger before, and are visible when the sink has written them: latencies are uniform over [v, v + g], v =
    triggerExecution - latestOffset / 2 - commitOffsets, mixed over the batches by rows. Without state, rows reach Kafka
    while the tasks run, by measurement a third of addBatch before its end. A backlog comes on top: rows that wait over
    the pace at which the query takes them: what records wait that come now. They are taken to reach the source at once.
    """
    return latency_quantiles(window, (0.50, 0.99))


def latency_quantiles(window: Window, at: tuple[float, ...]) -> Quantiles | Missing:
    """The mixture's quantiles, or why there is none."""
    mixed = mixture(window)
    if isinstance(mixed, Missing):
        return mixed
    median, high = mixture_quantiles(mixed.start, mixed.width, mixed.rows, at)
    return Quantiles(median, high)


class Mixture(NamedTuple):
    """Record latency per batch: uniform over [start, start + width] in ms, weighed by rows.

    `known`: which of the window's batches tell; the other arrays hold one number for each of these.
    """

    start: np.ndarray
    width: np.ndarray
    rows: np.ndarray
    known: np.ndarray


def mixture(window: Window) -> Mixture | Missing:
    """What each batch says of the record latency, or why it cannot be told."""
    if (reason := _not_estimable(window)) is not None:
        return reason
    frame = window.batches
    known = (frame["interval_ms"].notna() & frame["trigger_execution_ms"].notna()).to_numpy()
    if not known.any():
        return Missing("the time between batches is not known")
    visible = (frame["trigger_execution_ms"] - _not_waited(window)).clip(lower=0).to_numpy()
    rows, width = frame["input_rows"].fillna(1).to_numpy(), frame["interval_ms"].to_numpy()
    return Mixture((visible + _waited(window))[known], width[known], rows[known], known)


def mixture_quantiles(
    start: np.ndarray, width: np.ndarray, weight: np.ndarray, at: tuple[float, ...]
) -> tuple[float, ...]:
    """Quantiles of a mixture of uniform distributions over [start, start + width], by bisection to 0.1."""
    weight = weight / weight.sum()
    width = np.maximum(width, 1e-9)

    def quantile(wanted: float) -> float:
        low, high = float(start.min()), float((start + width).max())
        while high - low > 0.1:
            middle = (low + high) / 2
            below = float(weight @ np.clip((middle - start) / width, 0, 1))
            low, high = (middle, high) if below < wanted else (low, middle)
        return (low + high) / 2

    return tuple(quantile(wanted) for wanted in at)


def _not_waited(window: Window) -> pd.Series[float]:
    """What of each trigger lies before its last record came, or after the typical record was visible."""
    asking, after = summed(window, DISCOVERY), summed(window, ("commit_offsets_ms",))
    return asking / 2 + after + _while_written(window) * summed(window, ("add_batch_ms",))


def _while_written(window: Window) -> float:
    streams = _fact(window, "sink") == "kafka" and _fact(window, "stateful") is False and window.operators.empty
    return VISIBLE_BEFORE_END if streams else 0.0


def _waited(window: Window) -> np.ndarray:
    """The backlog's age per batch; a source that does not report a backlog is taken to have none."""
    age = backlog_ms(window)
    if not isinstance(age, pd.Series):
        return np.zeros(len(window))
    return age.fillna(0).to_numpy(dtype=float)


def _not_estimable(window: Window) -> Missing | None:
    value = _fact(window, "trigger")
    if value in ONE_SHOT:
        return Missing(f"record latency cannot be told from progress: {ONE_SHOT[str(value)]}")
    if len(window) == 0:
        return Missing("there are no steady batches")
    stateful = _fact(window, "stateful") is True or not window.operators.empty
    if not (stateful and _fact(window, "watermarked")):
        return None
    mode = _fact(window, "output_mode")
    if mode is None:
        return Missing("in append mode results wait for the watermark; the output mode is not known", "output_mode")
    if mode == "append":
        return Missing("in append mode results wait for window and watermark, not for the batch")
    return None


def _fact(window: Window, name: str) -> object:
    known = window.facts.get(name)
    return None if known is None else known.value


@window_metric("ms", time="latency")
def latency_target_excess_ms(window: Window) -> Windowed:
    """p99 of the record latency less the target: above 0 the target is missed."""
    target = window.facts.get("latency_target_ms")
    if target is None:
        return Missing("no target for the record latency is known", "latency_target_ms")
    latency = record_latency_ms(window)
    if not isinstance(latency, Quantiles):
        return latency
    excess = latency.p99 - float(target.value)
    return Estimate(excess, excess, excess)


@window_metric("share", time="latency")
def latency_over_target_share(window: Window) -> Windowed:
    """How much of the p99 record latency lies above the target."""
    excess = latency_target_excess_ms(window)
    latency = record_latency_ms(window)
    if not isinstance(excess, Estimate) or not isinstance(latency, Quantiles):
        return excess
    share = max(0.0, excess.safe / latency.p99)
    return Estimate(share, share, share)
