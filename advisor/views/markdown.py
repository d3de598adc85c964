"""The report as Markdown, for an issue, a wiki page or a review; a run in full for a terminal, too, by one template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.contract import QueryEntry, Report
from advisor.views import first_screen, text, wording
from advisor.views.clean import clean_all
from advisor.views.comparison import proof_by_run
from advisor.views.selection import Selection, by_reason, selections
from advisor.views.templating import Form, as_markdown, environment

Rows = list[tuple[str, str]]
_BAR = 30


def report_as_markdown(report: Report, *, everything: bool = False) -> str:
    """The whole report as Markdown; what comes from logs can neither add markup nor HTML."""
    report = clean_all(report)
    shown, proof = selections(report, everything=everything), proof_by_run(report)
    return as_markdown("report.md.j2", report=report, shown=shown, everything=everything, details=details, proof=proof)


def details(form: Form, chosen: Selection, proof: Sequence[str], *, everything: bool) -> str:
    """Return the run in this form of the template; a step is spelled out once."""
    told = {chosen.best.step: "the best step, above"} if chosen.best else {}
    shown = {"query": chosen.query, "summary": _summary(chosen, proof), "sections": _sections(chosen.query, everything)}
    template = environment(form).get_template("query.md.j2")
    return template.render(chosen=chosen, told=told, bar=_bar, everything=everything, **shown)


def _summary(chosen: Selection, proof: Sequence[str]) -> Rows:
    query = chosen.query
    rows = [("State", f"{wording.state(query)}, {wording.version(query)}")]
    rows += [("" if nth else "Target", words) for nth, words in enumerate(first_screen.target(query))]
    rows += [("Latency", first_screen.latency(query)), ("Lag", wording.lag(query))]
    rows += [("Capacity", words)] if (words := first_screen.capacity(query) or wording.no_capacity(query)) else []
    rows += [("Changed", query.changed.says)] if query.changed else []
    rows += [("" if nth else "Proof", line) for nth, line in enumerate(proof)]
    rows += [("Judged", wording.window(query))]
    if chosen.earlier:
        rows += [("Before", f"{text.plural(chosen.earlier, 'earlier run')} of this query")]
    rows += [("Note", limit) for limit in query.limits]
    return rows + [("Conflict", wording.conflict(entry)) for entry in query.conflicts]


def _sections(query: QueryEntry, everything: bool) -> Iterator[tuple[str, Rows]]:
    """Yield lists of rows with their titles; those that are long only if everything is wanted."""
    not_judged = [(", ".join(rules), reason) for reason, rules in by_reason(query.skipped)]
    yield f"Not judged: {text.plural(len(query.skipped), 'rule')}", not_judged
    yield "Silenced", [(entry.rule, wording.suppression(entry)) for entry in query.suppressed]
    if everything:
        passed = [(entry.rule, f"passed: {entry.margin}") for entry in query.passed]
        others = [(entry.rule, f"not applicable: {entry.reason}") for entry in query.not_applicable]
        looked_at = [("", words)] if (words := first_screen.looked_at(query)) else []
        yield "Rules", [*looked_at, *passed, *others]
        known = [(name, wording.fact(fact)) for name, fact in sorted(query.facts.items()) if fact.value is not None]
        yield "What is known of this query", known


def _bar(query: QueryEntry, share: float, mark: str = "█") -> str:
    """Return a share of the batch as a bar, the longest phase as the longest."""
    longest = max(query.budget.values()) / sum(query.budget.values())
    return mark * round(_BAR * min(1.0, share / longest)) or "▏"
