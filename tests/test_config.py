"""advisor.yaml: what it may say, and how it is refused."""

from __future__ import annotations

import json
from datetime import date
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pytest

from advisor import api
from advisor.catalogue import load as load_catalogue
from advisor.catalogue.rule import Rule
from advisor.config import Config, find, listed, load
from advisor.errors import CatalogueError, UsageError
from advisor.views.fleet import fleet_as_text
from tests.made import event

RULES = {id: load_catalogue().rules[id] for id in ("LG001", "ST005")}
GOOD = """
ignore:
  - {rule: LG001, query: "orders-*", reason: exactly-once is required, until: 2026-06-30}
  - {rule: ST005, reason: the cluster grows next week}
queries:
  orders-enricher:
    latency_target_ms: 500
    levels: {LG001: {high: 0.6, low: 0.3}}
    facts: {stateful: false, sink: kafka, task_slots: 16, spark_version: "4.10", ignored_async_setting: null}
"""


def written(directory: Path, text: str) -> Path:
    path = directory / "advisor.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(directory: Path, text: str, rules: dict[str, Rule] | None = None) -> str:
    with pytest.raises(CatalogueError) as caught:
        load(written(directory, text), rules)
    return str(caught.value)


def test_all_that_it_may_say(tmp_path: Path) -> None:
    config = load(written(tmp_path, GOOD), RULES)
    query = config.query(None, "orders-enricher")
    facts = {
        "stateful": False, "sink": "kafka", "task_slots": 16, "spark_version": "4.10", "ignored_async_setting": None,
    }  # fmt: skip
    assert query.given == facts | {"latency_target_ms": 500}
    assert {rule: list(levels.items()) for rule, levels in query.levels.items()} == {
        "LG001": [("low", 0.3), ("high", 0.6)]
    }


def test_a_rule_is_silenced_for_the_queries_that_are_named_until_the_day_is_over(tmp_path: Path) -> None:
    config = load(written(tmp_path, GOOD))
    last, after = date(2026, 6, 30), date(2026, 7, 1)
    found = config.ignored("some-id", "orders-enricher", today=last)
    assert {rule: one.reason for rule, one in found.items()} == {
        "LG001": "exactly-once is required",
        "ST005": "the cluster grows next week",
    }
    assert {*config.ignored("clicks", None, today=last)} == {"ST005"}
    assert {*config.ignored("orders-enricher", today=after)} == {"ST005"}
    assert config.ignored("orders-enricher", today=last, over=True) == {}
    assert {*config.ignored("orders-enricher", today=after, over=True)} == {"LG001"}


UNMATCHED = [
    ("queries: {nosuch: {latency_target_ms: 500}}", ("nosuch",)),
    ("queries: {made: {}}\nignore: [{rule: LG001, query: m*, reason: x}, {rule: ST005, reason: x}]", ()),
    ("queries: {b: {}, m*: {}}\nignore: [{rule: LG001, query: x-*, reason: x}]", ("b", "m*", "x-*")),
]


@pytest.mark.parametrize(("text", "unmatched"), UNMATCHED)
def test_a_name_that_fits_no_query_is_named_in_every_report(
    tmp_path: Path, text: str, unmatched: tuple[str, ...]
) -> None:
    events = [
        event(number, 2000.0 * number, 1000.0, {"triggerExecution": 1000}) | {"name": "made"} for number in range(9)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    written(tmp_path, text)
    report, fleet = api.analyze(tmp_path / "log.jsonl"), api.analyze_fleet(tmp_path / "log.jsonl")
    assert report.typed.input.unmatched == fleet.input.unmatched == unmatched
    said = f"advisor.yaml: no query here is called {', '.join(unmatched)}"
    shown = report.to_text(), report.to_markdown(), fleet_as_text(fleet)
    assert [said in " ".join(one.replace("\\", "").split()) for one in shown] == [bool(unmatched)] * 3


def test_no_file_and_an_empty_file_say_nothing(tmp_path: Path) -> None:
    assert load(None) == Config() == load(written(tmp_path, "# nothing yet\n"))
    assert Config().query("x").given == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("facts: {task_slots: 3}", "facts: no key 'facts' here; known are ignore, queries"),
        ("ignored: []", "ignored: no key 'ignored' here; did you mean 'ignore'?"),
        ("ignore: [{rule: LG001}]", "ignore.0.reason: is missing"),
        ("ignore: [{rule: LG001, reason: ' '}]", "ignore.0.reason: string should have at least 1 character"),
        ("ignore: [{rule: LG001, reason: x, untill: 2026-01-01}]", "did you mean 'until'?"),
        ("ignore: [{rule: LG01, reason: x}]", "ignore.0.rule: no rule 'LG01'; did you mean 'LG001'?"),
        ("queries: {a: {levels: {LG0001: {low: 1}}}}", "queries.a.levels: no rule 'LG0001'; did you mean 'LG001'?"),
        ("queries: {a: {levels: {LG001: {low: 1, medium: 3, high: 2}}}}", "must rise or fall"),
        ("queries: {a: {levels: {LG001: {low: 1.0e+308}}}}", "queries.a.levels.LG001.low: "),
        ("queries: {a: {levels: {LG001: {low: -1}}}}", "low: input should be greater than or equal to 0"),
        (
            "queries: {a: {levels: {LG001: {low: 0.9, medium: 0.1}}}}",
            "LG001: levels must rise from low",
        ),
        ("queries: {a: {facts: {statefull: true}}}", "did you mean"),
        ("queries: {a: {facts: {sink: kafak}}}", "sink cannot be 'kafak'"),
        ("queries: {a: {facts: {spark_version: 3.10}}}", "write the version in quotes"),
        ("queries: {a: {latency_target_ms: -1}}", "a.latency_target_ms: input should be greater than or equal to 1"),
        ("- a list", "has no keys"),
        ("ignore: LG001", "ignore: input should be a list"),
        ("queries:\n  a:\n", "queries.a: input should be keys with values"),
        ('queries: {"a\\n::error::b": {nope: 1}}', "queries.a ::error::b.nope: no key 'nope' here"),
        ("ignore: [", "line 2: while parsing a flow node"),
        ("ignore: [{rule: LG001, reason: x, until: 2026-02-30}]", "ignore.0.until: input should be a valid date"),
        ("queries: {a: {latency_target_ms: true}}", "queries.a.latency_target_ms: input should be a valid number"),
        ("queries: {a: {levels: {LG001: {low: no}}}}", "queries.a.levels.LG001.low: input should be a valid number"),
        ("queries: {a: {latency_target_ms: .inf}}", "queries.a.latency_target_ms: input should be a finite number"),
        ("queries: {a: {levels: {LG001: {low: .nan}}}}", "queries.a.levels.LG001.low: input should be a finite number"),
        ("queries: {7: {}}", "queries.7: input should be a valid string"),
        ("7: {}", "7: keys should be strings"),
        ("queries: {a: {facts: !!set {sink}}}", "line 1: no type !!set here"),
    ],
)
def test_what_it_does_not_know_is_refused_with_a_suggestion(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, text, RULES)


