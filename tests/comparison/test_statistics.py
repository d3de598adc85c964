"""The statistics, on noise of recorded runs: planted effects are found, and nothing is found where nothing is."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from advisor.comparison.bootstrap import Blocks, Level, blocks, memory
from advisor.comparison.levels import TOTAL, levels, typical
from advisor.metrics import measure
from advisor.window import Window
from tests.comparison.noise import BLOCK, series, table, windows

SEEDS = 400


def level(lengths: np.ndarray, cut: Blocks | None = None) -> Level:
    low, high = np.quantile(lengths, [0.25, 0.75])
    return typical(table(lengths), cut or blocks(lengths), (lengths >= low) & (lengths <= high))[TOTAL]


def told(before: Level, after: Level) -> bool:
    found = (after - before).interval()
    return found.low > 0 or found.high < 0


def scaled(at: Level, factor: float) -> Level:
    """The level of batches that all take `factor` times as long: everything that is computed grows with them."""
    return Level(at.value * factor, at.draws * factor)


@lru_cache
def pairs(batches: int) -> list[tuple[Level, Level]]:
    """Two stretches of the same noise for each seed, with a block between them, so that they do not share one."""
    found = []
    for seed in range(SEEDS):
        both = series(2 * batches + 2 * BLOCK, seed)
        found.append((level(both[:batches]), level(both[-batches:])))
    return found


@pytest.mark.parametrize("batches", [60, 150])
def test_where_nothing_changed_a_difference_is_told_in_at_most_one_of_twenty(batches: int) -> None:
    assert np.mean([told(before, after) for before, after in pairs(batches)]) <= 0.05


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_nine_of_ten_effects_of_20_percent_are_found_in_150_batches(factor: float) -> None:
    found = [(scaled(after, factor) - before).interval() for before, after in pairs(150)]
    assert np.mean([(one.low > 0) if factor > 1 else (one.high < 0) for one in found]) >= 0.9


def test_a_planted_effect_lies_in_its_interval_as_often_as_is_claimed() -> None:
    ratios = [scaled(after, 1.2).over(before).interval() for before, after in pairs(150)]
    assert np.mean([ratio.low <= 1.2 <= ratio.high for ratio in ratios]) >= 0.95


def test_scaled_batches_give_scaled_levels() -> None:
    lengths = series(80, 3)
    cut = blocks(lengths)
    twice, once = level(2 * lengths, replace(blocks(2 * lengths), stream=cut.stream)), level(lengths, cut)
    assert twice.value == pytest.approx(2 * once.value)
    assert twice.draws == pytest.approx(2 * once.draws)


def test_the_same_batches_give_the_same_numbers() -> None:
    one, other = (level(series(60, 5)) for _ in range(2))
    assert one.draws == pytest.approx(other.draws)


def part(window: Window, keep: np.ndarray) -> Window:
    return window.only(keep, "a part")


def test_interwoven_parts_of_a_recorded_run_do_not_differ() -> None:
    verdicts = []
    for window in windows():
        # Stretches A B B A B A A B of the run: what it warms up by falls to both alike.
        stretch = np.arange(len(window)) * 8 // len(window)
        is_b = np.isin(stretch, [1, 2, 4, 7])
        before, after = (levels(part(window, keep)) for keep in (~is_b, is_b))
        verdicts.append(told(before.typical[TOTAL], after.typical[TOTAL]))
    assert sum(verdicts) == 0


def test_the_levels_are_those_of_the_report_and_the_phases_add_up() -> None:
    for window in windows():
        found = levels(window)
        said = measure(window, "trigger_execution_ms", "typical")
        assert found.typical[TOTAL].value == pytest.approx(said.low)
        parts = [at.value for name, at in found.typical.items() if name != TOTAL]
        assert sum(parts) == pytest.approx(found.typical[TOTAL].value, rel=0.02)


def test_draws_of_the_record_latency_lie_around_what_the_report_says() -> None:
    window = windows()[1]
    found = levels(window).latency
    assert isinstance(found, dict)
    assert {stat: at.value for stat, at in found.items()} == {
        stat: measure(window, "record_latency_ms", stat).low for stat in ("p50", "p99")
    }
    assert 0 < found["p50"].draws.std() < 0.2 * found["p50"].value


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_batches_that_remember_are_drawn_in_longer_blocks(correlation: float) -> None:
    rng, made = np.random.default_rng(1), [0.0]
    for shock in rng.normal(size=2000):
        made.append(correlation * made[-1] + shock)
    # Rule of Politis and White for an AR(1): (2 rho / (1 - rho^2))^(2/3) (1.5 n)^(1/3).
    ideal = (2 * correlation / (1 - correlation**2)) ** (2 / 3) * (1.5 * 2000) ** (1 / 3)
    assert memory(np.array(made)) == pytest.approx(ideal, rel=0.35, abs=6)


def test_every_draw_holds_about_as_many_batches_and_each_batch_as_often() -> None:
    cut = blocks(series(50, 0))
    weights = np.concatenate(list(cut.weights()))
    assert set(weights.sum(axis=1)) == {-(-50 // cut.length) * cut.length}
    assert weights.mean(axis=0) == pytest.approx(np.full(50, weights.mean()), rel=0.2)


def test_a_window_that_drifts_is_about_as_uncertain_as_it_moves() -> None:
    steady = 100 + np.random.default_rng(0).normal(size=200)
    still, moving = (level(lengths).interval() for lengths in (steady, steady + np.linspace(0, 30, 200)))
    assert still.high - still.low < 2
    assert 15 < moving.high - moving.low < 45


def test_batches_that_never_vary_are_certain() -> None:
    at = level(np.full(40, 25.0))
    assert at.interval().low == at.interval().high == 25.0
