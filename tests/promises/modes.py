"""Real-time mode and continuous processing beside micro-batches: what is promised of a record, by the broker's clock.

`python -m tests.promises.modes` needs the group lab; the table of promises in docs/measurements.md gets its rows.
A trial refuses these steps: their batches, where they have any, are no latency. So here runs take turns, A B B A, and
only records are compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import pandas as pd

from advisor.catalogue import load
from advisor.cli.spark import session
from advisor.comparison import interleaved, order
from advisor.comparison.effect import rounded
from advisor.contract import OnTrial, plain
from advisor.trials.run import Bounds, Run, Runner
from advisor.trials.setup import Permissions, Setup
from advisor.trials.steps import candidate
from advisor.trials.throwaway import throw_away
from advisor.trials.turns import MEASURED as MEASURED_LATENCY
from advisor.trials.turns import _mean
from lab import jars
from lab.broker import broker
from lab.offsets.queries import Kafka
from tests.promises.cases import Case
from tests.promises.run import MEASURED, RUNS, SESSION, keep, outcome, row_of_record
from tests.promises.scoreboard import markdown

MODES = {"real-time-mode": {"realTime": "5 seconds"}, "continuous-processing": {"continuous": "1 second"}}
"""Steps, and their triggers as PySpark takes them."""
RATES = (1_000, 10_000)
BOUNDS = Bounds(runs=1, batches=60, seconds=60.0)
STARTS, COUNTS, ARRIVES = 8.0, 15.0, 2.0
"""Seconds of a run whose records do not count, that count, and in which the last of these come through."""


def main() -> None:
    """Measure each mode at each rate; the file and the table grow row by row."""
    argparse.ArgumentParser(prog="modes", description=__doc__.split("\n\n", maxsplit=1)[0]).parse_args()
    known = json.loads(MEASURED.read_text())
    with session("modes", SESSION) as spark, throw_away(spark, None) as place, broker(spark) as address:
        # Real-time mode's results name a class of the connector, which a session's own jars (ADD JAR) do not give them.
        jars.added_to_driver(spark, jars.fetched(spark, jars.connector(spark.version)))
        for step in MODES:
            for rate in RATES:
                found = _measured(spark, Kafka(rate, address), step, f"{place}/{step}-{rate}")
                keep(MEASURED, known, found, "promises", markdown)


def _measured(spark: Any, query: Kafka, step: str, place: str) -> dict[str, Any]:
    """The row of a step."""
    runner = Runner(spark, query.build, BOUNDS, Permissions(), load(), query.latency)
    _micro_batches(runner, f"{place}/warm-up", warms_up=True)
    levels: list[tuple[Any, float]] = []
    baselines = []
    for number, arm in enumerate(order(RUNS)):
        if arm == "A":
            baselines.append(_micro_batches(runner, f"{place}/{number}"))
            levels.append((arm, baselines[-1].latency["p50"]))
        else:
            levels.append((arm, _in_mode(spark, query, step, f"{place}/{number}")))
    case = Case("Kafka to Kafka", query.build, step, f"{query.per_second:,} records a second")
    tried = {
        "effects": [plain(rounded(interleaved(levels, MEASURED_LATENCY, "p50").effect))],
        "promises": [{"of": "record", "predicted_ms": _promised(step, runner, baselines)}],
    }
    return row_of_record(case, spark.version, outcome(tried, "record", MEASURED_LATENCY, "p50"))


def _promised(step: str, runner: Runner, baselines: list[Run]) -> dict[str, float | None]:
    """What a trial says that the step promises of a record."""
    advised = [candidate([step], runner.catalogue, run.window).advised(run.window)[0] for run in baselines]
    promise = _mean(advised).saves_latency_ms
    assert promise
    told: dict[str, float | None] = plain(promise.rounded())
    return told


def _micro_batches(runner: Runner, place: str, *, warms_up: bool = False) -> Run:
    return runner.run(OnTrial(), place.rpartition("/")[2], place, warms_up=warms_up)


def _in_mode(spark: Any, query: Kafka, step: str, place: str) -> float:
    """The median latency of a run's records in ms."""
    setup = Setup(spark, f"{step}-{query.per_second}-{place.rpartition('/')[2]}", place, OnTrial())
    with query.latency(setup) as measured:
        writer = query.build(setup).outputMode("update").option("checkpointLocation", f"{place}/checkpoint")
        running = writer.trigger(**MODES[step]).start()
        try:
            spans = [_while_it_runs(running, seconds) for seconds in (STARTS, COUNTS, ARRIVES)]
            found = measured(*spans[1])
        finally:
            running.stop()
    print(step, {name: round(value, 1) for name, value in found.items()}, flush=True)
    return float(found["p50"])


def _while_it_runs(running: Any, seconds: float) -> tuple[pd.Timestamp, pd.Timestamp]:
    """From when to when; a query that dies raises what killed it."""
    first = pd.Timestamp.now("UTC")
    running.awaitTermination(seconds)
    return first, pd.Timestamp.now("UTC")


if __name__ == "__main__":
    sys.exit(main())
