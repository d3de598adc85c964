"""The record latency that progress tells, beside Kafka's own clock, while a query falls behind its topic.

`python -m tests.promises.backlog` needs the extra [bench]. Each case takes fewer records per batch than come, so that
the backlog grows; the records that became visible while the judged batches ran are compared.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd

from advisor.bench.lab import arrivals, jars
from advisor.bench.lab.broker import broker, topics
from advisor.bench.lab.load import Load
from advisor.bench.offsets.queries import Kafka, Measured
from advisor.bench.place import throw_away
from advisor.bench.run import Bounds, Runner
from advisor.bench.setup import Permissions, Setup, Variant
from advisor.catalogue import load
from advisor.cli.spark import session
from advisor.metrics import Quantiles
from advisor.metrics.latency import record_latency_ms
from tests.promises.run import SESSION

CASES = ((1_000, 100), (2_000, 200), (10_000, 1_000))
"""(Records per second that come, records per batch that are taken.)"""
BOUNDS = Bounds(runs=1, batches=60, seconds=90.0)


class Behind(Kafka):
    """Topic to topic; latencies of the records that became visible."""

    @contextmanager
    def latency(self, setup: Setup) -> Iterator[Measured]:
        """Record created -> visible in the outgoing topic."""
        incoming, outgoing = setup.topic("in"), setup.topic("out")
        with topics(self.address, incoming, outgoing), Load(self.address, incoming, self.per_second) as coming:

            def measured(first: pd.Timestamp, last: pd.Timestamp) -> dict[str, float]:
                coming.stop()
                span = (first.value // 1000, last.value // 1000)
                return arrivals.latencies(self.address, outgoing, *span, of="visible").quantiles()

            yield measured


def main() -> None:
    """Print what progress says and what Kafka says, case by case."""
    with session("backlog", "bench", SESSION) as spark, throw_away(spark, None) as place:
        jars.added(spark, jars.fetched(spark, jars.connector(spark.version)))
        with broker(spark) as address:
            for number, (per_second, limit) in enumerate(CASES):
                query = Behind(per_second, address)
                runner = Runner(spark, query.build, BOUNDS, Permissions(), query.latency, load())
                variant = Variant(reader_option={"maxOffsetsPerTrigger": str(limit)})
                run = runner.run(variant, f"backlog-{number}", f"{place}/{number}")
                found = record_latency_ms(run.window)
                assert isinstance(found, Quantiles), found
                print(f"{per_second:,} come a second, {limit:,} are taken per batch, {len(run.window)} batches: "
                      f"p50 {found.p50:,.0f} ms by progress, {run.latency['p50']:,.0f} ms by Kafka; "
                      f"p99 {found.p99:,.0f} and {run.latency['p99']:,.0f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
