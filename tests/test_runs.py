"""The batches of each run: views of a block of runs say the same as the run's own rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

from advisor.batches import Batches, Columns, Reading, RunBatches, runs
from tests.made import events, table

SOURCE = {"description": "KafkaV2[Subscribe[t]]", "endOffset": {"t": {"0": 100}}, "numInputRows": 100}
ROCKSDB = {"operatorName": "stateStoreSave", "commitTimeMs": 268, "customMetrics": {"rocksdbCommitFlushLatency": 20}}
HDFS = {"operatorName": "dedupe", "commitTimeMs": 5, "customMetrics": {"loadedMapCacheHitCount": 1}}
IDLE: dict[str, Any] = {"triggerExecution": 3, "latestOffset": 2, "operators": [HDFS]}
ROWS: dict[str, list[dict[str, Any]]] = {
    "two operators": [{"triggerExecution": 9, "addBatch": 5, "operators": [ROCKSDB, HDFS], "sources": [SOURCE]}] * 3,
    "none": [{"triggerExecution": 7, "addBatch": 3}] * 2,
    "one, sometimes idle": [{"triggerExecution": 8, "addBatch": 3, "operators": [ROCKSDB], "sources": [SOURCE]}, IDLE]
    * 4,
}
TABLE = Reading.of(table([event | {"runId": run} for run, rows in ROWS.items() for event in events(rows)])).batches
PLAIN = ("timestamp", "trigger_execution_ms", "idle", "name", "sink", "implausible", "other_phases_ms")
OF_MEMBERS = {"operators": ("name", "commit_ms", "batch"), "sources": ("description", "end_offset", "batch")}


def _same(one: Columns, other: Columns, names: tuple[str, ...]) -> None:
    assert len(one) == len(other)
    for name in names:
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize("block", [1, 4, 8192])
def test_each_run_has_its_own_rows(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_BLOCK", block)
    found = RunBatches(TABLE)
    assert set(found) == set(ROWS)
    for run in [*ROWS, *reversed(ROWS)]:
        own, part = Batches.of(TABLE.filter(pc.equal(TABLE["run_id"], run))), found[run]
        ran = ~own.rows["idle"]
        for whole, view in ((own, part), (own.where(ran), part.where(ran))):
            _same(view.rows, whole.rows, PLAIN)
            _same(view.operators, whole.operators, OF_MEMBERS["operators"])
            _same(view.sources, whole.sources, OF_MEMBERS["sources"])


def test_a_run_has_the_state_metrics_of_the_rows_that_are_asked_for_alone() -> None:
    mixed = RunBatches(TABLE)["one, sometimes idle"]
    idle = mixed.rows["idle"]
    assert mixed.state_metrics(~idle) == {"rocksdbCommitFlushLatency"}
    assert mixed.state_metrics(idle) == {"loadedMapCacheHitCount"}
    assert mixed.where(idle).state_metrics(np.ones(4, dtype=bool)) == {"loadedMapCacheHitCount"}
    assert RunBatches(TABLE)["none"].state_metrics(np.ones(2, dtype=bool)) == set()


def test_a_run_that_is_not_there_and_no_runs_at_all() -> None:
    assert "other" not in RunBatches(TABLE)
    assert RunBatches(TABLE).get("other") is None
    assert dict(RunBatches(TABLE.slice(0, 0))) == {}


def test_runs_that_start_together_stand_in_the_order_of_their_ids() -> None:
    together = [event | {"runId": run} for run in ("b", "c", "a") for event in events(ROWS["none"])]
    assert list(RunBatches(Reading.of(table(together)).batches)) == ["a", "b", "c"]
