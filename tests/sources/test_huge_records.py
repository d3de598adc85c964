"""A record that is too long ends at the next record's start, and is named; all limits are 1,000 times smaller."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.sources import files, opening, random_access
from advisor.sources.formats import driverlog, eventlog, lines, records

MARK = "26/03/01 00:00:00 INFO MicroBatchExecution: Streaming query made progress: "
SMALLER = {
    (random_access, "STEP"): 16_000, (opening, "WINDOW"): 16_000, (opening, "LATER"): 4_000,
    (opening, "IN_CACHE"): 1_000, (opening, "BEFORE"): 64, (opening, "LONGEST_RECORD"): 40_000,
    (lines, "LONGEST_EVENT"): 32_000, (records, "LONGEST_EVENT"): 32_000, (records, "LONGEST_PIECE"): 1_000,
    (driverlog, "LONGEST_EVENT"): 32_000, (eventlog, "LONGEST_EVENT"): 32_000,
}  # fmt: skip
FORMS: dict[str, Callable[[list[str]], str]] = {
    "json lines": lambda events: "\n".join([*events, ""]),
    "driver log": lambda events: "\n".join([*(MARK + each for each in events), "26/03/01 00:01:00 INFO X: bye", ""]),
    "structured": lambda events: "\n".join(json.dumps({"ts": "2026-03-01T00:00:00Z", "msg": MARK + e}) for e in events),
    "event log": lambda events: "\n".join(
        [
            '{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}',
            *(
                f'{{"Event":"org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent","progress":{e}}}'
                for e in events
            ),
            "",
        ]
    ),
}


@pytest.fixture(autouse=True)
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    for (module, name), value in SMALLER.items():
        monkeypatch.setattr(module, name, value)


def event(batch: int, name: str = "q", source: str = "Rate") -> str:
    made: dict[str, Any] = {
        "id": "11111111-1111-1111-1111-111111111111", "runId": "22222222-2222-2222-2222-222222222222", "name": name,
        "timestamp": f"2026-03-01T00:00:0{batch}.000Z", "batchId": batch, "numInputRows": 100,
        "durationMs": {"addBatch": 352, "triggerExecution": 445, "walCommit": 30}, "stateOperators": [],
        "sources": [{"description": source, "startOffset": 6, "endOffset": 7, "numInputRows": 100}],
        "sink": {"description": "noop"},
    }  # fmt: skip
    return json.dumps(made)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("where", ["name", "source"])
def test_the_records_beside_it_are_read(
    form: str, packed: bool, first: bool, whole: bool, where: str, tmp_path: Path
) -> None:
    place = tmp_path / ("a.log.gz" if packed else "a.log")
    for size in (33_000, 41_000, 50_000, 66_000, 81_000, 130_000):
        huge = event(2, **{where: "x" * size})
        events = [event(1), huge if whole else huge[: len(huge) // 2], event(3), event(4)]
        if first:
            events[:2] = reversed(events[:2])
        raw = FORMS[form](events).encode()
        place.write_bytes(gzip.compress(raw) if packed else raw)
        reading = files.read([str(place)])
        found = set(reading.batches["batch_id"].to_pylist())
        assert {1, 3, 4} <= found <= {1, 2, 3, 4}, size
        assert reading.broken or 2 in found, size
