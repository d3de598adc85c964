"""Runs in the order A B B A."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.comparison import interleaved, order
from advisor.errors import UsageError


def trial(effect: float, noise: float, drift: float, seed: int, runs: int = 8) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    levels = [
        (arm, 100 + effect * (arm == "B") + drift * place + noise * rng.normal())
        for place, arm in enumerate(order(runs))
    ]
    found = interleaved(levels).effect.difference
    return found.low, found.high


def test_the_order_balances_a_steady_drift() -> None:
    assert "".join(order(8)) == "ABBABAAB"
    places = {arm: [place for place, one in enumerate(order(8)) if one == arm] for arm in "AB"}
    assert sum(places["A"]) == sum(places["B"]) and len(places["A"]) == len(places["B"])


def test_drift_is_taken_out_of_the_effect() -> None:
    levels = [(arm, 100 - 20 * (arm == "B") + 5.0 * place) for place, arm in enumerate(order(4))]
    found = interleaved(levels)
    assert found.effect.difference.value == pytest.approx(-20)
    assert found.drift_ms == pytest.approx(15)


def test_where_nothing_differs_it_is_told_in_one_of_twenty() -> None:
    told = [low > 0 or high < 0 for low, high in (trial(0, 10, 3, seed) for seed in range(1000))]
    assert 0.03 <= np.mean(told) <= 0.07


def test_effects_of_twice_the_noise_between_runs_are_found() -> None:
    found = [high < 0 for _, high in (trial(-30, 10, 3, seed) for seed in range(300))]
    assert np.mean(found) >= 0.9


@pytest.mark.parametrize("arms", ["", "AB", "AAAA", "AAB"])
def test_an_order_that_tells_nothing_is_refused(arms: str) -> None:
    with pytest.raises(UsageError, match="A B B A"):
        interleaved([(arm, 1.0) for arm in arms])  # type: ignore[misc]


def test_the_number_of_runs_is_a_multiple_of_four() -> None:
    with pytest.raises(UsageError, match="multiple of 4"):
        order(6)
