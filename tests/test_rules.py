"""The shipped rules: their own examples, what Spark's documents state, and queries that are well."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.catalogue import Catalogue, Example, Rule, load
from advisor.engine import Finding, judge, judge_rule
from advisor.examples import failures, progress, run, window
from advisor.metrics.units import milliseconds

SHIPPED = load()
CASES = [(rule, example) for rule in SHIPPED.rules.values() for example in rule.examples]
FIRST_RULES = (
    "LG001 LG002 LG003 LG004 LG005 ST001 ST002 ST005 ST012 TR001 TR002 TR004 TR005 TR006 SK002 SK003 SR002 CF001 CF002"
    " DQ001"
)

_TABLES: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
STATED: list[list[str]] = _TABLES["stated"]
HEALTHY: dict[str, dict[str, Any]] = _TABLES["healthy"]


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return SHIPPED


def text_of(catalogue: Catalogue, name: str) -> str:
    """Everything that a rule (without its steps) or a step says."""
    if name in catalogue.rules:
        return "\n".join(words_in(catalogue.rules[name].model_dump(exclude={"steps"})))
    return "\n".join(words_in(catalogue.steps[name].model_dump(exclude={"undo"})))


def words_in(value: Any) -> Iterator[str]:
    """Every key and value inside, as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from words_in(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from words_in(inner)
    else:
        yield str(value)


@pytest.mark.parametrize(("rule", "example"), CASES, ids=[f"{rule.id} {example.name}" for rule, example in CASES])
def test_an_example_is_answered_as_it_says(rule: Rule, example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    made = window(example)
    monkeypatch.setattr("advisor.examples.window", lambda _: made)
    assert failures(rule, example) == []
    finding = judge_rule(rule, made)
    if isinstance(finding, Finding):
        assert not re.search(r"\{|unknown", finding.says)
        assert [step.id for step in finding.steps if "{" in step.costs + step.undo + step.check + step.do] == []


@pytest.mark.parametrize("name", ["PY001", "PY002"])
def test_the_steps_for_python_stand_in_the_order_of_the_examples(name: str) -> None:
    rule = SHIPPED.rules[name]
    for example in rule.examples:
        steps = getattr(judge_rule(rule, window(example)), "steps", ())
        assert [step.id for step in steps if step.id in example.expect.steps] == list(example.expect.steps)


def test_an_answer_that_differs_is_named(catalogue: Catalogue) -> None:
    rule = catalogue.rules["LG001"]
    expect = rule.examples[0].expect
    other = rule.examples[0].model_copy(
        update={"expect": expect.model_copy(update={"level": "low", "steps": {"async-progress": "no"}})}
    )
    said = run(rule.model_copy(update={"examples": (other,)}))
    level, step = (line.partition(": ")[2] for line in said)
    assert level.startswith("expected level low, got high, because offset_log_share is ")
    assert step.startswith("expected no for the step async-progress, got yes, because ")
    quiet = other.model_copy(update={"expect": expect.model_copy(update={"verdict": "quiet"})})
    (fires,) = failures(rule, quiet)
    assert fires.startswith("expected quiet, got fires, because offset_log_share is ")


@pytest.mark.parametrize("wrong", [{"row": {"triggerExecution": 1e308}}, {"row": {"triggerExecution": -400}},
                                   {"interval_ms": 10**14}, {"operators": ({"commitTimeMs": "x"},)},
                                   {"operators": ({"operatorName": "x", "numRowsTotal": "a"},)},
                                   {"operators": ({"operatorName": "x"},), "state_growth": 5},
                                   {"parts": {"traces": 5}}])  # fmt: skip
def test_an_example_of_which_no_batches_can_be_made_is_named(catalogue: Catalogue, wrong: dict[str, Any]) -> None:
    rule = catalogue.rules["LG001"]
    example = rule.examples[0].model_copy(update={"batches": rule.examples[0].batches.model_copy(update=wrong)})
    assert failures(rule, example)[0].startswith("no batches can be made of it: ")


def test_the_first_rules_are_there(catalogue: Catalogue) -> None:
    assert set(FIRST_RULES.split()) <= catalogue.rules.keys()


@pytest.mark.parametrize(("where", "words"), STATED)
def test_what_the_documents_state_is_told(catalogue: Catalogue, where: str, words: str) -> None:
    assert words in text_of(catalogue, where)


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_fires_on_a_healthy_query(catalogue: Catalogue, name: str) -> None:
    short = HEALTHY[name]
    example = Example.model_validate(
        {
            "name": name,
            "facts": short["facts"],
            "batches": {"count": 60} | short["batches"],
            "expect": {"verdict": "quiet"},
        }
    )
    assert [finding.says for finding in judge(window(example), catalogue).findings] == []


def test_the_second_computation_of_a_sorted_result_is_told_with_its_time() -> None:
    rule = SHIPPED.rules["SK010"]
    found = {example.name: judge_rule(rule, window(example)) for example in rule.examples}
    once, twice = (found[name] for name in found if "memory" in name or "two jobs" in name)
    assert isinstance(once, Finding) and isinstance(twice, Finding)
    assert [milliseconds(1375.0) in one.says for one in (once, twice)] == [False, True]


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("SK012", "jobs compute the batch, each anew: ", [1, 1, 1]),
        ("SK016", " for each row: if one request takes ", [1, 1]),
    ],
)
def test_the_examples_of_a_rule_that_say_more(name: str, words: str, said: list[bool]) -> None:
    found = [judge_rule(SHIPPED.rules[name], window(one)) for one in SHIPPED.rules[name].examples]
    assert [words in one.says for one in found if isinstance(one, Finding)] == said


