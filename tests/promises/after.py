"""The latency that a report says a step leaves, p50 and p99, beside Kafka's own clock after that step.

`python -m tests.promises.after [--list] [--only TEXT] [--minutes N] [--keep DIR]` needs the group lab. Each case that
is measured from topic to topic runs as it is, with its step, and as it is again; the first and the last run's batches
say what the other is expected to be. A table in docs/measurements.md gets a row for each.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from advisor.catalogue import load
from advisor.cli.spark import session
from advisor.contract import OnTrial
from advisor.metrics.phases import budget
from advisor.savings.after import after, can_be_modelled
from advisor.trials.run import Bounds, Run
from advisor.trials.setup import Permissions
from advisor.trials.steps import Candidate, candidate
from advisor.trials.throwaway import throw_away
from tests.promises.cases import Case, Servers, cases
from tests.promises.latencies import are_near, set_up
from tests.promises.run import SESSION, kafka, parser
from tests.promises.table import MEASUREMENTS, written
from tests.promises.turns import Keeping

FILE = Path(__file__).with_name("after.json")
BOUNDS = Bounds(runs=1, batches=60, seconds=45.0)
WITHIN, HIGH_WITHIN = 0.15, 0.30
"""How near an expected p50 and p99 must be, as shares."""
HEAD = (
    "| query, step | p50 before | said after | by Kafka | p99 before | said after | by Kafka | p50, p99 near? |",
    "|---|---:|---:|---:|---:|---:|---:|---|",
)
STATS = ("p50", "p99")


def main() -> None:
    """Run the chosen cases, those that were never measured first; the file and the table grow row by row."""
    words = parser("after", __doc__)
    words.add_argument("--minutes", type=float, default=60.0, help="begin none after that")
    words.add_argument("--keep", type=Path, help="a directory for what each run's progress told")
    asked = words.parse_args()
    names = [case.name for case in cases(Servers()) if _is_measured(case) and asked.only in case.name]
    if asked.list or not names:
        print("\n".join(names) or f"no case holds {asked.only!r}")
        return
    until, known = time.monotonic() + asked.minutes * 60, json.loads(FILE.read_text()) if FILE.exists() else {}
    with session("after", SESSION) as spark, throw_away(spark, None) as place, kafka(spark) as address:
        chosen = [case for case in cases(Servers(kafka=address)) if case.name in names]
        for number, case in enumerate(sorted(chosen, key=lambda case: case.name in known)):
            if time.monotonic() > until:
                break
            if (found := measured(spark, case, f"{place}/{number}", asked.keep, warms_up=not number)) is not None:
                known[case.name] = found
                FILE.write_text(json.dumps(known, indent=1) + "\n")
            print(case.name, json.dumps(found), flush=True)
    MEASUREMENTS.write_text(written(MEASUREMENTS.read_text(), "after", markdown(known)))


def measured(spark: Any, case: Case, place: str, kept: Path | None, *, warms_up: bool) -> dict[str, Any] | None:
    """p50 and p99 in ms: before the step, as said after it, and after it; None where the step promises nothing."""
    set_up(spark, case.conf)
    runner = Keeping(spark, case.build, BOUNDS, Permissions(sink=True), load(), case.latency)
    runner.place = kept
    if warms_up:
        runner.run(OnTrial(), "after-warm-up", f"{place}/warm-up", warms_up=True)
    name = f"after-{Path(place).name}"  # topics of their own: Spark's cached producer hangs on a topic made again
    first = runner.run(OnTrial(), f"{name}-as-it-is", f"{place}/first")
    step = candidate([case.step], runner.catalogue, first.window)
    then = runner.run(step.variant, f"{name}-step", f"{place}/step")
    both = [first, runner.run(OnTrial(), f"{name}-as-it-is-again", f"{place}/last")]
    said = [found for run in both if (found := _said(run, step)) is not None]
    if len(said) < len(both) or "p50" not in then.latency:
        return None
    return {
        "runs": [run.run_id for run in both],
        "before": _mean([run.latency for run in both]),
        "said": _mean(said),
        "after": _mean([then.latency]),
    }


def _said(run: Run, step: Candidate) -> Mapping[str, float] | None:
    steps = [one for one in step.advised(run.window) if can_be_modelled(one)]
    if not steps or "p50" not in run.latency:
        return None
    found = after(run.window, steps, budget(run.window))
    return {stat: found.at(stat) for stat in STATS}


def _mean(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {stat: round(fmean(one[stat] for one in found), 1) for stat in STATS}


def _is_measured(case: Case) -> bool:
    return case.latency is not None and not case.delta


def near(one: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether what was said of p50 and of p99 is near enough."""
    return are_near(one["said"], one["after"], WITHIN, HIGH_WITHIN)


def markdown(known: Mapping[str, Any]) -> str:
    """How many are near, and a row for each case."""
    names = [case.name for case in cases(Servers()) if _is_measured(case)]
    chosen = [near(one) for name, one in known.items() if name in names[::2]]
    judged = [near(one) for name, one in known.items() if name not in names[::2]]
    return "\n".join(
        [
            "p50 after the step is within 15 % or 15 ms of what the report said, and p99 within 30 %, in "
            f"{_score(judged)} cases on which nothing was chosen (every second one of `--list`), and in "
            f"{_score(chosen)} others.",
            "",
            *HEAD,
            *(_row(name, one) for name, one in known.items()),
        ]
    )


def _score(said: Sequence[tuple[bool, bool]]) -> str:
    p50, p99 = (sum(column) for column in zip(*said, strict=True))
    return f"{p50} and {p99} of the {len(said)}"


def _row(name: str, one: Mapping[str, Any]) -> str:
    cells = [f"{one[when][stat]:,.0f}" for stat in STATS for when in ("before", "said", "after")]
    return f"| {' | '.join([name, *cells, ', '.join('yes' if answer else 'no' for answer in near(one))])} |"


if __name__ == "__main__":
    sys.exit(main())
