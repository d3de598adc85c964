"""A statistic of a metric, over one window."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from advisor.metrics.numbers import known
from advisor.metrics.registry import (
    NO_BATCHES,
    NOT_SEEN,
    AnyMetric,
    BatchMetric,
    Batchwise,
    Bounds,
    Estimate,
    Missing,
    Quantiles,
    Windowed,
)
from advisor.numbers import sorted_quantile
from advisor.window import Window

_PLAIN: dict[str, Callable[[np.ndarray], float]] = {
    "mean": lambda values: float(values.sum()) / len(values),
    "p50": lambda values: sorted_quantile(np.sort(values), 0.50),
    "p95": lambda values: sorted_quantile(np.sort(values), 0.95),
    "p99": lambda values: sorted_quantile(np.sort(values), 0.99),
    "max": lambda values: float(values.max()),
}
"""Of numbers without NaN."""


def measure(window: Window, metric: AnyMetric, stat: str | None = None) -> Estimate | Missing:
    """One number of the window, with its interval, or why there is none.

    `typical` averages the batches between p25 and p75 of triggerExecution, `total` all of them; of a share both are
    the ratio of sums. A metric of the whole window takes no stat, but for a latency's p50 and p99.
    """
    value, stat = computed(window, metric), stat or "typical"
    if isinstance(value, Missing | Estimate):
        return value
    if isinstance(value, Quantiles):
        chosen = value.p99 if stat == "p99" else value.p50
        return Estimate.exactly(chosen)
    if isinstance(value, Bounds):
        low, high = (_statistic(window, end, metric, stat) for end in (value.low, value.high))
        return _interval(low, high, value.fact)
    number = _of_sums(window, metric, stat) if _is_ratio(metric, stat) else _statistic(window, value, metric, stat)
    return _interval(number, number)


def computed(window: Window, metric: AnyMetric) -> Batchwise | Windowed:
    """The metric over this window."""
    return untold(window, metric) or metric(window)


def untold(window: Window, metric: AnyMetric) -> Missing | None:
    """Why the metric has no value whatever it computes: there is no batch, or nothing shows jobs; None where it may."""
    if metric.per == "batch" and not window.batches.length:
        return NO_BATCHES
    return NOT_SEEN if metric.inside and not window.opened else None


def typical(window: Window, values: Mapping[AnyMetric, Batchwise | Windowed]) -> dict[str, Estimate]:
    """Measure the metrics whose values are known for each batch, by name: all summed at once."""
    found = {metric: of_batches for metric, of_batches in values.items() if isinstance(of_batches, np.ndarray)}
    if not found:
        return {}
    ones = np.ones(len(window))
    parts = [_of_batches(window, metric.part) if metric.part else values for metric, values in found.items()]
    wholes = [_of_batches(window, metric.whole) if metric.part else ones for metric in found]
    both = np.array([parts, wholes], dtype=np.float64).compress(window.middle, axis=2).sum(axis=2)
    sums = zip(found, *both.tolist(), strict=True)
    return {
        metric.name: Estimate.exactly(part / whole) for metric, part, whole in sums if whole > 0 and math.isfinite(part)
    }


def _is_ratio(metric: AnyMetric, stat: str) -> bool:
    return metric.part is not None and stat in ("typical", "total")


def _statistic(window: Window, values: np.ndarray, metric: AnyMetric, stat: str) -> float | None:
    if _is_ratio(metric, stat):
        whole = _of_batches(window, metric.whole)
        return _over(window, values * whole, whole, stat)
    found = known(values[window.middle] if stat == "typical" else values)
    return _PLAIN["mean" if stat in ("typical", "total") else stat](found) if len(found) else None


def _of_sums(window: Window, metric: AnyMetric, stat: str) -> float | None:
    return _over(window, _of_batches(window, metric.part), _of_batches(window, metric.whole), stat)


def _of_batches(window: Window, metric: BatchMetric | None) -> np.ndarray:
    assert metric is not None
    values = metric(window)
    assert isinstance(values, np.ndarray)
    return values


def _over(window: Window, part: np.ndarray, whole: np.ndarray, stat: str) -> float | None:
    present = ~np.isnan(part + whole)
    if stat == "typical":
        present &= window.middle
    total = float(whole[present].sum())
    return float(part[present].sum()) / total if total > 0 else None


def _interval(low: float | None, high: float | None, fact: str | None = None) -> Estimate | Missing:
    if low is None or high is None:
        return Missing("no batch reports it")
    return Estimate(low, low if low == high else None, high, fact)
