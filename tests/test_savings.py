"""A saving is a promise: in order, within the batch, and in what a record feels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalogue import Saves, load
from advisor.contract import Promise
from advisor.metrics import Estimate, Missing
from advisor.metrics.latency import Mixture
from advisor.savings import per_batch, per_record
from advisor.savings import promise as promised
from advisor.savings.promise import Calibrated, Calibration, shipped
from advisor.savings.saving import OF_RECORDS, Gains, gained, gains, of_records
from advisor.savings.shorter import shorter
from advisor.window import Window
from tests.made import window

BATCH = {"triggerExecution": 100, "addBatch": 40, "walCommit": 30, "commitOffsets": 20}


def promise(share: list[float | None], metric: str = "offset_log_ms", **known: object) -> Promise:
    saves = Saves.model_validate({"metric": metric, "stat": "typical", "share": share})
    found = per_batch(saves, window([BATCH] * 10, **known))
    assert isinstance(found, Promise)
    return found


@pytest.mark.parametrize(
    ("share", "known", "found"),
    [
        ([0.7, 0.8, 1.0], {}, Promise(35, 40, 50, 35)),
        # measured: 15 to 127 ms were saved where 135 to 209 had been promised; the rest was waited for
        ([0.7, 0.8, 1.0], {"slots_shared": True}, Promise(0, 40, 50, 0)),
        ([0, None, 1], {}, Promise(0, None, 50)),  # an upper bound
        ([0, 0.8, 2], {}, Promise(0, 40, 100)),  # it may save nothing
        ([1, 2, 3], {}, Promise(50, 100, 100, 50)),  # no more than the batch
    ],
)
def test_shares_of_a_metric(share: list[float | None], known: dict[str, bool], found: Promise) -> None:
    assert promise(share, **known) == found


@given(st.lists(st.floats(0, 5), min_size=3, max_size=3).map(sorted))
def test_promises_are_in_order(share: list[float]) -> None:
    found = promise(share)  # type: ignore[arg-type]
    assert 0 <= found.low <= (found.expected or found.low) <= found.high <= 100


def calibration(expected: float, error: float | None) -> Calibration:
    """A calibration of one step."""
    one = Calibrated("offset_log_ms", expected, error, cases=10, workloads=5)
    return Calibration({"some": one})


@pytest.mark.parametrize(
    ("error", "share", "found"),
    [
        (0.5, [0.125, None, 2], Promise(12.5, 37.5, 62.5, 6.25)),  # around what is expected
        (1.0, [0.125, None, 2], Promise(6.25, 37.5, 87.5, 6.25)),  # at least what is certain
        (0.5, [0, None, 1], Promise(12.5, 37.5, 50, 0)),  # never more than there is
        (None, [0, None, 1], Promise(0, 37.5, 50, 0)),  # too few trials to say how far off: up to the most
    ],
)
def test_trials_say_how_far_a_promise_reaches(error: float | None, share: list[float | None], found: Promise) -> None:
    saves = Saves.model_validate({"metric": "offset_log_ms", "share": share, "calibrated": "some"})
    assert promised(saves, Estimate(50, 50, 50), 100, by=calibration(0.75, error)) == found


@pytest.mark.parametrize(
    ("share", "metric", "by", "batch", "found"),
    [
        # the error is a share of the metric up to a third of the batch
        ([0, None, 1], (30, 30, 30), (0.75, 0.25), (120, 120), Promise(15, 22.5, 30, 0)),
        ([0, None, 1], (80, 80, 80), (0.75, 0.25), (120, 120), Promise(50, 60, 70, 0)),
        # nothing raises what may be relied on
        ([0.5, None, 1.4], (40, 220, 220), (1.0, 0.25), (400,), Promise(220 - math.hypot(180, 10), 220, 275, 20)),
        ([0, None, 1], (50, 50, 50), None, (100,), Promise(0, None, 50)),  # no trials are an upper bound
    ],
)
def test_how_far_the_error_of_trials_reaches(share: Any, metric: Any, by: Any, batch: Any, found: Promise) -> None:
    saves = Saves.model_validate({"metric": "offset_log_ms", "share": share, "calibrated": "some" if by else "other"})
    assert promised(saves, Estimate(*metric), *batch, by=calibration(*by or (1.0, 0.1))) == found


def test_what_is_shipped_belongs_to_a_step_and_its_metric() -> None:
    named = {step.saves.calibrated: step.saves.metric for step in load().steps.values() if step.saves}
    by_step = {of_records(step).calibrated: OF_RECORDS.metric for step in named if step}
    named |= {OF_RECORDS.calibrated: OF_RECORDS.metric} | by_step
    for name, one in shipped().steps.items():
        assert named[name] == one.metric
        assert one.expected > 0 and one.workloads <= one.cases and (one.error is None or one.error > 0)


def record(trigger: str | None, share: float = 0.5, metric: str = "add_batch_ms", **known: object) -> Estimate:
    saves = Saves.model_validate({"metric": metric, "stat": "typical", "share": [share] * 3})
    known |= {"trigger": trigger} if trigger else {}
    found = gains(saves, window([BATCH] * 10, **known))
    assert isinstance(found, Gains)
    return found.estimated


@pytest.mark.parametrize(
    ("trigger", "share", "metric", "known", "saved"),
    [
        ("unspecified", 0.5, "add_batch_ms", {}, 20 * 1.5),  # the wait shrinks, too
        ("processing_time", 0.5, "add_batch_ms", {}, 20),  # the wait stays
        ("processing_time", 1, "commit_offsets_ms", {}, 0),  # it is written after the result is visible
        ("processing_time", 1.4, "offset_log_ms", {}, 30),  # no more than the offset log
        # in Kafka a third of addBatch before its end, and that third shrinks, too
        ("processing_time", 0.5, "add_batch_ms", {"sink": "kafka", "stateful": False}, 20 * 2 / 3),
        ("processing_time", 0.5, "add_batch_ms", {"sink": "kafka", "stateful": False, "runs_python": True}, 20),
        ("processing_time", 0.5, "add_batch_ms", {"sink": "kafka", "stateful": True}, 20),
        ("processing_time", 1, "offset_log_ms", {"sink": "kafka", "stateful": False}, 30),
    ],
)
def test_what_a_record_gains(trigger: str, share: float, metric: str, known: dict[str, object], saved: float) -> None:
    assert record(trigger, share, metric, **known).value == pytest.approx(saved, abs=0.2)


def test_without_a_known_trigger_it_lies_between() -> None:
    found = record(None)
    assert (found.low, found.high) == pytest.approx((20, 30), abs=0.2)


@pytest.mark.parametrize(
    ("batches", "saved"),
    [
        ([(500, 100)], 2250 + 0.9 * 100 / 2),  # what a row costs is unknown: half of what addBatch may lose
        ([(500, 1400)], None),  # too much of the latency: no value is expected
        ([(400, 1400), (600, 1480)], 1500 + 0.6 * 500 * 0.4),  # batches show what a row costs
    ],
)
def test_a_shorter_interval_has_smaller_batches(batches: list[tuple[int, int]], saved: float | None) -> None:
    """Of 5,000 ms between batches 500 or 2,000 are left, so nine or six tenths of the rows come later."""
    rows = [{"numInputRows": rows, "triggerExecution": 230 + ms, "addBatch": ms} for rows, ms in batches]
    made = window(rows * 60, interval_ms=5000, trigger="processing_time", trigger_interval_ms=5000)
    found = per_record(Saves(metric="interval_wait_ms", share=(1, 1, 1)), made)
    assert isinstance(found, Promise)
    assert found.expected == (saved and pytest.approx(saved, abs=1))


@pytest.mark.parametrize(("rows", "left"), [(3, 80), (300, 80 + 50)])
def test_a_record_may_find_no_batch_to_wait_for(rows: int, left: float) -> None:
    """With a record every 250 ms batches of 100 ms have long ended; with one every 2 ms the next one takes it."""
    row = {"numInputRows": rows, "triggerExecution": 700, "addBatch": 640, "commitOffsets": 20}
    saves = Saves(metric="add_batch_ms", stat="typical", share=(0, 0.9375, 0.9375))
    found = gains(saves, window([row] * 20, interval_ms=700, trigger="unspecified"))
    assert isinstance(found, Gains)
    assert found.now - found.estimated.high == pytest.approx(left, abs=1)


@pytest.mark.parametrize(("trigger", "more"), [("processing_time", False), ("unspecified", True)])
def test_where_the_interval_stays_a_record_gains_no_more_than_its_batch(trigger: str, *, more: bool) -> None:
    saves = Saves.model_validate({"metric": "add_batch_ms", "stat": "typical", "share": [0, None, 1]})
    batches = window([BATCH] * 20, interval_ms=120, trigger=trigger, trigger_interval_ms=120)
    found, batch = per_record(saves, batches), per_batch(saves, batches)
    assert isinstance(found, Promise)
    assert isinstance(batch, Promise)
    assert (found.high > batch.high + 0.2) == more


def behind(limit: int) -> Window:
    """Batches of 500 rows while so many more come than are taken."""
    made = []
    for number in range(20):
        offsets = {"startOffset": 500 * number, "endOffset": 500 * number + 500}
        offsets["latestOffset"] = offsets["endOffset"] + limit * (number + 1)
        source = {"description": "KafkaV2[Subscribe[t]]", "numInputRows": 500}
        source |= {name: {"t": {"0": at}} for name, at in offsets.items()}
        made.append(BATCH | {"numInputRows": 500, "sources": [source]})
    return window(made, trigger="unspecified")


def test_shorter_batches_that_keep_up_end_the_backlog() -> None:
    saves = Saves(metric="offset_log_ms", stat="typical", share=(0.5, 0.9, 1))
    found = gains(saves, behind(300))  # 800 come in 100 ms: with batches of 55 ms they all get through
    assert isinstance(found, Gains) and found.estimated.value is not None
    assert found.estimated.low < 60 and found.estimated.value > 500


def test_shorter_batches_work_a_backlog_off_sooner_that_does_not_grow() -> None:
    """A limit fills each batch, and 400 rows come where 500 are taken: half the batch, half the wait."""
    made = []
    for number in range(20):
        offsets = {"startOffset": 500 * number, "endOffset": 500 * number + 500, "latestOffset": 400 * number + 6000}
        source = {"description": "KafkaV2[Subscribe[t]]", "numInputRows": 500}
        source |= {name: {"t": {"0": at}} for name, at in offsets.items()}
        made.append({"triggerExecution": 1000, "addBatch": 900, "numInputRows": 500, "sources": [source]})
    saves = Saves.model_validate({"metric": "add_batch_ms", "stat": "p50", "share": [0, None, 0.556]})
    found = gains(saves, window(made, interval_ms=1000, trigger="unspecified"))
    assert isinstance(found, Gains) and not found.catches_up
    assert found.most == pytest.approx(0.5 * found.now, rel=0.1)


@pytest.mark.parametrize(
    ("metric", "waves", "gain"), [("add_batch_ms", 0.0, 350), ("state_waves_excess_ms", 600.0, 300)]
)
def test_rows_of_later_waves_gain_what_those_of_the_first_cannot(metric: str, waves: float, gain: float) -> None:
    """The first rows are visible after 100 ms; the last ones gain all 600 ms, the first none where only waves go."""
    saves = Saves(metric=metric, stat="typical", share=(1, 1, 1))
    numbers = (100.0, 2000.0, 1.0, 0.0, waves, 0.0)
    mixed = Mixture(*(np.full(10, number) for number in numbers), known=np.ones(10, bool))
    kept = window([BATCH] * 10, trigger="processing_time", trigger_interval_ms=2000)
    assert gained(1100.0, mixed, [(600.0, False, True)], saves, kept) == pytest.approx([gain])


def test_a_record_waits_for_the_batch_before_its_own() -> None:
    """The second batch saves three times as much: its rows are visible sooner, and those of the third wait less."""
    batches = window([BATCH] * 3, trigger="unspecified")
    mixed = Mixture(*(np.full(3, number) for number in (80.0, 100.0, 1.0, 0.0, 0.0, 0.0)), known=np.ones(3, bool))
    start, width = shorter(batches, mixed, 10.0, True, None, each=np.array([1.0, 3.0, 1.0]))
    assert (start.tolist(), width.tolist()) == ([70, 50, 70], [90, 90, 70])


@pytest.mark.parametrize(("known", "expected"), [({}, True), ({"runs_python": True}, False)])
def test_python_that_starts_during_a_wait_for_kafka_hides_a_part_of_it(
    known: dict[str, object], expected: bool
) -> None:
    """A record a second comes to each of two partitions, whose tasks wait for the next one for most of addBatch."""
    rows = []
    for number in range(20):
        start, end = ({"t": dict.fromkeys("01", number + later)} for later in (0, 1))
        source = {"description": "KafkaV2[Subscribe[t]]", "numInputRows": 2, "startOffset": start, "endOffset": end}
        rows.append({"triggerExecution": 950, "addBatch": 600, "numInputRows": 2, "sources": [source]})
    sparse = window(rows, interval_ms=1000, trigger="unspecified", task_slots=2, source="kafka", **known)
    fetches = load().steps["kafka-fetch-wait"].saves
    batch, a_record = per_batch(fetches, sparse), per_record(fetches, sparse)
    assert isinstance(batch, Promise) and isinstance(a_record, Promise)
    assert 0 < batch.low < batch.high
    assert ((batch.expected is not None), (a_record.expected is not None)) == (expected, expected)


def test_nothing_is_promised_of_a_number_that_is_not_known() -> None:
    saves = Saves(metric="add_batch_ms", stat="typical", share=(1, 1, 1))
    assert isinstance(per_record(saves, window([BATCH] * 10, trigger="once")), Missing)
    state = [{"operatorName": "s", "commitTimeMs": 100, "numShufflePartitions": 10}]
    saves = Saves.model_validate({"metric": "state_waves_excess_ms", "stat": "typical", "share": [0.6, 0.8, 0.9]})
    assert isinstance(per_batch(saves, window([BATCH | {"operators": state}] * 10)), Missing)
