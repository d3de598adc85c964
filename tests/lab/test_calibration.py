"""Calibration by trials, and how promises are judged by it: what needs no Spark."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.calibrate import Saved, calibrated, calibration, conformal, expected, provenance
from tests.promises.scoreboard import judged, markdown


@pytest.mark.parametrize(
    ("scores", "error"),
    [
        ([0.1] * 8, None),  # nine of ten new ones cannot be told from eight
        ([0.1 * number for number in range(1, 10)], 0.9),
        ([0.1 * number for number in range(1, 20)], 1.8),
    ],
)
def test_the_score_that_nine_of_ten_new_ones_do_not_exceed(scores: list[float], error: float | None) -> None:
    assert conformal(scores) == (None if error is None else pytest.approx(error))


def test_each_workload_counts_once_in_what_is_expected() -> None:
    assert expected([Saved("often", 0.2)] * 9 + [Saved("once", 0.8), Saved("twice", 0.6), Saved("twice", 0.4)]) == 0.5


def test_a_case_is_judged_by_the_other_workloads() -> None:
    same = [Saved("alike", 0.5)] * 5 + [Saved("also", 0.5)] * 4
    assert calibrated(same, "offset_log_ms").error == 0
    odd = [Saved("alike", 0.5)] * 5 + [Saved("other", 0.9)] * 4
    found = calibrated(odd, "offset_log_ms")
    assert found.error == pytest.approx(0.4) and (found.cases, found.workloads) == (9, 2)
    assert calibrated([Saved("alone", 0.5)] * 20, "offset_log_ms").error is None


def trial(workload: str, saved: float, **other: Any) -> dict[str, Any]:
    """A trial of asynchronous progress with logs of 100 ms in batches of 200 ms."""
    return {
        "case": {"workload": workload, "settings": "", "step": "async-progress"}, "spark": "4.3.0", "on": "2026-11-22",
        "before_ms": 200.0, "saved_ms": saved, "saved_between_ms": [saved - 2, saved + 2], "runs": 8,
        "metric_ms": {"name": "async_progress_saving_ms", "value": 100.0}, **other,
    }  # fmt: skip


def known() -> dict[str, dict[str, Any]]:
    """Twelve trials of six workloads that save what they should, and one that saves half of it."""
    alike = {f"{number}": trial(f"workload {number % 6}", 95.0 + number) for number in range(12)}
    return {**alike, "odd": trial("odd", 50.0)}


def test_what_is_left_out_is_not_in_the_calibration() -> None:
    whole, without = calibration(known()), calibration(known(), without="odd")
    assert whole.steps["async-progress"].cases == 13 and without.steps["async-progress"].cases == 12
    told = provenance(known())
    assert told["first"] == told["last"] == "2026-11-22"


def test_a_promise_is_broken_by_the_rule_of_compare() -> None:
    odd = known()["odd"]
    assert judged(odd, calibration(known(), without="odd")).verdict == "broken"
    unsure = odd | {"saved_between_ms": [-100, 200]}
    assert judged(unsure, calibration(known(), without="odd")).verdict == "cannot say yet"
    assert judged(known()["3"], calibration(known(), without="workload 3")).verdict == "kept"


def test_the_table_tells_both_scores_and_leaves_out_what_cannot_be_judged() -> None:
    page = markdown({**known(), "no interval": trial("S3A", 99.0, saved_between_ms=None), "failed": {"failed": "why"}})
    assert "14 cases of 8 workloads on Spark 4.3.0, 13 with a promise." in page
    assert "out of it: 12 kept, 1 broken, 0 cannot say" in page
    assert "| S3A |" not in page
