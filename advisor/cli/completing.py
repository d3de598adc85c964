"""What a shell completes: rules, steps, metrics and facts by their names."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def rules(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Ids of rules, with their titles."""
    from advisor.catalogue import load

    return _beginning(begun.upper(), ((rule.id, rule.title) for rule in load().rules.values()))


def steps(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Ids of steps, with what they do."""
    from advisor.catalogue import load

    return _beginning(begun, ((step.id, step.do) for step in load().steps.values()))


def metrics(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of metrics, with what they are called."""
    from advisor.metrics import METRICS, label

    return _beginning(begun, ((name, label(name)) for name in METRICS))


def fact_names(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of facts, with what they mean."""
    from advisor.facts import FACTS

    return _beginning(begun, ((fact.name, fact.meaning) for fact in FACTS.values()))


def facts(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """`fact=` or, of a fact with few values, each of `fact=value`; after `QUERY:` as well."""
    from advisor.facts import FACTS

    query, colon, rest = begun.rpartition(":")
    name, equals, _value = rest.partition("=")
    if not equals:
        known = ((f"{fact.name}=", fact.meaning) for fact in FACTS.values() if fact.settable)
        return _beginning(begun, ((query + colon + words, meaning) for words, meaning in known))
    fact = FACTS.get(name)
    return _beginning(begun, ((f"{query}{colon}{name}={value}", "") for value in (fact.choices if fact else ())))


def _beginning(begun: str, known: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    return [CompletionItem(name, help=words or None) for name, words in known if name.startswith(begun)]
