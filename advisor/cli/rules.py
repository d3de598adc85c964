"""`latency-advisor rules`: list, show, check and describe rules."""

from __future__ import annotations

import click


@click.group()
def rules() -> None:
    """List, show, check and describe the rules."""


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


@rules.command("reference")
def reference_() -> None:
    """Write the shipped rules' page and schema, and the schema of the reports, anew."""
    from advisor.catalogue import load, rules_directory
    from advisor.catalogue.reference import write
    from advisor.contract import schema

    write(load(), rules_directory())
    schema.PLACE.write_text(schema.schema(), encoding="utf-8")
