"""Whether the advice leads to good settings: each query under a grid of them, and where the best step leads from each.

`python -m tests.promises.grid [--list] [--only TEXT] [--rounds 2]` measures every point of a query's grid in turns, in
another order each round, asks at each point for the steps towards a target out of reach, takes those that lead to
another point, asks again there, and writes grid.json and its table in docs/measurements.md. Of points that differ by
less than runs do, the best one is best by luck: it is chosen by one half of the rounds, and how far the others lie from
it is told by the other half.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from advisor.catalogue import Catalogue, load
from advisor.cli.spark import session
from advisor.contract import Advice, Finding, OnTrial
from advisor.engine import judge
from advisor.facts import Known
from advisor.facts.confs import ASYNC_ENABLED, ASYNC_INTERVAL
from advisor.metrics import Estimate, measure
from advisor.report.target import target
from advisor.trials.run import Bounds, Runner
from advisor.trials.setup import Permissions
from advisor.trials.steps import candidate
from advisor.trials.throwaway import throw_away
from advisor.window import Window
from lab.offsets.queries import Kafka
from tests.promises.cases import STATEFUL, STORES, Case, with_partitions
from tests.promises.run import SESSION, keep, lab, parser
from tests.promises.table import grid_table
from tests.promises.workloads import Build, stateless

MEASURED = Path(__file__).resolve().parent / "grid.json"
SET = ("conf", "writer_option")
SAME_END = {"offline-state-repartition": "fewer-state-partitions"}
"""Steps of several stages, and the step of one setting that leads to the same point."""


@dataclass(frozen=True)
class Grid:
    """A query and its points, each by its name. `latency`: what feeds it and measures the latency of its records."""

    build: Build
    state_rows: int | None
    points: Mapping[str, OnTrial]
    latency: Any = None


def grids(address: str) -> Iterator[tuple[str, Grid]]:
    """Each query's grid, by the query's name; those with Kafka need a broker at that address."""
    intervals = {
        f"asynchronous, {ms} ms": OnTrial(writer_option={ASYNC_ENABLED: "true", ASYNC_INTERVAL: str(ms)})
        for ms in (1000, 2000, 5000)
    }
    tracked = {"as it is": OnTrial(), **intervals}
    for rows in (1_000, 100_000):
        yield f"stateless, {rows:,} rows per batch", Grid(stateless(rows), None, tracked)
    for rate in (1_000, 10_000):
        query = Kafka(rate, address)
        yield f"Kafka to Kafka, {rate:,} records a second", Grid(query.build, None, tracked, query.latency)
    for workload, (build, rows) in STATEFUL.items():
        points = {
            f"{store}, {partitions} partitions": OnTrial(conf=with_partitions(conf, partitions))
            for store, conf in STORES.items()
            for partitions in (2, 4, 8)
        }
        yield workload, Grid(build, rows, points)


def main() -> None:
    """Measure the chosen grids; the file grows query by query."""
    words = parser("grid", __doc__)
    words.add_argument("--rounds", type=int, default=2)
    asked = words.parse_args()
    names = [name for name, _ in grids("") if asked.only in name]
    if asked.list or not names:
        print("\n".join(names) or f"no query's name holds {asked.only!r}")
        return
    known = json.loads(MEASURED.read_text())
    with session("grid", SESSION) as spark, lab(spark, names) as servers:
        for name, grid in ((name, grid) for name, grid in grids(servers.kafka) if name in names):
            found = {name: {"spark": spark.version, **measured(spark, grid, asked.rounds)}}
            keep(MEASURED, known, found, "grid", grid_table)


def measured(spark: Any, grid: Grid, rounds: int) -> dict[str, Any]:
    """The typical batch of each point in ms, the best point, and the way of the advice from each point."""
    windows: dict[str, list[Window]] = {name: [] for name in grid.points}
    numbers = {name: number for number, name in enumerate(grid.points)}
    bounds = Bounds(4, Case.batches, Case.seconds, grid.state_rows)
    catalogue, order = load(), np.random.default_rng(1)
    runner = Runner(spark, grid.build, bounds, Permissions(), catalogue, grid.latency)
    with throw_away(spark, None) as place:
        for turn in range(rounds):
            for name in map(str, order.permutation(list(grid.points))):
                run = f"grid-{numbers[name]}-{turn}"
                windows[name].append(runner.run(grid.points[name], run, f"{place}/{run}").window)
    batches = {name: [_typical(window) for window in found] for name, found in windows.items()}
    batch = {name: float(np.median(found)) for name, found in batches.items()}
    proposals = {name: proposed(grid, name, found[-1], catalogue) for name, found in windows.items()}
    ways = {name: way(name, proposals) for name in grid.points}
    return {
        "rounds": rounds,
        "batch_ms": {name: round(ms, 1) for name, ms in batch.items()},
        "best": min(batch, key=lambda name: batch[name]),
        "ways": {
            name: {"steps": taken, "ends": end, "to_best": round(to_best(end, batches), 3)}
            for name, (taken, end) in ways.items()
        },
    }


def to_best(end: str, batches: Mapping[str, list[float]]) -> float:
    """A point's batch over the best point's, both in rounds by which the best was not chosen; the mean of both halves.

    A single round both chooses and tells.
    """
    halves = [{name: float(np.median(found[nth::2] or found)) for name, found in batches.items()} for nth in (0, 1)]
    ratios = []
    for chosen, told in (halves, halves[::-1]):
        best = min(chosen, key=lambda name: chosen[name])
        ratios.append(told[end] / told[best])
    return float(np.mean(ratios))


def _typical(window: Window) -> float:
    found = measure(window, "trigger_execution_ms", "typical")
    assert isinstance(found, Estimate)
    return found.safe


def proposed(grid: Grid, name: str, window: Window, catalogue: Catalogue) -> tuple[list[str], str]:
    """(the steps proposed at this point for the shortest latency, the point that they lead to).

    Only steps that lead to another point are offered: the grid knows nothing of the others.
    """

    def leads_to(step: str, name: str) -> str | None:
        change, here = candidate([SAME_END.get(step, step)], catalogue, window).variant, grid.points[name]
        there = {kind: {**getattr(here, kind), **getattr(change, kind)} for kind in SET}
        settings = {other: {kind: getattr(point, kind) for kind in SET} for other, point in grid.points.items()}
        return next((other for other, found in settings.items() if found == there and other != name), None)

    def within(finding: Finding) -> Finding:
        steps = tuple(step for step in finding.steps if _is_setting(step) and leads_to(step.id, name))
        return msgspec.structs.replace(finding, steps=steps)

    wish = {"latency_target_ms": Known(1.0, "user"), "latency_target_stat": Known("p50", "user")}
    asking = replace(window, facts=window.facts.having(**wish), memo={})
    aim = target(asking, [within(finding) for finding in judge(asking, catalogue).findings])
    taken: list[str] = []
    for step in aim.steps if aim else ():
        reached = leads_to(step.step, name)
        if reached is not None:
            taken, name = [*taken, step.step], reached
    return taken, name


def _is_setting(step: Advice) -> bool:
    return bool(step.change.conf or step.change.writer_option) or step.id in SAME_END


def way(name: str, proposals: Mapping[str, tuple[list[str], str]]) -> tuple[list[str], str]:
    """(the steps taken one after another, where they end); it ends where the proposals would lead back."""
    taken, seen = [], {name}
    while (found := proposals[name])[1] not in seen:
        taken += found[0]
        name = found[1]
        seen.add(name)
    return taken, name


if __name__ == "__main__":
    sys.exit(main())
