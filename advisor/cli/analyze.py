"""`latency-advisor analyze`: logs to a report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from advisor.cli import fleet
from advisor.cli.exits import FAILED_ON
from advisor.cli.fleet import fleet_options
from advisor.cli.options import stages_option, wish_options
from advisor.cli.output import check_output, check_page, output_options, put, rendered
from advisor.errors import InputError
from advisor.vocabulary import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.contract import Input, Level

_HELP = """Read progress from PATHS, and say which change helps.

PATHS are files, directories, globs, object-store URLs or - for standard input: driver logs, event logs, structured
logs, JSON lines, notebooks, plain or compressed.

\b
Examples:
  latency-advisor analyze driver.log
  latency-advisor analyze 'logs/*.gz' --last 30m
  latency-advisor analyze driver.log --set stateful=false --set sink=kafka
  latency-advisor analyze driver.log --set orders-enricher:latency_target_ms=500
  latency-advisor analyze logs/ --format json --output report.json --fail-on high
  latency-advisor analyze driver.log --format html --output page.html
  latency-advisor analyze eventlog/ --stages
  latency-advisor analyze s3://logs/drivers --fleet --master spark://host:7077 --save-table s3://tables/latency
"""


@click.command(help=_HELP)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@output_options("text", "json", "markdown", "html")
@wish_options
@click.option("--last", metavar="TIME", help="Judge only the end of each run, such as 30m, 2h or 1d.")
@click.option("--since", metavar="TIME", help="Judge batches from this time on, such as 2026-03-01T10:58:00Z.")
@click.option("--until", metavar="TIME", help="Judge batches up to this time.")
@stages_option
@fleet_options
@click.option(
    "--all", "everything", is_flag=True, help="Show everything: all findings, reasons, runs, rules and facts."
)
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 if a finding has this level or a higher one.")
def analyze(paths: tuple[str, ...], **options: Any) -> int:
    """Judge what the paths hold and print the report."""
    fleet.check(options)
    _check_page(options)
    check_output(paths, options)
    worst = _fleet(paths, options) if options["fleet"] or options["save_table"] else _queries(paths, options)
    return FAILED_ON if fails(worst, options["fail_on"]) else 0


def _check_page(options: dict[str, Any]) -> None:
    """UsageError, before anything is read, where no page can be made."""
    if options["form"] == "html" and (options["fleet"] or options["save_table"]):
        raise click.UsageError("--format html shows every query in full; leave out --fleet and --save-table")
    check_page(options)


def _queries(paths: tuple[str, ...], options: dict[str, Any]) -> Level | None:
    from advisor.api import analyze as judge

    with _wanted(paths, options) as wanted:
        report = judge(paths, series=options["form"] == "html", stages=options["stages"], **wanted)
    fleet.tell_of_jvm(report.typed.input)
    put(rendered(report, options, everything=options["everything"]), options)
    judged = any(query.findings or query.batches for query in report.typed.queries)
    _refuse_only_broken(paths, report.typed.input, judged=judged)
    return report.worst_level()


def _refuse_only_broken(paths: tuple[str, ...], read: Input, *, judged: bool) -> None:
    """Raise InputError, after the report that names the places, where of all records nothing can be judged."""
    broken, partial = sum(one.times for one in read.broken), sum(one.times for one in read.partial)
    if partial > 1 and not read.events and not judged:
        records = f"{broken + partial:,} records, none of them whole enough to be judged"
        raise InputError(
            ", ".join(paths), records, "the report says what each of them lacks, and how to get whole ones"
        )
    if read.broken and not read.events and not read.partial:
        records = "one record, which is" if broken == 1 else f"{broken:,} records, all"
        raise InputError(", ".join(paths), f"{records} broken", "the report says where and why")


def _fleet(paths: tuple[str, ...], options: dict[str, Any]) -> Level | None:
    with _wanted(paths, options) as wanted:
        report = fleet.fleet_report(paths, options, wanted)
    put(fleet.rendered(report, options), options)
    _refuse_only_broken(paths, report.input, judged=True)
    return fleet.worst_level(report)


@contextmanager
def _wanted(paths: tuple[str, ...], options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the call takes besides the paths, the session of the engine and something that shows progress among it."""
    from advisor.api import refuse

    named = {name: options[name] for name in ("config", "rules", "last", "since", "until")} | {"set": options["given"]}
    if options["engine"] == "spark":
        refuse(paths, **named)
    with fleet.session(options) as spark, fleet.counter() if spark else _progress(paths) as progress:
        yield named | {"engine": options["engine"], "progress": progress, "spark": spark}


def fails(worst: Level | None, level: Level | None) -> bool:
    """Whether the worst level of a report reaches this one; never without a level."""
    return bool(worst and level) and LEVELS.index(worst) >= LEVELS.index(level)


@contextmanager
def _progress(paths: tuple[str, ...]) -> Iterator[Callable[[int], None] | None]:
    """A callback for the bytes read so far that moves a bar on standard error; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from advisor.cli.bar import bar

    with bar(paths) as advance:
        yield advance
