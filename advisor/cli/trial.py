"""`latency-advisor trial`: measure steps on real Spark, baseline and candidate in turns."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from inspect import signature
from pathlib import Path
from typing import Any

import click

from advisor.cli.options import SECONDS, output_options
from advisor.cli.output import check_output, put, rendered
from advisor.cli.spark import pairs, session
from advisor.errors import UsageError, fault

_HELP = """Run the query that MODULE:FUNCTION builds,
with and without a change, in turns, on throw-away checkpoints, and
say what the change does to the batch, its phases and the record latency.

FUNCTION takes a setup and returns the writer of a stream, not started. What the query writes must go to
setup.path("...") or setup.topic("..."); readers take setup.reader_options.

\b
Examples:
  latency-advisor trial pipeline:build --step async-progress
  latency-advisor trial advisor.trials.workloads:rate_to_noop --step async-progress --runs 4
  latency-advisor trial pipeline:build --conf spark.sql.shuffle.partitions=4 --state-rows 2000000
"""
_PAIR: dict[str, Any] = {"multiple": True, "metavar": "KEY=VALUE"}


@click.command(help=_HELP, short_help="Run a query with and without a change, in turns.")
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option(
    "--step", "steps", multiple=True, metavar="ID",
    help="A step to try; `latency-advisor steps list` shows all. Repeatable.",
)  # fmt: skip
@click.option("--writer-option", help="An option of writeStream to try. Repeatable.", **_PAIR)
@click.option("--reader-option", help="An option of readStream to try. Repeatable.", **_PAIR)
@click.option("--conf", help="A setting of the session to try. Repeatable.", **_PAIR)
@click.option("--trigger", metavar="INTERVAL", help="A processing-time trigger to try, such as '2 seconds'.")
@click.option("--spark", help="A setting to start Spark with, for all runs. Repeatable.", **_PAIR)
@click.option("--runs", default=8, show_default=True, type=click.IntRange(min=4),
              help="Number of runs, a multiple of 4, half with the change. Up to three times as many where these "
              "cannot tell.")  # fmt: skip
@click.option("--batches", type=click.IntRange(min=1),
              help="Steady batches of each run, from 10 on. Default: 40, or as many as fit into a minute.")  # fmt: skip
@click.option("--seconds", type=SECONDS,
              help="The longest that a run takes. Default: by the pace of the warm-up, said beforehand.")  # fmt: skip
@click.option("--place", metavar="DIR",
              help="A directory that the whole cluster can write to. It is cleaned up afterwards.")  # fmt: skip
@click.option("--state-rows", type=click.IntRange(min=1),
              help="Count batches only when the state has at least so many rows.")  # fmt: skip
@click.option("--safe-sink", is_flag=True,
              help="You promise that the sink (foreach, foreachBatch) writes only below setup.path()")  # fmt: skip
@click.option("--safe-source", is_flag=True, help="You promise that reading takes no data away from other readers.")
@output_options("text", "json", "markdown")
def trial(function: str, **options: Any) -> None:
    """Carry out the trial and print its result."""
    from advisor import catalogue
    from advisor.comparison.interleaved import order
    from advisor.trials import trial as tried
    from advisor.trials.guard import check_unbuilt
    from advisor.trials.length import Length
    from advisor.trials.setup import Permissions
    from advisor.trials.steps import known

    check_output(options)
    order(options["runs"])
    steps = _steps(options)
    known(steps, catalogue.load())  # before the module is imported, and all of these before Spark is started
    Length(options["batches"], options["seconds"]).check()
    with to_stderr():  # what the query's own code prints is no part of the result
        build = _function(function)
        check_unbuilt(build, Permissions(sink=options["safe_sink"]))
        names = ("runs", "batches", "seconds", "place", "state_rows", "safe_sink", "safe_source")
        chosen = {name: options[name] for name in names}
        with session("trial", pairs("--spark", options["spark"])) as started:
            found = tried(build, steps, spark=started, say=lambda words: click.echo(words, err=True), **chosen)
    put(rendered(found, options), options)


@contextmanager
def to_stderr() -> Iterator[None]:
    """Send to stderr what is printed to stdout, by programs that are started, too."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _steps(options: dict[str, Any]) -> list[Any]:
    kinds = ("writer_option", "reader_option", "conf")
    change: dict[str, Any] = {kind: pairs(f"--{kind.replace('_', '-')}", options[kind]) for kind in kinds}
    change["trigger"] = {"processing_time": options["trigger"]} if options["trigger"] else {}
    own = {kind: values for kind, values in change.items() if values}
    steps = [*options["steps"], *([own] if own else [])]
    if not steps:
        raise UsageError(
            "trial", "there is no change to try", "give --step, --conf, --writer-option, --reader-option or --trigger"
        )
    return steps


def _function(named: str) -> Callable[[Any], Any]:
    module, _, name = named.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(named, str(error), "write MODULE:FUNCTION, and start in the directory of the module") from None
    except BaseException as error:  # the module runs while it is imported; Ctrl-C as a cause ends the command
        raise UsageError(named, f"cannot be imported: {fault(error)}", "correct the module") from error
    try:
        signature(found).bind(None)
    except (TypeError, ValueError) as error:
        raise UsageError(
            named, f"cannot be called with a setup: {error}", "give a function with one parameter, the setup"
        ) from None
    return found
