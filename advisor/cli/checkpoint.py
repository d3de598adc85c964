"""`latency-advisor checkpoint`: what a checkpoint's folder shows, and what may be changed."""

from __future__ import annotations

from typing import Any

import click

from advisor.cli.exits import FAILED_ON
from advisor.cli.options import output_options
from advisor.cli.output import check_output, put, terminal

_HELP = """Read the checkpoint at PATH: does a query start from it, on which versions of Spark, and what is done again?

PATH is the folder that checkpointLocation names: on this machine, or at s3://, gs://, abfs:// or hdfs://. It is listed
and read, and never written; a mount or credentials without the right to write suffice. Stop the query first where an
answer must hold: a running one changes its checkpoint.

\b
What may be asked with --before, each as often as needed:
  async-off             switch asynchronous progress tracking off: is it safe now?
  async-on              switch it on
  partitions=16         change the number of state partitions
  provider=rocksdb      change the state store (hdfs, rocksdb)
  changelog=on          commit changelogs instead of snapshots (on, off)
  spark=4.3.0           start it with another version of Spark
  real-time             run it in real-time mode
  trigger=available-now change the trigger (processing-time, available-now, once, continuous)
  move=s3a://new/place  move the checkpoint
  state-format=2        change the state's format
  named-sources         give the sources names
  spark.sql....=VALUE   set any other setting: does the checkpoint keep the old value?

\b
Examples:
  latency-advisor checkpoint /data/checkpoints/orders
  latency-advisor checkpoint s3://lake/checkpoints/orders --before async-off
  latency-advisor checkpoint orders/ --before partitions=16 --set spark_version=4.3.0 --set sink=kafka
  latency-advisor checkpoint orders/ --log driver.log --before real-time
  latency-advisor checkpoint orders/ --before spark=4.3.0 --fail-on no && spark-submit ...

\b
The answers: yes; no; only so, with what to do; it depends, with the fact that would decide (--set).
"""


@click.command(help=_HELP, short_help="Does a query start from this checkpoint, and what may be changed?")
@click.argument("path", metavar="PATH")
@click.option("--before", multiple=True, metavar="CHANGE", help="A change that you mean to make. Repeatable.")
@click.option("--log", multiple=True, metavar="PATH", help="A log of the query: more is known with it. Repeatable.")
@click.option(
    "--set", "given", multiple=True, metavar="FACT=VALUE",
    help="A fact that you know, such as spark_version=4.3.0 or sink=kafka. Repeatable.",
)  # fmt: skip
@click.option("--fail-on", type=click.Choice(["no", "only-so"]),
              help="Exit with 1 if an answer, or with no question the start itself, is this or worse.")  # fmt: skip
@output_options("text", "json")
def checkpoint(path: str, **options: Any) -> int:
    """Read the checkpoint and print the answers."""
    from advisor.api import read_checkpoint
    from advisor.contract import as_json
    from advisor.views.checkpoint import checkpoint_as_text
    from advisor.views.clean import ascii_json, clean_all

    check_output(options | {"checkpoint": path}, options["log"])
    found = clean_all(read_checkpoint(path, before=options["before"], log=options["log"] or None, set=options["given"]))
    as_text = options["form"] == "text"
    put(checkpoint_as_text(found, **terminal(options)) if as_text else ascii_json(as_json(found) + "\n"), options)
    given = {one.answer for one in found.answers or found.start}
    failing = {"no": {"no"}, "only-so": {"no", "only_so", "if"}}.get(options["fail_on"] or "", set())
    return FAILED_ON if given & failing else 0
