"""Quantiles of Student's t."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_HALVINGS = 80


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
        below = scale * angle / 2 * float(_WEIGHTS @ np.cos(angle / 2 * (_NODES + 1)) ** (free - 1))
        low, high = (angle, high) if below < probability - 0.5 else (low, angle)
    return math.sqrt(free) * math.tan((low + high) / 2)
