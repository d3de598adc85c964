"""The report as text: what must hold for every width and input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

import advisor
from advisor.views.first_screen import kind_of_query
from advisor.views.terminal import report_as_text
from tests.made import event
from tests.views.reports import dead, healthy, report, slow


def test_where_nothing_helps_the_screen_says_what_was_looked_at() -> None:
    query = healthy() | {"passed": [{"rule": "LG001", "margin": "small"}]}
    page = report_as_text(report(query))
    assert "\n22 ms of a 29 ms batch" in page
    assert "No rule found anything to change. Looked at: 1 rule (1 passed)." in page
    assert "thing to do" not in page


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_first_screen_has_at_most_25_lines(width: int) -> None:
    query = slow()
    query["screen"] |= {
        "troubles": ["Something is not as it should be, and it takes a whole line of words to say so."] * 5,
        "also": query["screen"]["also"] * 3,
        "refused": query["screen"]["refused"] * 2,
    }
    page = report_as_text(report(query), width=width)
    screen = page.partition("\n\n")[2].partition("More: --all")[0] + "More: --all"
    assert screen.startswith("orders-enricher")
    assert len(screen.splitlines()) <= 25


def test_a_step_that_waits_for_a_fact_says_which() -> None:
    query = slow() | {"best_step": {"rule": "LG001", "step": "abortable-manager"}}
    page = report_as_text(report(query))
    assert "if     Not known: file system of the checkpoint" in page
    assert "checkpoint_scheme=..." in " ".join(page.split())


def test_earlier_runs_of_a_query_are_kept_back() -> None:
    before = slow() | {"run_id": "earlier", "last": "2026-03-01T10:00:00Z"}
    page = report_as_text(report(before, slow()))
    assert page.count("orders-enricher") == 1 and "1 earlier run of this query" in page
    assert report_as_text(report(before, slow()), everything=True).count("Best step") == 2


@pytest.mark.parametrize(("count", "named", "more"), [(5, 5, "2 more queries"), (1_010, 1_003, "and 7 more")])
def test_more_queries_than_a_screen_holds_have_a_line_each_up_to_a_thousand(count: int, named: int, more: str) -> None:
    queries = [slow() | {"id": f"id-{nth}", "run_id": f"run-{nth}", "name": f"query-{nth}"} for nth in range(count)]
    page = report_as_text(report(*queries))
    assert (page.count("DO   Track progress"), page.count("query-"), more in page) == (3, named, True)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_page_but_code_to_paste(width: int) -> None:
    code = ("spark.conf.set", '"org.apache.', '"spark.sql.', ".option(", "--packages")
    page = report_as_text(report(slow(), healthy(), dead()), width=width)
    assert '.option("asyncProgressTrackingEnabled", "true")' in page
    for line in page.splitlines():
        assert cell_len(line) <= min(width, 120) or line.lstrip().startswith(code), line


@pytest.mark.parametrize("words", ["# a | b", "- a **b** c", "| a | b |", "**"])
def test_what_is_markup_elsewhere_is_text_in_the_whole_report(words: str) -> None:
    query = slow() | {"verdict": words, "limits": [words]}
    query["findings"][0] |= {"says": words}
    lines = [line.strip() for line in report_as_text(report(query), everything=True).splitlines()]
    assert lines.count(words) == 2 and f"Note      {words}" in lines


def test_colour_only_where_it_is_asked_for_and_what_is_not_known_is_no_error() -> None:
    query = dead() | dict.fromkeys(("changed", "name", "spark_version", "best_step")) | {"findings": []}
    page = report_as_text(report(query))
    assert "Spark version unknown" in page and "query 77e0a8ac" in page and "\x1b[" not in page
    assert report_as_text(report()).startswith("2 files, 12.4 MB: 1,230 progress events")
    assert "\x1b[1m" in report_as_text(report(slow()), color=True)


def test_a_run_that_died_without_a_batch_is_the_newest() -> None:
    died = dead() | {"id": slow()["id"], "name": "orders-enricher"}
    page = report_as_text(report(slow(), died))
    assert page.count("orders-enricher") == 1 and "stopped with an error: java.lang.IllegalStateException" in page


def test_databricks_is_named_where_no_version_is_known(tmp_path: Path) -> None:
    idle = event(4, 10_000, 10_000, {"triggerExecution": 3, "latestOffset": 2})
    idle |= {"numInputRows": 0, "sources": [{"description": "CloudFilesSource[abfss://a@b/in]"}]}
    (tmp_path / "idle.json").write_text(json.dumps(idle), encoding="utf-8")
    assert "Spark version unknown (Databricks)" in report_as_text(advisor.analyze(tmp_path / "idle.json").typed)


@pytest.mark.parametrize(("version", "untried"), [("4.3.1", False), ("9.9.0", True)])
def test_a_spark_that_nobody_has_tried_is_named_on_the_first_screen(version: str, untried: bool) -> None:
    (query,) = report(healthy() | {"spark_version": version}).queries
    assert ("newer than all tried" in kind_of_query(query)) is untried
