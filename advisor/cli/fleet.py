"""The options of `analyze` for many logs: the engine, the fleet's report, saved tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.options import group
from advisor.cli.spark import end_in_order
from advisor.vocabulary import Level, worst

if TYPE_CHECKING:
    from advisor.cluster.jobs import Progressed
    from advisor.contract import Fleet, Input

fleet_options = group(
    click.option(
        "--engine",
        type=click.Choice(["auto", "local", "spark"]),
        default="auto",
        show_default=True,
        help="Where logs are read and judged. auto: on Spark if --master is given, otherwise on this machine.",
    ),
    click.option("--master", metavar="URL", help="The cluster: spark://host:7077, yarn, k8s://…, local[8]."),
    click.option("--fleet", is_flag=True, help="Rank all queries, and the changes that save most, one line each."),
    click.option(
        "--save-table",
        metavar="DIR",
        help="With spark: write batches and findings (with --stages also stages) as Parquet.",
    ),
    click.option(
        "--incremental",
        is_flag=True,
        help="Read only new logs and new lines, and add them to the tables of --save-table.",
    ),
)
"""Adds them to a command."""


def check(options: dict[str, Any]) -> None:
    """UsageError for options that do not go together; sets the engine that is meant."""
    if options["engine"] == "auto":
        options["engine"] = "spark" if options["master"] else "local"
    if options["master"] and options["engine"] == "local":
        raise click.UsageError("--master needs --engine spark")
    if options["incremental"] and not options["save_table"]:
        raise click.UsageError("--incremental needs --save-table DIR")
    if options["save_table"] and options["engine"] == "local":
        raise click.UsageError("--save-table needs --engine spark")


@contextmanager
def session(options: dict[str, Any]) -> Iterator[Any]:
    """The session of the engine that is meant, after saying so; None for the local one."""
    if options["engine"] == "local":
        if options["fleet"]:
            click.echo("latency-advisor: reading on this machine, without Spark", err=True)
        yield None
        return
    from advisor.cluster import described
    from advisor.cluster import session as of_spark

    end_in_order()
    with of_spark(master=options["master"]) as spark:
        click.echo(f"latency-advisor: reading with {described(spark)}", err=True)
        yield spark


def tell_of_jvm(read: Input) -> None:
    """Say on standard error how many files only the JVM could reach, if any."""
    if read.read_by_jvm:
        from advisor.views.fleet import by_jvm

        click.echo(f"latency-advisor:{by_jvm(read)}", err=True)


def fleet_report(paths: tuple[str, ...], options: dict[str, Any], judged: dict[str, Any]) -> Fleet:
    """The fleet's report; `judged`: what `analyze` takes besides."""
    from advisor.api import analyze_fleet

    asked = {name: options[name] for name in ("save_table", "incremental")}
    return analyze_fleet(paths, stages=bool(options["stages"]), **asked, **judged)


def rendered(report: Fleet, options: dict[str, Any]) -> str:
    """The fleet's report in the form that is asked for."""
    if options["form"] == "json":
        import json

        from advisor.contract import plain

        return json.dumps(plain(report), indent=2, allow_nan=False) + "\n"
    from advisor.views import fleet

    view = fleet.fleet_as_markdown if options["form"] == "markdown" else fleet.fleet_as_text
    return view(report, everything=options["everything"])


def worst_level(report: Fleet) -> Level | None:
    """The highest level of any finding of the fleet."""
    return worst(finding.level for query in report.queries for finding in query.findings)


@contextmanager
def counter() -> Iterator[Callable[[Progressed], None] | None]:
    """A callback that shows on standard error what has been read on a cluster; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("reading")
        yield lambda done: shown.update(task, description=words(done))


def words(done: Progressed) -> str:
    """`read 12 files, 1.2 GB, 3,400 events`."""
    from advisor.views.text import plural, size

    return f"read {plural(done.files, 'file')}, {size(done)}, {plural(done.events, 'event')}"
