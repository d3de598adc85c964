"""Records of which somebody chose the members: what they tell, and what they leave out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.progress import of_fragment, read_fragment
from advisor.report import Report
from advisor.views import wording
from tests.made import event, events
from tests.sources.reading import told

BEHIND = """
GAUGES = {
    "name": "orders-test",
    "numInputRows": 600,
    "inputRowsPerSecond": 60.0,
    "processedRowsPerSecond": 42.9,
    "durationMs": {"triggerExecution": 13986},
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


def partial(folder: Path, text: str) -> list[str]:
    """What the report says of each partial record."""
    return [wording.partial(record) for record in report(folder, text).typed.input.partial]


def why_not(query: dict[str, Any], rule: str) -> str:
    """Why a rule was not judged."""
    return next(entry["reason"] for entry in query["skipped"] if entry["rule"] == rule)


def of_length_alone(count: int, rows: int = 100) -> str:
    """Whole events of which somebody left nothing of durationMs but its sum."""
    made = [{"numInputRows": rows, "triggerExecution": 3000 + nth} for nth in range(count)]
    return "\n".join(map(json.dumps, events(made, interval_ms=10_000)))


def test_an_interval_that_was_inferred_is_no_start_without_a_pause(tmp_path: Path) -> None:
    query = told(tmp_path, PHASE_ALONE)
    assert query["facts"]["trigger"] == {"value": "processing_time", "from": "inferred"}
    assert not any("as soon as the one before ends" in limit for limit in query["limits"])
    assert any("A trigger every 5.0 s is inferred" in limit for limit in query["limits"])


def test_the_budget_is_of_the_batch_where_phases_are_left_out(tmp_path: Path) -> None:
    query = report(tmp_path, PHASE_ALONE).typed.queries[0]
    assert query.budget == {"addBatch": 520.0, "untold": 130.0}
    assert [(name, round(share, 2)) for name, _, share in wording.budget(query)] == [("addBatch", 0.8), ("untold", 0.2)]


def test_durations_that_hold_the_length_are_not_said_to_be_missing(tmp_path: Path) -> None:
    query = told(tmp_path, BEHIND)
    assert "name no phase of durationMs" in query["verdict"]
    assert "lack durationMs" not in json.dumps(query)
    (said,) = partial(tmp_path, BEHIND)
    assert said.endswith("(id, timestamp, event time, sink missing or cut off; durations in part)")


def test_members_of_a_part_that_was_cut_are_told_from_parts_that_are_not_there(tmp_path: Path) -> None:
    cut = '{"id": "7a", "durationMs": {"addBatch": 80, ...}, "stateOperators": [{"numRowsTotal": 4, ...}], ...}'
    (said,) = partial(tmp_path, cut)
    assert said.endswith("sources, sink missing or cut off; durations, state operators in part)")


def test_a_latency_of_rows_that_come_faster_than_they_are_processed_is_the_least(tmp_path: Path) -> None:
    query = report(tmp_path, BEHIND).typed.queries[0]
    assert query.screen.backlog_untold
    assert wording.latency(query).startswith("at least ")


def test_a_furthest_partition_that_is_told_is_not_said_to_be_silent(tmp_path: Path) -> None:
    query = told(tmp_path, BEHIND)
    assert "furthest partition only" in why_not(query, "TR010")
    assert "do not report" not in why_not(query, "TR010")


@pytest.mark.parametrize("text", [BEHIND, PHASE_ALONE])
def test_chosen_members_do_not_show_that_a_query_has_no_event_time(tmp_path: Path, text: str) -> None:
    query = told(tmp_path, text)
    assert query["facts"]["watermarked"] == {"value": None, "from": None}
    assert "missing in the records" in why_not(query, "ST015")


def test_a_record_that_was_cut_behind_its_operators_shows_that_it_has_no_event_time(tmp_path: Path) -> None:
    whole = json.dumps(event(9, 0, 1000, {"numInputRows": 50, "addBatch": 300, "triggerExecution": 400}))
    query = told(tmp_path, whole.partition('"sources"')[0] + '"sources": [ {"descr')
    assert query["facts"]["watermarked"] == {"value": False, "from": "progress"}


def test_whole_events_that_tell_nothing_but_their_length_are_batches(tmp_path: Path) -> None:
    found = report(tmp_path, of_length_alone(12))
    (query,) = found.data["queries"]
    assert found.typed.input.idle == 0
    assert query["window"]["batches"] == 12
    assert query["screen"]["undivided"]
    assert query["metrics"]["trigger_execution_ms"]["typical"] == pytest.approx(3005.5)
    assert query["budget"] == {}


def test_whole_events_without_rows_that_tell_nothing_but_their_length_are_idle(tmp_path: Path) -> None:
    found = report(tmp_path, of_length_alone(12, rows=0))
    assert found.typed.input.idle == 12


def test_a_length_beside_other_phases_than_add_batch_is_a_batch(tmp_path: Path) -> None:
    some = '{"batchId": 3, "numInputRows": 90, "durationMs": {"triggerExecution": 400, "walCommit": 30}}'
    query = told(tmp_path, some)
    assert query["window"]["batches"] == 1
    assert "missing" in query["metrics"]["add_batch_ms"]


def test_what_a_row_takes_is_not_told_of_a_length_alone(tmp_path: Path) -> None:
    query = told(tmp_path, BEHIND.replace("42.9", "20.0").replace("13986", "30000"))
    assert query["screen"]["loss"]["says"].endswith("its rows arrived in 10.0 s.")


LIST = """
stream = Fake(recent=[
    {"numInputRows": 20, "durationMs": {"triggerExecution": 900}},
    {"numInputRows": 14, "durationMs": {"triggerExecution": 700}},
    {"numInputRows": 11, "durationMs": {"triggerExecution": 800}},
])
"""


def test_records_of_one_list_are_one_query(tmp_path: Path) -> None:
    query = told(tmp_path, LIST)
    assert query["window"]["batches"] == 3
    assert query["metrics"]["trigger_execution_ms"]["typical"] == 800


def test_records_of_two_lists_are_two_queries(tmp_path: Path) -> None:
    found = report(tmp_path, LIST + "\nother = Fake(recent=[" + LIST.split("[")[1]).data["queries"]
    assert [query["window"]["batches"] for query in found] == [3, 3]


@pytest.mark.parametrize(("rows", "partitions"), [(300, 1), (1800, None)])
def test_sources_that_do_not_tell_all_rows_do_not_tell_all_partitions(
    tmp_path: Path, rows: int, partitions: int | None
) -> None:
    ends = {"startOffset": {"t": {"0": 20}}, "endOffset": {"t": {"0": 320}}}
    source = {"description": "KafkaV2[Subscribe[t]]", **ends, "numInputRows": 300}
    row = {"numInputRows": rows, "addBatch": 1900, "triggerExecution": 2300, "sources": [source]}
    query = told(tmp_path, json.dumps(event(12, 0, 60_000, row)))
    assert query["facts"]["kafka_partitions"]["value"] == partitions


def test_a_fragment_of_which_nothing_could_be_read_is_no_record() -> None:
    assert of_fragment(read_fragment('{"durationMs": {"addBa')) is None
    assert of_fragment(read_fragment("{")) is None


def test_a_length_of_nothing_is_no_batch(tmp_path: Path) -> None:
    made = event(4, 5_000, 5_000, {"numInputRows": 500, "triggerExecution": 0})
    (query,) = report(tmp_path, json.dumps(made)).typed.queries
    assert query.batches == 0


def test_records_of_a_list_that_name_other_sources_or_sinks_are_other_queries(tmp_path: Path) -> None:
    one = {"numInputRows": 100, "durationMs": {"triggerExecution": 1000, "addBatch": 900}, "sink": {"description": "a"}}
    listed = report(tmp_path, json.dumps([one, one, one | {"sink": {"description": "b"}}], indent=1)).typed.queries
    assert sorted(query.batches for query in listed) == [1, 2]


def test_events_of_a_length_alone_count_beside_those_with_phases(tmp_path: Path) -> None:
    whole = [event(nth, nth * 5_000, 5_000, {"triggerExecution": 5000, "addBatch": 4000}) for nth in (5, 6)]
    lengths = [event(nth, 60_000 * nth, 60_000, {"triggerExecution": 60_000}) for nth in (7, 8)]
    (query,) = report(tmp_path, "\n".join(map(json.dumps, whole + lengths))).typed.queries
    assert query.batches == 4
    assert query.metrics["trigger_execution_ms"].p99 > 50_000
