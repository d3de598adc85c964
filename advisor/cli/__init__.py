"""The command `latency-advisor`: words to calls. Only click is imported until a command runs."""

from __future__ import annotations

from typing import Any

import click

import advisor
from advisor.cli.analyze import analyze
from advisor.cli.comparing import compare
from advisor.cli.exits import CodedGroup
from advisor.cli.known import facts, metrics
from advisor.cli.log4j import log4j
from advisor.cli.rules import rules, steps
from advisor.cli.trial import trial
from advisor.cli.watching import watch

_HELP = """Reads what Spark says about each micro-batch of a streaming query, and names the change that helps most.
It says whether Spark accepts it, what it saves, what it costs and how to undo it.

\b
Start with a driver log, an event log or a file of progress events:
  latency-advisor analyze driver.log
  latency-advisor analyze logs/ --last 30m --set task_slots=32
  kubectl logs my-driver | latency-advisor analyze -
  latency-advisor watch driver.log
  latency-advisor compare before.log after.log
  latency-advisor demo

\b
Exit codes:
  0    done
  1    --fail-on found that level or a higher one; --fail-if-slower: slower
  2    the command or the input is wrong; one line says what
  130  stopped, with Ctrl-C or SIGTERM

Of an option that is given twice the last counts, unless it is repeatable.

\b
Tab completion, in the start file of bash (zsh_source, fish_source for others):
  eval "$(_LATENCY_ADVISOR_COMPLETE=bash_source latency-advisor)"

LATENCY_ADVISOR_TRACEBACK=1 in the environment shows where an error came from.
"""


@click.group(cls=CodedGroup, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(advisor.__version__, prog_name="latency-advisor", message="%(prog)s %(version)s")
def main() -> None:
    """Say what there is; the commands do the work."""


main.add_command(analyze)
main.add_command(compare)
main.add_command(facts)
main.add_command(log4j)
main.add_command(metrics)
main.add_command(rules)
main.add_command(steps)
main.add_command(trial)
main.add_command(watch)


@main.command(short_help="Advise on a recorded log and on a stream that runs here.")
@click.option(
    "--workload", default="stateless", show_default=True, type=click.Choice(["stateless", "stateful"]),
    help="Which stream to run. Each one gets different advice.",
)  # fmt: skip
@click.option("--no-spark", is_flag=True, help="Advise on the recorded log only, and start no stream.")
def demo(**options: Any) -> None:
    """Advise on a recorded log, then on a stream that runs here. Restart the stream as advised, and measure the effect.

    The demonstration prints as it goes, so it takes no --format. Its last report is also written as a page.
    """
    from advisor.cli.demonstration import demonstrate

    demonstrate(**options)
