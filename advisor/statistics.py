"""Medians, quantiles, ranks and sums of arrays; faster for few numbers than numpy's own, and NaN is not known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def known(values: np.ndarray) -> np.ndarray:
    """Return the values without NaN."""
    return values[~np.isnan(values)]


def zero_filled(values: np.ndarray) -> np.ndarray:
    """Return the values with 0 where nothing is known."""
    return np.where(np.isnan(values), 0.0, values)


def above_zero(values: np.ndarray) -> np.ndarray:
    """Return the values with NaN where they are not above 0, so that they can divide."""
    return np.where(values > 0, values, np.nan)


def since_last(values: np.ndarray) -> np.ndarray:
    """Return by how much each value is larger than the one before; NaN for the first."""
    return np.concatenate([[np.nan], values[1:] - values[:-1]])[: len(values)]


def total(values: np.ndarray) -> float:
    """Return the sum of what is known."""
    return float(zero_filled(values).sum())


def mean(values: np.ndarray) -> float:
    """Return the mean of what is known; NaN of nothing."""
    found = known(values)
    return float(found.mean()) if len(found) else np.nan


def median(values: np.ndarray) -> float:
    """Return the median of what is known; NaN of nothing."""
    return quantile(values, 0.5)


def quantile(values: np.ndarray, at: float) -> float:
    """Return the quantile of what is known, between neighbours as numpy does it; NaN of nothing."""
    return sorted_quantile(np.sort(known(values)), at)


def middle(values: np.ndarray) -> float:
    """Return the median of numbers of which none is NaN, as numpy's own gives it; NaN of nothing."""
    half, odd = divmod(len(values), 2)
    ordered = np.sort(values)
    if odd:
        return float(ordered[half])
    return (float(ordered[half - 1]) + float(ordered[half])) / 2 if half else np.nan


def sorted_quantile(values: np.ndarray, at: float) -> float:
    """Return the quantile of values in order, none of them NaN; NaN of nothing."""
    if not len(values):
        return np.nan
    place = at * (len(values) - 1)
    low = int(place)
    below, above = values.item(low), values.item(min(low + 1, len(values) - 1))
    return float(below + (above - below) * (place - low))


def row_quantiles(rows: np.ndarray, at: Sequence[float]) -> np.ndarray:
    """Return the quantiles of what is known in each row, a row of them for each of `at`: all rows sorted at once."""
    ordered = np.sort(rows, axis=1)  # NaN comes last
    last = np.maximum(rows.shape[1] - np.isnan(ordered).sum(axis=1) - 1, 0)
    place = np.array(at)[:, np.newaxis] * last
    low = place.astype(np.intp)
    row = np.arange(len(rows))
    below, above = ordered[row, low], ordered[row, np.minimum(low + 1, last)]
    with np.errstate(invalid="ignore", over="ignore"):
        return below + (above - below) * (place - low)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value from 1; equal ones share the mean of theirs."""
    ordered = np.sort(values)
    return (ordered.searchsorted(values, "left") + ordered.searchsorted(values, "right") + 1) / 2


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Return the correlation of the ranks (Spearman) of pairs that are known; NaN where one of both is constant."""
    both = ~np.isnan(one) & ~np.isnan(other)
    x, y = ranks(one[both]), ranks(other[both])
    x, y = x - x.sum() / max(1, len(x)), y - y.sum() / max(1, len(y))
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread > 0 else np.nan


def any_above_zero(values: np.ndarray) -> bool:
    """Return whether a known value is not 0."""
    return bool(np.any(known(values)))


def rounded_up(value: float, figures: int = 2) -> float:
    """Return the next whole number with so many significant figures."""
    step = 10.0 ** max(0, math.floor(math.log10(max(value, 1.0))) + 1 - figures)
    return math.ceil(value / step - 1e-9) * step
