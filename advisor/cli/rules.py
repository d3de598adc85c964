"""`latency-advisor rules` and `steps`: list, show, check and describe them."""

from __future__ import annotations

from typing import Any

import click

from advisor.cli import completing
from advisor.cli.output import output_options


@click.group()
def rules() -> None:
    """List, show, write, test and check rules.

    \b
    Examples:
      latency-advisor rules show LG001
      mkdir my-rules
      latency-advisor rules new ZZ001 --slug too-many-files --rules my-rules
      latency-advisor rules test ZZ001 --rules my-rules
      latency-advisor analyze driver.log --rules my-rules
    """


@click.group()
def steps() -> None:
    """List and show the steps that rules advise.

    \b
    Examples:
      latency-advisor steps list
      latency-advisor steps show async-progress
    """


_DIRS = click.option("--rules", "dirs", multiple=True, metavar="DIR", help="Your own rules too. Repeatable.")


def _beside(directory: str) -> str:
    """The option for rules that are not the project's own."""
    from pathlib import Path

    from advisor.catalogue import rules_directory

    return "" if Path(directory).resolve() == rules_directory().resolve() else f" --rules {directory}"


@rules.command("list")
@_DIRS
@output_options("text", "json", "markdown")
def list_rules(dirs: tuple[str, ...], **options: Any) -> None:
    """List every rule."""
    from advisor.catalogue import load
    from advisor.cli import listing

    listing.put_table(listing.rules(load(dirs)), options)


@rules.command("show")
@click.argument("rule", metavar="ID", shell_complete=completing.rules)
@_DIRS
@output_options("text", "json", "markdown")
def show_rule(rule: str, dirs: tuple[str, ...], **options: Any) -> None:
    """Print one rule: what it stands on, says and advises."""
    from advisor.catalogue import load
    from advisor.cli import listing

    listing.put_page(listing.rule_page(load(dirs), rule), options)


@steps.command("list")
@_DIRS
@output_options("text", "json", "markdown")
def list_steps(dirs: tuple[str, ...], **options: Any) -> None:
    """List every step, and the rules that advise it."""
    from advisor.catalogue import load
    from advisor.cli import listing

    listing.put_table(listing.steps(load(dirs)), options)


@steps.command("show")
@click.argument("step", metavar="ID", shell_complete=completing.steps)
@_DIRS
@output_options("text", "json", "markdown")
def show_step(step: str, dirs: tuple[str, ...], **options: Any) -> None:
    """Print one step: when Spark takes it, and its price.

    For whom it is, when Spark takes it, what it saves and costs, and how it is undone.
    """
    from advisor.catalogue import load
    from advisor.cli import listing

    listing.put_page(listing.step_page(load(dirs), step), options)


@rules.command()
@click.argument("directory", metavar="[DIR]", required=False)
@output_options("text", "json", "markdown")
def check(directory: str | None, **options: Any) -> None:
    """Check all rules, and those in DIR, and run their examples."""
    from advisor.cli.checking import check_rules

    check_rules(directory, options)


@rules.command("new")
@click.argument("rule", metavar="ID")
@click.option("--slug", default="my-rule", show_default=True, help="A short name: lower-case words with hyphens.")
@click.option(
    "--rules", "directory", default="rules", show_default=True, metavar="DIR", help="The directory to write it to."
)
def new_(rule: str, slug: str, directory: str) -> None:
    """Write a new rule file to start from. It passes `rules check`."""
    from pathlib import Path

    from advisor.catalogue import load
    from advisor.catalogue.skeleton import write_new

    place = write_new(rule.upper(), slug, Path(directory), load())
    then = f"latency-advisor rules test {rule.upper()}{_beside(directory)}"
    click.echo(f"{place}\nChange it, and after each change: {then}")


@rules.command("test")
@click.argument("rule", metavar="ID")
@_DIRS
@output_options("text", "json", "markdown")
def test_(rule: str, dirs: tuple[str, ...], **options: Any) -> None:
    """Run the examples of one rule. Where one fails, say which condition or number decided."""
    from advisor.cli.checking import test_rule

    test_rule(rule.upper(), dirs, options)


@rules.command("reference")
def reference_() -> None:
    """Write rules/README.md and the JSON schemas again.

    From the rules and the types; for this repository only.
    """
    from advisor.catalogue import load, rules_directory
    from advisor.catalogue.reference import write
    from advisor.contract import schema

    write(load(), rules_directory())
    schema.PLACE.write_text(schema.schema(), encoding="utf-8")
