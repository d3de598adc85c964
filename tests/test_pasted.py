"""Texts as people paste them, with code and words around the records: what is taken from them, and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.made import event
from tests.sources.variants import KAFKA, pretty
from tests.test_questions import only, told, value

CODE = 'df.writeStream.format("console").trigger(processingTime="20 seconds").start()'
WARM = {
    "triggerExecution": 130, "addBatch": 70, "commitOffsets": 22, "walCommit": 26, "latestOffset": 3,
    "queryPlanning": 5, "getBatch": 0, "numInputRows": 840, "sources": [KAFKA], "sink": "ConsoleTable",
}  # fmt: skip


def progress(number: int, at_ms: float, interval_ms: float, **row: Any) -> str:
    """One record of a Kafka query of Spark 3.4, as Spark prints it."""
    return pretty(event(number, at_ms, interval_ms, WARM | row))


@pytest.mark.parametrize(
    "records",
    [
        [progress(412, 7_271, 137)],
        [progress(3, 20_000, 20_000), progress(204, 130_650, 20_000)],
    ],
)
def test_an_interval_in_code_is_not_that_of_batches_that_start_sooner(tmp_path: Path, records: list[str]) -> None:
    query = only(told(tmp_path, CODE, "", *records))
    assert (value(query, "trigger"), value(query, "trigger_interval_ms")) == (None, None)
    assert "the trigger starts" not in query["verdict"]


@pytest.mark.parametrize(
    "records",
    [
        [progress(412, 40_003, 20_000)],
        [progress(1, 20_001, 4_300), progress(2, 40_002, 20_001), progress(3, 60_001, 19_999)],
        [progress(2, 27_310, 27_290, triggerExecution=24_000, addBatch=23_500)],
    ],
)
def test_an_interval_in_code_is_that_of_batches_that_fit_it(tmp_path: Path, records: list[str]) -> None:
    query = only(told(tmp_path, CODE, "", *records))
    assert (value(query, "trigger"), value(query, "trigger_interval_ms")) == ("processing_time", 20_000)


def test_an_interval_in_spark_s_own_line_stays(tmp_path: Path) -> None:
    line = (
        "26/03/01 02:00:02 WARN ProcessingTimeExecutor: Current batch is falling behind. The trigger interval is 2000 "
        "milliseconds, but spent 2300 milliseconds"
    )
    query = only(told(tmp_path, line, progress(412, 7_271, 137)))
    assert value(query, "trigger_interval_ms") == 2000


JAVA = "res7: java.util.Map[String,Long] = {triggerExecution=84, queryPlanning=2, getBatch=6, addBatch=41, walCommit=31"


def test_a_whole_map_of_durations_bounds_the_version(tmp_path: Path) -> None:
    query = only(told(tmp_path, "scala> q.lastProgress.durationMs", JAVA + ", getOffset=0}"))
    assert value(query, "spark_version_below") == "3.4"
    assert (query["best_step"], value(query, "async_progress")) == (None, False)


@pytest.mark.parametrize("end", ["}", ", ...}", ", getOffset=0", ""])
def test_a_map_of_durations_that_may_not_be_whole_bounds_nothing(tmp_path: Path, end: str) -> None:
    data = told(tmp_path, "scala> q.lastProgress.durationMs", JAVA + end)
    assert value(only(data), "spark_version_below") is None


HAND_MADE = """
// numInputRows : 5200,
// durationMs : {
//   addBatch : 8100,
//   getBatch : 20,
//   triggerExecution : 8422
//   walCommit : 61
// }
// sources,
"""


def test_one_comma_that_was_forgotten_is_no_loss(tmp_path: Path) -> None:
    data = told(tmp_path, "query.recentProgress // we see this:", HAND_MADE)
    assert only(data)["verdict"].startswith("8.1 s of an 8.4 s batch")
    assert "durationMs" not in data["input"]["partial"][0]["lacks"]


def test_numbers_on_lines_that_all_lack_a_comma_may_be_cut(tmp_path: Path) -> None:
    data = told(tmp_path, pretty({"durationMs": {"addBatch": 8100, "getBatch": 20, "walCommit": 7}}).replace(",", ""))
    assert data["input"]["partial"][0]["lacks"][0] == "id"
    assert "durationMs" in data["input"]["partial"][0]["lacks"]
