"""The report is plain data by a contract with a version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from advisor.api import analyze
from advisor.batches import SIGHTINGS, Reading
from advisor.catalogue import Catalogue, load
from advisor.config import Config, Ignore, UserWishes
from advisor.engine import Judgement, Silenced
from advisor.facts import FACTS, Known, Sighting
from advisor.facts.evidence import Run
from advisor.metrics.phases import budget
from advisor.report import Asked, assemble, change
from advisor.report.judged import Judged
from advisor.report.query import limits
from advisor.views.shown import Report
from tests.made import events, table, window

BATCH = {"triggerExecution": 100, "addBatch": 30, "walCommit": 28, "commitOffsets": 30, "numInputRows": 100}
STATE = {"operatorName": "stateStoreSave", "commitTimeMs": 268, "numShufflePartitions": 8, "numRowsUpdated": 436}
QUERY = {
    "id", "run_id", "name", "spark_version", "state", "terminated", "batches", "first", "last", "window", "facts",
    "conflicts", "metrics", "budget", "findings", "suppressed", "skipped",
}  # fmt: skip
FINDING = {
    "rule", "slug", "title", "level", "confidence", "says", "measure", "evidence", "explained_by", "steps",
}  # fmt: skip
STEP = {
    "id", "do", "legal", "because", "change", "takes", "semantics", "saves_ms", "saves_latency_ms", "costs", "undo",
    "check",
}  # fmt: skip


@dataclass
class Wanted:
    given: Mapping[str, Any] = field(default_factory=dict)
    quiet: Iterable[Silenced] = ()

    def facts(self, run: Run) -> Mapping[str, Any]:
        return self.given

    def silenced(self, run: Run) -> list[Silenced]:
        return list(self.quiet)

    def levels(self, run: Run) -> Mapping[str, Mapping[Any, float]]:
        return {}

    def notes(self, run: Run) -> tuple[str, ...]:
        return ()

    def unmatched(self, queries: Iterable[Any]) -> tuple[str, ...]:
        return ()


def reported(
    catalogue: Catalogue, made: list[dict[str, Any]], *, sightings: Iterable[Sighting] = (), asked: Asked | None = None
) -> Report:
    seen = SIGHTINGS.empty_table()
    if rows := [row._asdict() for row in sightings]:
        seen = type(seen).from_pylist(rows, schema=SIGHTINGS)
    return Report(assemble(Reading.of(table(made), seen, files=1, size=1000), catalogue, asked))


def test_the_contract(catalogue: Catalogue) -> None:
    report = reported(catalogue, events([BATCH] * 60))
    assert json.loads(report.to_json()) == report.data
    assert report.data["schema_version"] == 1
    assert set(report.data["input"]) == {"files", "bytes", "events", "idle", "duplicates", "broken"}
    (query,) = report.queries
    assert set(query) >= QUERY
    assert set(query["facts"]) >= set(FACTS)
    assert query["facts"]["task_slots"] == {"value": None, "from": None}
    assert {"p50", "p99", "unit"} == set(query["metrics"]["record_latency_ms"])
    saved = [step["saves_ms"]["high"] for one in query["findings"] for step in one["steps"] if step["saves_ms"]]
    assert saved and max(saved) <= 100  # steps on one phase are not added
    finding = query["findings"][0]
    assert set(finding) >= FINDING
    assert set(finding["steps"][0]) >= STEP
    assert finding["measure"].keys() >= {"metric", "stat", "value"}


def test_batches_that_are_slow_now_and_then_are_found(catalogue: Catalogue) -> None:
    calm = {"triggerExecution": 3200, "addBatch": 3100, "numInputRows": 100}
    slow = calm | {"triggerExecution": 9900, "addBatch": 9800}
    rows = [slow if number in (7, 18, 41) else calm for number in range(60)]
    (query,) = reported(catalogue, events(rows, interval_ms=10_000)).queries
    assert [finding["rule"] for finding in query["findings"]] == ["DR005"]
    assert query["screen"]["loss"]["kind"] == "add_batch" and "3 of 60 batches" in query["screen"]["troubles"][0]


def test_the_budget_of_a_healthy_query_is_shown_with_nothing_to_do(catalogue: Catalogue) -> None:
    calm = {"triggerExecution": 2000, "addBatch": 1900, "walCommit": 28, "commitOffsets": 30, "numInputRows": 100}
    (query,) = reported(catalogue, events([calm] * 60, interval_ms=5000)).queries
    assert (query["findings"], query["budget"]["addBatch"]) == ([], 1900)
    assert "This log shows nothing that needs a change." in query["verdict"]


@pytest.mark.parametrize("sample", ["ST005/8-partitions-on-2-slots-4.3.0", "ST012/200-partitions-4.3.0"])
def test_parts_of_add_batch_fit_into_it(sample: str) -> None:
    """State is committed within the waves: both would come to more than the whole."""
    (query,) = analyze(Path(__file__).parents[1] / "sample_progress" / sample, stages=False).typed.queries
    parts = query.screen.within_add_batch
    assert 0 < sum(part.share for part in parts) <= 1.001


IDLE = {"triggerExecution": 3, "latestOffset": 2, "numInputRows": 0, "operators": [STATE]}


@pytest.mark.parametrize(
    ("made", "idle", "batches", "says"),
    [(events([IDLE] * 20), 20, 0, "idle"), (events([BATCH], first=0), 0, 1, "cold")],
    ids=["idle triggers", "a cold batch"],
)
def test_what_is_no_batch_to_judge(catalogue: Catalogue, made: Any, idle: int, batches: int, says: str) -> None:
    report = reported(catalogue, made)
    (query,) = report.queries
    assert (report.data["input"]["idle"], query["batches"], query["findings"]) == (idle, batches, [])
    assert says in query["verdict"]


def test_runs_of_one_query_are_compared(catalogue: Catalogue) -> None:
    old = events([BATCH] * 40, first=0)
    new = [
        one | {"runId": "33333333-3333-3333-3333-333333333333", "timestamp": one["timestamp"].replace("T02", "T04")}
        for one in events([BATCH | {"triggerExecution": 300, "addBatch": 230}] * 40, first=40)
    ]
    latest, earlier = reported(catalogue, old + new).queries
    assert (latest["runs"], latest["state"], earlier["state"]) == (2, "log_ends", "stopped")
    assert latest["changed"]["because"] == "restart"
    assert "takes 300 ms instead of 100 ms" in latest["changed"]["says"]
    assert "addBatch (+200 ms)" in latest["changed"]["says"]


def test_a_change_under_a_load_that_is_not_known_and_of_batches_that_tell_no_phase(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, none = window([BATCH] * 20), window([{"triggerExecution": 0, "addBatch": 0}] * 20, interval_ms=100)
    assert not budget(none) and "most of the difference" not in change.change(none, none, "restart").says
    monkeypatch.setattr(change, "rows_taken", lambda _: np.array([np.nan]))
    assert change.change(made, made, "restart").says.endswith("under a load that is not known.")


def test_a_run_that_died_at_once_is_a_query_too(catalogue: Catalogue) -> None:
    error, run = "batch 12 doesn't exist", ("11111111-1111-1111-1111-111111111111", "44444444", "made.log")
    died = [
        Sighting(*run, fact, json.dumps(value), "log", "made.log", 10**6)
        for fact, value in (("terminated_error", error), ("missing_batch", 12))
    ]
    (query,) = reported(catalogue, [], sightings=died).queries
    assert (query["state"], query["terminated"]) == ("dead", {"error": error})
    assert [finding["rule"] for finding in query["findings"]] == ["LG005"]


def test_what_the_user_gives_wins_and_a_contradiction_is_told(catalogue: Catalogue) -> None:
    made = events([BATCH | {"operators": [STATE]}] * 40)
    asked = Asked(wishes=Wanted({"state_store": "rocksdb", "stateful": False, "task_slots": 2}))
    (query,) = reported(catalogue, made, asked=asked).queries
    assert query["facts"]["stateful"] == {"value": False, "from": "user"}
    assert [c["fact"] for c in query["conflicts"]] == ["stateful"]


def test_silenced_rules_are_listed_with_their_reason(catalogue: Catalogue) -> None:
    asked = Asked(wishes=Wanted(quiet=[Silenced("LG001", "accepted until the move", "2026-12-01")]))
    (query,) = reported(catalogue, events([BATCH] * 60), asked=asked).queries
    assert query["suppressed"] == [{"rule": "LG001", "reason": "accepted until the move", "until": "2026-12-01"}]
    assert query["findings"] == []


def test_of_many_silences_of_a_rule_the_one_for_the_query_gives_the_reason() -> None:
    ignore = tuple(Ignore(rule="LG001", query=query, reason=f"for {query}") for query in ("orders", "clicks"))
    wishes = UserWishes(Config(ignore=ignore * 20_000), ())
    assert wishes.silenced(Run("id", "run", "orders")) == [Silenced("LG001", "for orders", None)]


def test_a_silence_that_is_over_is_told_and_not_kept(tmp_path: Path) -> None:
    (tmp_path / "progress.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events([BATCH] * 60)))
    ignore = {"rule": "LG001", "reason": "until the move", "until": "2026-01-31"}
    (tmp_path / "advisor.yaml").write_text(yaml.safe_dump({"ignore": [ignore]}))
    (query,) = analyze(tmp_path / "progress.jsonl").queries
    assert "LG001" in {finding["rule"] for finding in query["findings"]}
    assert any("LG001 ended on 2026-01-31 (until the move)" in said for said in query["limits"])


def test_only_the_time_asked_for(catalogue: Catalogue) -> None:
    made = events([BATCH] * 100, interval_ms=1000)
    asked = Asked(last=pd.Timedelta("10s"))
    (query,) = reported(catalogue, made, asked=asked).queries
    assert query["window"]["batches"] == 11
    assert query["window"]["because"] == "the time asked for"


def test_the_worst_batches_name_the_phase_that_was_above_its_own_median(catalogue: Catalogue) -> None:
    rows = [BATCH] * 50 + [BATCH | {"triggerExecution": 570, "walCommit": 498}]
    (query,) = reported(catalogue, events(rows)).queries
    assert (query["worst"][0]["phase"], query["worst"][0]["phase_ms"]) == ("walCommit", 498)


def test_a_rule_that_waits_for_batches_is_not_judged_yet(catalogue: Catalogue) -> None:
    few = reported(catalogue, events([{"triggerExecution": 1000, "addBatch": 800}] * 2)).typed.queries[0]
    assert str(few.screen.not_judged_yet).startswith("3 steady batches are needed, there are 2")


def test_beside_a_loss_without_a_rule_the_near_miss_is_told(catalogue: Catalogue) -> None:
    near = {"triggerExecution": 900, "addBatch": 600, "latestOffset": 195, "walCommit": 20, "commitOffsets": 20}
    query = reported(catalogue, events([near] * 40)).typed.queries[0]
    assert query.findings == ()
    assert "SR001" in {entry.rule for entry in query.screen.closest}


@pytest.mark.parametrize(("version", "told"), [("4.3.1", 0), ("9.9.0", 1)])
def test_a_spark_that_nobody_has_tried_is_named_once(version: str, told: int) -> None:
    made = window([{"triggerExecution": 400, "addBatch": 300}] * 20)
    shown = made.with_facts(made.facts.having(spark_version=Known(version, "event_log")))
    said = limits(Judged(Run("1", "2", "made"), 1, shown, None, "restart", "running", load(None), Judgement()))
    assert sum("newer than" in line for line in said) == told
