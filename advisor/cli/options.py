"""Options that several commands share, and the numbers that options take."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import click

from advisor.errors import UsageError

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


class Times(Finite):
    """A number that may end in x, as 2x does."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; click.BadParameter for anything else."""
        return super().convert(str(value).lower().removesuffix("x"), param, ctx)


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
goal_options = group(
    click.option(
        "--target",
        "targets",
        multiple=True,
        metavar="p99=TIME",
        help="The record latency that you need, such as p99=500ms or p50=2s. QUERY:p99=TIME is for one query.  "
        "Repeatable.",
    ),
    click.option(
        "--keep",
        multiple=True,
        type=click.Choice(["exactly-once", "checkpoint"]),
        help="Reach the target without a step that gives this up. Repeatable.",
    ),
    click.option(
        "--load",
        metavar="TIMES",
        type=Times(min=0.01, max=1e6),
        help="Ask what happens at so many times today's load, such as 2x.",
    ),
)
"""Add what a person wants of the queries, as `targets`, `keep` and `load`."""
_TARGET = re.compile(r"(?P<query>(?:.+:)?)(?P<stat>p50|p99)=(?P<time>.+)", re.DOTALL)


def facts_given(options: Mapping[str, Any]) -> list[str]:
    """Return the facts of `--set` and those that targets, `--keep` and `--load` stand for, as `FACT=VALUE`."""
    from advisor.api import duration
    from advisor.facts import FACTS, read_value

    given = list(options["given"])
    targets: dict[str, str] = {}
    for text in options["targets"]:
        found = _TARGET.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"--target {text}", "is no target", "write p99=500ms or p50=2s")
        if targets.setdefault(found["query"], text) != text:
            raise UsageError(f"--target {text}", f"is a second one beside {targets[found['query']]}", "give one")
        if beside := [one for one in options["given"] if one.startswith(f"{found['query']}latency_target_")]:
            raise UsageError(f"--target {text}", f"is a second one beside --set {beside[0]}", "give one")
        ms = duration(found["time"], "--target").total_seconds() * 1000
        read_value(FACTS["latency_target_ms"], f"{ms:g}", place=f"--target {text}")
        given += [f"{found['query']}latency_target_ms={ms:g}", f"{found['query']}latency_target_stat={found['stat']}"]
    given += [f"keep_{name.replace('-', '_')}=true" for name in options["keep"]]
    return given + ([f"load_factor={options['load']:g}"] if options["load"] else [])


stages_option = click.option(
    "--stages/--no-stages",
    default=True,
    help="Open addBatch: jobs, stages and tasks, from INFO or event logs.  [default: --stages]",
)
