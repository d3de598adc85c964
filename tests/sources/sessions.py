"""A session for tests that has no Spark: it runs the queries that it is told of and tells the facts it is given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

from advisor.batches import Doing
from advisor.sources.listener.recorder import Recorder
from tests.made import event

QUERY, RUN = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"


class Made:
    """A session of which everything is known beforehand."""

    key = "made"
    log = "app-made"

    def __init__(self, facts: Iterable[tuple[str, Any, str]] = (), running: Mapping[str, list[Any]] | None = None):
        self.facts, self.running, self.over = list(facts), dict(running or {}), False

    def stopped(self) -> bool:
        return self.over

    def add(self, listener: Any) -> None: ...

    def remove(self, listener: Any) -> None: ...

    def lost(self, listener: Any) -> bool:
        return False

    def active(self) -> list[tuple[str, str, str | None]]:
        return [(QUERY, run_id, "made") for run_id in self.running]

    def recent(self, run_id: str) -> list[bytes]:
        return [json.dumps(one).encode() for one in self.running[run_id]]

    def facts_at_start(self, run_id: str) -> list[tuple[str, Any, str]]:
        return self.facts

    def doing(self, run_id: str) -> Doing:
        return Doing(datetime.now(timezone.utc))

    def facts_at_batch(self, run_id: str) -> list[tuple[str, Any, str]]:
        return []


def recorder(session: Made | None = None, **options: Any) -> Recorder:
    return Recorder(session or Made(), **{"keep": 10_000, "capacity": 10_000} | options)


def started(run_id: str = RUN, id: str = QUERY) -> SimpleNamespace:
    return SimpleNamespace(id=id, runId=run_id, name="made", timestamp="2026-03-01T02:00:00.000Z")


def idle(second: int = 0, run_id: str = RUN, id: str = QUERY) -> SimpleNamespace:
    return SimpleNamespace(id=id, runId=run_id, timestamp=f"2026-03-01T03:00:{second:02}.000Z")


def ended(error: object = None, run_id: str = RUN, id: str = QUERY) -> SimpleNamespace:
    return SimpleNamespace(id=id, runId=run_id, exception=error)


def progress(made: Mapping[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(progress=dict(made))


def batch(number: int, run_id: str = RUN, id: str = QUERY, **row: Any) -> SimpleNamespace:
    """A batch whose logs take half of it."""
    slow = {"triggerExecution": 100, "walCommit": 25, "commitOffsets": 25, "addBatch": 40, "queryPlanning": 10}
    return progress(event(number, number * 100, 100, slow | row) | {"id": id, "runId": run_id})


def tell(listening: Recorder, *events: tuple[str, Any]) -> None:
    for kind, one in events:
        listening.hear(kind, one)
