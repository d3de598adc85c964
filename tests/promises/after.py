"""The latency that a report says a step leaves, p50 and p99, beside Kafka's own clock after that step.

`python -m tests.promises.after [--list] [--only TEXT] [--minutes N] [--keep DIR]` needs the group lab. Each case that
is measured from topic to topic runs as it is, with its step, and as it is again; the first and the last run's batches
say what the other is expected to be. A table in docs/measurements.md gets a row for each.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from advisor.catalogue import load, ranking
from advisor.cli.spark import session
from advisor.contract import Advice, Latencies, OnTrial
from advisor.metrics.phases import budget
from advisor.savings.after import after, can_be_modelled
from advisor.trials.run import Bounds, Run
from advisor.trials.setup import Permissions, Setup
from advisor.trials.steps import Candidate, candidate
from advisor.trials.throwaway import throw_away
from lab.offsets.queries import Measured
from tests.promises.cases import Case, Servers, cases, kept_aside
from tests.promises.latencies import EARLY, are_near, of_part, set_up
from tests.promises.run import SESSION, kafka, parser
from tests.promises.table import MEASUREMENTS, written
from tests.promises.target import TARGETS
from tests.promises.turns import Keeping

FILE = Path(__file__).with_name("after.json")
BOUNDS = Bounds(runs=1, batches=60, seconds=45.0)
HIGH_WITHIN = 0.30
"""How near an expected p99 must be, as a share; rules/ranking.yaml says how near a p50."""
HEAD = (
    "| query, step | load | p50 before | said after | by Kafka | p99 before | said after | by Kafka | p50, p99 near? |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---|",
)
STATS = ("p50", "p99")
HALF = "first_half_p99"


def main() -> None:
    """Run the chosen cases, those that were never measured first; the file and the table grow row by row."""
    words = parser("after", __doc__)
    words.add_argument("--minutes", type=float, default=60.0, help="begin none after that")
    words.add_argument("--keep", type=Path, help="a directory for what each run's progress told")
    asked = words.parse_args()
    names = [case.name for case in _measured_ones(Servers()) if asked.only in case.name]
    if asked.list or not names:
        print("\n".join(names) or f"no case holds {asked.only!r}")
        return
    until, known = time.monotonic() + asked.minutes * 60, json.loads(FILE.read_text()) if FILE.exists() else {}
    with session("after", SESSION) as spark, throw_away(spark, None) as place, kafka(spark) as address:
        chosen = [case for case in _measured_ones(Servers(kafka=address)) if case.name in names]
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
    many = case.batches > BOUNDS.batches
    bounds = replace(BOUNDS, batches=case.batches, seconds=case.seconds) if many else BOUNDS
    runner = Keeping(spark, case.build, bounds, Permissions(sink=True), load(), _with_its_half(case.latency))
    runner.place = kept
    if warms_up:
        runner.run(OnTrial(), "after-warm-up", f"{place}/warm-up", warms_up=True)
    name = f"after-{Path(place).name}"  # topics of their own: Spark's cached producer hangs on a topic made again
    loads = []

    def run(variant: OnTrial, turn: str) -> Run:
        found = runner.run(variant, f"{name}-{turn}", f"{place}/{turn}")
        loads.append(os.getloadavg()[0])
        return found

    first = run(OnTrial(), "as-it-is")
    step = candidate([case.step], runner.catalogue, first.window)
    if "falling behind" in case.workload:  # until what waits is gone, records wait for what came before
        runner.latency = of_part(case.latency, 1 - EARLY, 1.0)
    then = run(step.variant, "step")
    runner.latency = _with_its_half(case.latency)
    found = told([first, run(OnTrial(), "as-it-is-again")], step, then)
    return found and {**found, "load": round(fmean(loads), 1)}


def told(both: Sequence[Run], step: Candidate, then: Run) -> dict[str, Any] | None:
    """Return what the runs before the step say and Kafka's clock in all; None where the step promises nothing.

    `at_best`: no expected value is known, and what is said is the shortest of the range from `low` to `high`.
    """
    steps = [[one for one in step.advised(run.window) if can_be_modelled(one)] for run in both]
    if not all(steps) or not all("p50" in run.latency for run in [*both, then]):
        return None
    ends = [
        [after(run.window, each, budget(run.window), end) for end in ("likely", "low", "high")]
        for run, each in zip(both, steps, strict=True)
    ]
    return {
        "runs": [run.run_id for run in both],
        "before": _mean([run.latency for run in both]),
        "said": _mean([_stats(one[:1], max) for one in ends]),
        "low": _mean([_stats(one, min) for one in ends]),
        "high": _mean([_stats(one, max) for one in ends]),
        "at_best": any(not _is_expected(one) for each in steps for one in each),
        "after": _mean([then.latency]),
        **({HALF: round(then.latency[HALF], 1)} if HALF in then.latency else {}),
    }


def _with_its_half(latency: Any) -> Any:
    """Latencies of a run, and the p99 of the records of its first half."""

    @contextmanager
    def measure(setup: Setup) -> Iterator[Measured]:
        with latency(setup) as measured:

            def both(first: pd.Timestamp, last: pd.Timestamp) -> Mapping[str, float]:
                half = measured(first, first + (last - first) / 2).get("p99")
                return {**measured(first, last), **({HALF: half} if half is not None else {})}

            yield both

    return measure


def _stats(found: Sequence[Latencies], of: Callable[[Iterable[float]], float]) -> dict[str, float]:
    return {stat: of(one.at(stat) for one in found) for stat in STATS}


def _is_expected(step: Advice) -> bool:
    promise = step.saves_ms or step.saves_latency_ms
    return promise is None or promise.expected is not None


def _mean(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {stat: round(fmean(one[stat] for one in found), 1) for stat in STATS}


def _measured_ones(servers: Servers) -> list[Case]:
    return [case for case in cases(servers) if case.latency is not None and not case.delta] + [*kept_aside(servers)]


def near(one: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether what was said of p50 and of p99 is near enough; where it is a range, whether they lie in it."""
    if one["at_best"]:
        p50, p99 = (one["low"][stat] <= one["after"][stat] <= one["high"][stat] for stat in STATS)
        return p50, p99
    return are_near(one["said"], one["after"], ranking()["expected_within"], HIGH_WITHIN)


