"""The batches of a run as columns for a chart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.api import analyze
from advisor.contract import Series
from advisor.report.series import MOST_POINTS, thinned
from tests.made import events

BATCH = {"triggerExecution": 100, "addBatch": 30, "walCommit": 28, "commitOffsets": 30, "numInputRows": 100}
STATE = {
    "operatorName": "stateStoreSave", "commitTimeMs": 80, "numShufflePartitions": 8, "numRowsTotal": 500,
    "memoryUsedBytes": 4000,
}  # fmt: skip


def series(tmp_path: Path, rows: list[dict[str, Any]], **how: Any) -> Series:
    (tmp_path / "progress.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events(rows, **how)))
    assert "series" not in analyze(tmp_path / "progress.jsonl").queries[0]  # it is asked for
    found = analyze(tmp_path / "progress.jsonl", series=True).typed.queries[0].series
    assert found is not None
    return found


def test_every_column_has_one_value_per_batch(tmp_path: Path) -> None:
    found = series(tmp_path, [BATCH | {"operators": [STATE]}] * 40)
    others = ("batches", "phases_ms", "parts_ms", "changed_at")
    columns = [getattr(found, name) for name in found.__struct_fields__ if name not in others]
    assert found.batches == 40 and found.trigger_execution_ms == (100.0,) * 40
    assert {len(column) for column in (*columns, *found.phases_ms.values())} == {40}
    assert set(found.phases_ms) == {"walCommit", "addBatch", "commitOffsets"}
    assert found.timestamp[0] is not None and found.timestamp[0].endswith("Z")
    assert (found.state_rows[0], found.state_memory_bytes[0], found.state_commit_ms[0]) == (500.0, 4000.0, 10.0)
    assert found.record_latency_ms[1] == pytest.approx(100 - 30 + 50, abs=1)


def test_cold_batches_are_not_judged_and_spikes_stand_out_of_the_judged(tmp_path: Path) -> None:
    slow = BATCH | {"triggerExecution": 900, "addBatch": 830}
    found = series(tmp_path, [slow, slow, *[BATCH] * 40, slow, *[BATCH] * 10], first=0)
    cold = np.array(found.cold)
    assert cold[:2].all() and not cold[3:].any()
    assert not (cold & np.array(found.judged)).any()
    assert [at for at, spike in enumerate(found.spike) if spike] == [0, 1, 42]
    assert found.changed_at is None


def test_a_change_within_the_run_is_a_mark_and_what_lies_before_is_not_judged(tmp_path: Path) -> None:
    slow = BATCH | {"triggerExecution": 300, "addBatch": 230}
    found = series(tmp_path, [BATCH] * 40 + [slow] * 40, interval_ms=5_000)
    assert found.changed_at == found.timestamp[40]
    assert found.judged == (False,) * 40 + (True,) * 40


def test_a_long_run_keeps_its_peaks(tmp_path: Path) -> None:
    peaks = {1234: 5000, 4321: 7000, 5999: 9000}
    rows = [BATCH | {"triggerExecution": peaks.get(at, 100)} for at in range(6000)]
    found = series(tmp_path, rows)
    assert found.batches == 6000 and len(found.batch_id) <= MOST_POINTS
    assert [ms for ms in found.trigger_execution_ms if ms and ms > 100] == [5000, 7000, 9000]
    assert list(found.timestamp) == sorted(found.timestamp, key=str)


LENGTHS = st.lists(st.floats(0, 1e6) | st.just(float("nan")), max_size=300)


@given(LENGTHS, st.integers(3, 60))
def test_thinned_out_values_are_few_in_order_and_hold_the_ends_and_the_peak(values: list[float], most: int) -> None:
    length = np.array(values, dtype=float)
    at = thinned(length, most)
    assert len(at) <= most and (np.diff(at) > 0).all()
    if len(values):
        assert (at[0], at[-1]) == (0, len(values) - 1)
    if not np.isnan(length).all():
        assert np.nanmax(length[at]) == np.nanmax(length)


def test_few_values_stay_as_they_are() -> None:
    assert thinned(np.array([3.0, 1.0, 2.0]), 3).tolist() == [0, 1, 2]
