"""`latency-advisor analyze`: logs to a report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.exits import FAILED_ON

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.report import Report

LEVELS = ("low", "medium", "high")
_MOST_COLUMNS = 120

_HELP = """Read progress from PATHS and say what is worth changing.

PATHS are files, directories, globs, object-store URLs or - for standard input: driver logs, event logs, structured
logs, JSON lines, notebooks, plain or compressed.

\b
Examples:
  latency-advisor analyze driver.log
  latency-advisor analyze 'logs/*.gz' --last 30m
  latency-advisor analyze driver.log --set stateful=false --set sink=kafka
  latency-advisor analyze driver.log --set orders-enricher:latency_target_ms=500
  latency-advisor analyze logs/ --format json --output report.json --fail-on high
"""


@click.command(help=_HELP)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write the report there instead of printing it.")
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="FACT=VALUE",
    help="A fact that you know; QUERY:FACT=VALUE for one query. `latency-advisor facts` lists them. Repeatable.",
)
@click.option("--config", metavar="FILE", help="advisor.yaml; by default the one beside the logs.")
@click.option(
    "--rules", "rules", multiple=True, metavar="DIR", help="Your own rules, beside the shipped ones. Repeatable."
)
@click.option("--last", metavar="TIME", help="Judge the last 30m, 2h, 1d of each run.")
@click.option("--since", metavar="TIME", help="Judge from then on, as 2026-03-01T10:58:00Z.")
@click.option("--until", metavar="TIME", help="Judge up to then.")
@click.option("--all", "everything", is_flag=True, help="Show every finding, reason, run and fact.")
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 if a finding has this level or a higher one.")
@click.option("--no-color", is_flag=True, help="Plain text on a terminal too (so does the variable NO_COLOR).")
def analyze(paths: tuple[str, ...], **options: Any) -> int:
    """Judge what the paths hold and print the report."""
    report = _judged(paths, options)
    _write(report, options)
    return FAILED_ON if fails(report.worst_level(), options["fail_on"]) else 0


def _judged(paths: tuple[str, ...], options: dict[str, Any]) -> Report:
    from advisor.api import analyze as judge

    with _progress(paths) as progress:
        return judge(
            paths,
            set=options["given"],
            config=options["config"],
            rules=options["rules"],
            last=options["last"],
            since=options["since"],
            until=options["until"],
            progress=progress,
        )


def fails(worst: str | None, level: str | None) -> bool:
    """Whether the worst level of a report reaches this one; never without a level."""
    return bool(worst and level) and LEVELS.index(worst) >= LEVELS.index(level)


def _write(report: Report, options: dict[str, Any]) -> None:
    from advisor.cli.printing import show

    to_file = options["output"] not in (None, "-")
    words = _rendered(report, options, to_file)
    if not to_file:
        show(words)
        return
    # What was there stays until the new report is whole; but a device or a pipe must not be replaced by a file.
    atomic = Path(options["output"]).is_file()
    with click.open_file(options["output"], "w", encoding="utf-8", atomic=atomic) as file:
        file.write(words)


def _rendered(report: Report, options: dict[str, Any], to_file: bool) -> str:
    if options["form"] == "json":
        from advisor.views.clean import ascii_json

        return ascii_json(report.to_json().rstrip("\n") + "\n")
    if options["form"] == "markdown":
        from advisor.views.markdown import render as markdown

        return markdown(report.data, everything=options["everything"])
    from advisor.cli.printing import terminal
    from advisor.views.terminal import render as text

    look = terminal(plain=options["no_color"] or to_file)
    return text(report.data, everything=options["everything"], **look)


@contextmanager
def _progress(paths: tuple[str, ...]) -> Iterator[Callable[[int], None] | None]:
    """A callback for the bytes read so far that moves a bar on standard error; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from advisor.cli.bar import bar

    with bar(paths) as advance:
        yield advance