def test_of_an_append_to_delta_the_driver_s_own_work_is_told_from_the_functions_code() -> None:
    rule = SHIPPED.rules["DV001"]
    found = [judge_rule(rule, window(one)) for one in rule.examples if "appends to Delta" in one.name]
    words = ("At most 25.9 % of it is the function's own code.", "Delta's log and its commit")
    assert [[word in one.says for word in words] for one in found if isinstance(one, Finding)] == [[1, 0], [0, 1]]


def test_a_step_that_takes_a_new_checkpoint_says_what_is_lost() -> None:
    lost = re.compile("state is lost|startingOffsets|new one|new checkpoint")
    steps = [step for step in SHIPPED.steps.values() if step.takes == "new_checkpoint"]
    assert [step.id for step in steps if not lost.search(step.costs) or "checkpoint" not in str(step.undo)] == []


def test_nobody_is_told_to_switch_off_deltas_statistics(catalogue: Catalogue) -> None:
    assert not [step for step in catalogue.steps if "stats.collect" in catalogue.steps[step].model_dump_json()]


def test_code_to_paste_is_python(catalogue: Catalogue) -> None:
    changes = [c for s in catalogue.steps.values() for c in (s.change, *(stage.change for stage in s.stages)) if c]
    codes = [change.code.replace("{advised_state_partitions}", "2") for change in changes if change.code]
    assert codes
    for code in codes:
        ast.parse(f"writer{code}" if code.startswith(".") else code)


def test_references_are_public(catalogue: Catalogue) -> None:
    for rule in catalogue.rules.values():
        assert all(re.match(r"https://|measured", reference) for reference in rule.references), rule.id


def test_an_example_gives_the_same_progress_every_time(catalogue: Catalogue) -> None:
    example = catalogue.rules["LG001"].examples[0]
    events = progress(example)
    assert events == progress(example)
    assert len(events) == 60
    assert events[0]["batchId"] > 0
    assert all(event["inputRowsPerSecond"] > 0 for event in events)
    assert len({event["durationMs"]["triggerExecution"] for event in events}) > 1
