"""`latency-advisor rules check`: are the rule files in order, and do they answer their own examples?"""

from __future__ import annotations

import click

from advisor.catalogue import load
from advisor.errors import CatalogueError
from advisor.examples import run


def check_rules(directory: str | None) -> None:
    """Say how many rules are in order; CatalogueError with everything that is wrong, a line each."""
    catalogue = load([directory] if directory else ())
    wrong = [line for rule in catalogue.rules.values() for line in run(rule)]
    if wrong:
        raise CatalogueError("", "\n".join(wrong))
    examples = sum(len(rule.examples) for rule in catalogue.rules.values())
    click.echo(f"{len(catalogue.rules)} rules with {examples} examples and {len(catalogue.steps)} steps are in order.")
