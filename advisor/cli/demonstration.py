"""`latency-advisor demo`: the demonstration on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import click

from advisor.cli.printing import show, terminal
from advisor.cli.spark import end_in_order
from advisor.demo import Stage, run
from advisor.errors import UsageError
from advisor.views.terminal import report_as_text

if TYPE_CHECKING:
    from advisor.views.notebook import Shown


def demonstrate(workload: str, no_spark: bool) -> None:
    """Run the demonstration with its reports on standard output and its progress on standard error."""
    end_in_order()
    advance = _bar if sys.stderr.isatty() else _lines()
    shown: list[Shown] = []

    def printed(report: Shown) -> None:
        shown.append(report)
        show(report_as_text(report.typed, **terminal()))

    run(Stage(click.echo, printed, advance), workload=workload, no_spark=no_spark)
    click.echo(_page(shown[-1]))


def _page(report: Shown) -> str:
    """Where the last report stands as a page, which stays; or why it does not."""
    try:
        page = report.to_html()
    except UsageError as missing:
        return str(missing)
    place = Path(mkdtemp(prefix="latency-advisor-")) / "report.html"
    place.write_text(page, encoding="utf-8")
    return f"The last report as a page with charts, to open in a browser: {place}"


def _bar(words: str, done: float) -> None:
    """One line that is written again, and left when it is full."""
    bar = "█" * round(30 * done)
    click.echo(f"\r   {bar:<30} {words:<30}", err=True, nl=done >= 1)


def _lines() -> Callable[[str, float], None]:
    """A line for each fifth."""
    told = [-1]

    def advance(words: str, done: float) -> None:
        if int(5 * done) != told[0]:
            told[0] = int(5 * done)
            click.echo(f"   {done:4.0%}  {words}", err=True)

    return advance
