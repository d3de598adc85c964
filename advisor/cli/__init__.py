"""The command `latency-advisor`: words to calls. Only click is imported until a command runs."""

from __future__ import annotations

from pathlib import Path

import click

import advisor
from advisor.cli.analyze import analyze
from advisor.cli.checkpoint import checkpoint
from advisor.cli.compare import compare
from advisor.cli.demo import demo
from advisor.cli.exits import CodedGroup
from advisor.cli.rules import facts, metrics, rules, steps
from advisor.cli.trial import trial
from advisor.cli.watch import watch

_HELP = """Reads what Spark logs about each micro-batch of a streaming query, and names the change that helps most:
whether Spark accepts it, what it saves, what it costs and how to undo it.

\b
Start with the address of a running driver, or a driver log, an event log or a file of progress events:
  latency-advisor analyze http://driver:4040
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
  2    the command or the input is wrong; one line names the fault
  130  stopped, with Ctrl-C or SIGTERM

Of an option that is given twice the last counts, unless it is repeatable.

\b
Tab completion, in the start file of bash (zsh_source, fish_source for others):
  eval "$(_LATENCY_ADVISOR_COMPLETE=bash_source latency-advisor)"

LATENCY_ADVISOR_TRACEBACK=1 in the environment shows where an error came from.
"""
_LOG4J = """Print the log4j2 settings with which a Spark driver writes its progress events to a file.

On Spark 4 PySpark's console shows nothing below WARN, whatever its level, so progress has to go to a file. Save what
this prints as log4j2.properties; its first lines say how the driver is started with it.

\b
Example:
  latency-advisor log4j --log /var/log/orders/driver.log > log4j2.properties
"""


@click.group(cls=CodedGroup, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(advisor.__version__, prog_name="latency-advisor", message="%(prog)s %(version)s")
def main() -> None:
    """Name the commands; they do the work."""


@click.command(help=_LOG4J, short_help="Print settings for a driver log that shows progress.")
@click.option("--log", default="driver.log", show_default=True, metavar="FILE", help="Where the driver writes its log.")
@click.option("--output", metavar="FILE", help="Write the output to this file.")
def log4j(log: str, output: str | None) -> None:
    """Print the file."""
    from advisor.cli.output import put
    from advisor.log4j import log4j_settings

    put(log4j_settings(Path(log).absolute()), {"output": output})


for command in (analyze, checkpoint, compare, demo, facts, log4j, metrics, rules, steps, trial, watch):
    main.add_command(command)
