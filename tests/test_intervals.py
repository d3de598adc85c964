"""An interval after a first batch that outlasted it, and batches whose length only looks like one."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.facts.trigger import infer_trigger
from advisor.window import run_window
from tests.made import START, event, facts, table

Batch = tuple[int, float, float, float]
"""Its number, its start (ms after the full hour), the time since the trigger before and how long it took."""


def inferred(*batches: Batch) -> tuple[Any, Any]:
    """The kind of trigger and its interval that these batches show."""
    made = [
        event(number, at, since, {"triggerExecution": took, "addBatch": took - 100, "numInputRows": 50_000})
        for number, at, since, took in batches
    ]
    told = infer_trigger(run_window(table(made), facts()).executed)
    return tuple(told[name].value if name in told else None for name in ("trigger", "trigger_interval_ms"))


@pytest.mark.parametrize(
    ("batches", "interval"),
    [
        # the first one outlasts the interval, the next begins at once, two more on time
        (
            ((0, 3_412, 0, 14_000), (1, 17_412, 14_000, 1_200), (2, 20_003, 2_591, 1_200), (3, 30_002, 9_999, 99)),
            10_000,
        ),
        # one alone that waited nearly all of it
        (((0, 8_969, 0, 1_650), (1, 10_637, 1_668, 230), (2, 20_002, 9_365, 240)), 10_000),
        # the one before the first is not there, and may have outlasted the interval
        (((9, 10_637, 1_668, 230), (10, 20_002, 9_365, 240)), 10_000),
        (((0, 17_731, 0, 40_000), (1, 57_740, 40_009, 900), (2, 60_004, 2_264, 900), (3, 90_003, 29_999, 900)), 30_000),
        # a short pause before each start on time
        (((4, 5_003, 5_000, 4_700), (5, 10_004, 5_001, 4_700)), 5_000),
    ],
)
def test_an_interval_after_a_batch_that_outlasted_it(batches: tuple[Batch, ...], interval: int) -> None:
    assert inferred(*batches) == ("processing_time", interval)


@pytest.mark.parametrize(
    "batches",
    [
        # one start on time after one at once may be chance
        ((0, 3_412, 0, 14_000), (1, 17_412, 14_000, 1_200), (2, 20_003, 2_591, 1_200)),
        # no multiple of 10 s passed while the batch before the one at once ran
        ((0, 11_412, 0, 4_000), (1, 15_412, 4_000, 1_200), (2, 20_003, 4_591, 1_200), (3, 30_002, 9_999, 1_100)),
        # no multiple of an interval passed before the first, whose forerunner is not there
        ((9, 12_214, 2_211, 230), (10, 20_002, 7_788, 240)),
        # each begins as the one before ends, at a full second by chance
        ((4, 5_000, 990, 1_000), (5, 6_004, 1_004, 1_000)),
    ],
)
def test_what_may_be_chance_is_no_interval(batches: tuple[Batch, ...]) -> None:
    assert inferred(*batches)[1] is None


@pytest.mark.parametrize(
    ("took", "since", "interval"),
    [(800, 1_000, 1_000), (1_300, 700, None), (1_300, 2_000, 2_000)],  # a trigger between found nothing, or none was
)
def test_a_source_that_delivers_every_other_interval_doubles_none(took: int, since: int, interval: int | None) -> None:
    begun = 2_000 - int(START.timestamp() * 1000) % 2_000
    assert inferred(*((number, begun + 2_000 * number, since, took) for number in range(12)))[1] == interval


def test_an_interval_that_nobody_would_guess_shows_although_triggers_find_nothing() -> None:
    start = 710 - int(START.timestamp() * 1000) % 710
    gaps = [710, 1420, 710, 1420, 710] * 8
    batches = ((number, start + sum(gaps[:number]), 710.0, 300.0 + number) for number in range(40))
    assert inferred(*batches) == ("processing_time", 710)
