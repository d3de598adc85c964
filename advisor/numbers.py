"""Medians, ranks and sums of few numbers, faster than numpy's own because those cost more before they begin."""

from __future__ import annotations

import numpy as np


def middle(values: np.ndarray) -> float:
    """The median of numbers of which none is NaN, as numpy's own gives it; NaN of nothing."""
    half, odd = divmod(len(values), 2)
    ordered = np.sort(values)
    if odd:
        return float(ordered[half])
    return (float(ordered[half - 1]) + float(ordered[half])) / 2 if half else np.nan


def sorted_quantile(values: np.ndarray, at: float) -> float:
    """The quantile of values in order, none of them NaN, between neighbours as numpy does it; NaN of nothing."""
    if not len(values):
        return np.nan
    place = at * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    below, above = values.item(low), values.item(high)
    return float(below + (above - below) * (place - low))


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value from 1; equal ones share the mean of theirs."""
    ordered = np.sort(values)
    shared: np.ndarray = (ordered.searchsorted(values, "left") + ordered.searchsorted(values, "right") + 1) / 2
    return shared


def zero_filled(values: np.ndarray) -> np.ndarray:
    """The values with 0 where nothing is known."""
    return np.where(np.isnan(values), 0.0, values)


def total(values: np.ndarray) -> float:
    """The sum of what is known."""
    return float(zero_filled(values).sum())
