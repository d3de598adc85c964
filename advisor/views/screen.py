"""What of a report is shown first: the order of queries, the best step, at most three findings, reasons in groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from advisor.facts.names import FACTS

Data = Mapping[str, Any]

FIRST_FINDINGS = 3
FIRST_QUERIES = 3
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
    """The latest run of each query (every run with `everything`) in the report's order: the most pressing first."""
    runs: dict[str, list[Data]] = {}
    for query in report["queries"]:
        runs.setdefault(str(query.get("id") or query.get("run_id") or id(query)), []).append(query)
    before = {id(query): nth for group in runs.values() for nth, query in enumerate(sorted(group, key=_ended))}
    latest = {id(max(group, key=_ended)) for group in runs.values()}
    return [
        screen(query, before[id(query)], everything) for query in report["queries"] if everything or id(query) in latest
    ]


def _ended(query: Data) -> str:
    """A text that sorts runs by time; a run that died without a batch leaves no time and counts as the newest."""
    started = (query["facts"].get("start_time") or {}).get("value")
    return str(query.get("last") or started or ("9" if query.get("state") in ("dead", "restarting") else ""))


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
    """The facts that a step with the answer `if` waits for, those that a user can give."""
    if step["legal"] != "if":
        return []
    return [name for name in step.get("unknown") or () if name in FACTS]


def setting(name: str) -> str:
    """The option that tells the program a fact: `--set sink=kafka|console|...`."""
    fact = FACTS[name]
    choices = ("true", "false") if fact.kind == "bool" else fact.values
    return f"--set {name}={'|'.join(choices) or 'VALUE'}"


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
