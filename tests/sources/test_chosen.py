"""Records of which somebody chose the members: what they tell, and what they leave out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.views import first_screen, wording
from advisor.views.shown import Report
from tests.made import event
from tests.sources.reading import told

BEHIND = """
GAUGES = {
    "name": "orders-test", "numInputRows": 600, "inputRowsPerSecond": 60.0, "processedRowsPerSecond": 42.9,
    "durationMs": {"addBatch": 13000, "triggerExecution": 13986},
    "stateOperators": [{"numRowsTotal": 80, "memoryUsedBytes": 1000}],
    "sources": [{"metrics": {"maxOffsetsBehindLatest": "950"}}],
}
"""
PHASE_ALONE = """
{
  'batchId': 31,
  'numInputRows': 41,
  'inputRowsPerSecond': 8.2,
  'processedRowsPerSecond': 63.08,
  'durationMs': {'addBatch': 520, 'triggerExecution': 650}
}
"""


def report(folder: Path, text: str) -> Report:
    path = folder / "asked.txt"
    path.write_text(text, encoding="utf-8")
    return advisor.analyze(path)


def why_not(query: dict[str, Any], rule: str) -> str:
    """Why a rule was not judged."""
    return next(entry["reason"] for entry in query["skipped"] if entry["rule"] == rule)


def test_an_interval_that_was_inferred_is_no_start_without_a_pause(tmp_path: Path) -> None:
    query = told(tmp_path, PHASE_ALONE)
    assert query["facts"]["trigger"] == {"value": "processing_time", "from": "inferred"}
    assert not any("as soon as the one before ends" in limit for limit in query["limits"])
    assert any("A trigger every 5.0 s is inferred" in limit for limit in query["limits"])


def test_the_budget_is_of_the_batch_where_phases_are_left_out(tmp_path: Path) -> None:
    query = report(tmp_path, PHASE_ALONE).typed.queries[0]
    assert query.budget == {"addBatch": 520.0, "lacking": 130.0}
    assert [(name, round(share, 2)) for name, _, share in wording.budget(query)] == [
        ("addBatch", 0.8),
        ("lacking", 0.2),
    ]


def test_a_latency_of_rows_that_come_faster_than_they_are_processed_is_the_least(tmp_path: Path) -> None:
    query = report(tmp_path, BEHIND).typed.queries[0]
    assert query.screen.backlog_untold
    assert first_screen.latency(query).startswith("at least ")
    why = why_not(told(tmp_path, BEHIND), "TR008")
    assert "furthest partition" in why and "do not report" not in why


@pytest.mark.parametrize("text", [BEHIND, PHASE_ALONE])
def test_chosen_members_do_not_show_that_a_query_has_no_event_time(tmp_path: Path, text: str) -> None:
    query = told(tmp_path, text)
    assert query["facts"]["watermarked"] == {"value": None, "from": None}
    assert "missing in the records" in why_not(query, "ST015")


def test_a_record_that_was_cut_behind_its_operators_shows_that_it_has_no_event_time(tmp_path: Path) -> None:
    whole = json.dumps(event(9, 0, 1000, {"numInputRows": 50, "addBatch": 300, "triggerExecution": 400}))
    query = told(tmp_path, whole.partition('"sources"')[0] + '"sources": [ {"descr')
    assert query["facts"]["watermarked"] == {"value": False, "from": "progress"}


LIST = """
stream = Fake(recent=[
    {"numInputRows": 20, "durationMs": {"addBatch": 800, "triggerExecution": 900}},
    {"numInputRows": 14, "durationMs": {"addBatch": 600, "triggerExecution": 700}},
    {"numInputRows": 11, "durationMs": {"addBatch": 700, "triggerExecution": 800}},
])
"""


def test_records_of_one_list_are_one_query(tmp_path: Path) -> None:
    query = told(tmp_path, LIST)
    assert query["window"]["batches"] == 3
    assert query["metrics"]["trigger_execution_ms"]["typical"] == 800


@pytest.mark.parametrize(("rows", "partitions"), [(300, 1), (1800, None)])
def test_sources_that_do_not_tell_all_rows_do_not_tell_all_partitions(
    tmp_path: Path, rows: int, partitions: int | None
) -> None:
    ends = {"startOffset": {"t": {"0": 20}}, "endOffset": {"t": {"0": 320}}}
    source = {"description": "KafkaV2[Subscribe[t]]", **ends, "numInputRows": 300}
    row = {"numInputRows": rows, "addBatch": 1900, "triggerExecution": 2300, "sources": [source]}
    query = told(tmp_path, json.dumps(event(12, 0, 60_000, row)))
    assert query["facts"]["kafka_partitions"]["value"] == partitions


def test_a_length_of_nothing_is_no_batch(tmp_path: Path) -> None:
    made = event(4, 5_000, 5_000, {"numInputRows": 500, "triggerExecution": 0})
    (query,) = report(tmp_path, json.dumps(made)).typed.queries
    assert query.batches == 0
