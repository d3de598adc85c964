"""A metric and a statistic of it, over one window."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from advisor.metrics.registry import Batchwise, Bounds, Estimate, Missing, Quantiles, Windowed, named
from advisor.window import Window

_PLAIN: dict[str, Callable[[np.ndarray], float]] = {
    "mean": lambda values: float(values.mean()),
    "p50": lambda values: float(np.median(values)),
    "p95": lambda values: float(np.quantile(values, 0.95)),
    "p99": lambda values: float(np.quantile(values, 0.99)),
    "max": lambda values: float(values.max()),
}
"""Of numbers without NaN. Arrays, not Series: a report asks hundreds of them of each query."""


def measure(window: Window, name: str, stat: str | None = None) -> Estimate | Missing:
    """One number of the window, with its interval, or why there is none.

    `typical` averages the batches between p25 and p75 of triggerExecution, `total` all of them; of a share both are
    the ratio of sums. A metric of the whole window takes no stat, but for a latency's p50 and p99.
    """
    metric, value = named(name), computed(window, name)
    if isinstance(value, Missing | Estimate):
        return value
    if isinstance(value, Quantiles):
        chosen = value.p99 if stat == "p99" else value.p50
        return Estimate(chosen, chosen, chosen)
    if isinstance(value, Bounds):
        low, high = (_statistic(window, end, name, stat or "typical") for end in (value.low, value.high))
        return _interval(low, high)
    if metric.part is not None and stat in ("typical", "total", None):
        return _ratio_of_sums(window, metric.part, metric.whole or "trigger_execution_ms", stat or "typical")
    number = _statistic(window, value, name, stat or "typical")
    return _exactly(number)


def measured(window: Window, name: str) -> object:
    """The metric's plain values, for tests and tables: Series, Bounds, Estimate, Quantiles or Missing."""
    return computed(window, name)


def computed(window: Window, name: str) -> Batchwise | Windowed:
    """The metric over this window, computed once."""
    metric = named(name)
    return (
        Missing("there are no steady batches") if not len(window) and metric.per == "batch" else metric.compute(window)
    )


def statistics(window: Window, name: str) -> dict[str, object]:
    """A metric as the report shows it: p50, p95, p99, typical and unit, or an interval, or why it is missing."""
    metric, value = named(name), computed(window, name)
    if isinstance(value, Missing):
        return {"missing": value.reason}
    if isinstance(value, Quantiles):
        return {"p50": _round(value.p50), "p99": _round(value.p99), "unit": metric.unit}
    if isinstance(value, Estimate | Bounds):
        estimate = measure(window, name)
        if isinstance(estimate, Missing):
            return {"missing": estimate.reason}
        return {
            "low": _round(estimate.low),
            "value": None if estimate.value is None else _round(estimate.value),
            "high": _round(estimate.high),
            "unit": metric.unit,
        }
    typical = measure(window, name, "typical")
    if isinstance(typical, Missing):
        return {"missing": typical.reason}
    ends = np.quantile(_known(value.to_numpy(dtype=float)), (0.50, 0.95, 0.99))
    shown = dict(zip(("p50", "p95", "p99"), map(_round, ends), strict=True))
    return shown | {"typical": _round(typical.safe), "unit": metric.unit}


def _statistic(window: Window, values: pd.Series[float], name: str, stat: str) -> float | None:
    metric = named(name)
    if metric.part is not None and stat in ("typical", "total"):
        whole = computed(window, metric.whole or "trigger_execution_ms")
        assert isinstance(whole, pd.Series)
        return _over(window, values * whole, whole, stat)
    numbers = values.to_numpy(dtype=float)
    known = _known(numbers[window.middle.to_numpy()] if stat == "typical" else numbers)
    return _PLAIN["mean" if stat in ("typical", "total") else stat](known) if len(known) else None


def _known(numbers: np.ndarray) -> np.ndarray:
    known: np.ndarray = numbers[~np.isnan(numbers)]
    return known


def _ratio_of_sums(window: Window, part: str, whole: str, stat: str) -> Estimate | Missing:
    above, below = computed(window, part), computed(window, whole)
    assert isinstance(above, pd.Series)
    assert isinstance(below, pd.Series)
    return _exactly(_over(window, above, below, stat))


def _over(window: Window, part: pd.Series[float], whole: pd.Series[float], stat: str) -> float | None:
    above, below = part.to_numpy(dtype=float), whole.to_numpy(dtype=float)
    known = ~np.isnan(above) & ~np.isnan(below)
    if stat == "typical":
        known &= window.middle.to_numpy()
    total = float(below[known].sum())
    return float(above[known].sum()) / total if total > 0 else None


def _interval(low: float | None, high: float | None) -> Estimate | Missing:
    if low is None or high is None:
        return Missing("no batch reports it")
    return Estimate(low, low if low == high else None, high)


def _exactly(number: float | None) -> Estimate | Missing:
    return Missing("no batch reports it") if number is None else Estimate(number, number, number)


def _round(number: float) -> float:
    """Six significant figures: more would be noise in a report."""
    return float(f"{number:.6g}")
