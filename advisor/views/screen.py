"""What of a report is shown first: the order of queries, the best step, at most three findings, reasons in groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from advisor.facts.names import FACTS

Data = Mapping[str, Any]

FIRST_FINDINGS = 3
FIRST_QUERIES = 3
_STATES = {"dead": 0, "restarting": 1, "running": 2, "stopped": 3, "no_data": 4}
_LEVELS = {"high": 0, "medium": 1, "low": 2}
_LEGAL = {"yes": 0, "if": 1, "no": 2}


@dataclass(frozen=True)
class Screen:
    """One run of a query with what is shown of it, and how much is kept back."""

    query: Data
    best: tuple[Data, Data] | None
    findings: list[Data]
    hidden: int
    folded: Mapping[str, list[Data]]
    earlier: int


def screens(report: Data, *, everything: bool = False) -> list[Screen]:
    """The latest run of each query (every run with `everything`), those that need a reader most first."""
    runs: dict[str, list[Data]] = {}
    for query in report["queries"]:
        runs.setdefault(str(query.get("id") or query.get("run_id") or id(query)), []).append(query)
    shown = []
    for group in runs.values():
        latest_first = sorted(group, key=lambda query: str(query.get("last") or ""), reverse=True)
        both = list(zip(latest_first, range(len(group) - 1, -1, -1), strict=True))
        shown += [screen(query, before, everything) for query, before in (both if everything else both[:1])]
    return sorted(shown, key=_urgency)


def screen(query: Data, earlier: int = 0, everything: bool = False) -> Screen:
    """One run of a query as a screen; `earlier` counts the query's runs before it."""
    own = [finding for finding in query["findings"] if everything or not finding.get("explained_by")]
    shown = own if everything else own[:FIRST_FINDINGS]
    folded: dict[str, list[Data]] = {}
    for finding in query["findings"]:
        if finding.get("explained_by"):
            folded.setdefault(finding["explained_by"], []).append(finding)
    return Screen(query, best_step(query), shown, len(query["findings"]) - len(shown), folded, earlier)


def best_step(query: Data) -> tuple[Data, Data] | None:
    """The finding and the step that the report calls best, or None."""
    best = query.get("best_step") or {}
    for finding in query["findings"]:
        for step in finding["steps"]:
            if finding["rule"] == best.get("rule") and step["id"] == best.get("step"):
                return finding, step
    return None


def steps(finding: Data) -> list[Data]:
    """A finding's steps: those that may be done, those that need a fact, those that may not."""
    return sorted(finding["steps"], key=lambda step: _LEGAL.get(step["legal"], 3))


def unknown_facts(step: Data) -> list[str]:
    """The facts that a step with the answer `if` waits for: as the report names them, else as its reason does."""
    if step["legal"] != "if":
        return []
    named = step.get("unknown") or re.findall(r"[a-z][a-z_]+", step.get("because") or "")
    return [name for name in dict.fromkeys(named) if name in FACTS]


def setting(name: str) -> str:
    """The option that tells the program a fact: `--set sink=kafka|console|…`."""
    fact = FACTS[name]
    choices = [str(value) for value in getattr(fact, "values", None) or ()]
    if str(fact.kind) == "bool":
        choices = ["true", "false"]
    return f"--set {name}={'|'.join(choices) if choices else 'VALUE'}"


def by_reason(entries: Iterable[Data]) -> list[tuple[str, list[str]]]:
    """Skipped rules under their reasons, the reason that most rules share first."""
    groups: dict[str, list[str]] = {}
    for entry in entries:
        groups.setdefault(entry["reason"], []).append(entry["rule"])
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def level(query: Data) -> str:
    """The highest level among a run's findings, empty without one."""
    found = [finding["level"] for finding in query["findings"] if not finding.get("explained_by")]
    return min(found, key=lambda item: _LEVELS.get(item, 3), default="")


def _urgency(screen: Screen) -> tuple[int, int, float]:
    query = screen.query
    state_rank = _STATES.get(str(query.get("state")), 5)
    latency = (query["metrics"].get("record_latency_ms") or {}).get("p99") or 0.0
    return (state_rank if state_rank < 2 else 2, _LEVELS.get(level(query), 3), -latency)