def markdown(known: Mapping[str, Any]) -> str:
    """How many are near, and a row for each case."""
    new, names = ([case.name for case in made] for made in (kept_aside(Servers()), _measured_ones(Servers())))
    told = {name: near(one) for name, one in known.items() if not one["at_best"]}
    every_second = set(names[::2]) - {*new}
    chosen, aside = ([found for name, found in told.items() if name in kind] for kind in (every_second, new))
    judged = [found for name, found in told.items() if name not in (*every_second, *new)]
    ranges = [near(one) for one in known.values() if one["at_best"]]
    both = [one for one in known.values() if HALF in one]
    answers, asked = _answers([one for one in known.values() if "low" in one])
    halves = [near(one | {"after": one["after"] | {"p99": one[HALF]}}) for one in both]
    return "\n".join(
        [
            "p50 after the step is within 15 % or 15 ms of what the report said, and p99 within 30 %, in "
            f"{_score(judged)} cases on which nothing was chosen (every second one of `--list`), in "
            f"{_score(chosen)} others, and in {_score(aside)} that were made afterwards, of 120 batches each. Where "
            f"the report says no expected value, only *at best* and a range, they lie in it in {_score(ranges)}. The "
            f"p99 of the first half of those 120 batches is near, or in its range, in {sum(p99 for _, p99 in halves)} "
            f"of {len(both)}, the p99 of all in {sum(near(one)[1] for one in both)}. Would nine, six and three "
            "tenths of the latency before be reached, at p50 and at p99? The range lies wholly on one side in "
            f"{len(answers)} of {asked} answers, and is right in {sum(answers)}.",
            "",
            *HEAD,
            *(_row(name, one) for name, one in known.items()),
        ]
    )


def _answers(known: Sequence[Mapping[str, Any]]) -> tuple[list[bool], int]:
    """Whether each answer by a whole range, yes or no, is right; and how many targets were asked for."""
    asked = [(one, stat, of * one["before"][stat]) for one in known for stat in STATS for of in TARGETS.values()]
    return [
        (one["high"][stat] < target) == (one["after"][stat] < target)
        for one, stat, target in asked
        if not one["low"][stat] <= target <= one["high"][stat]
    ], len(asked)


def _score(said: Sequence[tuple[bool, bool]]) -> str:
    p50, p99 = (sum(each[nth] for each in said) for nth in (0, 1))
    return f"{p50} and {p99} of the {len(said)}"


def _row(name: str, one: Mapping[str, Any]) -> str:
    cells = [f"{one['load']:.1f}" if "load" in one else "-"]
    for stat in STATS:
        said = f"{one['said'][stat]:,.0f}"
        if one["at_best"]:
            said = f"at best {one['low'][stat]:,.0f} (to {one['high'][stat]:,.0f})"
        cells += [f"{one['before'][stat]:,.0f}", said, f"{one['after'][stat]:,.0f}"]
    return f"| {' | '.join([name, *cells, ', '.join('yes' if answer else 'no' for answer in near(one))])} |"


if __name__ == "__main__":
    sys.exit(main())
