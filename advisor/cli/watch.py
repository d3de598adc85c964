"""`latency-advisor watch`: the first screen of logs that grow, drawn anew as batches come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.exits import FAILED_ON, remark
from advisor.cli.options import facts_given, goal_options, output_options, stages_option, wish_options
from advisor.cli.output import check_output, put, rendered, terminal, to_file

if TYPE_CHECKING:
    from advisor import contract
    from advisor.views.shown import Report

POLL_SECONDS = 1.0
ASK_SECONDS = 10.0
"""Between two looks at a driver's pages: each costs it some milliseconds."""
CPU_SHARE = 0.1
"""Of one core: after a report that took long, the next one waits until that holds."""
_HELP = """Follow logs while they grow and show the first screen again as batches come.

PATHS are files, directories or patterns of this machine: driver logs, event logs, a history= directory. Rotated,
truncated and new files are followed. It ends with Ctrl-C, or when every query has stopped. Or the address of a running
driver: it is asked every 10 s, new batches are added, and a driver that is gone is waited for.

\b
Examples:
  latency-advisor watch driver.log
  latency-advisor watch http://driver:4040
  latency-advisor watch progress/ --set task_slots=32
  latency-advisor watch driver.log --once-per 10s >> advice.log
  latency-advisor watch driver.log --format html --output page.html
  latency-advisor watch http://driver:4040 --fail-if-silent 5m
"""


@click.command(help=_HELP, short_help="Follow growing logs, and show the newest report.")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@output_options("text", "json", "markdown", "html")
@click.option(
    "--once-per",
    metavar="TIME",
    help="Print a new screen below the last one, at most one in 10s or 1m, and only when something is new. "
    "Without a terminal this is 10s.",
)
@click.option(
    "--fail-if-silent",
    "silent",
    metavar="TIME",
    help="Exit with 1 once no batch of a query has ended for so long, such as 5m, though there is data to read.",
)
@wish_options
@goal_options
@stages_option
def watch(paths: tuple[str, ...], **options: Any) -> int:
    """Follow the paths until Ctrl-C, or until nothing runs any more."""
    from advisor.api import duration, follow
    from advisor.sources.paths import is_address

    if options["form"] == "html" and not to_file(options):
        raise click.UsageError("--format html needs --output FILE, which is written again with each report")
    check_output(options, paths)
    drawn = sys.stdout.isatty() and options["form"] == "text" and not to_file(options)
    every = options["once_per"] or (None if drawn else "10s")
    look = ASK_SECONDS if any(map(is_address, paths)) else POLL_SECONDS
    seconds = look if every is None else duration(every, "--once-per").total_seconds()
    asked = {name: options[name] for name in ("config", "rules", "stages")}
    longest = options["silent"] and duration(options["silent"], "--fail-if-silent").to_pytimedelta()
    steps = follow(paths, set=facts_given(options), **asked)
    with nullcontext(partial(_print, options)) if every else _drawn(options) as show:
        return until_it_ends(steps, show, lambda busy: time.sleep(max(seconds, busy / CPU_SHARE)), longest)


def until_it_ends(
    steps: Iterable[Report | None],
    show: Callable[[Report], None],
    wait: Callable[[float], None],
    longest: timedelta | None = None,
) -> int:
    """Show each step's report, and wait between steps, until every query has stopped or somebody interrupts it.

    `wait` hears the seconds of CPU time that the step took. Return 1 where no batch of a query ended for `longest`.
    """
    looks, begun, newest = iter(steps), time.process_time(), None
    try:
        for look, report in enumerate(looks):
            newest = report or newest
            if look == 0 and report is None:
                remark("no log there yet; it is read as soon as it comes")
            if report is not None:
                show(report)
                if ended(report.typed):
                    return 0
            if longest and newest and (why := silent(newest.typed, longest, datetime.now(timezone.utc))):
                remark(why)
                return FAILED_ON
            wait(time.process_time() - begun)
            begun = time.process_time()
    except KeyboardInterrupt:
        return 0
    return 0


def silent(report: contract.Report, longest: timedelta, now: datetime) -> str:
    """Return which query is silent, long or gone for so long, in one line; empty where none is."""
    from advisor.views import wording

    for query in report.queries:
        stall = query.stall
        lasted = now - datetime.fromisoformat(stall.since) if stall else timedelta()
        if stall and stall.word in ("silent", "long", "gone") and lasted >= longest:
            return f"{wording.name(query)}: {wording.state(query, 1000 * lasted.total_seconds())}"
    return ""


def ended(report: contract.Report) -> bool:
    """Whether there are queries, and the latest run of each has stopped or died; a driver may list one that begins."""
    from advisor.views.selection import selections

    if report.input.from_ui and any(run.state == "no_data" and not run.value("stopped") for run in report.queries):
        return False
    states = [chosen.query.state for chosen in selections(report)]
    return bool(states) and all(state in ("stopped", "dead") for state in states)


def _print(options: dict[str, Any], report: Report) -> None:
    """Print a report below the last one, a screen with the start of its newest batch; in a file it replaces it."""
    words = rendered(report, options)
    headed = options["form"] == "text" and not to_file(options)
    put(f"{'─' * 20} {_newest(report.typed)}\n{words}\n" if headed else words, options)
    sys.stdout.flush()


def _newest(report: contract.Report) -> str:
    from advisor.views.text import moment

    last = max((query.last for query in report.queries if query.last), default=None)
    return f"last batch began {moment(last)} UTC" if last else "no batch yet"


@contextmanager
def _drawn(options: dict[str, Any]) -> Iterator[Callable[[Report], None]]:
    """Draws each screen in the place of the last one."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(no_color=not terminal(options)["color"], highlight=False)
    with Live(Text("waiting for the first batch"), console=console, auto_refresh=False) as live:
        yield lambda report: live.update(Text.from_ansi(rendered(report, options) + "\nCtrl-C ends"), refresh=True)
