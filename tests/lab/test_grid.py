"""How far a point of a grid lies from the best one, where runs differ more than points do."""

from __future__ import annotations

import numpy as np
import pytest

from tests.promises.grid import to_best


def drawn(rng: np.random.Generator, rounds: int, *levels: float) -> dict[str, list[float]]:
    return {str(nth): list(level * rng.lognormal(0, 0.15, rounds)) for nth, level in enumerate(levels)}


def mean_over_grids(end: str, rounds: int, *levels: float) -> float:
    rng = np.random.default_rng(1)
    return float(np.mean([to_best(end, drawn(rng, rounds, *levels)) for _ in range(500)]))


def test_among_equal_points_none_is_best_by_luck() -> None:
    assert mean_over_grids("0", 4, 100, 100, 100, 100) == pytest.approx(1, abs=0.03)


def test_a_worse_point_is_told() -> None:
    assert mean_over_grids("1", 4, 100, 140) == pytest.approx(1.4, abs=0.05)


def test_a_single_round_both_chooses_and_tells() -> None:
    assert to_best("1", {"0": [100.0], "1": [120.0]}) == 1.2
