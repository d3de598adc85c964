"""How far savings lie from what was expected: made from measured.json, shipped with the package.

`python -m tests.promises.calibrate` writes advisor/savings/calibrated.json. Split-conformal by workload (Barber,
Candès, Ramdas and Tibshirani, Predictive inference with the jackknife+): a case's score is how far its saving lies
from what all other workloads let expect, as a share of the metric, or of a third of the batch if that is less.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from advisor.catalogue import Saves, Step, load
from advisor.savings.promise import FILE, Calibrated, Calibration, uncertain_of
from advisor.savings.saving import OF_RECORDS

MEASURED = Path(__file__).with_name("measured.json")
COVERAGE = 0.9
LEAST = 0.02
"""Of the batch or latency: no rule speaks of less, and what is saved of it is noise."""
ENOUGH = 3
"""Workloads that give a step its own share of what the latency model says."""
OF_MODEL = "estimated_per_record"
"""What a case that measured records calls what the latency model said before it was calibrated."""
Known = Mapping[str, dict[str, Any]]
MACHINE = "2 shared cores with 2 task slots, local disk; Kafka's broker or the S3 server beside it"


@dataclass(frozen=True)
class Saved:
    """One case: what share of the metric was saved; `uncertain`: the share of it that the error is a share of."""

    workload: str
    share: float
    uncertain: float = 1.0


def calibration(known: Known, without: str | None = None) -> Calibration:
    """What all the cases say, or all but those of one workload."""
    counted = [one for one in known.values() if of(one) and one["case"]["workload"] != without]
    cases: dict[tuple[str, str], list[Saved]] = defaultdict(list)
    of_records: dict[str, list[Saved]] = defaultdict(list)
    for one in counted:
        saves = of(one)
        assert saves
        metric = one["metric_ms"].get("of_measured", one["metric_ms"]["value"])
        saved = Saved(
            one["case"]["workload"], one["saved_ms"] / metric, uncertain_of(metric, one["before_ms"]) / metric
        )
        cases[saves.calibrated or "", saves.metric].append(saved)
        if saves is OF_RECORDS:
            of_records[step_of(one)].append(saved)
    steps = {name: calibrated(of_one, metric) for (name, metric), of_one in sorted(cases.items())}
    return Calibration(steps | by_step(of_records))


def provenance(known: Known) -> dict[str, Any]:
    """Where, when and on which Sparks the trials ran."""
    counted = [one for one in known.values() if of(one)]
    days, sparks = sorted(one["on"] for one in counted), sorted({one["spark"] for one in counted})
    made_by = "python -m tests.promises.calibrate"
    return {
        "made_by": made_by, "coverage": COVERAGE, "machine": MACHINE, "first": days[0], "last": days[-1],
        "sparks": sparks,
    }  # fmt: skip


def of(one: Mapping[str, Any]) -> Saves | None:
    """The promise that a case tries; None for what failed, stands on another metric, or is too little for a rule."""
    if "failed" in one or not one["metric_ms"] or one["metric_ms"]["value"] <= LEAST * one["before_ms"]:
        return None
    if one["metric_ms"]["name"] == OF_MODEL:
        return (
            OF_RECORDS if one["metric_ms"]["value"] < one["before_ms"] else None
        )  # more: it grew while it fell behind
    saves = _steps()[one["case"]["step"]].saves
    return saves if saves and saves.calibrated and saves.metric == one["metric_ms"]["name"] else None


def step_of(one: Mapping[str, Any]) -> str:
    """What the calibration calls the step of a case."""
    saves = _steps()[one["case"]["step"]].saves
    return saves.calibrated or "" if saves else ""


@cache
def _steps() -> Mapping[str, Step]:
    return load().steps


def calibrated(cases: list[Saved], metric: str) -> Calibrated:
    """What these cases say of any other workload; of one alone nothing can be said."""
    several = len(_workloads(cases)) > 1
    return _of_trials(cases, metric, [off(one, _without(cases, one.workload)) for one in cases if several])


def _of_trials(cases: list[Saved], metric: str, scores: list[float]) -> Calibrated:
    error = conformal(scores)
    rounded = error and round(error, 3)
    return Calibrated(metric, round(expected(cases), 3), rounded, len(cases), len(_workloads(cases)))


def by_step(cases: Mapping[str, list[Saved]]) -> dict[str, Calibrated]:
    """What records save by each step that has enough workloads: its own expected share and error.

    A case is off from the share of its own step where enough other workloads tried that, else from that of all; a step
    with too few cases for an error has that of all steps.
    """
    every = [one for of_one in cases.values() for one in of_one]
    scores: dict[str, list[float]] = defaultdict(list)
    for step, of_one in cases.items():
        for one in of_one:
            others = [other for other in of_one if other.workload != one.workload]
            scores[step].append(off(one, expected(others) if _enough(others) else _without(every, one.workload)))
    of_all = [score for each in scores.values() for score in each]
    return {
        f"{step}, {OF_RECORDS.calibrated}": _of_trials(
            of_one, OF_RECORDS.metric, of_all if conformal(scores[step]) is None else scores[step]
        )
        for step, of_one in sorted(cases.items())
        if _enough(of_one)
    }


def off(one: Saved, share: float) -> float:
    """How far a case lies from this share, as the error counts it."""
    return abs(one.share - share) / one.uncertain


def _workloads(cases: Iterable[Saved]) -> set[str]:
    return {one.workload for one in cases}


def _enough(cases: list[Saved]) -> bool:
    return len(_workloads(cases)) >= ENOUGH


def expected(cases: Iterable[Saved]) -> float:
    """The median over workloads of the median share of each."""
    shares: dict[str, list[float]] = defaultdict(list)
    for one in cases:
        shares[one.workload].append(one.share)
    return float(np.median([np.median(of_one) for of_one in shares.values()]))


def _without(cases: list[Saved], workload: str) -> float:
    return expected(one for one in cases if one.workload != workload)


def conformal(scores: list[float]) -> float | None:
    """The score that nine of ten new ones do not exceed; None where there are too few to know."""
    rank = math.ceil((len(scores) + 1) * COVERAGE)
    return sorted(scores)[rank - 1] if rank <= len(scores) else None


def main() -> None:
    """Write the file and print what it holds."""
    argparse.ArgumentParser(prog="calibrate", description=__doc__.split("\n\n", maxsplit=1)[0]).parse_args()
    known = json.loads(MEASURED.read_text())
    whole = provenance(known) | {"steps": calibration(known).steps}
    Path(str(FILE)).write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")
    print(FILE.read_text())


if __name__ == "__main__":
    sys.exit(main())
