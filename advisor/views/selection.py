"""Select what to show first: the order of queries, at most three findings, reasons in groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from advisor.contract import Advice, BestStep, Finding, QueryEntry, Report, Skipped
from advisor.facts.names import FACTS

FIRST_FINDINGS = 3
FIRST_ALSO = 3
FIRST_QUERIES = 3


@dataclass(frozen=True)
class Selection:
    """One run of a query with what is shown of it, and how much is kept back."""

    query: QueryEntry
    findings: list[Finding]
    hidden: int
    folded: Mapping[str, list[Finding]]
    earlier: int

    @property
    def best(self) -> BestStep | None:
        """What to do first."""
        return self.query.best_step

    @property
    def also(self) -> list[Advice]:
        """The first of the other steps that help."""
        steps = {(one.rule, step.id): step for one in self.query.findings for step in one.steps}
        return [steps[named.rule, named.step] for named in self.query.screen.also[:FIRST_ALSO]]


def selections(report: Report, *, everything: bool = False) -> list[Selection]:
    """The latest run of each query (every run with `everything`) in the report's order: the most pressing first."""
    runs: dict[str, list[QueryEntry]] = {}
    for query in report.queries:
        runs.setdefault(query.id or query.run_id, []).append(query)
    ordered = [sorted(group, key=_ended) for group in runs.values()]
    before = {id(query): sum(map(_ran, group[:nth])) for group in ordered for nth, query in enumerate(group)}
    latest = {id(max(group, key=_ended)) for group in runs.values()}
    return [
        selection(query, before[id(query)], everything) for query in report.queries if everything or id(query) in latest
    ]


def _ran(query: QueryEntry) -> bool:
    """Whether the run is more than idle triggers: short forms of those name no run."""
    return bool(query.batches) or query.state in ("dead", "restarting")


def _ended(query: QueryEntry) -> str:
    """A text that sorts runs by time; a run that died without a batch leaves no time and counts as the newest."""
    return str(query.last or query.value("start_time") or ("9" if query.state in ("dead", "restarting") else ""))


def selection(query: QueryEntry, earlier: int = 0, everything: bool = False) -> Selection:
    """What is shown of one run; `earlier` counts the query's runs before it."""
    own = [finding for finding in query.findings if everything or not finding.explained_by]
    shown = own if everything else own[:FIRST_FINDINGS]
    folded: dict[str, list[Finding]] = {}
    for finding in query.findings:
        if finding.explained_by:
            folded.setdefault(finding.explained_by, []).append(finding)
    return Selection(query, shown, len(query.findings) - len(shown), folded, earlier)


def unknown_facts(step: Advice) -> list[str]:
    """The facts that a step with the answer `if` waits for, those that a user can give."""
    return [name for name in step.unknown if name in FACTS and FACTS[name].settable] if step.legal == "if" else []


def setting(name: str) -> str:
    """Return the option that gives a fact: `--set sink=kafka|console|...`."""
    return f"--set {name}={'|'.join(FACTS[name].choices) or 'VALUE'}"


def by_reason(entries: Iterable[Skipped]) -> list[tuple[str, list[str]]]:
    """Skipped rules under their reasons, the reason that most rules share first."""
    groups: dict[str, list[str]] = {}
    for entry in entries:
        groups.setdefault(entry.reason, []).append(entry.rule)
    return sorted(groups.items(), key=lambda group: -len(group[1]))
