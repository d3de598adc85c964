"""Metrics as the report holds them: their statistics, or an interval, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from advisor import contract
from advisor.metrics.index import METRICS, measure, measured
from advisor.metrics.numbers import row_quantiles
from advisor.metrics.registry import Bounds, Estimate, Missing, Quantiles
from advisor.window import Window

ENDS = (0.50, 0.95, 0.99)


def statistics(window: Window, names: Iterable[str]) -> dict[str, contract.Metric]:
    """Return each of these metrics as the report holds it."""
    values = {name: measured(window, name) for name in names}
    ends = _ends({name: value for name, value in values.items() if isinstance(value, np.ndarray)})
    return {
        name: _missing(value.reason) if isinstance(value, Missing) else _told(window, name, value, ends.get(name))
        for name, value in values.items()
    }


def _ends(values: Mapping[str, np.ndarray]) -> dict[str, list[float]]:
    """p50, p95 and p99 of each metric that has a value per batch."""
    rows = np.array(list(values.values()), dtype=np.float64)
    return dict(zip(values, row_quantiles(rows, ENDS).T.tolist(), strict=True)) if len(rows) else {}


def _told(
    window: Window, name: str, value: np.ndarray | Bounds | Estimate | Quantiles, ends: Sequence[float] | None
) -> contract.Metric:
    unit = METRICS[name].unit
    if isinstance(value, Quantiles):
        return _spread(unit, _round(value.p50), None, _round(value.p99), None)
    typical = measure(window, name)
    if isinstance(typical, Missing):
        return _missing(typical.reason)
    if ends is not None:
        return _spread(unit, *map(_round, ends), _round(typical.safe))
    exact = None if typical.value is None else _round(typical.value)
    return _between(unit, _round(typical.low), exact, _round(typical.high))


# Metrics are most of a report's memory, and of many runs many are alike: these are one object.
_shared = lru_cache(maxsize=4096)


@_shared
def _missing(reason: str) -> contract.Metric:
    return contract.Metric(missing=reason)


@_shared
def _between(unit: str, low: float | None, value: float | None, high: float | None) -> contract.Metric:
    return contract.Metric(low=low, value=value, high=high, unit=unit)


@_shared
def _spread(
    unit: str, p50: float | None, p95: float | None, p99: float | None, typical: float | None
) -> contract.Metric:
    return contract.Metric(p50=p50, p95=p95, p99=p99, typical=typical, unit=unit)


def _round(number: float) -> float | None:
    """Round to six significant figures: more would be noise in a report. None of infinity, which JSON has not."""
    number = float(number)
    if number.is_integer() and abs(number) < _SIX_FIGURES:
        return number + 0.0  # no -0.0, which is equal to 0.0
    return float(f"{number:.6g}") + 0.0 if math.isfinite(number) else None


_SIX_FIGURES = 1e6
