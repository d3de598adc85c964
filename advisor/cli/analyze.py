"""`latency-advisor analyze`: logs to a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.exits import FAILED_ON, remark
from advisor.cli.options import facts_given, goal_options, group, output_options, stages_option, wish_options
from advisor.cli.output import check_output, put, rendered, to_file
from advisor.cli.start import start
from advisor.errors import InputError
from advisor.vocabulary import LEVELS, worst

if TYPE_CHECKING:
    from advisor.contract import Input
    from advisor.vocabulary import Level

_COMPRESSED = (".gz", ".zst", ".zstd", ".lz4", ".bz2", ".xz", ".snappy")
_HELP = """Read progress from PATHS, and say which change helps.

PATHS are files, directories, globs, object-store URLs or - for standard input: driver logs, event logs, structured
logs, JSON lines, notebooks, plain or compressed. Or the address of a running driver's UI, or of a History Server.

\b
Examples:
  latency-advisor analyze http://driver:4040
  latency-advisor analyze driver.log
  latency-advisor analyze 'logs/*.gz' --last 30m
  latency-advisor analyze driver.log --set stateful=false --set sink=kafka
  latency-advisor analyze driver.log --target p99=500ms --keep exactly-once --load 2x
  latency-advisor analyze logs/ --format json --output report.json --fail-on high
  latency-advisor analyze driver.log --format html --output page.html
  latency-advisor analyze http://driver:4040 --save before.batches
  latency-advisor analyze spark-events/ --no-stages
  latency-advisor analyze driver.log --checkpoint s3://lake/checkpoints/orders
  latency-advisor analyze s3://logs/drivers --fleet --master spark://host:7077 --save-table s3://tables/latency
