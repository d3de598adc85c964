"""`latency-advisor rules check`: are the rule files in order, and do they answer their own examples?"""

from __future__ import annotations

from collections.abc import Iterable

import click

from advisor.catalogue import load
from advisor.errors import CatalogueError, UsageError, did_you_mean
from advisor.examples import failures, run


def check_rules(directory: str | None) -> None:
    """Say how many rules are in order; CatalogueError with everything that is wrong, a line each."""
    catalogue = load([directory] if directory else ())
    wrong = [line for rule in catalogue.rules.values() for line in run(rule)]
    if wrong:
        raise CatalogueError("", "\n".join(wrong))
    examples = sum(len(rule.examples) for rule in catalogue.rules.values())
    click.echo(f"{len(catalogue.rules)} rules with {examples} examples and {len(catalogue.steps)} steps are in order.")


def test_rule(name: str, directories: Iterable[str]) -> None:
    """Say of each example of a rule whether it is answered as it expects; CatalogueError where one is not."""
    catalogue = load([*directories])
    rule = catalogue.rules.get(name)
    if rule is None:
        would_do = did_you_mean(name, catalogue.rules, "`latency-advisor rules list` names them")
        raise UsageError("rules test", f"no rule {name!r}", would_do)
    wrong = 0
    for example in rule.examples:
        found = failures(rule, example)
        wrong += bool(found)
        click.echo(f"{'FAILED' if found else 'ok':<8}{example.name}: {example.expect.verdict}")
        for line in found:
            click.echo(f"        {line}")
    if wrong:
        raise CatalogueError(rule.file, f"{wrong} of {len(rule.examples)} examples fail")
