"""Were promises kept? As `advisor.compare` judges, by the shipped calibration and with each workload left out.

`python -m tests.promises.scoreboard` writes the table of promises into docs/measurements.md from measured.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from advisor.comparison.promises import verdict
from advisor.contract import Outcome, Promise
from advisor.metrics import Estimate, named
from advisor.savings import promise
from advisor.savings.promise import Calibration
from advisor.savings.saving import OF_RECORDS, of_records
from advisor.views.text import plural
from tests.promises.calibrate import MEASURED, Known, calibration, of, step_of
from tests.promises.table import MEASUREMENTS, written

HEAD = (
    "| query | settings | step | before, ms | promised, ms | measured, ms | runs | |",
    "|---|---|---|---:|---:|---:|---:|---|",
)


@dataclass(frozen=True)
class Judged:
    """A case with what is promised of it by one calibration, and whether that was kept."""

    case: dict[str, Any]
    promised: Promise
    verdict: Outcome

    @property
    def inside(self) -> bool:
        """Whether the measured saving lies in the promised interval."""
        return self.promised.low <= self.case["saved_ms"] <= self.promised.high

    def share(self, ms: float) -> float:
        """Of the batch or latency before."""
        return float(ms / self.case["before_ms"])


def main() -> None:
    """Write the table and print the score."""
    argparse.ArgumentParser(prog="scoreboard", description=__doc__.split("\n\n", maxsplit=1)[0]).parse_args()
    known = json.loads(MEASURED.read_text())
    MEASUREMENTS.write_text(written(MEASUREMENTS.read_text(), "promises", markdown(known)))
    print(markdown(known).partition("\n|")[0])


def markdown(known: Known) -> str:
    """The score in sentences, and a row for each case, its workload left out of what the promise is taken from."""
    counted = [one for one in known.values() if of(one) and one["saved_between_ms"]]
    with_all, by_others = [judged(one, calibration(known)) for one in counted], left_out(known, counted)
    tried = [one for one in known.values() if "failed" not in one]
    workloads = {one["case"]["workload"] for one in tried}
    sparks = " and ".join(sorted({one["spark"] for one in tried}))
    return "\n".join(
        [
            f"{plural(len(tried), 'case')} of {plural(len(workloads), 'workload')} on Spark {sparks}, "
            f"{len(by_others)} with a promise.",
            "",
            f"- With the calibration as it is shipped: {score(with_all)}",
            f"- With the case's own workload left out of it: {score(by_others)}",
            "",
            "Each row's promise is the one with its workload left out. Cases without an interval are not judged.",
            "",
            *HEAD,
            *(_row(one) for one in by_others),
        ]
    )


def left_out(known: Known, cases: Iterable[dict[str, Any]]) -> list[Judged]:
    """The cases, each with its workload left out of what its promise is taken from."""

    @cache
    def without(workload: str) -> Calibration:
        return calibration(known, without=workload)

    return [judged(one, without(one["case"]["workload"])) for one in cases]


def verdicts(known: Known) -> dict[str, str]:
    """What the promise of each case came to, by the shipped calibration; "" where nothing was promised of it."""
    by = calibration(known)
    return {
        name: judged(one, by).verdict if of(one) and one.get("saved_between_ms") else "" for name, one in known.items()
    }


def judged(one: dict[str, Any], by: Calibration) -> Judged:
    """The case with its promise by this calibration."""
    saves = of(one)
    assert saves
    saves = of_records(step_of(one), by) if saves is OF_RECORDS else saves
    metric = one["metric_ms"]
    value = Estimate(metric.get("low", metric["value"]), metric["value"], metric.get("high", metric["value"]))
    whole = float("inf") if named(saves.metric).time == "latency" else one["before_ms"]
    given = promise(saves, value, whole, one["before_ms"], by)
    low, high = one["saved_between_ms"]
    return Judged(one, given, verdict(given, Estimate(low, one["saved_ms"], high), one["before_ms"]))


def score(cases: list[Judged]) -> str:
    """Kept, broken, cannot say; how wide the promises were, and how far off what they expected."""
    said = Counter(one.verdict for one in cases)
    width = np.median([one.share(one.promised.high - one.promised.low) for one in cases])
    off = [one.share(abs(one.promised.expected - one.case["saved_ms"])) for one in cases if one.promised.expected]
    nothing = sum(one.promised.low == 0 for one in cases)
    return (
        f"{said['kept']} kept, {said['broken']} broken, {said['cannot say yet']} cannot say; the measured saving lies "
        f"in the promised interval in {sum(one.inside for one in cases)} of {len(cases)}. The interval is "
        f"{width * 100:.0f} % of the batch or latency wide (median), the expected saving is off by "
        f"{np.median(off) * 100:.0f} % (median); {nothing} promises begin at 0: the step may save nothing."
    )


def _row(one: Judged) -> str:
    case, words = one.case, one.case["case"]
    low, high = case["saved_between_ms"]
    cells = (words["workload"], words["settings"], words["step"], f"{case['before_ms']:,.0f}",
             interval(one.promised.low, one.promised.expected, one.promised.high),
             interval(low, case["saved_ms"], high), str(case["runs"]), one.verdict)  # fmt: skip
    return f"| {' | '.join(cells)} |"


def interval(low: float, value: float | None, high: float) -> str:
    """`expected (low to high)`, in ms."""
    middle = "" if value is None else f"{value:,.0f} "
    return f"{middle}({low:,.0f} to {high:,.0f})"


if __name__ == "__main__":
    sys.exit(main())
