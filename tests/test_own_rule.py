"""A team's own rule, a YAML file in a folder of its own, can be the headline, a trouble and the first step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from advisor.api import analyze
from advisor.contract import QueryEntry
from tests.made import events

SLOW_PLANNING = {"triggerExecution": 900, "addBatch": 300, "queryPlanning": 500, "walCommit": 40, "numInputRows": 100}
STEP = {
    "id": "zz-plan-less", "do": "Plan less", "change": {"code": "# in your code"}, "takes": "restart",
    "saves": {"metric": "query_planning_ms", "stat": "typical", "share": [0.5, 0.6, 0.7]}, "costs": "Nothing.",
    "undo": "Plan as before.", "check": "queryPlanning gets shorter.",
}  # fmt: skip
RULE = {
    "id": "ZZ001", "slug": "our-planning", "title": "Planning takes longer than our team allows",
    "status": "experimental", "measure": {"metric": "query_planning_share", "stat": "typical"},
    "levels": {"low": 0.1, "medium": 0.2, "high": 0.4}, "explains": ["PL001"],
    "says": "{query_planning_ms} of {trigger_execution_ms} goes into planning, more than our team allows.",
    "why": "We agreed on it.",
    "references": ["our handbook"],
    "examples": [
        {
            "name": verdict, "facts": {}, "batches": {"count": 30, "row": SLOW_PLANNING | {"queryPlanning": ms}},
            "expect": {"verdict": verdict},
        }
        for verdict, ms in (("fires", 500), ("quiet", 5))
    ],
    "steps": [STEP],
}  # fmt: skip


def judged(folder: Path, rule: dict[str, object], row: dict[str, int]) -> QueryEntry:
    rules = folder / "rules"
    rules.mkdir()
    (rules / "ZZ001-our-planning.yaml").write_text(yaml.safe_dump(rule), encoding="utf-8")
    log = folder / "progress.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in events([row] * 40, interval_ms=1000)), encoding="utf-8")
    (query,) = analyze(log, rules=[rules]).typed.queries
    return query


@pytest.mark.parametrize("keys", [{}, {"grave": "results"}], ids=["by its milliseconds", "grave"])
def test_it_is_the_headline_and_gives_the_first_step(tmp_path: Path, keys: dict[str, str]) -> None:
    query = judged(tmp_path, RULE | keys, SLOW_PLANNING)
    assert query.screen.loss is not None and query.best_step is not None
    assert (query.screen.loss.rule, query.screen.loss.kind) == ("ZZ001", keys.get("grave", "planning"))
    assert query.verdict.startswith(query.screen.loss.says) and "our team" in query.screen.loss.says
    assert (query.best_step.rule, query.best_step.step) == ("ZZ001", "zz-plan-less")


def test_it_is_a_trouble_beside_a_larger_loss(tmp_path: Path) -> None:
    logs = SLOW_PLANNING | {"queryPlanning": 200, "addBatch": 100, "walCommit": 500}
    query = judged(tmp_path, RULE, logs)
    assert query.screen.loss is not None and query.screen.loss.rule == "LG001"
    assert any("our team" in words for words in query.screen.troubles)


def test_a_metric_that_it_names_is_what_it_loses(tmp_path: Path) -> None:
    seen = RULE | {"measure": {"metric": "steady_batches"}, "levels": {"low": 1}, "loses": "query_planning_ms"}
    query = judged(tmp_path, seen | {"examples": RULE["examples"]}, SLOW_PLANNING)
    assert query.screen.loss is not None
    assert (query.screen.loss.rule, query.screen.loss.ms) == ("ZZ001", 500.0)
