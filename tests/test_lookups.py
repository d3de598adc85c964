"""What RocksDB's look-ups cost, and what is known of a state whose rows it does not count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from advisor.metrics import Estimate, Missing, measure, measured
from advisor.window import Window
from tests.made import window

LOOKED_UP = {"rocksdbGetLatency": 1400, "rocksdbGetCount": 190_000, "rocksdbPutCount": 95_000}


def of(custom: dict[str, int], **more: Any) -> Window:
    operator = {"operatorName": "stateStoreSave", "commitTimeMs": 300, "numShufflePartitions": 2, "numRowsTotal": 900}
    row = {"triggerExecution": 1500, "addBatch": 1400, "operators": [{**operator, "customMetrics": custom, **more}]}
    return window([row] * 5, task_slots=2)


def ms(one: Window) -> float:
    found = measure(one, "row_count_wall_ms")
    assert isinstance(found, Estimate)
    return found.safe


@pytest.mark.parametrize(
    ("custom", "expected"),
    [
        (LOOKED_UP, 350),  # half of 1,400 ms, in two tasks at once
        (LOOKED_UP | {"rocksdbGetCount": 95_000}, 700),  # an operator that looks nothing up by itself
        (LOOKED_UP | {"rocksdbGetCount": 380_000}, 175),
        (LOOKED_UP | {"rocksdbGetCount": 0, "rocksdbGetLatency": 0}, 0),
    ],
)
def test_one_look_up_for_each_row_written_counts(custom: dict[str, int], expected: float) -> None:
    assert ms(of(custom)) == pytest.approx(expected)


def test_a_store_that_does_not_count_looks_nothing_up_for_it() -> None:
    assert ms(of(LOOKED_UP, numRowsTotal=0, numRowsUpdated=95_000)) == 0


def test_without_the_counts_nothing_is_known() -> None:
    assert isinstance(measure(of({"rocksdbGetLatency": 1400}), "row_count_wall_ms"), Missing)


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ({"numRowsTotal": 0, "numRowsUpdated": 5}, False),  # some were just written
        ({"numRowsTotal": 0, "numRowsUpdated": 5, "numRowsRemoved": 5}, True),
        ({"numRowsTotal": 0, "numRowsUpdated": 0}, True),
        ({"numRowsTotal": 7, "numRowsUpdated": 5}, True),
    ],
)
def test_a_state_that_was_just_written_and_holds_nothing_was_not_counted(told: dict[str, int], known: bool) -> None:
    rows = measured(of(LOOKED_UP, **told), "state_rows")
    assert isinstance(rows, np.ndarray)
    assert bool(np.isfinite(rows).all()) is known
