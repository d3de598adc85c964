"""Moving-block bootstrap: how far a statistic could lie from where it was seen, when batches follow each other."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import NormalDist

import numpy as np

from advisor.contract import Interval

DRAWS = 999
SEED = 45084  # fixed, so that the same logs give the same report
CONFIDENCE = 0.95
FEWEST_BLOCKS = 4
BLOCK_EXPONENT = 0.6  # shortest block: batches to this power; on recorded runs shorter ones gave too narrow intervals
_CHUNK = 100_000  # numbers held at once: little enough for a cache
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_HALVINGS = 80


@dataclass(frozen=True)
class Level:
    """A number of a window, and the values that it could have had instead: `draws` by bootstrap, around `value`."""

    value: float
    draws: np.ndarray

    def __sub__(self, other: Level) -> Level:
        """The difference; both must come from independent draws."""
        return Level(self.value - other.value, self.draws - other.draws)

    def over(self, other: Level) -> Level:
        """The ratio; NaN where `other` is not above 0."""
        positive = np.where(other.draws > 0, other.draws, np.nan)
        return Level(self.value / other.value if other.value > 0 else math.nan, self.draws / positive)

    def interval(self) -> Interval:
        """The value with the percentiles of its draws (95 %); the value always lies inside."""
        tail = (1 - CONFIDENCE) / 2
        low, high = np.nanquantile(self.draws, [tail, 1 - tail])
        return Interval(low=min(float(low), self.value), value=self.value, high=max(float(high), self.value))


@dataclass(frozen=True)
class Blocks:
    """How a series of `batches` is cut: blocks of `length`, drawn from a `stream` that only depends on the series."""

    batches: int
    length: int
    stream: int

    @cached_property
    def stretch(self) -> float:
        """What draws are stretched by: few blocks know their own spread badly.

        Student's t over the normal quantile and sqrt(k / (k - 1)), as for batch means with k blocks (Law and Kelton,
        Simulation Modeling and Analysis, 9.5.3).
        """
        blocks = max(self.batches / self.length, 2.0)
        tail = (1 + CONFIDENCE) / 2
        return float(math.sqrt(blocks / (blocks - 1)) * students_t(tail, blocks - 1) / NormalDist().inv_cdf(tail))

    def weights(self) -> Iterator[np.ndarray]:
        """How often each batch is drawn: DRAWS rows of `batches` numbers, some rows at a time.

        Blocks of neighbours, the first batch following the last (Kuensch 1989; on a circle Politis and Romano 1992,
        so that the ends count as much as the middle).
        """
        rng = np.random.default_rng([SEED, self.stream])
        starts = rng.integers(0, self.batches, (DRAWS, -(-self.batches // self.length)))
        rows = max(1, _CHUNK // self.batches)
        for first in range(0, DRAWS, rows):
            yield _occurrences(starts[first : first + rows], self.batches, self.length)

    def around(self, value: float, draws: np.ndarray) -> Level:
        """The level at `value`: draws moved to it and stretched."""
        return Level(value, value + self.stretch * (draws - draws.mean()))


def blocks(series: np.ndarray) -> Blocks:
    """Return blocks for a series: as long as its memory requires, and at least four of them."""
    batches = len(series)
    length = max(memory(series), batches**BLOCK_EXPONENT)
    fitting = max(1, min(math.ceil(length), batches // FEWEST_BLOCKS))
    return Blocks(batches, fitting, zlib.crc32(series.astype("<f8").tobytes()))


def _occurrences(starts: np.ndarray, batches: int, length: int) -> np.ndarray:
    draws = len(starts)
    begun = np.bincount((starts + np.arange(draws)[:, None] * batches).ravel(), minlength=draws * batches)
    begun = begun.reshape(draws, batches)
    # A batch is drawn by every block that began up to `length` batches before it.
    total = np.cumsum(np.concatenate([begun[:, batches - length :], begun], axis=1), axis=1)
    counts: np.ndarray = (total[:, length:] - total[:, :-length]).astype(float)
    return counts


def memory(series: np.ndarray) -> float:
    """Return the block length that a series' memory requires, in batches.

    Politis and White, Econometric Reviews 23 (2004), corrected by Patton, Politis and White 28 (2009), for circular
    blocks: (2 G^2 / D)^(1/3) n^(1/3), D = 4/3 g(0)^2, flat-top window over twice the lag from which on correlations
    are below 2 sqrt(log10(n) / n).
    """
    n = len(series)
    if n < 2 * FEWEST_BLOCKS or not series.std() > 0:
        return 1.0
    most = min(math.ceil(math.sqrt(n)) + _quiet_lags(n), n - 1)
    centred = series - series.mean()
    covariance = np.array([centred[lag:] @ centred[: n - lag] for lag in range(most + 1)]) / n
    reach = min(2 * max(_last_lag(covariance / covariance[0], n), 1), most)
    lags = np.arange(-reach, reach + 1)
    tapered = np.clip(2 * (1 - np.abs(lags) / reach), 0, 1) * covariance[np.abs(lags)]
    spread, level = float((np.abs(lags) * tapered).sum()), float(tapered.sum())
    return float((1.5 * (spread / level) ** 2 * n) ** (1 / 3)) if level > 0 else 1.0


def _quiet_lags(n: int) -> int:
    return max(5, math.ceil(math.sqrt(math.log10(n))))


def _last_lag(correlation: np.ndarray, n: int) -> int:
    """Return the lag after which five or more correlations in a row are noise, else the last significant one."""
    loud = np.abs(correlation) >= 2 * math.sqrt(math.log10(n) / n)
    quiet = _quiet_lags(n)
    for lag in range(1, len(correlation) - quiet + 1):
        if not loud[lag : lag + quiet].any():
            return lag - 1
    return int(np.flatnonzero(loud).max())


@cache
def students_t(probability: float, free: float) -> float:
    """The quantile of Student's t at this probability, at least 0.5 and below 1, with `free` >= 1 degrees of freedom.

    With x = sqrt(free) tan(a) the density becomes cos(a) ** (free - 1), which a Gauss-Legendre rule integrates to the
    last digits; the angle is then found by halving.
    """
    scale = math.exp(math.lgamma((free + 1) / 2) - math.lgamma(free / 2)) / math.sqrt(math.pi)
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        angle = (low + high) / 2
        below = scale * angle / 2 * float(_NODE_WEIGHTS @ np.cos(angle / 2 * (_NODES + 1)) ** (free - 1))
        low, high = (angle, high) if below < probability - 0.5 else (low, angle)
    return math.sqrt(free) * math.tan((low + high) / 2)
