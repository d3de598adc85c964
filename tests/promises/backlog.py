"""The record latency that progress tells, beside Kafka's own clock, while a query falls behind its topic.

`python -m tests.promises.backlog` needs the group lab. Each case takes fewer records per batch than come, so that
the backlog grows. Compared are the records that came during the first of the judged batches: they have become visible
by the end of the last one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from advisor.catalogue import load
from advisor.cli.spark import session
from advisor.contract import OnTrial
from advisor.metrics import Quantiles
from advisor.metrics.latency import record_latency_ms
from advisor.trials.run import Bounds, Run, Runner
from advisor.trials.setup import Permissions, Setup
from advisor.trials.throwaway import throw_away
from lab.offsets.queries import Kafka, Measured
from tests.promises.run import SESSION, kafka

CASES = ((1_000, 250), (1_000, 200), (10_000, 2_500), (10_000, 2_000))
"""(Records per second that come, records per batch that are taken.)"""
BOUNDS = Bounds(runs=1, batches=120, seconds=90.0)
EARLY = 0.2
"""Of the time of the judged batches."""


class Behind(Kafka):
    """Topic to topic; latencies of the records that came early."""

    @contextmanager
    def latency(self, setup: Setup) -> Iterator[Measured]:
        """Record created -> visible in the outgoing topic."""
        with super().latency(setup) as measured:
            yield lambda first, last: measured(first, _until(first, last))


def _until(first: pd.Timestamp, last: pd.Timestamp) -> pd.Timestamp:
    return first + EARLY * (last - first)


def main() -> None:
    """Print what progress says and what Kafka says, case by case."""
    argparse.ArgumentParser(prog="backlog", description=__doc__.split("\n\n", maxsplit=1)[0]).parse_args()
    with session("backlog", SESSION) as spark, throw_away(spark, None) as place, kafka(spark) as address:
        _run(spark, address, f"{place}/warm-up", *CASES[0], warms_up=True)
        for number, (per_second, limit) in enumerate(CASES):
            run = _run(spark, address, f"{place}/{number}", per_second, limit)
            print(f"{per_second:,} come a second, {limit:,} are taken per batch: {_told(run)}", flush=True)


def _run(spark: Any, address: str, place: str, per_second: int, limit: int, *, warms_up: bool = False) -> Run:
    query = Behind(per_second, address)
    runner = Runner(spark, query.build, BOUNDS, Permissions(), load(), query.latency)
    variant = OnTrial(reader_option={"maxOffsetsPerTrigger": str(limit)})
    return runner.run(variant, f"backlog-{place.rpartition('/')[2]}", place, warms_up=warms_up)


def _told(run: Run) -> str:
    until = _until(*(pd.Timestamp(str(end)) for end in run.window.span)).timestamp() * 1000
    early = run.window.only(run.window.batches["timestamp"] <= until, "the first")
    found, measured = record_latency_ms(early), run.latency
    assert isinstance(found, Quantiles), found
    return (
        f"p50 {found.p50:,.0f} ms by progress, {measured['p50']:,.0f} by Kafka; "
        f"p99 {found.p99:,.0f} and {measured['p99']:,.0f}; {measured['missing_share']:.1%} not visible in time"
    )


if __name__ == "__main__":
    sys.exit(main())
