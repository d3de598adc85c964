"""Whether a target is said to be reachable where it is: measured record latencies before and after a step.

`python -m tests.promises.target` judges the cases of measured.json that tell a record's p50, each with its workload
left out of what the promise is taken from, and writes the table in docs/measurements.md. Of each case three targets are
asked for: nine tenths, six tenths and three tenths of the latency before. Unmeasured steps are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any

from advisor.catalogue import ranking
from advisor.contract import Promise
from tests.promises.calibrate import MEASURED, Known, of
from tests.promises.scoreboard import left_out
from tests.promises.table import MEASUREMENTS, written

TARGETS = {"nine tenths": 0.9, "six tenths": 0.6, "three tenths": 0.3}
WITHIN, OR_MS = (ranking()[name] for name in ("expected_within", "expected_within_ms"))
HEAD = (
    "| target | said right | may be reached | said to be reached, and was not | said not to be, and was |",
    "|---|---:|---:|---:|---:|",
)


def main() -> None:
    """Write the table and print it."""
    argparse.ArgumentParser(prog="target", description=__doc__.split("\n\n", maxsplit=1)[0]).parse_args()
    made = markdown(json.loads(MEASURED.read_text()))
    MEASUREMENTS.write_text(written(MEASUREMENTS.read_text(), "targets", made))
    print(made)


def cases(known: Known) -> list[tuple[dict[str, Any], Promise]]:
    """Return the cases of records that have a promise with an expected saving, their own workload left out of it."""
    found = [one for name, one in known.items() if "record p50" in name and of(one) and one.get("saved_between_ms")]
    told = left_out(known, found)
    return [(one.case, one.promised) for one in told if one.promised.expected is not None]


def markdown(known: Known) -> str:
    """Return the score in sentences, and a row for each target."""
    found = cases(known)
    expected = [(one["before_ms"] - (promised.expected or 0.0), one["after_ms"]) for one, promised in found]
    near = sum(abs(told - was) <= max(WITHIN * was, OR_MS) for told, was in expected)
    workloads = len({one["case"]["workload"] for one, _ in found})
    rows, decided, right = [], 0, 0
    for name, share in TARGETS.items():
        said = [answer(one, promised, share * one["before_ms"]) for one, promised in found]
        agree, maybe, wrongly, missed = (said.count(one) for one in ("right", "may be", "wrong", "missed"))
        decided, right = decided + agree + wrongly + missed, right + agree
        rows.append(f"| {name} of before | {agree} of {len(said) - maybe} | {maybe} | {wrongly} | {missed} |")
    return "\n".join(
        [
            f"{len(found)} cases of {workloads} workloads: the p50 after the step is within 15 % or 15 ms of the "
            f"measured one in {near} of {len(found)}. Where the answer is yes or no, it is right in {right} of "
            f"{decided}.",
            "",
            *HEAD,
            *rows,
        ]
    )


def answer(one: Mapping[str, Any], promised: Promise, target: float) -> str:
    """Return whether the answer agrees with what was measured; `may be` where the target lies within the promise."""
    shortest, longest = one["before_ms"] - promised.high, one["before_ms"] - promised.low
    if shortest <= target < longest:
        return "may be"
    if (longest <= target) == (one["after_ms"] <= target):
        return "right"
    return "wrong" if longest <= target else "missed"


if __name__ == "__main__":
    sys.exit(main())
