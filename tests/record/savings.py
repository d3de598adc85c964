"""Try what steps save that `latency-advisor trial` cannot turn on in a running session: `python savings.py [NAME...]`.

Each pair runs A B B A, every run in an application of its own, read back from its event log. `promised` is the rule's
metric in the runs without the step: the most that the step may save.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import run
from cases import CASES, EVENTS, MAIN, Case, until
from lab import Lab

from advisor.catalogue import load
from advisor.metrics import Estimate, measure
from advisor.report.assemble import judged_runs
from advisor.sources import files

TURNS = "ABBA"


class Pair(NamedTuple):
    """A case, what the step changes in it, and the metric of which the step promises a share."""

    name: str
    case: Case
    change: dict[str, Any]
    metric: str
    spark: str = MAIN


def of(name: str) -> Case:
    """A recorded case."""
    return replace(next(case for case in CASES if case.name == name), keep=EVENTS)


STATIC, ONE, SKEWED = of("BC001/static-side"), of("SR004/one-partition"), of("SR003/skewed-partitions")
PAIRS = (
    Pair("SK004 persist", of("SK004/count-check-and-write"),
         {"sink": {"foreach_batch": "count_check_and_write_persisted"}}, "repeated_read_ms"),
    Pair("CL005 fair", of("CL005/beside-a-heavy-query"), {"conf": {"spark.scheduler.mode": "FAIR"}}, "slots_wait_ms"),
    Pair("CL004 no wait", of("CL004/locality-wait"), {"conf": {"spark.locality.wait": "0s"}}, "locality_wait_ms"),
    Pair("SR004 two tasks", ONE, {"source": {**ONE.source, "minPartitions": "2"}}, "too_few_readers_ms"),
    Pair("SR003 more tasks", SKEWED, {"source": {**SKEWED.source, "minPartitions": "4"}}, "skew_ms"),
    Pair("BC001 cached", STATIC, {"shape": {**STATIC.shape, "cached": True}}, "static_side_ms"),
    Pair("CG001 id as text", replace(of("CG001/batch-id-in-expressions"), keep=("text", "eventlog")),
         {"sink": {"foreach_batch": "with_batch_id_as_text"}}, "code_generated_ms"),
)  # fmt: skip


def main() -> None:
    """Run the pairs, print one line of a table for each."""
    lab = Lab(run.CACHE)
    print(
        "| step | batch before, p50 | after | saved | promised at most | saved / promised |\n|---|---|---|---|---|---|"
    )
    for pair in PAIRS:
        if len(sys.argv) == 1 or pair.name.split()[0] in sys.argv[1:]:
            print(line(pair, lab), flush=True)


def line(pair: Pair, lab: Lab) -> str:
    """What the step saved beside what it promised."""
    changed = {
        key: {**getattr(pair.case, key), **value} if key == "conf" else value for key, value in pair.change.items()
    }
    sides = {"A": pair.case, "B": replace(pair.case, **changed)}
    found: dict[str, list[tuple[float, float]]] = {"A": [], "B": []}
    for turn in TURNS:
        with tempfile.TemporaryDirectory() as out:
            run.record(replace(sides[turn], runs=until(30, 60)), pair.spark, lab, Path(out))
            found[turn].append(told(pair, Path(out) / f"{pair.case.name}-{pair.spark}"))
    before, after = (np.mean([p50 for p50, _ in found[side]]) for side in "AB")
    promised = np.mean([most for _, most in found["A"]])
    runs = [" and ".join(f"{p50:.0f}" for p50, _ in found[side]) for side in "AB"]
    saved = before - after
    return (
        f"| {pair.name} | {runs[0]} ms | {runs[1]} ms | {saved:.0f} ms | {promised:.0f} ms | {saved / promised:.2f} |"
    )


def told(pair: Pair, kept: Path) -> tuple[float, float]:
    """(p50 of the batch, the promise's metric) of one run."""
    name = pair.case.name.split("/")[1]
    paths = [path for path in kept.iterdir() if pair.metric == "code_generated_ms" or path.name.startswith("eventlog")]
    logs = [path for path in paths if path.name.startswith("driver.log")] or paths
    window = next(one.window for one in judged_runs(files.read(logs, stages=True), load()) if one.run.name == name)
    p50, most = (measure(window, *asked) for asked in (("trigger_execution_ms", "p50"), (pair.metric, "mean")))
    assert isinstance(p50, Estimate)
    return p50.safe, most.safe if isinstance(most, Estimate) else 0.0


if __name__ == "__main__":
    main()
