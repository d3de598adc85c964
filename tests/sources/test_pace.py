"""Records without durations: rows and rates tell how long a batch took, and when the one before began."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import advisor
from tests.made import event
from tests.sources.reading import scanned, told
from tests.sources.variants import STATE


def trigger(query: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Its kind, its interval, and how that is known."""
    kind, interval = query["facts"]["trigger"], query["facts"]["trigger_interval_ms"]
    return kind["value"], interval["value"], kind["from"]


def took(query: dict[str, Any]) -> float:
    return round(query["metrics"]["trigger_execution_ms"]["typical"])


LISTENER = """
batchId=61  numInputRows=9000  inputRowsPerSecond=450.0  processedRowsPerSecond=600.1
batchId=62  numInputRows=9040  inputRowsPerSecond=452.0  processedRowsPerSecond=601.9
batchId=63  numInputRows=8980  inputRowsPerSecond=449.0  processedRowsPerSecond=598.8
"""


def test_a_record_that_ends_before_its_durations_is_judged(tmp_path: Path) -> None:
    head = '{"id": "0c7e9a51", "runId": "1f20f0b8", "name": "c", "timestamp": "2024-05-14T09:12:%02d.004Z", '
    rest = '"batchId": %d, "numInputRows": 840, "inputRowsPerSecond": 84.0, "processedRowsPerSecond": 91.31'
    query = told(tmp_path, head % 30 + rest % 317 + ",\nINFO x\n" + head % 40 + rest % 318)
    assert took(query) == 9199
    assert trigger(query) == ("processing_time", 10_000, "progress")
    assert any(finding["rule"] == "TR007" for finding in query["findings"])
    assert query["best_step"]["step"] == "show-durations"


def test_records_with_phases_are_judged_where_there_are_some(tmp_path: Path) -> None:
    lines = [f'{{"batchId": {n}, "numInputRows": 50, "inputRowsPerSecond": 5.0, "processedRowsPerSecond": 25.0}}'
             for n in range(4, 8)]  # fmt: skip
    divided = '{"batchId": 8, "numInputRows": 50, "durationMs": {"triggerExecution": 2100, "addBatch": 1900}}'
    query = told(tmp_path, "\n".join([*lines, divided]))
    assert query["window"]["batches"] == 1
    assert query["metrics"]["add_batch_ms"]["typical"] == 1900


def test_an_idle_record_without_durations_is_no_batch() -> None:
    assert not len(scanned(b"batchId=9 numInputRows=0 inputRowsPerSecond=0.0 processedRowsPerSecond=0.0\n").table)


CSV = """batchId,timestamp,numInputRows,inputRowsPerSecond,processedRowsPerSecond
2001,2025-11-02T13:00:00.011Z,3000,50.0,150.0
2002,2025-11-02T13:01:00.009Z,3010,50.2,150.5
2003,2025-11-02T13:02:00.010Z,2980,49.7,149.0
"""
LENGTH_ONLY = "[app] batch=12 numInputRows=800 inputRowsPerSecond=80.0 processedRowsPerSecond=400.0 triggerMs=2000\n"
SCALA = "event=progress name=orders batchId={} numInputRows=2{} inputRowsPerSecond=1.0E8 processedRowsPerSecond=2.0E8\n"


@pytest.mark.parametrize(
    "text",
    [
        'println(s"numInputRows=${p.numInputRows} processedRowsPerSecond=${p.processedRowsPerSecond}")',
        "numInputRows=12,50 processedRowsPerSecond=3,25",
        "We saw numInputRows and processedRowsPerSecond of 400 once.",
        "batchId=4 inputRowsPerSecond=10.0 processedRowsPerSecond=20.0",
    ],
)
def test_what_tells_no_length_is_no_batch(text: str) -> None:
    assert not len(scanned(text.encode()).table)


@pytest.mark.parametrize(
    ("sink", "durations", "operators", "told_of"),
    [
        ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@1", {}, [], True),
        ("ForeachBatchSink", {}, [], False),
        ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@1", {"addBatch": 4000}, [], False),
        ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@1", {}, [STATE], False),
    ],
)
def test_rows_that_may_reach_kafka_sooner_are_told(
    tmp_path: Path, sink: str, durations: dict[str, int], operators: list[Any], told_of: bool
) -> None:
    rows = {"triggerExecution": 5000, "numInputRows": 5000, "operators": operators, "sink": sink}
    made = [event(number, 60_000 * number, 60_000, rows | durations) for number in range(20, 32)]
    for each in made:
        if not durations:
            del each["durationMs"]
    path = tmp_path / "rates.jsonl"
    path.write_text("\n".join(map(json.dumps, made)), encoding="utf-8")
    (query,) = advisor.analyze(path).data["queries"]
    assert operators or "p50" in query["metrics"]["record_latency_ms"]
    assert any("1/3 of a batch too long" in limit for limit in query["limits"]) is told_of
