"""What the commands `facts` and `rules` print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from advisor.catalogue import Catalogue, reference
from advisor.errors import UsageError, did_you_mean
from advisor.facts import FACTS, Fact

_WIDTH = 100


def facts_table() -> str:
    """Every fact: name, values, meaning, and where the advisor finds it by itself; those that nobody sets apart."""
    head = "Facts for --set FACT=VALUE, or QUERY:FACT=VALUE for the query with that name or id.\n\n"
    given = [(fact.name, f"{fact.meaning} [{_values(fact)}]; seen in: {fact.where}") for fact in _facts(settable=True)]
    observed = [(fact.name, f"{fact.meaning}; seen in: {fact.where}") for fact in _facts(settable=False)]
    return f"{head}{_table(given)}\nObserved only:\n\n{_table(observed)}"


def _facts(*, settable: bool) -> list[Fact]:
    return [fact for fact in FACTS.values() if fact.settable is settable]


def rules_table(catalogue: Catalogue) -> str:
    """Every rule: id, title, whether it is stable."""
    return _table(
        (rule.id, rule.title + (" (experimental)" if rule.status == "experimental" else ""))
        for rule in catalogue.rules.values()
    )


def rule_page(catalogue: Catalogue, name: str) -> str:
    """One rule with its steps; UsageError with a suggestion if there is no such rule."""
    rule = catalogue.rules.get(name.upper())
    if rule is None:
        would_do = did_you_mean(name.upper(), catalogue.rules, "`latency-advisor rules list` names them")
        raise UsageError("rules show", f"no rule {name!r}", would_do)
    page = reference(Catalogue({rule.id: rule}, {step.id: step for step in rule.steps}))
    return page[page.index(f"## {rule.id} ") :]


def _values(fact: Fact) -> str:
    if fact.kind == "choice":
        return "|".join(fact.values)
    words = {"bool": "true|false", "int": "whole number", "number": "number", "version": "version", "str": "text"}
    unit = f" of {fact.unit}" if fact.unit else ""
    return words[fact.kind] + unit + ("|none" if fact.nullable else "")


def _table(rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    return "".join(line for name, words in rows for line in _row(name.ljust(width), words))


def _row(name: str, words: str) -> Sequence[str]:
    first, *others = wrap(words, _WIDTH - len(name) - 2, break_long_words=False, break_on_hyphens=False) or [""]
    return [f"{name}  {first}\n", *(f"{' ' * len(name)}  {line}\n" for line in others)]
