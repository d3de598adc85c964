"""The fleet's report: what is ranked, how, and what both views print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from advisor import catalogue, fleet
from advisor.contract import Fleet, Input, QueryEntry, Wins, plain
from advisor.report.assemble import entries_of
from advisor.report.runs import Asked
from advisor.sources import files
from advisor.views import fleet as view
from tests.views import reports

SAMPLES = Path(__file__).parents[1] / "sample_progress"
READ = Input(files=3, bytes=2_000_000, events=900, idle=0, duplicates=0, broken=())


def step(name: str, expected: float | None, high: float, legal: str = "yes") -> dict[str, Any]:
    saves = {"low": 0.0, "expected": expected, "high": high}
    return reports.ASYNC | {"id": name, "do": f"Do {name}", "legal": legal, "change": {}, "saves_ms": saves}


def finding(rule: str, *steps: dict[str, Any], level: str = "high") -> dict[str, Any]:
    return reports.finding(rule, rule.lower(), rule.title(), level, "It is so.", list(steps))


def entry(name: str, *findings: dict[str, Any], interval_ms: float | None = 1000.0, **more: Any) -> QueryEntry:
    metrics = {"trigger_execution_ms": {"p50": 300.0}}
    if interval_ms:
        metrics["interval_ms"] = {"typical": interval_ms}
    best = {"rule": findings[0]["rule"], "step": findings[0]["steps"][0]["id"]} if findings else None
    made = reports.healthy() | {
        "id": f"id of {name}", "run_id": f"run of {name}", "name": name, "batches": 300,
        "first": "2026-03-01T00:00:00.000Z", "last": "2026-03-01T01:00:00.000Z",
        "facts": {"platform": {"value": "open_source", "from": "log"}}, "metrics": metrics,
        "verdict": f"{name}: do it.", "best_step": best, "findings": list(findings),
    } | more  # fmt: skip
    return reports.report(made).queries[0]


def ranked(*entries: QueryEntry) -> Fleet:
    return fleet.report(map(fleet.summary, entries), READ, version="1")


def report(*entries: QueryEntry) -> dict[str, Any]:
    made: dict[str, Any] = plain(ranked(*entries))
    return made


ASYNC = finding("LG001", step("async", 10.0, 20.0))


@pytest.mark.parametrize(
    ("saves", "interval_ms", "per_hour", "wins"),
    [
        ((50.0, 80.0), 2000.0, 1800, (90_000.0, 144_000.0)),
        ((None, 100.0), 1000.0, 3600, (0.0, 360_000.0)),  # a bound is no promise
        ((10.0, 20.0), None, None, None),
    ],
)
def test_a_saving_counts_as_often_as_batches_run(saves: Any, interval_ms: Any, per_hour: Any, wins: Any) -> None:
    (query,) = report(entry("a", finding("LG001", step("async", *saves)), interval_ms=interval_ms))["queries"]
    assert query["batches_per_hour"] == per_hour
    assert query["recoverable"] == (wins and dict(zip(("expected", "at_most"), wins, strict=True)))


def test_a_win_that_is_only_bounded_says_so() -> None:
    assert view.per_hour(Wins(expected=0.0, at_most=360_000.0)) == "up to about 6.0 min an hour"


def test_queries_stand_in_the_order_of_what_they_win_not_of_the_share() -> None:
    rare = entry("rare", finding("LG001", step("async", 500.0, 600.0)), interval_ms=60_000.0)
    often = entry("often", finding("LG001", step("async", 20.0, 30.0)), interval_ms=100.0)
    assert [query["name"] for query in report(rare, often)["queries"]] == ["often", "rare"]


def late(batch_ms: float, **more: Any) -> QueryEntry:
    """A query of which Spark logged a late batch, with an interval of 5 s."""
    facts = {
        name: {"value": value, "from": "log"}
        for name, value in (("falling_behind", True), ("trigger_interval_ms", 5000))
    }
    return entry("late", facts=facts, metrics={"trigger_execution_ms": {"p50": batch_ms}}, **more)


@pytest.mark.parametrize(
    ("found", "behind"),
    [
        (late(364.0), False),
        (late(5_100.0), True),
        (late(364.0, screen={"loss": {"kind": "pace", "says": "It does not keep up."}}), True),
    ],
)
def test_one_late_batch_is_not_behind(found: QueryEntry, behind: bool) -> None:
    assert fleet.summary(found).behind is behind


def test_a_query_that_is_behind_comes_first_whatever_its_step_wins() -> None:
    made = ranked(entry("a", ASYNC), late(5_100.0))
    assert [(query.name, query.recoverable is None) for query in made.queries] == [("late", True), ("a", False)]


def test_one_change_never_wins_more_than_all_queries_together() -> None:
    first = finding("TR001", step("look", None, 0.0), step("async", 40.0, 50.0))
    made = ranked(entry("a", first), entry("b", ASYNC))
    assert made.recoverable == made.changes[0].recoverable == Wins(expected=180_000.0, at_most=252_000.0)


@pytest.mark.parametrize(
    ("files", "opening"),
    [
        (0, "1 query in 1 run, the last 114 batches, read from the UI. No"),
        (2, "1 query in 1 run, 7 events; read: 2 files (2 MB), the last 114 batches, read from the UI. No"),
    ],
)
def test_batches_of_an_address_are_counted(files: int, opening: str) -> None:
    read = Input(files=files, bytes=2_000_000, events=7 if files else 0, idle=0, duplicates=0, broken=(), from_ui=114)
    assert view.fleet_as_text(fleet.report([fleet.summary(entry("a"))], read, version="1")).startswith(opening)


def test_a_change_adds_up_over_queries() -> None:
    made = report(
        entry("a", ASYNC),
        entry("b", finding("LG001", step("async", 30.0, 40.0, legal="if"))),
        entry("c", finding("ST001", step("changelog", 35.0, 35.0))),
    )
    first, second = made["changes"]
    assert (first["step"], first["queries"], first["legal"]) == ("async", 2, {"yes": 1, "if": 1})
    assert first["recoverable"] == {"expected": 144_000.0, "at_most": 216_000.0}
    assert first["most_for"] == ["b", "a"] and json.loads(json.dumps(made, allow_nan=False)) == made
    assert second["step"] == "changelog"
    assert made["recoverable"]["expected"] == 270_000.0


def test_what_is_refused_or_needs_a_new_checkpoint_on_few_batches_is_no_change() -> None:
    new = step("new", 10.0, 20.0) | {"takes": "new_checkpoint"}
    unsure, sure = ({**finding("ST001", new), "confidence": confidence} for confidence in ("low", "high"))
    refused = finding("LG001", step("async", 10.0, 20.0, legal="no"))
    assert [len(report(entry("a", one))["changes"]) for one in (refused, unsure, sure)] == [0, 0, 1]


def test_a_step_of_two_findings_counts_once() -> None:
    shared = step("async", 10.0, 20.0)
    (change,) = report(entry("a", finding("LG001", shared), finding("TR002", shared)))["changes"]
    assert (change["queries"], change["recoverable"]["expected"]) == (1, 36_000.0)


def test_only_the_newest_run_of_a_query_counts() -> None:
    old = entry("a", ASYNC)
    new = entry("a", run_id="newer", last="2026-03-02T00:00:00.000Z")
    died = entry("a", run_id="died", last=None, state="dead")
    assert [query["run_id"] for query in report(new, old)["queries"]] == ["newer"]
    assert [query["run_id"] for query in report(new, died, old)["queries"]] == ["died"]


def test_what_was_not_judged_is_told_with_its_reason() -> None:
    silent = {"window": reports.dead()["window"], "verdict": "Nothing to judge: no progress event."}
    made = report(entry("a", **silent), entry("b", **silent), entry("c"))
    assert made["not_judged"] == [{"reason": silent["verdict"], "queries": 2, "examples": ["a", "b"]}]


TEXT = """\
2 queries in 2 runs, 900 events; read: 3 files (2 MB). The step of each query that saves most, together: 36.0 \
s an hour of waiting. Do async: helps 1 query, 36.0 s an hour.

