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
