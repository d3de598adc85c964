"""Options that several commands share, and the numbers that options take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from advisor.cli import completing

Command = Callable[..., Any]


class Finite(click.FloatRange):
    """A number of a range that is neither infinite nor NaN."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; click.BadParameter for anything else."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not finite.", param, ctx)
        return number


SECONDS = Finite(min=0, min_open=True)
PERCENT = Finite(min=0)


def group(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds these options to a command, in this order."""

    def added(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return added


def output_options(*forms: str) -> Callable[[Command], Command]:
    """Add --format with these forms, --output and --no-color to a command, as `form`, `output` and `no_color`."""
    return group(
        click.option("--format", "form", type=click.Choice(forms), default=forms[0], show_default=True),
        click.option("--output", metavar="FILE", help="Write the output to this file."),
        click.option("--no-color", is_flag=True, help="No colours. The variable NO_COLOR does the same."),
    )


wish_options = group(
    click.option(
        "--set",
        "given",
        multiple=True,
        metavar="FACT=VALUE",
        shell_complete=completing.facts,
        help="A fact that you know. QUERY:FACT=VALUE sets it for one query. `latency-advisor facts list` shows all.  "
        "Repeatable.",
    ),
    click.option("--config", metavar="FILE", help="The configuration file. Default: advisor.yaml beside the logs."),
    click.option(
        "--rules",
        multiple=True,
        metavar="DIR",
        help="A directory with your own rules. Shipped rules still count. Repeatable.",
    ),
)
"""Add what a person knows of the queries and the rules, as `given`, `config` and `rules`."""
stages_option = click.option(
    "--stages/--no-stages",
    default=True,
    help="Open addBatch: jobs, stages and tasks, from INFO or event logs.  [default: --stages]",
)
