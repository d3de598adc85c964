"""What a record waits for its trigger: where it is the loss, and where no interval is to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import advisor
from tests.made import event
from tests.sources.variants import KAFKA, pretty
from tests.test_questions import only, value

WARM = {
    "triggerExecution": 130, "addBatch": 70, "commitOffsets": 22, "walCommit": 26, "latestOffset": 3,
    "queryPlanning": 5, "getBatch": 0, "numInputRows": 840, "sources": [KAFKA], "sink": "ConsoleTable",
}  # fmt: skip

TEN = {"triggerExecution": 1300, "addBatch": 600, "walCommit": 310, "commitOffsets": 300}
ALL_READ = KAFKA | {"latestOffset": KAFKA["endOffset"]}


def progress(folder: Path, interval_ms: float, *given: str, **row: Any) -> Any:
    """The query of one record of Kafka and of what the user knows."""
    path = folder / "one.txt"
    path.write_text(pretty(event(12, 20_003, interval_ms, WARM | {"sources": [ALL_READ]} | TEN | row)))
    return only(advisor.analyze(path, set=given).data)


@pytest.mark.parametrize(
    ("took", "logs", "kind"),
    [
        (1300, 610, "waiting"),
        (1600, 1100, "waiting"),
        (1700, 1190, "logs"),  # a longer batch may come, and leave too little of the interval
        (9100, 6800, "logs"),
    ],
)
def test_what_a_record_waits_for_its_trigger_is_the_loss_where_the_interval_is_long(
    tmp_path: Path, took: int, logs: int, kind: str
) -> None:
    row = {"triggerExecution": took, "walCommit": logs // 2, "commitOffsets": logs - logs // 2}
    query = progress(tmp_path, 10_000, "trigger_interval_ms=10000", **row)
    assert query["screen"]["loss"]["kind"] == kind
    assert (query["best_step"]["step"] == "interval-no-longer-than-needed") is (kind == "waiting")


@pytest.mark.parametrize("trigger", ["available_now", "once"])
def test_a_trigger_without_an_interval_has_no_wait_for_it(tmp_path: Path, trigger: str) -> None:
    query = progress(tmp_path, 10_000, f"trigger={trigger}")
    assert (value(query, "trigger"), query["screen"]["loss"]["kind"]) == (trigger, "logs")


def test_what_else_is_the_loss_beside_a_wait_for_the_trigger(tmp_path: Path) -> None:
    query = progress(tmp_path, 10_000, "trigger=real_time", triggerExecution=10_050, addBatch=10_010)
    assert (value(query, "trigger"), query["screen"].get("loss")) == ("real_time", None)
    assert progress(tmp_path, 8_600)["screen"]["loss"]["rule"] == "TR006"  # an interval that is only inferred
    far = KAFKA | {"latestOffset": {"orders": {"0": 90_000, "1": 90_000}}}
    query = progress(tmp_path, 10_000, "trigger_interval_ms=10000", sources=[far], numInputRows=10)
    assert query["screen"]["loss"]["kind"] == "pace"  # a backlog comes first
