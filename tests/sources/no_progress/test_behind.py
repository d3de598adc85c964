"""What waits in a source by its metrics or offsets alone, and in what is said of a record that cannot be judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.progress import of_fragment, offsets_behind, read_fragment
from advisor.sources.no_progress.behind import waiting
from tests.test_questions import told

METRICS = {"avgOffsetsBehindLatest": "310.5", "maxOffsetsBehindLatest": "640", "minOffsetsBehindLatest": "12"}
OFFSETS = {"endOffset": {"visits": {"0": 90, "1": 40}}, "latestOffset": {"visits": {"0": 97, "1": 44}}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(METRICS),
        repr(METRICS),
        "\n".join(f"{name} = {told}" for name, told in METRICS.items()),
        "\n".join(f"| `{name}` | {told} |" for name, told in METRICS.items()),
    ],
)
def test_metrics_of_kafka_tell_how_far_behind_its_partitions_are(text: str) -> None:
    said = waiting(text) or ""
    assert "furthest behind was 640 offsets behind its latest, a partition was 310.5 offsets behind on average;" in said
    assert "compare a later one" in said


def test_a_mean_as_java_writes_it_is_told_whole() -> None:
    assert "a partition was 12,345,678 offsets behind on average" in (
        waiting('"avgOffsetsBehindLatest" : "1.2345678E7"') or ""
    )


@pytest.mark.parametrize(
    "text",
    [
        "alert rules:\n  maxOffsetsBehindLatest: 10000",
        "| Metric | Default alert |\n|---|---|\n| maxOffsetsBehindLatest | 5000 |",
        "avgOffsetsBehindLatest: 1.234,5",
    ],
)
def test_what_somebody_set_and_what_is_in_doubt_is_no_measurement(text: str) -> None:
    assert waiting(text) is None


def test_each_of_several_sources_is_told() -> None:
    caught_up = {"maxOffsetsBehindLatest": "0", "avgOffsetsBehindLatest": "0.0"}
    said = waiting(json.dumps([caught_up, {**METRICS, "estimatedTotalBytesBehindLatest": "2500000.0"}])) or ""
    assert "1: nothing waited there; 2: the partition that is furthest behind was 640" in said
    assert "MB waited in all" in said
    assert "compare" not in (waiting(json.dumps(caught_up)) or "compare")


@pytest.mark.parametrize("text", [json.dumps(OFFSETS), repr(OFFSETS), f"{json.dumps(OFFSETS, indent=2)} // visits"])
def test_offsets_alone_tell_how_far_behind_the_batch_ended(text: str) -> None:
    assert "the batch ended 11 offsets behind its latest; how long a batch takes is not told" in (waiting(text) or "")


def test_offsets_that_are_not_both_there_tell_nothing() -> None:
    assert offsets_behind({"visits": {"0": 5}}, {"others": {"0": 9}}) is None
    assert offsets_behind("12", None) is None
    assert waiting('{"endOffset": {"visits": {"0": 5}}, "latestOffset": {"visits": {"0": ') is None
    assert waiting("what does maxOffsetsBehindLatest mean?") is None


@pytest.mark.parametrize(
    "unit", ['"endOffset": {', "maxOffsetsBehindLatest", '"endOffset":{},"latestOffset":{}', "1,111"]
)
def test_a_long_text_is_read_once(unit: str) -> None:
    """Patterns that took the square of its length would take minutes here."""
    waiting(unit * (100_000 // len(unit)))


def says(record: str) -> str:
    found = of_fragment(read_fragment(record))
    return found.says if found else ""


def test_a_record_that_cannot_be_judged_tells_how_far_behind_it_was() -> None:
    source = {"description": "KafkaV2[Subscribe[visits]]", **OFFSETS}
    assert "KafkaV2[Subscribe[visits]], 11 offsets behind its latest" in says(json.dumps({"sources": [source]}))
    metrics = {"description": "KafkaV2[Subscribe[visits]]", "metrics": METRICS}
    assert "640 offsets behind its latest in the furthest partition" in says(json.dumps({"sources": [metrics]}))


LATE = (
    '"eventTime" : {"watermark" : "2041-05-01T00:00:00.000Z"},\n'
    '"stateOperators" : [ {"operatorName" : "dedupe", "numRowsTotal" : 2, "numRowsDroppedByWatermark" : 430} ],\n'
    '"numInputRows" : 500'
)


def test_rows_that_the_watermark_dropped_are_told_beside_all_rows(tmp_path: Path) -> None:
    (partial,) = told(tmp_path, LATE)["input"]["partial"]
    assert partial["says"].startswith(
        "500 rows, watermark 2041-05-01T00:00:00.000Z, state operator dedupe with 2 rows, "
    )
    assert "430 rows dropped by the watermark" in partial["says"]


def test_a_number_at_the_end_of_a_text_that_was_cut_is_not_taken() -> None:
    assert "500 rows" not in says(LATE)
    assert "500 rows" not in says(f"{{{LATE}\n")


def test_rows_among_a_source_s_own_metrics_are_not_the_batch_s(tmp_path: Path) -> None:
    lines = ('"sources" : [ {',
             '  "description" : "KafkaV2[Subscribe[visits]]",',
             '  "metrics" : {',
             '    "numInputRows" : 9', "  }", "} ],", '"stateOperators" : [ {',
             '  "numRowsDroppedByWatermark" : 430', "} ]")  # fmt: skip
    (partial,) = told(tmp_path, *lines)["input"]["partial"]
    assert "430 rows dropped by the watermark" in partial["says"]
    assert "9 rows" not in partial["says"]


LATENCIES = {"processingLatencyMs": {"p50": 4, "p99": 9}, "e2eLatencyMs": {"p50": 31.0, "p99": 88.0}}


@pytest.mark.parametrize("key", ["latencies", "rtmMetrics"])
def test_latencies_of_real_time_mode_in_a_record_of_python_count(tmp_path: Path, key: str) -> None:
    record = {"id": "a", "runId": "b", "batchId": 6, "timestamp": "2026-03-01T10:00:00.000Z", "numInputRows": 900,
              "durationMs": {"triggerExecution": 60000}, key: LATENCIES}  # fmt: skip
    data = told(tmp_path, repr(record))
    assert "31 ms (p50) and 88 ms (p99) from end to end" in str(data)
