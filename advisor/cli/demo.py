"""`latency-advisor demo`: the demonstration on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from advisor.views.shown import Report


@click.command(short_help="Advise on a recorded log and on a stream that runs here.")
@click.option("--no-spark", is_flag=True, help="Advise on the recorded log only, and start no stream.")
def demo(no_spark: bool) -> None:
    """Advise on a recorded log, then on a stream that runs here. Restart the stream as advised, and measure the effect.

    The demonstration prints as it goes, so it takes no --format. Its last report is also written as a page.
    """
    from advisor.cli.output import rendered, show
    from advisor.demo import Stage, run

    shown: list[Report] = []

    def printed(report: Report) -> None:
        shown.append(report)
        show(rendered(report, {"form": "text", "output": None, "no_color": False}))

    advance = _bar if sys.stderr.isatty() else _lines()
    run(Stage(click.echo, printed, advance), no_spark=no_spark)
    click.echo(_page(shown[-1]))


def _page(report: Report) -> str:
    """Write the last report as a page and name its file; or say why there is none."""
    from advisor.errors import UsageError
    from advisor.writing import write_whole

    try:
        page = report.to_html()
    except UsageError as missing:
        return str(missing)
    place = Path(mkdtemp(prefix="latency-advisor-")) / "report.html"
    write_whole(place, page)
    return f"The last report as a page with charts, to open in a browser: {place}"


def _bar(words: str, done: float) -> None:
    """Write one line again and again, and leave it when it is full."""
    bar = "█" * round(30 * done)
    click.echo(f"\r   {bar:<30} {words:<30}", err=True, nl=done >= 1)


def _lines() -> Callable[[str, float], None]:
    """Return what writes a line for each fifth."""
    last = -1

    def advance(words: str, done: float) -> None:
        nonlocal last
        if int(5 * done) != last:
            last = int(5 * done)
            click.echo(f"   {done:4.0%}  {words}", err=True)

    return advance
