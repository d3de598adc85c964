"""`latency-advisor demo`: the demonstration on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from advisor.cli.printing import show, terminal
from advisor.cli.spark import end_in_order
from advisor.demo import Stage, run
from advisor.views.terminal import report_as_text

if TYPE_CHECKING:
    from advisor.report import Report


def demonstrate(workload: str, no_spark: bool) -> None:
    """Run the demonstration with its reports on standard output and its progress on standard error."""
    end_in_order()
    advance = _bar if sys.stderr.isatty() else _lines()
    run(Stage(click.echo, _print, advance), workload=workload, no_spark=no_spark)


def _print(report: Report) -> None:
    show(report_as_text(report.typed, **terminal()))


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
