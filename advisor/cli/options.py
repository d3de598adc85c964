"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from advisor.cli import completing

Command = Callable[..., Any]


def group(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """What adds these options to a command, in this order."""

    def added(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return added


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
"""Adds what a person says of the queries and of the rules, as `given`, `config` and `rules`."""
stages_option = click.option(
    "--stages/--no-stages",
    default=None,
    help="Open addBatch: jobs, stages and tasks, from INFO or event logs.  [default: up to 32 MB]",
)
