"""Metrics as the report tells them: their statistics, or an interval, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from advisor import contract
from advisor.metrics.named import METRICS, measure, measured
from advisor.metrics.numbers import row_quantiles
from advisor.metrics.registry import Batchwise, Missing, Quantiles, Windowed
from advisor.window import Window

ENDS = (0.50, 0.95, 0.99)


def statistics(window: Window, names: Iterable[str]) -> dict[str, contract.Metric]:
    """Each of these metrics as the report tells it."""
    values = {name: measured(window, name) for name in names}
    ends = _ends({name: value for name, value in values.items() if isinstance(value, np.ndarray)})
    return {name: _told(window, name, value, ends.get(name)) for name, value in values.items()}


def _ends(values: Mapping[str, np.ndarray]) -> dict[str, list[float]]:
    """p50, p95 and p99 of each metric that has a value per batch."""
    rows = np.array(list(values.values()), dtype=np.float64)
    return dict(zip(values, row_quantiles(rows, ENDS).T.tolist(), strict=True)) if len(rows) else {}


def _told(window: Window, name: str, value: Batchwise | Windowed, ends: Sequence[float] | None) -> contract.Metric:
    if isinstance(value, Missing):
        return _missing(value.reason)
    unit = METRICS[name].unit
    if isinstance(value, Quantiles):
        return contract.Metric(p50=_round(value.p50), p99=_round(value.p99), unit=unit)
    typical = measure(window, name)
    if isinstance(typical, Missing):
        return _missing(typical.reason)
    if ends is not None:
        p50, p95, p99 = map(_round, ends)
        return contract.Metric(p50=p50, p95=p95, p99=p99, typical=_round(typical.safe), unit=unit)
    return contract.Metric(
        low=_round(typical.low),
        value=None if typical.value is None else _round(typical.value),
        high=_round(typical.high),
        unit=unit,
    )


@lru_cache(maxsize=4096)  # most runs lack the same for the same reasons: in a fleet a third of the memory
def _missing(reason: str) -> contract.Metric:
    return contract.Metric(missing=reason)


def _round(number: float) -> float | None:
    """Six significant figures: more would be noise in a report. None of infinity, which JSON has not."""
    return float(f"{number:.6g}") if math.isfinite(number) else None
