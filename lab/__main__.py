"""`python -m lab offsets`: the published benchmark of offset management, measured again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from advisor.cli.exits import CodedGroup
from advisor.cli.options import SECONDS, output_options
from advisor.cli.output import check_output, put, terminal
from advisor.cli.spark import pairs, session
from advisor.sources.outputs import check_place
from lab import require

_HELP = """Measure here what asynchronous log purge and asynchronous progress tracking save.

Two queries (steady rows into a sink that only measures; Kafka to Kafka), four configurations in turns, on throw-away
checkpoints. The laboratory starts what it needs (a Kafka broker, an S3 server) on this machine and stops it again; it
fetches jars with Spark's own Ivy the first time.

\b
Examples:
  python -m lab offsets --quick
  python -m lab offsets --path stat --checkpoint s3a:20 --rate 10000 --save-runs s3a.json
  python -m lab offsets --path stat --checkpoint s3a --checkpoint s3a:20 --interval 4000 --chart saved.svg
  python -m lab offsets --runs-from s3a.json --runs-from local.json --rounds 0 --chart offsets.svg
"""
_PACKAGES = ("confluent_kafka", "datasketches", "moto", "flask", "flask_cors")
_MANY: dict[str, Any] = {"multiple": True}


@click.group(cls=CodedGroup)
def main() -> None:
    """Measure again, on real Spark, what others published."""


@main.command(help=_HELP, short_help="What asynchronous logs save here.")
@click.option("--path", "paths", type=click.Choice(["stat", "kafka"]), help="Repeatable; both by default.", **_MANY)
@click.option("--checkpoint", "checkpoints", metavar="KIND[:DELAY]", **_MANY,
              help="local, s3a, s3a:20 (ms more per request), s3a-abortable:20. Repeatable.")  # fmt: skip
@click.option("--rate", "rates", type=click.IntRange(min=1), metavar="N", **_MANY,
              help="Records per second. Repeatable; 1000, 10000 and 50000 by default.")  # fmt: skip
@click.option("--configuration", "configurations", help="Repeatable; all four by default.", **_MANY,
              type=click.Choice(["inline", "async purge", "async progress", "both"]))  # fmt: skip
@click.option("--interval", default=1000, show_default="Spark's own, 1000", type=click.IntRange(min=0), metavar="MS",
              help="How often asynchronous progress writes its logs.")  # fmt: skip
@click.option(
    "--batches", default=300, show_default=True, type=click.IntRange(min=10), help="Steady batches in each run."
)
@click.option(
    "--rounds", default=2, show_default=True, type=click.IntRange(min=0), help="Runs per configuration and round."
)
@click.option("--seconds", default=180.0, show_default=True, type=SECONDS, help="The longest that a run takes.")
@click.option(
    "--quick", is_flag=True, help="One rate (1000), one round, 40 batches: shows that it runs; gives no figures."
)
@click.option("--place", metavar="DIR", help="Where local checkpoints lie: storage that the whole cluster reaches.")
@click.option("--spark", metavar="KEY=VALUE", help="A setting to start Spark with. Repeatable.", **_MANY)
@click.option("--runs-from", type=click.Path(path_type=Path, exists=True, dir_okay=False), **_MANY,
              help="A file from --save-runs. Its runs are counted in. Repeatable.")  # fmt: skip
@click.option("--save-runs", type=click.Path(path_type=Path, dir_okay=False),
              help="Keep all runs in this JSON file, after each run.")  # fmt: skip
@click.option("--chart", type=click.Path(path_type=Path, dir_okay=False), help="Write a chart: .svg, .png, .html.")
@output_options("text", "json")
def offsets(**options: Any) -> None:
    """Make the runs and print what they say."""
    from lab.offsets import chart
    from lab.offsets.result import as_json, read, result, write
    from lab.offsets.table import offsets_as_text

    check_output(options)
    if options["save_runs"]:
        check_place("--save-runs", options["save_runs"])
    if options["chart"]:
        check_place("--chart", options["chart"])
        chart.check(options["chart"])
        require("altair", "vl_convert")
    runs = [run for path in options["runs_from"] for run in read(path)]
    for run in _made(options):
        runs.append(run)
        if options["save_runs"]:
            write(result(runs), options["save_runs"])
    found = result(runs)
    if options["chart"]:
        chart.write(found, options["chart"])
    if options["form"] == "json":
        put(as_json(found), options)
    else:
        put(offsets_as_text(found, **terminal(options)), options)


def _made(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from lab.offsets.cells import CONFIGURATIONS, PATHS, RATES, Checkpoint, plan

    if options["quick"]:
        options.update(rates=options["rates"] or (1000,), rounds=1, batches=40)
    checkpoints = [Checkpoint.parse(text) for text in options["checkpoints"] or ("local",)]
    planned = list(
        plan(
            options["paths"] or PATHS, checkpoints, options["rates"] or RATES, options["rounds"],
            options["configurations"] or tuple(CONFIGURATIONS), options["interval"],
        )
    )  # fmt: skip
    if not planned:
        return
    require(*_PACKAGES)
    with session("lab", pairs("--spark", options["spark"])) as spark:
        from lab.offsets.result import entry
        from lab.offsets.runs import Benchmark, servers

        with servers(spark, planned, options["place"]) as shared:
            benchmark = Benchmark(spark, shared, options["batches"], options["seconds"], _say)
            for one, told in zip(planned, benchmark.runs(planned), strict=True):
                yield entry(one, told, spark.version)


def _say(words: str) -> None:
    click.echo(words, err=True)


if __name__ == "__main__":
    main()
