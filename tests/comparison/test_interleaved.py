"""Runs in the order A B B A."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.comparison import interleaved, order
from advisor.comparison.effect import same
from advisor.errors import UsageError


def trial(effect: float, noise: float, drift: float, seed: int, runs: int = 8) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    levels = [
        (arm, 100 + effect * (arm == "B") + drift * place + noise * rng.normal())
        for place, arm in enumerate(order(runs))
    ]
    found = interleaved(levels).effect.difference_ms
    return found.low, found.high


def test_the_order_balances_a_steady_drift() -> None:
    assert "".join(order(8)) == "ABBABAAB"
    places = {arm: [place for place, one in enumerate(order(8)) if one == arm] for arm in "AB"}
    assert sum(places["A"]) == sum(places["B"]) and len(places["A"]) == len(places["B"])


def test_drift_is_taken_out_of_the_effect() -> None:
    levels = [(arm, 100 - 20 * (arm == "B") + 5.0 * place) for place, arm in enumerate(order(4))]
    found = interleaved(levels)
    assert found.effect.difference_ms.value == pytest.approx(-20)
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


def levels_of(effect: float, spread: float, runs: int = 8) -> list[tuple[str, float]]:
    """Levels around 100 that spread by so much, the same on both sides."""
    off = (1, 1, -1, -1, -1, -1, 1, 1)
    return [(arm, 100 + effect * (arm == "B") + spread * off[place % 8]) for place, arm in enumerate(order(runs))]


def test_no_difference_is_said_only_where_the_whole_interval_is_close() -> None:
    close, wide, faster = (interleaved(levels_of(*given)) for given in ((0, 1), (0, 20), (-30, 1)))  # type: ignore[arg-type]
    assert (close.effect.told, same(close.effect), close.decided) == (False, True, True)
    assert (wide.effect.told, same(wide.effect), wide.decided) == (False, False, False)
    assert (faster.effect.told, same(faster.effect), faster.decided) == (True, False, True)


def test_the_runs_that_would_tell_grow_with_the_square_of_the_spread() -> None:
    once, twice = (interleaved(levels_of(0, spread)).runs_needed for spread in (10, 20))  # type: ignore[arg-type]
    assert once % 4 == twice % 4 == 0
    assert 8 < once < twice
    assert twice == pytest.approx(4 * once, abs=16)
