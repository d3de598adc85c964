"""What real Sparks wrote: each rule fires on its samples, nothing on healthy ones, and every report stays the same.

Where a change means to say something else: `python -m tests.recorded write` before and after it, `compare`, read each
difference, then `pytest tests/test_recorded.py --write-golden -k same_report`.
"""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import msgspec
import pytest

from advisor.api import read_progress
from advisor.catalogue import load
from advisor.contract import QueryEntry
from advisor.views import markdown, terminal
from advisor.views.first_screen import loss_name
from advisor.views.shown import Report
from tests.recorded import CASES, ROOT, digest, report, said, sample

STORED = Path(__file__).with_name("recorded.json")
each_case = pytest.mark.parametrize("case", CASES, scope="module")
"""All that is asked of a case follows one another, so that one process reads it once."""
CODE = ("spark.conf.set(", '"', "--")  # lines that cannot be broken and pasted


@each_case
def test_a_recorded_case_gets_the_same_report(case: str, request: pytest.FixtureRequest) -> None:
    found = {name: digest(text) for name, text in said(case).items()}
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    if request.config.getoption("--write-golden"):
        STORED.write_text(json.dumps(stored | {case: found}, indent=1, sort_keys=True) + "\n")
    else:
        assert found == stored[case]


def test_each_stored_case_is_there() -> None:
    assert sorted(json.loads(STORED.read_text())) == CASES


def asked(case: str) -> Report:
    """The report on a case with what its sample sets."""
    return report(case, *(f"{name}={value}" for name, value in sample(case)["set"].items()))


def first_screen(case: str, query: QueryEntry, width: int) -> str:
    return terminal.report_as_text(msgspec.structs.replace(asked(case).typed, queries=(query,)), width=width)


def queries(case: str) -> tuple[QueryEntry, ...]:
    return asked(case).typed.queries


def fired(case: str) -> set[str]:
    return {finding.rule for query in queries(case) for finding in query.findings}


@each_case
def test_what_must_be_found_is_found_and_every_view_shows_it(case: str) -> None:
    assert set(sample(case)["expect"]) <= fired(case)
    assert asked(case).data["input"]["broken"] == []
    assert json.loads(asked(case).to_json())["queries"]
    assert markdown.report_as_markdown(asked(case).typed)
    words = " ".join(terminal.report_as_text(asked(case).typed, everything=True).split())
    assert words and ("nothing shows the jobs" not in words or not any(query.inside for query in queries(case)))
    assert not re.search(r"\b(?:a (?:8|1[18]\b)|an (?!8|1[18])\d|100\.0 %|1 more tries)", words)


@pytest.mark.parametrize("case", [c for c in CASES if "/healthy/" in c])
def test_nothing_is_found_on_a_healthy_query(case: str) -> None:
    assert sample(case)["expect"] == []
    assert fired(case) == set()
    verdicts = [query.verdict for query in queries(case)]
    well = ("No rule found anything", "Nothing to judge", "Not judged yet", "nothing that needs a change")
    assert all(any(each in words for each in well) for words in verdicts)


def test_every_stable_rule_has_a_sample() -> None:
    stable = {rule.id for rule in load(None).rules.values() if rule.status == "stable"}
    assert stable <= {case.split("/")[1] for case in CASES}


def has_progress(log: Path) -> bool:
    """Whether a log is there, and not only of a query that Spark refused."""
    return log.exists() and "made progress: " in log.read_text()


@pytest.mark.parametrize("case", [c for c in CASES if has_progress(ROOT / c / "driver.log")])
def test_a_log_and_its_events_as_json_lines_are_the_same_table(case: str, tmp_path: Path) -> None:
    place = ROOT / case / "driver.log"
    log = place.read_text()
    objects = [part.split("\n}", 1)[0] + "\n}" for part in log.split("made progress: ")[1:] if part.startswith("{")]
    lines = tmp_path / "progress.jsonl"
    lines.write_text("".join(json.dumps(json.loads(text)) + "\n" for text in objects))
    left_out = ["file", "offset", "log", "operators", "sources", "other_phases"]
    one, other = (read_progress(path).drop(columns=left_out) for path in (place, lines))
    assert one.equals(other)


@each_case
def test_the_first_screen_of_a_sample(case: str) -> None:
    for query, width in product(queries(case), (80, 100)):
        alone = first_screen(case, query, width)
        screen = alone.partition("\n\n")[2].partition("More: --all")[0] + "More: --all"
        assert len(screen.splitlines()) <= 25
        assert not [line for line in screen.splitlines() if len(line) > width and not line.strip().startswith(CODE)]
        assert "nothing to do" not in alone.lower()
        # beside the best step stands a cheap one, whatever else there is no room for; the others are counted
        cheap = [named for named in query.screen.also if named.cheap]
        steps = {(finding.rule, step.id): step for finding in query.findings for step in finding.steps}
        assert all(steps[named.rule, named.step].takes in ("nothing", "restart") for named in cheap)
        if cheap and width == 80:
            first = steps[cheap[0].rule, cheap[0].step].do
            assert " ".join(first.split()) in " ".join(alone.split())
    for query in (query for query in queries(case) if query.window.batches):
        assert query.screen.loss is not None and loss_name(query.screen.loss)
        assert query.verdict.startswith((query.screen.calm or query.screen.loss).says)
        assert query.screen.calm is None or "/healthy/" in case or query.screen.wish
        assert sum(part.share for part in query.screen.goes_to) <= 1.01


@each_case
def test_steps_are_in_order_and_legal_and_the_best_one_saves_most(case: str) -> None:
    for query in queries(case):
        steps = {(finding.rule, step.id): step for finding in query.findings for step in finding.steps}
        best = query.best_step.advice if query.best_step else None
        for step in steps.values():
            assert step.legal != "yes" or step.takes != "new_checkpoint"
            for promise in filter(None, (step.saves_ms, step.saves_latency_ms)):
                known = [end for end in (promise.low, promise.expected, promise.high) if end is not None]
                assert known == sorted(known)
        sure = [step for step in steps.values() if step.legal == "yes" and step.semantics == "unchanged"]
        saved = [step.saves_latency_ms.likely for step in sure if step.saves_latency_ms is not None]
        if best is not None and best.legal == "yes" and best.saves_latency_ms is not None:
            assert best.saves_latency_ms.likely >= max(saved, default=0)
        if query.screen.loss and query.best_step and query.screen.loss.rule == query.best_step.rule:
            assert query.best_step.title not in query.verdict  # which names the loss
        also = [steps[named.rule, named.step] for named in query.screen.also]
        assert all(step.legal != "no" for step in also)
        assert all(steps[one.rule, one.step].legal == "no" for one in query.screen.refused)
        assert query.best_step is None or query.best_step.step not in [step.id for step in also]


@each_case
def test_no_promise_takes_the_time_that_a_record_needs_for_its_own_batch(case: str) -> None:
    for query in queries(case):
        whole = query.metrics["trigger_execution_ms"].typical if query.window.batches else None
        for step in (step for finding in query.findings for step in finding.steps if step.saves_in and whole):
            left = whole - step.saves_ms.high if step.saves_ms else 0
            if step.saves_latency_ms and left > 1:
                assert step.saves_latency_ms.high < query.metrics["record_latency_ms"].p50
