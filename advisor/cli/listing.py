"""What the commands `rules`, `steps`, `metrics` and `facts` print: tables and pages as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from advisor.catalogue import Catalogue, load
from advisor.cli.output import put, show, terminal
from advisor.errors import CatalogueError, UsageError, did_you_mean
from advisor.examples import failures, run
from advisor.facts import FACTS, Fact
from advisor.metrics import METRICS, label
from advisor.sources.sightings.errors import known_errors
from advisor.views.clean import clean
from advisor.views.rules import reference
from advisor.vocabulary import TAKES_IN_WORDS

Row = Mapping[str, str]
Page = tuple[str, Any]
Dirs = Sequence[str]
Named = TypeVar("Named")
_METRICS_SHOWN: Final = ("metric", "in reports", "unit")
"""The columns for which a terminal is wide enough."""


def _metrics(_: Dirs) -> list[Row]:
    return [
        {"metric": one.name, "in reports": label(one.name), "unit": one.unit, "per": one.per, "meaning": one.meaning}
        for one in METRICS.values()
    ]


def _facts(_: Dirs) -> list[Row]:
    """Every fact; those that nobody sets last."""
    ordered = sorted(FACTS.values(), key=lambda fact: not fact.settable)
    return [{"fact": one.name, "values": _values(one), "meaning": one.meaning, "seen in": one.where} for one in ordered]


def _rules(dirs: Dirs) -> list[Row]:
    return [{"rule": one.id, "finds": one.title, "status": one.status} for one in load(dirs).rules.values()]


def _steps(dirs: Dirs) -> list[Row]:
    catalogue = load(dirs)
    by = {
        step: ", ".join(rule.id for rule in catalogue.rules.values() if step in {one.id for one in rule.steps})
        for step in catalogue.steps
    }
    return [
        {"step": one.id, "do": one.does, "takes": TAKES_IN_WORDS[one.takes], "rules": by[one.id]}
        for one in catalogue.steps.values()
    ]


_LISTS: Final[Mapping[str, Callable[[Dirs], list[Row]]]] = {
    "rules": _rules, "steps": _steps, "metrics": _metrics, "facts": _facts,
}  # fmt: skip


def put_list(kind: str, dirs: Dirs, options: Mapping[str, Any]) -> None:
    """Print all rules, steps, metrics or facts in the form that is asked for; of metrics as text some columns only."""
    rows = _LISTS[kind](dirs)
    if options["form"] == "json":
        put(_as_json(rows), options)
        return
    from advisor.views import console

    columns = _METRICS_SHOWN if kind == "metrics" else list(rows[0])
    page = console.console(**terminal(options))
    cells = ([clean(row[key]) for key in columns] for row in rows)
    looks = ({"header": name, "no_wrap": not nth} for nth, name in enumerate(columns))  # what names a row is not broken
    page.print(console.table(cells, *looks))
    put(console.written(page), options)


def _rule(catalogue: Catalogue, name: str) -> Page:
    rule = _found("rule", name.upper(), catalogue.rules)
    return reference([rule], {step.id: step for step in rule.steps}.values()), rule.model_dump(
        mode="json", exclude_none=True
    )


def _step(catalogue: Catalogue, name: str) -> Page:
    step = _found("step", name.lower(), catalogue.steps)
    return reference([], [step]), step.model_dump(mode="json", exclude_none=True)


def put_one(kind: str, name: str, dirs: Dirs, options: Mapping[str, Any]) -> None:
    """Print one rule, step, metric or fact; raise UsageError with a suggestion if there is none of this name."""
    one = kind.removesuffix("s")
    if kind in ("rules", "steps"):
        words, data = (_rule if kind == "rules" else _step)(load(dirs), name)
    else:
        data = _found(one, name.lower(), {row[one]: row for row in _LISTS[kind](dirs)})
        words = "".join(f"- {key[0].upper()}{key[1:]}: {said}\n" for key, said in data.items())
    put(_as_json(data) if options["form"] == "json" else clean(words, lines=True), options)


def _found(kind: str, name: str, known: Mapping[str, Named], command: str = "show") -> Named:
    if name not in known:
        would_do = did_you_mean(name, known, f"`latency-advisor {kind}s list` names them")
        raise UsageError(f"{kind}s {command}", f"no {kind} {name!r}", would_do)
    return known[name]


def check_rules(directory: str | None) -> None:
    """Print how many rules are in order; raise CatalogueError with everything that is wrong, a line each."""
    catalogue = load([directory] if directory else ())
    known_errors()
    wrong = [line for rule in catalogue.rules.values() for line in run(rule)]
    if wrong:
        raise CatalogueError("", "\n".join(wrong))
    examples = sum(len(rule.examples) for rule in catalogue.rules.values())
    rules, steps = len(catalogue.rules), len(catalogue.steps)
    show(f"{rules} rules with {examples} examples and {steps} steps are in order.\n")


def test_rule(name: str, dirs: Dirs) -> None:
    """Print for each example of a rule whether it is answered as it expects; raise CatalogueError where one is not."""
    rule = _found("rule", name, load(dirs).rules, "test")
    wrong = 0
    for example in rule.examples:
        why = failures(rule, example)
        show(f"{'FAILED' if why else 'ok':<8}{example.name}: {example.expect.verdict}\n")
        show("".join(f"        {line}\n" for line in why))
        wrong += bool(why)
    if wrong:
        raise CatalogueError(rule.file, f"{wrong} of {len(rule.examples)} examples fail")


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
