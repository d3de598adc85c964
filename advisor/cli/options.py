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
        help="A fact that you know; QUERY:FACT=VALUE for one query. `latency-advisor facts list` names them. "
        "Repeatable.",
    ),
    click.option("--config", metavar="FILE", help="advisor.yaml; by default the one beside the logs."),
    click.option("--rules", multiple=True, metavar="DIR", help="Your own rules, beside the shipped ones. Repeatable."),
)
"""Adds what a person says of the queries and of the rules, as `given`, `config` and `rules`."""
stages_option = click.option(
    "--stages/--no-stages",
    default=None,
    help="Open addBatch: jobs, stages and tasks, from INFO or event logs.  [default: up to 32 MB]",
)
