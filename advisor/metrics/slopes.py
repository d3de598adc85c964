"""Trends that single outliers do not move: the Theil-Sen slope and Kendall's test."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Final

import numpy as np

from advisor.metrics.metric import Estimate
from advisor.metrics.missing import Missing
from advisor.statistics import middle, rank_correlation

_NORMAL_975: Final = NormalDist().inv_cdf(0.975)
FEWEST_FOR_TREND = 10  # Kendall's test at 1 % then asks for a rank correlation of 0.6
MAY_BE_TREND = 2.0  # rank correlation in standard errors below which Kendall's test at 1 % sees nothing either
MOST_POINTS = 200  # a trend is taken over at most this many medians: its cost grows with the square


def trend(at: np.ndarray, values: np.ndarray) -> Estimate | Missing:
    """Change of `values` per unit of `at` with its 95 % interval, over at most 200 medians of neighbours."""
    present = np.isfinite(at) & np.isfinite(values)
    at, values = at[present], values[present]
    if len(at) < FEWEST_FOR_TREND:
        return Missing(f"a trend needs {FEWEST_FOR_TREND} batches, there are {len(at)}")
    x, y = _thinned(at), _thinned(values)
    varies = np.ptp(x) > 0 and np.ptp(y) > 0
    may_be = varies and abs(rank_correlation(x, y)) * math.sqrt(len(x) - 1) >= MAY_BE_TREND
    return theil_sen(y, x) if may_be and kendall_p_value(x, y) < 0.01 else Estimate.exactly(0.0)


def _thinned(values: np.ndarray) -> np.ndarray:
    """The values, or the medians of MOST_POINTS groups of neighbours."""
    if len(values) <= MOST_POINTS:
        return values
    return np.array([middle(group) for group in np.array_split(values, MOST_POINTS)])


def theil_sen(values: np.ndarray, at: np.ndarray) -> Estimate:
    """The median of the slopes between any two points, with its 95 % interval (Sen 1968, with his account of ties).

    At least two values of `at` must differ. Takes memory with the square of the number of points.
    """
    apart = at[:, None] - at
    later = apart > 0
    slopes = np.sort((values[:, None] - values)[later] / apart[later])
    ties = _of_ties(at, _spread) + _of_ties(values, _spread)
    half = _NORMAL_975 * math.sqrt(max(0.0, _spread(len(values)) - ties))
    low = max(round((len(slopes) - half) / 2) - 1, 0)
    high = min(round((len(slopes) + half) / 2), len(slopes) - 1)
    return Estimate(float(slopes[low]), float(np.median(slopes)), float(slopes[high]))


def kendall_p_value(one: np.ndarray, other: np.ndarray) -> float:
    """The probability of an order as strong as this, up or down, where there is none (Kendall's tau-b, two-sided).

    Neither may be constant. By the normal distribution, as Kendall (Rank Correlation Methods, 4.6) takes ties into
    account; from ten values on it decides as counting orders does, but for chances of 0.98 to 1 %.
    """
    order = np.triu(np.sign(one[:, None] - one) * np.sign(other[:, None] - other), 1).sum()
    count = len(one)
    pairs = count * (count - 1)
    variance = _spread(count) - _of_ties(one, _spread) - _of_ties(other, _spread)
    variance += _of_ties(one, _pairs) * _of_ties(other, _pairs) / (2 * pairs)
    variance += _of_ties(one, _triples) * _of_ties(other, _triples) / (9 * pairs * (count - 2))
    return math.erfc(abs(order) / math.sqrt(2 * variance)) if variance > 0 else 1.0


def _of_ties(values: np.ndarray, term: Callable[[int], float]) -> float:
    """The sum of a term over the groups of equal values."""
    counts = np.unique(values, return_counts=True)[1]
    return float(sum(term(int(tied)) for tied in counts if tied > 1))


def _spread(count: int) -> float:
    return count * (count - 1) * (2 * count + 5) / 18


def _pairs(count: int) -> float:
    return count * (count - 1)


def _triples(count: int) -> float:
    return count * (count - 1) * (count - 2)