Changes, by what they win over all queries
  change    queries  wins            legal  takes    most for
  Do async  1        36.0 s an hour  1 yes  restart  a

Queries: those behind first, then by what their best step wins
  query  state    batch   batches/h  lag      behind  wins            what to do   application  file
  a      running  300 ms  3,600      unknown          36.0 s an hour  Do async
  b|c    running  300 ms  3,600      unknown          no step         b|c: do it.
"""


def test_the_text() -> None:
    assert view.fleet_as_text(ranked(entry("a", ASYNC), entry("b|c"))) == TEXT


def test_what_a_query_wins_whose_batches_tell_no_times_is_not_known() -> None:
    text = view.fleet_as_text(ranked(entry("odd", metrics={})))
    assert re.search(r"odd +running +unknown +unknown +unknown +not known +odd: do it", text)


def test_long_lists_are_cut_and_say_so() -> None:
    made = ranked(*(entry(f"q{number}", id=str(number)) for number in range(30)))
    assert "10 more: --all" in view.fleet_as_text(made)
    assert "q29" in view.fleet_as_text(made, everything=True)


@pytest.mark.parametrize("sample", ["LG001/rate-to-noop-4.3.0", "ST002/rocksdb-without-changelog-4.3.0"])
def test_a_brief_entry_tells_a_fleet_as_much_as_a_whole_one(sample: str) -> None:
    reading, rules = files.read([str(SAMPLES / sample)]), catalogue.load(None)
    whole, brief = (
        list(entries_of(reading, rules, Asked(), lambda entry: entry, brief=brief)) for brief in (False, True)
    )
    assert [fleet.summary(entry) for entry in brief] == [fleet.summary(entry) for entry in whole]
    assert all(entry.budget and not other.budget for entry, other in zip(whole, brief, strict=True))
