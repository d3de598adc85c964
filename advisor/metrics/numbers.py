"""Statistics of numbers of which some are not known, and facts that are numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from advisor.numbers import ranks, sorted_quantile
from advisor.window import Window


def known(values: np.ndarray) -> np.ndarray:
    """The values without NaN."""
    found: np.ndarray = values[~np.isnan(values)]
    return found


def quantile(values: np.ndarray, at: float) -> float:
    """The quantile of what is known, between neighbours as numpy does it; NaN of nothing."""
    return sorted_quantile(np.sort(known(values)), at)


def row_quantiles(rows: np.ndarray, at: Sequence[float]) -> np.ndarray:
    """The same of each row, all rows sorted at once: a row of quantiles for each of `at`."""
    ordered = np.sort(rows, axis=1)  # NaN comes last
    last = np.maximum(rows.shape[1] - np.isnan(ordered).sum(axis=1) - 1, 0)
    place = np.array(at)[:, np.newaxis] * last
    low = place.astype(np.intp)
    row, high = np.arange(len(rows)), np.minimum(low + 1, last)
    below, above = ordered[row, low], ordered[row, high]
    with np.errstate(invalid="ignore", over="ignore"):
        between: np.ndarray = below + (above - below) * (place - low)
    return between


def median(values: np.ndarray) -> float:
    """The median of what is known; NaN of nothing."""
    return quantile(values, 0.5)


def mean(values: np.ndarray) -> float:
    """The mean of what is known; NaN of nothing."""
    found = known(values)
    return float(found.mean()) if len(found) else np.nan


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Correlation of the ranks (Spearman) of numbers of which both are known; NaN where one of both is constant."""
    both = ~np.isnan(one) & ~np.isnan(other)
    x, y = ranks(one[both]), ranks(other[both])
    x, y = x - x.sum() / max(1, len(x)), y - y.sum() / max(1, len(y))
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread > 0 else np.nan


def any_above_zero(values: np.ndarray) -> bool:
    """Whether a known value is not 0."""
    return bool(np.any(known(values)))


def fact_number(window: Window, name: str) -> float | None:
    """A fact of this run as a number; None where it is not known, or is none."""
    value = window.facts.value(name)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def fixed_interval_ms(window: Window) -> float | None:
    """The interval of the trigger, where it has one."""
    fixed = window.facts.value("trigger") == "processing_time"
    return fact_number(window, "trigger_interval_ms") if fixed else None
