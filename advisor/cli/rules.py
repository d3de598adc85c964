"""`latency-advisor rules`: list, show and check rules."""

from __future__ import annotations

import click


@click.group()
def rules() -> None:
    """List, show and check the rules."""


_DIRS = click.option("--rules", "dirs", multiple=True, metavar="DIR", help="Your own rules too. Repeatable.")


@rules.command("list")
@_DIRS
def list_(dirs: tuple[str, ...]) -> None:
    """List every rule in one line."""
    from advisor.catalogue import load
    from advisor.cli.listing import rules_table
    from advisor.cli.printing import show

    show(rules_table(load(dirs)))


@rules.command("show")
@click.argument("rule", metavar="ID")
@_DIRS
def show_(rule: str, dirs: tuple[str, ...]) -> None:
    """Print one rule: what it stands on, what it says, its steps."""
    from advisor.catalogue import load
    from advisor.cli.listing import rule_page
    from advisor.cli.printing import show

    show(rule_page(load(dirs), rule))


@rules.command()
@click.argument("directory", metavar="[DIR]", required=False)
def check(directory: str | None) -> None:
    """Check the shipped rules, and those in DIR: their form, and each rule's own examples."""
    from advisor.cli.checking import check_rules

    check_rules(directory)
