"""A statistic of a metric, over one window."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from advisor.metrics.metric import AnyMetric, Bounds, Estimate, Quantiles, Values
from advisor.metrics.missing import NO_BATCHES, NOT_SEEN, Missing, needed
from advisor.statistics import known, sorted_quantile
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
    if type(value) is Missing or type(value) is Estimate:
        return value
    if type(value) is Quantiles:
        return Estimate.exactly(value.p99 if stat == "p99" else value.p50)
    arrays = (value.low, value.high) if isinstance(value, Bounds) else (value,)
    ends = [_statistic(window, values, metric, stat) for values in arrays]
    low, high = ends[0], ends[-1]
    if low is None or high is None:
        return Missing("no batch reports it")
    return Estimate(low, low if low == high else None, high, value.fact if isinstance(value, Bounds) else None)


def sure_part(number: Estimate | Missing) -> float:
    """Return what may be relied on of a number; 0 if unknown."""
    return number.safe if isinstance(number, Estimate) and math.isfinite(number.safe) else 0.0


def computed(window: Window, metric: AnyMetric) -> Values:
    """The metric over this window."""
    return untold(window, metric) or metric(window)


def untold(window: Window, metric: AnyMetric) -> Missing | None:
    """Why the metric has no value whatever it computes: there is no batch, or nothing shows jobs; None where it may."""
    return never_told(metric, window.batches.length > 0, window.opened)


def never_told(metric: AnyMetric, any_batches: bool, opened: bool) -> Missing | None:
    """Why the metric has no value in any window that has batches, or shows jobs, or not; None where it may."""
    if not any_batches and metric.per == "batch":
        return NO_BATCHES
    return NOT_SEEN if metric.inside and not opened else None


def typical(window: Window, metrics: Iterable[AnyMetric]) -> dict[str, Estimate]:
    """Measure those of the metrics whose values are known for each batch, by name: all summed at once."""
    values = {metric: metric(window) for metric in metrics if metric.per == "batch"}
    found = {metric: of_batches for metric, of_batches in values.items() if isinstance(of_batches, np.ndarray)}
    if not found:
        return {}
    ones = np.ones(len(window))
    parts = [metric.part(window) if metric.part else of_batches for metric, of_batches in found.items()]
    wholes = [metric.whole(window) if metric.whole else ones for metric in found]
    both = np.array([parts, wholes], dtype=np.float64).compress(window.middle, axis=2).sum(axis=2)
    sums = zip(found, *both.tolist(), strict=True)
    return {
        metric.name: Estimate.exactly(part / whole) for metric, part, whole in sums if whole > 0 and math.isfinite(part)
    }


def _statistic(window: Window, values: np.ndarray, metric: AnyMetric, stat: str) -> float | None:
    chosen = window.middle if stat == "typical" else slice(None)
    if metric.part is None or metric.whole is None or stat not in ("typical", "total"):
        found = known(values[chosen])
        return _PLAIN["mean" if stat in ("typical", "total") else stat](found) if len(found) else None
    part, whole = metric.part(window), needed(metric.whole(window))
    part = part if isinstance(part, np.ndarray) else values * whole  # one end of an interval
    present = ~np.isnan(part + whole)[chosen]
    total = float(whole[chosen][present].sum())
    return float(part[chosen][present].sum()) / total if total > 0 else None
