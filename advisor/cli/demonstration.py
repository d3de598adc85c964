"""`latency-advisor demo`: the demonstration on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from advisor.cli.printing import show, terminal
from advisor.demo import run
from advisor.views.terminal import render

if TYPE_CHECKING:
    from advisor.report import Report


def demonstrate(seconds: int, no_spark: bool) -> None:
    """Run the demonstration with its reports on standard output and its progress on standard error."""
    with _progress() as advance:
        run(click.echo, _print, advance, seconds=seconds, no_spark=no_spark)


def _print(report: Report) -> None:
    show(render(report.data, **terminal()))


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    if not sys.stderr.isatty():
        yield lambda words, done: click.echo(f"   {done:4.0%}  {words}", err=True)
        return
    yield lambda words, done: click.echo(f"\r   {'█' * round(30 * done):<30} {words:<16}", err=True, nl=False)
