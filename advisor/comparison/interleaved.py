"""Runs in the order A B B A: an effect with an interval across runs, which sees how one start differs from the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from advisor.comparison.bootstrap import CONFIDENCE, students_t
from advisor.comparison.effect import close_ms, made_of, same
from advisor.contract import Effect, Interval
from advisor.errors import UsageError

Arm = Literal["A", "B"]
FEWEST_RUNS = 4
_NUISANCES = 3  # level, effect, drift


@dataclass(frozen=True)
class Trial:
    """B against A. `drift_ms`: how far both moved from the first run to the last, taken out of the effect."""

    effect: Effect
    runs: int
    drift_ms: float

    @property
    def decided(self) -> bool:
        """Whether there is a difference that is more than noise, or surely none of 5 %."""
        return self.effect.told or same(self.effect)

    @property
    def runs_needed(self) -> int:
        """Runs, a multiple of 4, after which the interval is expected to reach 5 % to either side.

        Its width shrinks with the square root of the runs: the second stage of Stein's procedure (Annals of
        Mathematical Statistics 16, 1945). 0 where a mean is not above 0.
        """
        close = close_ms(self.effect)
        half = (self.effect.difference_ms.high - self.effect.difference_ms.low) / 2
        return FEWEST_RUNS * math.ceil(self.runs * (half / close) ** 2 / FEWEST_RUNS) if close > 0 else 0


def order(runs: int) -> list[Arm]:
    """Which arm each run takes: A B B A, then B A A B, and so on, so that a steady drift favours neither.

    Raises UsageError unless `runs` is a positive multiple of 4.
    """
    if runs < FEWEST_RUNS or runs % FEWEST_RUNS:
        raise UsageError("runs", f"{runs} is not a multiple of {FEWEST_RUNS}", f"use {max(1, round(runs / 4)) * 4}")
    block: list[Arm] = ["A", "B", "B", "A", "B", "A", "A", "B"]
    return [block[run % len(block)] for run in range(runs)]


def interleaved(runs: Sequence[tuple[Arm, float]], name: str = "triggerExecution", stat: str = "typical") -> Trial:
    """The effect of B from the levels of single runs (ms), in the order in which they ran.

    Least squares of level = a + effect x [B] + drift x position; the interval is Student's t with runs - 3 degrees of
    freedom (Draper and Smith, Applied Regression Analysis, 5.1). The share is taken of A's mean. Raises UsageError for
    fewer than 4 runs, or where the order cannot part effect from drift.
    """
    position = np.arange(len(runs)) - (len(runs) - 1) / 2
    is_b = np.array([arm == "B" for arm, _ in runs], dtype=float)
    design = np.column_stack([np.ones(len(runs)), is_b, position])
    if len(runs) < FEWEST_RUNS or np.linalg.matrix_rank(design) < _NUISANCES:
        raise UsageError("runs", f"{''.join(arm for arm, _ in runs) or 'none'} gives no effect", "use A B B A")
    level = np.array([ms for _, ms in runs], dtype=float)
    fitted = np.linalg.lstsq(design, level, rcond=None)[0]
    half = _half_width(design, level - design @ fitted)
    base, found = float(level[is_b == 0].mean()), float(fitted[1])
    difference = Interval(low=found - half, value=found, high=found + half)
    of_base = [ms / base for ms in (difference.low, found, difference.high)] if base > 0 else []
    share = Interval(low=of_base[0], value=of_base[1], high=of_base[2]) if of_base else None
    drift = float(fitted[2]) * (len(runs) - 1)
    return Trial(made_of(name, stat, (base, base + found), difference, share), len(runs), drift)


def _half_width(design: np.ndarray, residual: np.ndarray) -> float:
    """Half of the 95 % interval of the second coefficient."""
    free = len(residual) - _NUISANCES
    variance = float(residual @ residual) / free * float(np.linalg.inv(design.T @ design)[1, 1])
    return students_t((1 + CONFIDENCE) / 2, free) * math.sqrt(variance)
