"""The address of a driver that really runs, beside the event log that the same run leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.sources import files
from advisor.sources.ui.driver import Driver
from advisor.sources.ui.web import Server
from tests.record.ui import batches_of, running
from tests.spark.queries import SECONDS

pytestmark = pytest.mark.spark
pytest.importorskip("pyspark")
BATCHES = 5


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """What the pages showed, and what the event log of the run holds."""
    work = tmp_path_factory.mktemp("driver")
    with running("aggregation", work) as address:
        batches_of(Driver(Server(address), stages=False), 1, BATCHES, SECONDS)
        shown = files.read([address], stages=True)
    return shown, files.read([logs(work)], stages=True)


def logs(work: Path) -> str:
    return str(next((work / "events").iterdir()))


def rows(reading: Any) -> dict[int, dict[str, Any]]:
    return {row["batch_id"]: row for row in reading.batches.to_pylist() if not row["idle"]}


def test_each_batch_has_the_phases_of_its_event(both: tuple[Any, Any]) -> None:
    shown, logged = map(rows, both)
    assert len(shown) >= BATCHES
    phases = ("add_batch_ms", "wal_commit_ms", "commit_offsets_ms", "query_planning_ms", "latest_offset_ms")
    for number, row in shown.items():
        assert [row[name] for name in phases] == [logged[number][name] for name in phases]
        assert row["trigger_execution_ms"] == logged[number]["batch_duration_ms"]


def test_each_batch_is_opened(both: tuple[Any, Any]) -> None:
    opened = {*both[0].inside["batch_parts"]["batch_id"].to_pylist()}
    assert {*rows(both[0])} - opened <= {max(rows(both[0]))}


@pytest.mark.parametrize("fact", ["spark_version", "application", "conf:spark.master", "stateful"])
def test_facts_are_those_of_the_event_log(fact: str, both: tuple[Any, Any]) -> None:
    shown, logged = ({row["value"] for row in one.sightings.to_pylist() if row["fact"] == fact} for one in both)
    assert shown == logged != set()


def test_the_task_slots_are_those_of_the_executors(both: tuple[Any, Any]) -> None:
    assert [row["value"] for row in both[0].sightings.to_pylist() if row["fact"] == "task_slots"] == ["2"]
