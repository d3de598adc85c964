"""Which batches are judged together: not idle, not cold, and of the latest regime."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.regime import change_point, latest_regime
from advisor.window import cold, run_window
from tests.made import event, events, facts, table, window

BATCH = {"triggerExecution": 100, "addBatch": 60, "walCommit": 10, "commitOffsets": 10}


def test_the_first_batch_of_a_run_is_cold() -> None:
    made = window([BATCH | {"triggerExecution": 2000}, *[BATCH] * 20], first=0)
    assert len(made) == 20
    assert made.executed["cold"].tolist() == [True] + [False] * 20


@pytest.mark.parametrize(("rate", "cold_one"), [(None, True), (0.0, False)])
def test_a_first_batch_without_rows_has_no_rate_and_later_ones_a_rate_of_none(
    tmp_path: Path, rate: float | None, cold_one: bool
) -> None:
    """Before Spark 2.3 no number of the batch tells it either."""
    made = event(5, 0, 1000, BATCH | {"numInputRows": 0})
    del made["batchId"]
    made = {key: each for key, each in made.items() if key != "inputRowsPerSecond"}
    made |= {} if rate is None else {"inputRowsPerSecond": rate}
    (tmp_path / "event.json").write_text(json.dumps(made), encoding="utf-8")
    (query,) = advisor.analyze(tmp_path / "event.json").typed.queries
    assert query.verdict.startswith("First batch after a start") is cold_one


def lasting(*ms: int) -> list[dict[str, int]]:
    return [BATCH | {"triggerExecution": each} for each in ms]


@pytest.mark.parametrize(
    ("rows", "steady"),
    [
        (lasting(2000, 400, 120, 300, *[100] * 60), 60),
        (lasting(*[900 if n % 10 == 9 else 100 for n in range(60)]), 59),
        (lasting(2400, 1500, *[900 if n % 2 else 100 for n in range(40)]), 40),
    ],
    ids=["until batches stay fast", "a spike is none", "waits for another query in every second turn are none"],
)
def test_warm_up(rows: list[dict[str, int]], steady: int) -> None:
    assert len(window(rows, first=0)) == steady


@pytest.mark.parametrize("factor", [1.1, 1.3, 2.0])
@pytest.mark.parametrize("first", [1, 50])
def test_a_trend_is_no_warm_up(factor: float, first: int) -> None:
    rows = lasting(100 * first, *(int(100 * factor**n) for n in range(1, 20)))
    assert [n for n in range(2, 21) if len(window(rows[:n], first=0)) < min(n - 1, 4)] == []


def test_a_log_that_begins_in_the_middle_of_a_run_has_no_cold_batch() -> None:
    assert len(window([BATCH] * 20, first=500)) == 20
    assert [len(window([BATCH], first=first)) for first in (7, 0)] == [1, 0]


def test_idle_triggers_are_never_judged() -> None:
    idle = {"triggerExecution": 3, "operators": [{"commitTimeMs": 1163, "numShufflePartitions": 2}]}
    made = window([BATCH, idle, BATCH])
    assert (len(made), len(made.executed), len(made.operators)) == (2, 2, 0)
    made = window([BATCH, BATCH | {"numInputRows": 0}, BATCH])  # without rows it is executed, but not steady
    assert (len(made), len(made.executed)) == (2, 3)


def test_the_interval_is_that_of_the_trigger_before() -> None:
    made = window([BATCH] * 5, interval_ms=250)
    assert made.batches["interval_ms"].tolist() == pytest.approx([250] * 5, rel=0.01)
    assert made.batches["between_batches_ms"][1:].tolist() == [150] * 4


def test_an_idle_time_is_no_interval() -> None:
    rows = [BATCH, BATCH | {"interval": 60_000, "triggerExecution": 100}, BATCH]
    one, two, three = events(rows)
    two["inputRowsPerSecond"] = 1000.0  # a trigger 100 ms before found nothing: rows came within the last 100 ms
    made = run_window(table([one, two, three]), facts())
    assert made.batches["interval_ms"].tolist() == pytest.approx([100, 100, 100])


def test_tonight_is_judged_and_compared_with_the_time_before() -> None:
    rng = np.random.default_rng(3)
    calm = [BATCH | {"triggerExecution": int(100 + rng.normal(0, 5))} for _ in range(200)]
    tonight = [BATCH | {"triggerExecution": int(400 + rng.normal(0, 20))} for _ in range(40)]
    now, before = latest_regime(window([*calm, *tonight], interval_ms=5_000))
    assert len(now) == pytest.approx(40, abs=2)
    assert before is not None
    assert len(before) == pytest.approx(200, abs=2)
    assert "since the change" in now.because


@given(st.integers(0, 10_000))
def test_noise_alone_has_no_regimes(seed: int) -> None:
    noise = np.random.default_rng(seed).lognormal(np.log(100), 0.2, 300)
    assert change_point(noise) is None


@given(st.integers(0, 10_000), st.integers(40, 260))
def test_a_doubled_batch_is_found_where_it_begins(seed: int, at: int) -> None:
    series = np.random.default_rng(seed).lognormal(np.log(100), 0.1, 300)
    series[at:] *= 2
    found = change_point(series)
    assert found is not None
    assert abs(found - at) <= 5


@pytest.mark.parametrize(("interval_ms", "calm"), [(1_000, 200), (5_000, 400)])
def test_a_tail_is_no_regime(interval_ms: int, calm: int) -> None:
    tail = [BATCH | {"triggerExecution": 400}] * 40
    made = window([BATCH | {"triggerExecution": 100}] * calm + tail, interval_ms=interval_ms)
    assert latest_regime(made) == (made, None)


@pytest.mark.parametrize(("interval_ms", "told"), [(5_000, False), (20_000, True)])
def test_a_run_that_gets_faster_early_is_warming_up(interval_ms: int, told: bool) -> None:
    rows = [BATCH | {"triggerExecution": ms} for ms in [900] + [140] * 40 + [100] * 80]
    now, before = latest_regime(window(rows, interval_ms=interval_ms, first=0))
    assert len(now) == 80
    assert (before is not None) is told


def test_an_empty_run_gives_an_empty_window() -> None:
    empty = window([])
    assert len(empty) == len(cold(empty.executed)) == 0
    assert latest_regime(empty) == (empty, None)
