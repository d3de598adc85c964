"""Batches that are slow in a rhythm, and those that only look so."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.metrics import Estimate, Missing, Quantiles, measure, measured
from advisor.metrics.latency import latency_with_spikes
from advisor.window import Window
from tests.made import window


def of(durations: list[float]) -> Window:
    return window([{"triggerExecution": round(ms), "addBatch": round(ms) - 20} for ms in durations])


def number(found: Estimate | Missing) -> float:
    assert isinstance(found, Estimate), found
    return found.safe


@pytest.mark.parametrize("every", [2, 5, 10, 25])
def test_the_rhythm_is_found_and_its_numbers_are_those_of_its_batches(every: int) -> None:
    durations = [1500.0 if n % every == every - 1 else 300.0 for n in range(4 * every if every > 5 else 40)]
    run = of(durations)
    told = [number(measure(run, f"spike_{name}")) for name in ("every", "batch_ms", "rest_ms", "gap_ms")]
    assert told == [every, 1500, 300, 1200]
    slow = sum(ms == 1500 for ms in durations)
    assert number(measure(run, "spike_time_share")) == pytest.approx(1500 * slow / sum(durations), rel=0.05)


@pytest.mark.parametrize("every", [7, 8, 9, 11, 12, 13, 14, 17, 37, 64, 96, 99])
def test_any_interval_up_to_a_hundred_is_found(every: int) -> None:
    chance = np.random.default_rng(every)
    spikes = np.arange(max(4 * every, 40)) % every == every // 2
    durations = np.where(spikes, 900.0, 300.0) * chance.normal(1, 0.08, len(spikes))
    assert number(measure(of([float(ms) for ms in durations]), "spike_every")) == every


@pytest.mark.parametrize(
    ("durations", "every"),
    [
        # beside some that are slow by chance, and in a run that warms up
        ([900.0 if n % 8 == 3 or n in (10, 41, 60) else 300.0 for n in range(72)], 8),
        ([(2.5 if n % 10 == 0 else 1.0) * (1500 + 3000 * np.exp(-n / 10)) for n in range(46)], 10),
        ([1500.0 if n in (9, 19) else 300.0 for n in range(25)], None),  # two are no rhythm
    ],
)
def test_the_rhythm(durations: list[float], every: int | None) -> None:
    found = measure(of(durations), "spike_every")
    assert (found.safe if isinstance(found, Estimate) else None) == every


@pytest.mark.parametrize("every", [7, 8])
def test_a_warm_up_that_is_no_spike_hides_no_rhythm(every: int) -> None:
    """Where one batch in seven is slow, a warm-up that is faster than that is not taken for one."""
    slow = [1500.0 if n % every == 3 else 300.0 for n in range(45)]
    durations = [max(ms, 1100 - 60 * n) if n < 9 else ms for n, ms in enumerate(slow)]
    found = window([{"triggerExecution": round(ms), "addBatch": round(ms) - 20} for ms in durations], first=0)
    assert number(measure(found, "spike_every")) == every


@pytest.mark.parametrize("seed", range(20))
def test_slow_batches_without_a_rhythm_are_none(seed: int) -> None:
    chance = np.random.default_rng(seed)
    durations = np.where(chance.random(60) < 0.1, 1500.0, 300.0 * chance.normal(1, 0.05, 60))
    run = of([float(ms) for ms in durations])
    assert isinstance(measure(run, "spike_every"), Missing)
    assert number(measure(run, "spike_excess_share")) == 0


@pytest.mark.parametrize("batches", [40, 120, 400])
def test_slow_batches_by_chance_hardly_ever_look_like_a_rhythm(batches: int) -> None:
    """Of a hundred runs with few, some or many slow batches at random places, at most one in fifty."""
    chance = np.random.default_rng(batches)
    found = []
    for run in range(100):
        slow = chance.random(batches) < (0.01, 0.03, 0.06, 0.1)[run % 4]
        durations = np.where(slow, 1500.0, 300.0) * chance.normal(1, 0.05, batches)
        found.append(not isinstance(measure(of([float(ms) for ms in durations]), "spike_every"), Missing))
    assert sum(found) <= 2


def test_the_latency_with_fewer_spikes_lies_between_all_and_none_of_them() -> None:
    run = of([1500.0 if n % 10 == 9 else 300.0 for n in range(60)])
    now, none = (latency_with_spikes(run, left) for left in (1.0, 0.0))
    assert isinstance(now, Quantiles) and isinstance(none, Quantiles)
    assert now == measured(run, "record_latency_ms")
    seldom = [latency_with_spikes(run, left) for left in (0.5, 0.1, 0.01)]
    p99 = [now.p99, *(found.p99 for found in seldom if isinstance(found, Quantiles)), none.p99]
    assert p99 == sorted(p99, reverse=True)
    assert len(set(p99)) == 5