def test_a_reason_is_kept_without_credentials(tmp_path: Path) -> None:
    (tmp_path / "advisor.yaml").write_text("ignore: [{rule: LG001, reason: 'known, password=hunter2secret'}]")
    assert "hunter2" not in load(tmp_path / "advisor.yaml").ignore[0].reason


def test_a_key_under_which_all_is_comment_asks_for_nothing(tmp_path: Path) -> None:
    config = load(written(tmp_path, "ignore:\n#  - {rule: LG001, reason: x}\nqueries:\n"))
    assert not config.ignore and not config.queries


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    text = "ignore: [{rule: LG001}]\nquerys: {}\nqueries: {a: {facts: {stateful: maybe, snk: kafka}}}"
    said = refused(tmp_path, text)
    assert len(said.splitlines()) == 3
    assert all(line.startswith(str(tmp_path / "advisor.yaml")) for line in said.splitlines())
    assert "stateful" in said and "'snk'" in said


def test_of_very_many_mistakes_some_are_told(tmp_path: Path) -> None:
    said = refused(tmp_path, "\n".join(f"k{nth}: 1" for nth in range(2000))).splitlines()
    assert len(said) == 21 and said[-1].endswith(": 1,980 others")


def test_a_key_that_stands_twice_is_refused_with_its_line_and_hides_nothing(tmp_path: Path) -> None:
    once = "ignore: [{rule: LG001, reason: x}]\n"
    said = refused(tmp_path, once + "queries: {a: {snk: 1}}\n" + once).splitlines()
    place = tmp_path / "advisor.yaml"
    assert said[0] == f"{place}: line 3: the key 'ignore' stands twice (first in line 1)"
    assert said[1].startswith(f"{place}: queries.a.snk: no key 'snk' here")
    assert len(said) == 2


def test_an_anchor_and_a_merge_key_spare_words(tmp_path: Path) -> None:
    config = load(written(tmp_path, "queries: {a: &a {facts: {sink: kafka}}, b: {<<: *a, latency_target_ms: 5}}"))
    assert config.query("b").given == {"sink": "kafka", "latency_target_ms": 5}


def test_it_is_found_beside_the_logs_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "driver.log"
    log.touch()
    assert find([str(log), "-", "s3://bucket/logs"]) is None
    path = written(tmp_path, "")
    assert find(["-", str(log)]) == find([str(tmp_path)]) == path
    with pytest.raises(UsageError, match="No such file"):
        load(tmp_path / "none.yaml")


class Named(str, Enum):
    LOG = "a.log"


@pytest.mark.parametrize(
    "given",
    [
        "a.log", Named.LOG, Path("a.log"), PurePosixPath("a.log"), ("a.log",), {"a.log": 1}.keys(),
        pd.Series(["a.log"]), np.array(["a.log"]), np.str_("a.log"), (one for one in ["a.log"]),
    ],
)  # fmt: skip
def test_a_text_a_path_or_several_are_taken(given: Any) -> None:
    assert list(map(repr, listed("paths", given))) == ["'a.log'"]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"id": "x"}, "dict"), ([{"id": "x"}], "dict"), (b"a.log", "bytes"), ([b"a.log"], "bytes"),
        ([["a.log"]], "list"), (pd.DataFrame({"id": ["x"]}), "DataFrame"), (pd.DataFrame(), "DataFrame"),
        (np.array("a.log"), "ndarray"), (None, "NoneType"), (5, "int"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_by_its_kind(given: Any, kind: str) -> None:
    for asked in (api.analyze, api.read_progress):
        with pytest.raises(UsageError, match=f"paths: {kind} is neither a text nor a path; give a log"):
            asked(given)
    with pytest.raises(UsageError, match=f"checkpoint: {type(given).__name__} is neither .* give the folder"):
        api.read_checkpoint(given)
