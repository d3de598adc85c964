"""A saving is a promise: in order, within the batch, and in what a record feels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalogue import Saves
from advisor.metrics import Missing
from advisor.savings import Promise, per_batch, per_record
from tests.made import window

BATCH = {"triggerExecution": 100, "addBatch": 40, "walCommit": 30, "commitOffsets": 20}


def promise(share: list[float | None], metric: str = "offset_log_ms", **known: object) -> Promise:
    saves = Saves.model_validate({"metric": metric, "stat": "typical", "share": share})
    found = per_batch(saves, window([BATCH] * 10, **known))
    assert isinstance(found, Promise)
    return found


def test_shares_of_a_metric() -> None:
    assert promise([0.7, 0.8, 1.0]) == Promise(35, 40, 50)


def test_an_upper_bound_has_no_expected_saving() -> None:
    assert promise([0, None, 1]) == Promise(0, None, 50)


def test_a_promise_reaches_no_further_from_what_is_expected_than_trials_came_out() -> None:
    assert promise([0.2, 0.8, 2]) == Promise(28, 40, 52)


def test_a_step_that_may_save_nothing_says_so() -> None:
    assert promise([0, 0.8, 2]) == Promise(0, 40, 52)


def test_nobody_saves_more_than_the_batch() -> None:
    assert promise([1, 2, 3]).high == 100


@given(st.lists(st.floats(0, 5), min_size=3, max_size=3).map(sorted))
def test_promises_are_in_order(share: list[float]) -> None:
    found = promise(share)  # type: ignore[arg-type]
    assert 0 <= found.low <= (found.expected or found.low) <= found.high <= 100


def record(trigger: str | None) -> Promise:
    saves = Saves.model_validate({"metric": "add_batch_ms", "stat": "typical", "share": [0.5, 0.5, 0.5]})
    known = {"trigger": trigger} if trigger else {}
    found = per_record(saves, window([BATCH] * 10, **known))
    assert isinstance(found, Promise)
    return found


def test_with_the_default_trigger_the_wait_shrinks_too() -> None:
    assert record("unspecified").expected == pytest.approx(20 * 1.5)


def test_with_an_interval_the_wait_stays() -> None:
    assert record("processing_time").expected == pytest.approx(20)


def test_without_a_known_trigger_it_lies_between() -> None:
    found = record(None)
    assert (found.low, found.high) == pytest.approx((20, 30))


def test_the_commit_log_is_written_after_the_result_is_visible() -> None:
    saves = Saves.model_validate({"metric": "commit_offsets_ms", "stat": "typical", "share": [1, 1, 1]})
    found = per_record(saves, window([BATCH] * 10, trigger="processing_time"))
    assert isinstance(found, Promise)
    assert found.expected == 0


def test_no_promise_without_the_number_that_it_stands_on() -> None:
    state = [{"operatorName": "s", "commitTimeMs": 100, "numShufflePartitions": 10}]
    saves = Saves.model_validate({"metric": "state_waves_excess_ms", "stat": "typical", "share": [0.6, 0.8, 0.9]})
    assert isinstance(per_batch(saves, window([BATCH | {"operators": state}] * 10)), Missing)
