"""`latency-advisor rules`, `steps`, `metrics` and `facts`: list, show, write, test and check them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from advisor.cli.options import Command, output_options

_FORMS = output_options("text", "json")
_DIRS = click.option("--rules", "dirs", multiple=True, metavar="DIR", help="Your own rules too. Repeatable.")
_RULES = """List, show, write, test and check rules.

\b
Examples:
  latency-advisor rules show LG001
  mkdir my-rules
  latency-advisor rules new ZZ001 --slug too-many-files --rules my-rules
  latency-advisor rules test ZZ001 --rules my-rules
  latency-advisor analyze driver.log --rules my-rules
"""
_STEPS = """List and show the steps that rules advise.

\b
Examples:
  latency-advisor steps list
  latency-advisor steps show async-progress
"""
_METRICS = """List and show the numbers that rules and reports read.

\b
Examples:
  latency-advisor metrics list
  latency-advisor metrics show record_latency_ms
"""
_FACTS = """List and show the facts that you can give with --set.

--set FACT=VALUE gives one for all queries, --set QUERY:FACT=VALUE for one.

\b
Examples:
  latency-advisor facts list
  latency-advisor facts show task_slots
"""


def _listed(kind: str, whole: str, every: str, one: str) -> click.Group:
    """Return a group with the commands `list` and `show`, with these helps; rules and steps can be the user's own."""
    own: Callable[[Command], Command] = _DIRS if kind in ("rules", "steps") else lambda command: command
    group = click.Group(kind, help=whole)

    @group.command("list", help=every)
    @own
    @_FORMS
    def _(dirs: tuple[str, ...] = (), **options: Any) -> None:
        from advisor.cli import listing

        listing.put_list(kind, dirs, options)

    @group.command("show", help=one)
    @click.argument("name")
    @own
    @_FORMS
    def _(name: str, dirs: tuple[str, ...] = (), **options: Any) -> None:
        from advisor.cli import listing

        listing.put_one(kind, name, dirs, options)

    return group


rules = _listed("rules", _RULES, "List every rule.", "Print one rule: its evidence, its sentences and its advice.")
steps = _listed(
    "steps", _STEPS, "List every step, and the rules that advise it.",
    "Print one step: when Spark takes it, and its price.\n\n"
    "For whom it is, when Spark takes it, what it saves and costs, and how it is undone.",
)  # fmt: skip
metrics = _listed(
    "metrics", _METRICS, "List every metric with its unit.\n\nAs JSON also with its meaning.", "Print one metric."
)
facts = _listed(
    "facts", _FACTS, "List every fact with its values, and where it is found.",
    "Print one fact: what it is, its values, where it is found.",
)  # fmt: skip


@rules.command()
@click.argument("directory", metavar="[DIR]", required=False)
def check(directory: str | None) -> None:
    """Check all rules, and those in DIR, and run their examples."""
    from advisor.cli import listing

    listing.check_rules(directory)


@rules.command("new")
@click.argument("rule", metavar="ID")
@click.option("--slug", default="my-rule", show_default=True, help="A short name: lower-case words with hyphens.")
@click.option(
    "--rules", "directory", default="rules", show_default=True, metavar="DIR", help="The directory to write it to."
)
def new_(rule: str, slug: str, directory: str) -> None:
    """Write a new rule file to start from. It passes `rules check`."""
    from advisor.catalogue import load, rules_directory
    from advisor.catalogue.skeleton import write_new

    place = write_new(rule.upper(), slug, Path(directory), load())
    own = "" if Path(directory).resolve() == rules_directory().resolve() else f" --rules {directory}"
    click.echo(f"{place}\nChange it, and after each change: latency-advisor rules test {rule.upper()}{own}")


@rules.command("test")
@click.argument("rule", metavar="ID")
@_DIRS
def test_(rule: str, dirs: tuple[str, ...]) -> None:
    """Run the examples of one rule. Where one fails, say which condition or number decided."""
    from advisor.cli import listing

    listing.test_rule(rule.upper(), dirs)