"""

_PROCESSES = min(4, os.cpu_count() or 1)  # each takes some 100 MB

_FLEET = group(
    click.option(
        "--engine",
        type=click.Choice(["auto", "local", "spark"]),
        default="auto",
        show_default=True,
        help="Where logs are read and judged. auto: on Spark if --master is given, otherwise on this machine.",
    ),
    click.option("--master", metavar="URL", help="The cluster: spark://host:7077, yarn, k8s://…, local[8]."),
    click.option(
        "--fleet",
        is_flag=True,
        help="Rank all queries, and the changes that save most, one line each; a page of --format html always does.",
    ),
    click.option("--save-table", metavar="DIR", help="With spark: write batches and findings (and stages) as Parquet."),
    click.option(
        "--incremental",
        is_flag=True,
        help="Read only new logs and new lines, and add them to the tables of --save-table.",
    ),
)
"""How and where many logs are read."""


@click.command(help=_HELP)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@output_options("text", "json", "markdown", "html")
@wish_options
@click.option("--query", metavar="NAME", help="Show only the query with this name or id.")
@goal_options
@click.option(
    "--app",
    metavar="ID",
    help="The application of a History Server, which is the only one of PATHS; ID/2 is its second attempt.",
)
@click.option("--last", metavar="TIME", help="Judge only the end of each run, such as 30m, 2h or 1d.")
@click.option("--since", metavar="TIME", help="Judge batches from this time on, such as 2026-03-01T10:58:00Z.")
@click.option("--until", metavar="TIME", help="Judge batches up to this time.")
@stages_option
@click.option("--checkpoint", metavar="PATH", help="The query's checkpoint: what it pins and holds is known, too.")
@click.option("--save", metavar="FILE", help="Keep what was read in this file, which every command reads as a log.")
@_FLEET
@click.option(
    "--all", "everything", is_flag=True, help="Show everything: all findings, reasons, runs, rules and facts."
)
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 if a finding has this level or a higher one.")
def analyze(paths: tuple[str, ...], **options: Any) -> int:
    """Judge what the paths hold and print the report."""
    _choose_engine(options)
    paths = _of_application(paths, options["app"])
    of_fleet = options["fleet"] or options["save_table"]
    if options["form"] == "html" and options["save_table"]:
        raise click.UsageError("--format html shows every query in full; leave out --save-table")
    for name in ("query", "keep", "load"):
        if options[name] and of_fleet:
            raise click.UsageError(f"--{name} is of one query's report; leave out --fleet and --save-table")
    check_output(options, paths)
    if options["save"] and to_file(options) and Path(options["save"]).resolve() == Path(options["output"]).resolve():
        raise click.UsageError("--save and --output name the same file")
    start(paths, local=options["engine"] != "spark")
    ranked = of_fleet and options["form"] != "html"  # the page of all queries ranks them, too
    found = _fleet(paths, options) if ranked else _queries(paths, options)
    return FAILED_ON if fails(found, options["fail_on"]) else 0


def _of_application(paths: tuple[str, ...], application: str | None) -> tuple[str, ...]:
    """Return the paths, of a History Server the address of one application."""
    if application is None:
        return paths
    if len(paths) > 1 or not paths[0].startswith("http"):
        raise click.UsageError("--app needs the address of a History Server, and nothing else")
    from advisor.sources.ui.web import parted

    server = paths[0].rstrip("/")
    address = f"{server}/history/{application}"
    if parted(address) != (server, application):
        raise click.UsageError("--app takes ID, or ID/ATTEMPT, beside an address that names no application")
    return (address,)


def _choose_engine(options: dict[str, Any]) -> None:
    """Set the engine that is meant; UsageError for options that do not go together."""
    if options["engine"] == "auto":
        options["engine"] = "spark" if options["master"] else "local"
    if options["master"] and options["engine"] == "local":
        raise click.UsageError("--master needs --engine spark")
    if options["incremental"] and not options["save_table"]:
        raise click.UsageError("--incremental needs --save-table DIR")
    for of_one, says in (("checkpoint", "is of one query"), ("save", "keeps what one report is made of")):
        if options[of_one] and (options["engine"] == "spark" or options["fleet"]):
            raise click.UsageError(f"--{of_one} {says}: leave out --fleet, --master and --engine spark")
    if options["save_table"] and options["engine"] == "local":
        raise click.UsageError("--save-table needs --engine spark")


def _queries(paths: tuple[str, ...], options: dict[str, Any]) -> Level | None:
    from advisor.api import analyze as judge

    as_json = options["form"] == "json"
    with _wanted(paths, options) as wanted:
        own = {name: options[name] for name in ("stages", "query", "checkpoint", "save")}
        own |= {"series": options["form"] == "html", "packed": as_json or options["form"] == "text"}
        report = judge(paths, processes=_PROCESSES, **own, **wanted)
    read = report.typed.input
    if read.read_by_jvm:
        from advisor.views.fleet import by_jvm

        remark(by_jvm(read).strip())
    if as_json:
        from advisor.views.clean import ascii_json

        put(map(ascii_json, chain(report.json_in_pieces(), "\n")), options)
    else:
        put(rendered(report, options, everything=options["everything"]), options)
    _refuse_only_broken(paths, read, judged=any(query.findings or query.batches for query in report.typed.queries))
    return report.worst_level()


def _refuse_only_broken(paths: tuple[str, ...], read: Input, *, judged: bool) -> None:
    """Raise InputError, after the report that names the places, where of all records nothing can be judged."""
    if read.events or read.from_ui:
        return
    broken, partial = sum(one.times for one in read.broken), sum(one.times for one in read.partial)
    if partial > 1 and not judged:
        records = f"{broken + partial:,} records, none of them whole enough to be judged"
        give = "the report lists what each of them lacks, and how to get whole ones"
        raise InputError(", ".join(paths), records, give)
    if read.broken and not read.partial and all(one.line is None for one in read.broken):
        why = read.broken[0].reason if broken == 1 else f"none of these {broken:,} files can be read"
        raise InputError(", ".join(paths), why, "the report names each, and why")
    if read.broken and not read.partial:
        records = "one record, which is" if broken == 1 else f"{broken:,} records, all"
        raise InputError(", ".join(paths), f"{records} broken", "the report lists where and why")


def _fleet(paths: tuple[str, ...], options: dict[str, Any]) -> Level | None:
    from advisor.api import analyze_fleet

    asked = {name: options[name] for name in ("save_table", "incremental")}
    with _wanted(paths, options) as wanted:
        report = analyze_fleet(paths, stages=options["stages"], processes=_PROCESSES, **asked, **wanted)
    if options["form"] == "json":
        from advisor.contract import as_json
        from advisor.views.clean import ascii_json

        put(ascii_json(as_json(report) + "\n"), options)
    else:
        from advisor.views import fleet

        view = fleet.fleet_as_markdown if options["form"] == "markdown" else fleet.fleet_as_text
        put(view(report, everything=options["everything"]), options)
    _refuse_only_broken(paths, report.input, judged=True)
    return worst(finding.level for query in report.queries for finding in query.findings)


@contextmanager
def _wanted(paths: tuple[str, ...], options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the call takes besides the paths: the session of the engine and a progress bar among it."""
    from advisor.api import refuse

    named = {name: options[name] for name in ("config", "rules", "last", "since", "until")}
    named["set"] = facts_given(options)
    if options["engine"] == "spark":
        refuse(paths, options["save_table"], **named)
    with _session(options) as spark, _bar(paths) as progress:
        yield named | {"engine": options["engine"], "progress": progress, "spark": spark}


@contextmanager
def _session(options: dict[str, Any]) -> Iterator[Any]:
    """Yield the session of the engine, None for the local one; say which it is."""
    if options["engine"] == "local":
        if options["fleet"]:
            remark("reading on this machine, without Spark")
        yield None
        return
    from advisor.cluster import described
    from advisor.cluster import session as of_spark

    with of_spark(master=options["master"]) as spark:
        remark(f"reading with {described(spark)}")
        yield spark


def fails(found: Level | None, level: Level | None) -> bool:
    """Whether the worst level of a report reaches this one; never without a level."""
    return bool(found and level) and LEVELS.index(found) >= LEVELS.index(level)


@contextmanager
def _bar(paths: tuple[str, ...]) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback that takes the bytes read so far, None without a terminal; the bar is gone afterwards."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=_size(paths))
        yield lambda so_far: progress.update(task, completed=so_far)


def _size(paths: tuple[str, ...]) -> int | None:
    """Return the bytes on disk; None where nobody knows them, as for a glob, standard input or a compressed file."""
    try:
        if not all(Path(path).exists() for path in paths):
            return None
        files = [file for path in paths for file in (Path(path), *Path(path).rglob("*")) if file.is_file()]
        return None if any(file.suffix in _COMPRESSED for file in files) else sum(file.stat().st_size for file in files)
    except OSError:  # some may not be read
        return None
