"""`latency-advisor metrics` and `facts`: list and show what rules read."""

from __future__ import annotations

from typing import Any

import click

from advisor.cli import completing
from advisor.cli.output import output_options


@click.group()
def metrics() -> None:
    """List and show the numbers that rules and reports read.

    \b
    Examples:
      latency-advisor metrics list
      latency-advisor metrics show record_latency_ms
    """


@click.group()
def facts() -> None:
    """List and show the facts that you can give with --set.

    --set FACT=VALUE gives one for all queries, --set QUERY:FACT=VALUE for one.

    \b
    Examples:
      latency-advisor facts list
      latency-advisor facts show task_slots
    """


@metrics.command("list")
@output_options("text", "json", "markdown")
def list_metrics(**options: Any) -> None:
    """List every metric with its unit.

    As JSON or Markdown also with its meaning.
    """
    from advisor.cli import listing

    listing.put_table(listing.metrics(), options, listing.METRICS_SHOWN)


@metrics.command("show")
@click.argument("metric", metavar="NAME", shell_complete=completing.metrics)
@output_options("text", "json", "markdown")
def show_metric(metric: str, **options: Any) -> None:
    """Print one metric, and the rules that read it."""
    from advisor.cli import listing

    listing.put_page(listing.metric_page(metric), options)


@facts.command("list")
@output_options("text", "json", "markdown")
def list_facts(**options: Any) -> None:
    """List every fact with its values, and where it is found."""
    from advisor.cli import listing

    listing.put_table(listing.facts(), options)


@facts.command("show")
@click.argument("fact", metavar="NAME", shell_complete=completing.fact_names)
@output_options("text", "json", "markdown")
def show_fact(fact: str, **options: Any) -> None:
    """Print one fact, and what needs it.

    What it is, its values, where it is found, and the rules and steps that need it.
    """
    from advisor.cli import listing

    listing.put_page(listing.fact_page(fact), options)
