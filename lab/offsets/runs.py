"""Carries the benchmark out, one run after the other."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from advisor import catalogue
from advisor.metrics import Quantiles
from advisor.metrics.latency import record_latency_ms
from advisor.statistics import median, quantile
from advisor.trials.run import Bounds, Run, Runner
from advisor.trials.setup import Permissions
from advisor.trials.throwaway import throw_away
from advisor.window import PHASES, Window
from lab import jars
from lab.broker import broker
from lab.bucket import bucket
from lab.offsets.cells import ABORTABLE, LOCAL, Cell, Checkpoint, Planned, variant
from lab.offsets.queries import Kafka, Stat

_SHOWN: Final = ("latestOffset", "walCommit", "queryPlanning", "addBatch", "commitOffsets")


@dataclass(frozen=True)
class Servers:
    """What the runs share: the broker's address ("" without), and the place of each checkpoint."""

    address: str
    places: dict[Checkpoint, str]


@contextlib.contextmanager
def servers(spark: Any, planned: Sequence[Planned], place: str | None) -> Iterator[Servers]:
    """Broker, buckets and directories that these runs need; all of it is gone afterwards.

    `place`: where local checkpoints lie instead, a directory of the cluster's storage. Raises UsageError for what is
    missing.
    """
    checkpoints = dict.fromkeys(one.cell.checkpoint for one in planned)
    with ExitStack() as stack:
        _prepare(spark, planned)
        address = stack.enter_context(broker(spark)) if any(one.cell.path == "kafka" for one in planned) else ""
        places = {one: stack.enter_context(_place(spark, one, place)) for one in checkpoints}
        yield Servers(address, places)


def _prepare(spark: Any, planned: Sequence[Planned]) -> None:
    """Take in the jars that the runs need."""
    kinds = {one.cell.checkpoint.kind for one in planned}
    if any(one.cell.path == "kafka" for one in planned):
        jars.added(spark, jars.fetched(spark, jars.connector(spark.version)))
    if kinds - {LOCAL}:
        jars.added_to_driver(spark, jars.fetched(spark, jars.s3a(jars.hadoop_version(spark))))
    if ABORTABLE in kinds:
        jars.added_to_driver(spark, jars.fetched(spark, jars.abortable(spark.version)))


@contextlib.contextmanager
def _place(spark: Any, checkpoint: Checkpoint, place: str | None) -> Iterator[str]:
    if checkpoint.kind == LOCAL:
        with throw_away(spark, place) as directory:
            yield directory
    else:
        with bucket(spark, checkpoint.delay_ms) as uri:
            yield uri


class Benchmark:
    """Makes runs; `say` hears a line before each."""

    def __init__(self, spark: Any, servers: Servers, batches: int, seconds: float, say: Callable[[str], None]) -> None:
        self.spark, self.servers, self.say = spark, servers, say
        self.bounds = Bounds(runs=1, batches=batches, seconds=seconds)
        self.judges = catalogue.load(None)

    def runs(self, planned: Sequence[Planned]) -> Iterator[dict[str, Any]]:
        """Each run as plain data. The first run of each path is made once before, for less long, and not counted."""
        warm: set[str] = set()
        for number, one in enumerate(planned, 1):
            if one.cell.path not in warm:
                warm.add(one.cell.path)
                self.say(f"warming up, {one.cell.path}")
                self._run(one, warms_up=True)
            self.say(f"{number} of {len(planned)}: {one.cell.path}, {one.cell.checkpoint}, {one.cell.rate:,}/s, "
                     f"{one.configuration}")  # fmt: skip
            yield {"round": one.round, "configuration": one.configuration, **_told(self._run(one), one.cell.path)}

    def _run(self, planned: Planned, *, warms_up: bool = False) -> Run:
        query = self._query(planned.cell)
        # Reading the lab's source takes nothing from others.
        vouched = Permissions(source=True)
        runner = Runner(self.spark, query.build, self.bounds, vouched, self.judges, query.latency)
        name = f"offsets-{uuid.uuid4().hex[:12]}"
        place = f"{self.servers.places[planned.cell.checkpoint]}/{name}"
        return runner.run(variant(planned), name, place, warms_up=warms_up)

    def _query(self, cell: Cell) -> Stat | Kafka:
        return Stat(cell.rate) if cell.path == "stat" else Kafka(cell.rate, self.servers.address)


def _told(run: Run, path: str) -> dict[str, Any]:
    batches = run.window.batches
    phases = {name: column for column, name in PHASES.items() if name in _SHOWN}
    if not len(batches):
        return {"batches": 0, "refused": run.refused, "latency_ms": {}}
    trigger = batches["trigger_execution_ms"]
    return {
        "batches": len(batches),
        "executed": len(run.window.executed),
        "refused": run.refused,
        "trigger_ms": {"p50": median(trigger), "p99": quantile(trigger, 0.99)},
        "phases_ms": {name: median(np.nan_to_num(batches[phases[name]])) for name in _SHOWN},
        "measured": dict(run.latency),
        "estimated_ms": _estimated(run.window, path),
    }


def _estimated(window: Window, path: str) -> dict[str, float]:
    """What progress alone says of the record latency, to hold beside the measured one; nothing where it says none.

    A row of the stat query's source is a span of records, of which progress counts one a batch: by its rows a long
    batch would weigh no more than a short one.
    """
    if path == "stat":
        window = replace(window, batches=window.batches.having(input_rows=window.batches["interval_ms"]), memo={})
    found = record_latency_ms(window)
    return {"p50": found.p50, "p99": found.p99} if isinstance(found, Quantiles) else {}
