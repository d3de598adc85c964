"""Plant causes inside addBatch and see whether they are named with their milliseconds: `python planted.py [NAME...]`.

Each case runs on a real Spark for 25 to 60 batches and is read back from its event log. Of each steady batch the
milliseconds that were planted stand beside those that the metric tells; a batch is right within 15 %.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import run
from cases import CASES, EVENTS, KAFKA, MAIN, RATE, Case, naps, until
from sparks import CACHE, Lab

from advisor.catalogue import load
from advisor.metrics import METRICS
from advisor.report.assemble import judged_runs
from advisor.sources import files
from advisor.window import Window

RIGHT = 0.15
LEAST_MS = 50.0
"""Batches with less of a cause than this say nothing of how well it is told."""
NAP_MS = 0.07
"""What a nap of some milliseconds takes longer than it should, measured beside an idle machine."""

Planted = Callable[[Window], np.ndarray]


class Plant(NamedTuple):
    """A case, the metric that must name its cause, and what was planted in each batch.

    `without`: the same without the cause; what the metric tells there is taken as there anyway.
    """

    case: Case
    metric: str
    planted: Planted
    without: Case | None = None


def always(ms: float) -> Planted:
    """The same in every batch."""
    return lambda window: np.full(len(window), ms)


def of_rows(window: Window, share: Callable[[np.ndarray], float]) -> np.ndarray:
    """A share of the rows of each partition of Kafka that a batch read."""
    found = np.full(len(window), np.nan)
    sources = window.sources
    for batch, start, end in zip(sources["batch"], sources["start_offset"], sources["end_offset"], strict=True):
        before, after = (json.loads(text)["incoming"] for text in (start, end))
        read = np.array([after[place] - before[place] for place in after], dtype=float)
        found[batch] = share(read[read > 0])
    return found


def commit(ms: int) -> Plant:
    """A sink that takes so long for its commit, beside what Python takes for a commit that does nothing."""
    case, without = (
        Case(
            f"planted/commit-{each}-ms", f"a commit of {each} ms",
            sink={"format": "slow_commit", "ms": each}, keep=EVENTS, runs=until(25),
        )
        for each in (ms, 0)
    )  # fmt: skip
    return Plant(case, "sink_commit_ms", always(ms), without)


def straggler(ms: int) -> Plant:
    """A call of so many milliseconds in one of two tasks, each with a slot: the batch waits for all of it.

    With more tasks than slots it waits for less, since the other slot works meanwhile.
    """
    shape = naps(ms, "value % 1000 = 0")
    case = Case(
        f"planted/straggler-{ms}-ms", f"a call of {ms} ms in one task of two",
        source={**RATE, "numPartitions": "2"}, shape=shape, keep=EVENTS, runs=until(25),
    )  # fmt: skip
    return Plant(case, "straggler_ms", always(ms))


SOON = {"kafka.fetch.max.wait.ms": "10"}
SKEWED = Case(
    "planted/skewed-partition",
    "nine of ten records in one of two partitions, 20 ms each",
    source={**KAFKA, **SOON, "feed": {"kind": "kafka", "rows_per_second": 40, "to": [0] * 9 + [1]}},
    shape=naps(20),
    keep=EVENTS,
    runs=until(25),
    needs=("kafka",),
)
LOCALITY = replace(
    next(case for case in CASES if case.name == "CL004/locality-wait"),
    source={**KAFKA, **SOON, "feed": {"kind": "kafka", "rows_per_second": 20, "partitions": 4, "to": [0, 2]}},
    shape=naps(40),
)
BESIDE = next(case for case in CASES if case.name == "CL005/beside-a-heavy-query")


def beside_alone(window: Window) -> np.ndarray:
    """What the light query takes longer in addBatch than its quickest batches, to which nobody was in the way."""
    taken = window.batches["add_batch_ms"]
    quickest = np.median(taken[window.batches["slots_wait_ms"] < 1])
    return taken - quickest


PLANTS = (
    commit(100),
    commit(300),
    commit(1000),
    straggler(200),
    straggler(400),
    Plant(SKEWED, "skew_ms", lambda window: of_rows(window, lambda read: (read.max() - read.mean()) * (20 + NAP_MS))),
    Plant(LOCALITY, "locality_wait_ms", lambda window: of_rows(window, lambda read: read.min() * (40 + NAP_MS))),
    Plant(BESIDE, "slots_wait_ms", beside_alone),
)


def main() -> None:
    """Run the plants, print one line of a table for each."""
    lab = Lab(CACHE)
    print("| planted | batches | planted, median | told, median | batches within 15 % |\n|---|---|---|---|---|")
    for plant in PLANTS:
        if len(sys.argv) == 1 or plant.case.name in sys.argv[1:]:
            print(line(plant, lab), flush=True)


def line(plant: Plant, lab: Lab) -> str:
    """How well the metric names what was planted."""
    anyway = float(np.median(told(plant, plant.without, lab)[1])) if plant.without else 0.0
    window, shown = told(plant, plant.case, lab)
    planted = plant.planted(window) + anyway
    worth = planted >= LEAST_MS
    right = np.abs(shown - planted)[worth] <= RIGHT * planted[worth]
    return (
        f"| {plant.case.says} (`{plant.metric}`) | {worth.sum()} | {np.median(planted[worth]):.0f} ms "
        f"| {np.median(shown[worth]):.0f} ms | {right.mean():.0%} |"
    )


def told(plant: Plant, case: Case, lab: Lab) -> tuple[Window, np.ndarray]:
    """Run a case: its steady batches, and what the plant's metric tells of each."""
    name = case.name.split("/")[1]
    with tempfile.TemporaryDirectory() as out:
        run.record(case, MAIN, lab, Path(out))
        runs = judged_runs(files.read([Path(out) / f"{case.name}-{MAIN}"], stages=True), load())
    window = next(one.window for one in runs if one.run.name == name)
    values = METRICS[plant.metric](window)
    assert isinstance(values, np.ndarray), values
    return window, values


if __name__ == "__main__":
    main()
