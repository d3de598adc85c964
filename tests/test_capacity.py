"""The load that a query holds, by its own batches: right where they vary, and not known where they do not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from advisor.metrics import Estimate, Missing, measure
from advisor.metrics.capacity import Line, drained_ms, first_batch_ms
from advisor.report.screen import capacity
from advisor.window import Window, run_window
from tests.made import facts, table, window

EVERY = {"trigger": "processing_time", "trigger_interval_ms": 1000}
NOISE = np.random.default_rng(3).normal(0, 10, 90)
ROWS = np.random.default_rng(4).uniform(500, 1500, 90)


def batch(rows: float, took: float) -> dict[str, Any]:
    return {"numInputRows": int(rows), "triggerExecution": int(took), "addBatch": int(took) - 20}


def every_second(**facts: Any) -> Window:
    rows = [batch(count, 100 + 0.15 * count + off) for count, off in zip(ROWS, NOISE, strict=True)]
    return window(rows, interval_ms=1000, **(EVERY | facts))


def one_after_the_other(first: float, last: float, **facts: Any) -> Window:
    made, took = [], 200.0
    for load, off in zip(np.linspace(first, last, 90), NOISE, strict=True):
        rows = load * took
        took = 100 + 0.1 * rows + off
        made.append(batch(rows, took))
    return window(made, trigger="unspecified", **facts)


def estimate(found: Estimate | Missing) -> Estimate:
    assert isinstance(found, Estimate), found
    return found


@pytest.mark.parametrize(
    ("made", "held"),
    [
        (every_second(), 6000), (every_second(max_offsets_per_trigger=2000), 2000),
        (every_second(trigger_interval_ms=80), 1000 / 0.15), (one_after_the_other(0.5, 5.0), 10_000),
        (one_after_the_other(0.5, 5.0, max_offsets_per_trigger=1000), 5000),
    ],
    ids=["interval", "interval and limit", "interval too short", "default trigger", "default trigger and limit"],
)  # fmt: skip
def test_the_rows_that_are_held(made: Window, held: float) -> None:
    found = estimate(measure(made, "capacity_per_second"))
    assert found.low <= held <= found.high
    assert found.safe == pytest.approx(held, rel=0.1)


@pytest.mark.parametrize(
    ("made", "because"),
    [
        (window([batch(1000, 250 + off) for off in NOISE], interval_ms=1000, **EVERY), "row counts do not vary"),
        (one_after_the_other(2.0, 2.0), "load does not vary by itself"),
        (window([batch(ROWS[0], 250)] * 19, interval_ms=1000, **EVERY), "20 warm batches are needed, there are 19"),
        (window([batch(1000, 250)] * 40, trigger="available_now"), "only a trigger"),
        (window([batch(count, 100 + count / 7) for count in ROWS], interval_ms=1000, source="delta", **EVERY),
         "rows a file holds"),
    ],
    ids=["constant rows", "constant load", "few batches", "one-shot", "limit in files"],
)  # fmt: skip
def test_a_log_that_cannot_tell(made: Window, because: str) -> None:
    found = measure(made, "capacity_per_second")
    assert isinstance(found, Missing)
    assert because in found.reason
    assert capacity(made) is None


def test_far_from_what_was_seen_only_a_low_end_is_told() -> None:
    rows = [batch(count, 300 + 0.02 * count + off / 10) for count, off in zip(ROWS, NOISE, strict=True)]
    found = estimate(measure(window(rows, interval_ms=1000, **EVERY), "capacity_per_second"))
    assert (found.value, found.high) == (None, np.inf)
    assert found.low == pytest.approx(10 * ROWS.max(), rel=0.01)


@pytest.mark.parametrize(
    ("fixed", "limit", "least", "late"),
    [(300, None, 14_800, False), (990, 3000, 2400, True), (1100, 3000, 2000, True)],
    ids=["within the interval", "a full batch outlasts it", "every batch outlasts it"],
)
def test_where_noise_hides_the_cost_of_a_row_it_is_bounded(
    fixed: float, limit: int | None, least: float, late: bool
) -> None:
    rows = [batch(count, fixed + off) for count, off in zip(ROWS, NOISE, strict=True)]
    told = capacity(window(rows, interval_ms=1000, max_offsets_per_trigger=limit, **EVERY))
    assert told is not None and told.low is not None and told.value is None
    assert least <= told.low <= (limit * 1000 / fixed if limit else told.low)
    assert told.outlasts == late
    assert told.drain_ms is not None and told.drain_ms.value is None


def test_rows_that_rise_with_time_and_noise_get_no_bound() -> None:
    """A machine that gets quicker meanwhile would hide what they cost."""
    rows = [batch(count, 300 + off) for count, off in zip(sorted(ROWS), NOISE, strict=True)]
    found = measure(window(rows, interval_ms=1000, **EVERY), "capacity_per_second")
    assert isinstance(found, Missing) and "rows cost" in found.reason


def test_a_recorded_run_on_a_busy_machine_gets_no_number() -> None:
    """Its batches of alike rows differ by far more than what its rows cost."""
    with gzip.open(Path(__file__).with_name("promises") / "capacity" / "lost-in-noise.jsonl.gz", "rt") as file:
        events = [json.loads(line) for line in file]
    rising = [event for event in events if event["runId"] == events[0]["runId"]]
    found = measure(
        run_window(table(rising), facts(trigger="processing_time", trigger_interval_ms=10_000)), "capacity_per_second"
    )
    assert isinstance(found, Missing) and "rows cost" in found.reason


@pytest.mark.parametrize(
    ("interval", "limit", "minutes"),
    [
        (1000, None, 30 * 0.15 / (1 - 0.15)), (0, None, 30 * 0.15 / (1 - 0.15)), (1000, 2000, 30 / (2 - 1)),
        (1000, 800, np.inf),
    ],
)  # fmt: skip
def test_an_outage_is_worked_off(interval: float, limit: float | None, minutes: float) -> None:
    """A row per millisecond comes; without a limit every batch takes what came during the one before."""
    assert drained_ms(Line(100, 0.15), 1.0, interval, limit, 30 * 60_000) / 60_000 == pytest.approx(minutes, rel=0.02)


def test_another_load_and_another_outage_are_asked_for() -> None:
    told = capacity(every_second(load_factor=4, outage_minutes=60))
    assert told is not None and told.asked is not None and told.coming is not None and told.low is not None
    assert (told.outage_minutes, told.load_factor, told.missing) == (60, 4, None)
    assert told.asked == pytest.approx(4 * told.coming, rel=0.01)
    assert told.asked < told.low
    assert told.asked_batch_ms == pytest.approx(100 + 0.15 * told.asked, rel=0.1)
    never = capacity(every_second(load_factor=9))
    assert never is not None and never.drain_ms is None


def test_the_reason_is_told_where_somebody_asks() -> None:
    told = capacity(one_after_the_other(2.0, 2.0, load_factor=2))
    assert told is not None and told.missing is not None and told.low is None


@pytest.mark.parametrize(("rows", "known"), [(0, False), (500, True)])
def test_a_first_batch_without_rows_does_not_show_what_a_start_takes(rows: int, known: bool) -> None:
    usual = {"triggerExecution": 300, "addBatch": 200, "numInputRows": 1000}
    made = window([usual | {"triggerExecution": 22_700, "numInputRows": rows}, *[usual] * 6], first=0)
    assert isinstance(first_batch_ms(made), Estimate) is known


@pytest.mark.parametrize(("rows", "limit"), [(18_000, 3000), (290_000, 25_000)], ids=["twice what comes", "fits"])
def test_the_limit_for_a_restart_fits_as_rows_cost_at_most_and_works_off_what_waits(rows: int, limit: int) -> None:
    usual = {"triggerExecution": 300, "addBatch": 200, "numInputRows": 1000}
    first = usual | {"triggerExecution": 3000, "addBatch": 2900, "numInputRows": rows}
    made = window([first, *[usual] * 30], first=0, interval_ms=305, trigger="unspecified")
    assert estimate(measure(made, "rows_within_interval")).value == pytest.approx(limit, rel=0.05)
