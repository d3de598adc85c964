"""A phase that grows from batch to batch is told from one that is long, and from one that changed its level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.metrics.drift import Growth, growths
from advisor.regime import latest_regime, steady_rise
from tests.made import window

BATCH = {"triggerExecution": 1000, "addBatch": 800, "walCommit": 10, "commitOffsets": 10}


def _growing(count: int, by: float, rows: int = 0) -> list[dict[str, int]]:
    """Batches of which addBatch, and with it the batch, takes so much longer each time, and reads so many rows more."""
    noise = np.random.default_rng(7).normal(0, 5, count)
    grown = [round(number * by + noise[number]) for number in range(count)]
    return [
        BATCH | {"triggerExecution": 1000 + ms, "addBatch": 800 + ms, "numInputRows": 1000 + number * rows}
        for number, ms in enumerate(grown)
    ]


@given(st.integers(0, 10_000))
def test_noise_does_not_rise_by_a_fifth(seed: int) -> None:
    noise = np.random.default_rng(seed).lognormal(np.log(100), 0.1, 60)
    assert steady_rise(noise) < 20


@given(st.integers(0, 10_000), st.integers(15, 45))
def test_a_changed_level_is_no_rise(seed: int, at: int) -> None:
    series = np.random.default_rng(seed).normal(100, 1, 60)
    series[at:] += 100
    assert steady_rise(series) == 0


@pytest.mark.parametrize(("series", "rise"), [([10, 11, 13, 15], 5), ([10, 11, 11, 15], 0), ([10, 11, 12, 30], 0)])
def test_few_batches_rise_in_even_steps(series: list[float], rise: float) -> None:
    assert steady_rise(np.array(series, dtype=float)) == rise


def test_growth_is_told_by_phase_and_no_change_point_is_made_of_it() -> None:
    made = window(_growing(60, 50), interval_ms=10_000, trigger="processing_time", trigger_interval_ms=10_000)
    (phase, growth), *others = growths(made).items()
    assert (phase, others) == ("add_batch", [])
    assert growth.per_batch_ms == pytest.approx(50, rel=0.1)
    assert growth.ms == pytest.approx(59 * 50, rel=0.1)
    now, before = latest_regime(made)
    assert before is None
    assert growths(now) == growths(made)
    assert len(now) < len(made)


@pytest.mark.parametrize("rows", [50, 500])
def test_a_growing_load_explains_a_growing_batch(rows: int) -> None:
    assert growths(window(_growing(60, 50, rows), interval_ms=10_000)) == {}


@pytest.mark.parametrize(
    ("logs", "of_the_work"),
    [(0, True), (1, True), (4, False), (8, False)],
    ids=["logs as before", "a little slower", "half as much slower", "as much slower"],
)
def test_what_grows_with_the_logs_may_be_the_machine(logs: int, of_the_work: bool) -> None:
    batches = _growing(20, 40)
    for number, batch in enumerate(batches):
        log = 100 + number * logs
        batch |= {"triggerExecution": batch["addBatch"] + 2 * log, "walCommit": log, "commitOffsets": log}
    growth = growths(window(batches, interval_ms=10_000))["add_batch"]
    assert isinstance(growth, Growth) is of_the_work


def test_two_slow_batches_at_the_end_are_no_growth() -> None:
    slow = [BATCH | {"triggerExecution": 1000 + ms, "addBatch": 800 + ms} for ms in (9_000, 18_000)]
    assert growths(window([*_growing(18, 0), *slow], interval_ms=30_000)) == {}


def test_without_a_start_time_and_a_number_batches_are_no_series() -> None:
    made = window(_growing(60, 50), interval_ms=10_000)
    assert growths(made)
    untimed = made.executed.having(timestamp=np.full(len(made), np.nan))
    assert growths(replace(made, executed=untimed, memo={}))
    nameless = untimed.having(batch_id=np.full(len(made), np.nan))
    assert growths(replace(made, executed=nameless, memo={})) == {}
