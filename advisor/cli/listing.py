"""What the commands `rules`, `steps`, `metrics` and `facts` print: rows as a table, as JSON or as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from advisor.catalogue import Catalogue, Rule, Step, load, reference
from advisor.cli.output import put, terminal
from advisor.errors import UsageError, did_you_mean
from advisor.facts import FACTS, Fact
from advisor.metrics import METRICS
from advisor.metrics.labels import label

Row = Mapping[str, str]
METRICS_SHOWN = ("metric", "in reports", "unit")


def facts() -> list[Row]:
    """Every fact: name, values, meaning, and where the advisor finds it by itself; those that nobody sets last."""
    ordered = sorted(FACTS.values(), key=lambda fact: not fact.settable)
    return [{"fact": one.name, "values": _values(one), "meaning": one.meaning, "seen in": one.where} for one in ordered]


def metrics() -> list[Row]:
    """Every metric: name, what a report calls it, unit, and what it means."""
    return [
        {
            "metric": one.name,
            "in reports": label(one.name),
            "unit": one.unit,
            "per": one.per,
            "meaning": one.meaning.split(". ")[0],
        }
        for one in METRICS.values()
    ]


def rules(catalogue: Catalogue) -> list[Row]:
    """Every rule: id, title, whether it is stable."""
    return [{"rule": one.id, "finds": one.title, "status": one.status} for one in catalogue.rules.values()]


def steps(catalogue: Catalogue) -> list[Row]:
    """Every step: id, what to do, what it takes, and the rules that advise it."""
    by = {
        step: ", ".join(rule.id for rule in catalogue.rules.values() if step in {one.id for one in rule.steps})
        for step in catalogue.steps
    }
    return [
        {"step": one.id, "do": one.does, "takes": one.takes.replace("_", " "), "rules": by[one.id]}
        for one in catalogue.steps.values()
    ]


def rule_page(catalogue: Catalogue, name: str) -> tuple[str, Any]:
    """One rule with its steps, as Markdown and as plain data; UsageError with a suggestion if there is none."""
    rule = catalogue.rules.get(name.upper())
    if rule is None:
        would_do = did_you_mean(name.upper(), catalogue.rules, "`latency-advisor rules list` names them")
        raise UsageError("rules show", f"no rule {name!r}", would_do)
    page = reference(Catalogue({rule.id: rule}, {step.id: step for step in rule.steps}))
    return page[page.index(f"## {rule.id} ") :], rule.model_dump(mode="json", exclude_none=True)


def step_page(catalogue: Catalogue, name: str) -> tuple[str, Any]:
    """One step, as Markdown and as plain data; UsageError with a suggestion if there is none."""
    step = catalogue.steps.get(name.lower())
    if step is None:
        would_do = did_you_mean(name.lower(), catalogue.steps, "`latency-advisor steps list` names them")
        raise UsageError("steps show", f"no step {name!r}", would_do)
    page = reference(Catalogue({}, {step.id: step}))
    return page[page.index(f"### {step.id}\n") :], step.model_dump(mode="json", exclude_none=True)


def metric_page(name: str) -> tuple[str, Any]:
    """One metric, as Markdown and as plain data; UsageError with a suggestion if there is none."""
    metric = METRICS.get(name.lower())
    if metric is None:
        would_do = did_you_mean(name.lower(), METRICS, "`latency-advisor metrics list` names them")
        raise UsageError("metrics show", f"no metric {name!r}", would_do)
    return _described(
        metric.name,
        {
            "meaning": metric.meaning,
            "in reports": label(metric.name),
            "unit": metric.unit,
            "per": metric.per,
            "phases": ", ".join(metric.phases),
            "rules": ", ".join(rule.id for rule in load().rules.values() if metric.name in _read(rule, "metric")),
        },
    )


def fact_page(name: str) -> tuple[str, Any]:
    """One fact, as Markdown and as plain data; UsageError with a suggestion if there is none."""
    fact = FACTS.get(name.lower())
    if fact is None:
        would_do = did_you_mean(name.lower(), FACTS, "`latency-advisor facts list` names them")
        raise UsageError("facts show", f"no fact {name!r}", would_do)
    catalogue = load()
    return _described(
        fact.name,
        {
            "meaning": fact.meaning,
            "values": _values(fact),
            "seen in": fact.where,
            "give it": f"--set {fact.name}=VALUE" if fact.settable else "",
            "rules": ", ".join(rule.id for rule in catalogue.rules.values() if fact.name in _read(rule, "fact")),
            "steps": ", ".join(step.id for step in catalogue.steps.values() if fact.name in _read(step, "fact")),
        },
    )


def _read(of: Rule | Step, kind: Literal["metric", "fact"]) -> set[str | None]:
    """The metrics or facts in the conditions of a rule (without its steps) or of a step."""
    names = {getattr(line, kind) for line in (*of.unless, *(of.requires if isinstance(of, Rule) else of.when))}
    if isinstance(of, Rule):
        return names | {getattr(one, kind, None) for one in (of.measure, of.seen)}
    return names | {getattr(line, kind) for line in of.legal}


def _described(name: str, parts: Row) -> tuple[str, Any]:
    """A heading and a line for each part that says something, and the same as plain data."""
    told = {key: words for key, words in parts.items() if words}
    lines = [f"- {key[0].upper()}{key[1:]}: {words}" for key, words in told.items()]
    return "\n".join([f"### {name}\n", *lines]) + "\n", {"name": name, **told}


def put_page(page: tuple[str, Any], options: Mapping[str, Any]) -> None:
    """Print one rule, step, metric or fact in the form that is asked for."""
    words, data = page
    put(words if options["form"] != "json" else _as_json(data), options)


def put_table(rows: Sequence[Row], options: Mapping[str, Any], shown: Sequence[str] = ()) -> None:
    """Print the rows in the form that is asked for; as text these columns only, where some are named."""
    views = {"json": _as_json, "markdown": _as_markdown}
    view = views.get(options["form"])
    put(view(rows) if view else _as_text([{key: row[key] for key in shown or row} for row in rows], options), options)


def _values(fact: Fact) -> str:
    if not fact.settable:
        return "observed only"
    if fact.kind == "choice":
        return " | ".join(fact.values)
    words = {"bool": "true | false", "int": "whole number", "number": "number", "version": "version", "str": "text"}
    unit = f" of {fact.unit}" if fact.unit else ""
    return words[fact.kind] + unit + (" | none" if fact.nullable else "")


def _as_json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _as_markdown(rows: Sequence[Row]) -> str:
    from advisor.views.markdown import table

    columns = list(rows[0])
    return "\n".join(table(columns, ["---"] * len(columns), [list(row.values()) for row in rows])) + "\n"


def _as_text(rows: Sequence[Row], options: Mapping[str, Any]) -> str:
    """The rows in columns; the first one, by which a row is named, is never broken."""
    from rich.table import Table
    from rich.text import Text

    from advisor.views.console import console, written

    page = console(**terminal(options))
    made = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for number, column in enumerate(rows[0]):
        made.add_column(column, no_wrap=number == 0, overflow="fold")
    for row in rows:
        made.add_row(*map(Text, row.values()))
    page.print(made)
    return written(page)
