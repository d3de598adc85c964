"""Progress for tests: Spark-shaped events from a few numbers, through the real decoder into real windows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa

from advisor.batches import build
from advisor.facts import Facts, Known
from advisor.progress import decode
from advisor.window import Window, run_window

START = datetime(2026, 3, 1, 2, 0, tzinfo=timezone.utc)
PHASES = (
    "latestOffset", "getOffset", "getBatch", "queryPlanning", "walCommit", "addBatch", "commitOffsets",
    "triggerExecution", "commitBatch", "collectSourceMetrics",
)  # fmt: skip


def event(number: int, at_ms: float, interval_ms: float, row: Mapping[str, Any]) -> dict[str, Any]:
    """One progress event; phases by Spark's names, everything else as it stands in the event."""
    rows = row.get("numInputRows", 100)
    made: dict[str, Any] = {
        "id": "11111111-1111-1111-1111-111111111111", "runId": "22222222-2222-2222-2222-222222222222", "name": "made",
        "timestamp": (START + timedelta(milliseconds=at_ms)).isoformat(timespec="milliseconds")[:-6] + "Z",
        "batchId": number, "numInputRows": rows,
        "inputRowsPerSecond": rows / interval_ms * 1000 if number and interval_ms else 0.0,
        "processedRowsPerSecond": rows / max(row.get("triggerExecution", 1), 1) * 1000,
        "durationMs": {name: row[name] for name in PHASES if name in row} | row.get("otherPhases", {}),
        "stateOperators": row.get("operators", []),
        "sources": row.get("sources", [{"description": "RateStreamV2[...]", "numInputRows": rows}]),
        "sink": {"description": row.get("sink", "NoopTable"), "numOutputRows": rows},
    }  # fmt: skip
    return made | {key: row[key] for key in ("eventTime", "id", "runId", "timestamp", "name", "batchId") if key in row}


def events(
    rows: Iterable[Mapping[str, Any]], *, first: int = 10, interval_ms: float | None = None
) -> list[dict[str, Any]]:
    """Batches one after another; the interval is that given, or as long as the batch before took."""
    made, at, before = [], 0.0, 0.0
    for number, row in enumerate(rows, first):
        gap = max(interval_ms or row.get("interval", 0.0), before or row["triggerExecution"])
        at += gap
        made.append(event(number, at, gap, row))
        before = row["triggerExecution"]
    return made


def table(made: Iterable[Mapping[str, Any]]) -> pa.Table:
    """The table of batches of these events."""
    decoded = [decode(json.dumps(one).encode()) for one in made]
    return build(decoded, range(0, 1000 * len(decoded), 1000), "made.log", "made.log")


def facts(**known: Any) -> Facts:
    """These facts, given by the user."""
    return Facts({name: Known(value, "user") for name, value in known.items()})


def window(
    rows: Iterable[Mapping[str, Any]], *, interval_ms: float | None = None, first: int = 10, **known: Any
) -> Window:
    """The steady window of these batches with these facts."""
    return run_window(table(events(rows, first=first, interval_ms=interval_ms)), facts(**known))
