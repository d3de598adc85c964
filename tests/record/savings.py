"""Try what steps save that `latency-advisor trial` cannot turn on in a running session: `python savings.py [NAME...]`.

Each pair runs A B B A B A A B, or longer with `--turns`, every run in an application of its own, read back from its
event log. Promised is what the product makes of the runs without the step, and the verdict is that of
`latency-advisor compare`. A pair of eight runs takes at most six minutes on two cores.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import run
from cases import CASES, EVENTS, FOUR, MAIN, ROCKSDB, Case, Run, until
from sparks import CACHE, Lab

from advisor.catalogue import load
from advisor.comparison.interleaved import Arm, interleaved, order
from advisor.comparison.promises import verdict
from advisor.contract import Promise
from advisor.errors import AdvisorError
from advisor.metrics import Estimate, Missing, measure, named
from advisor.report.assemble import judged_runs
from advisor.savings.saving import promised
from advisor.sources import files

HEAD = "| step | batch before | after | saved | promised | |\n|---|---|---|---|---|---|"
BRIEF, RHYTHM = until(25, 30), until(42, 40)
CATALOGUE = load()


class Pair(NamedTuple):
    """A case, what the step changes in it, and the step."""

    name: str
    case: Case
    change: dict[str, Any]
    step: str
    spark: str = MAIN
    runs: tuple[Run, ...] = BRIEF


def of(name: str) -> Case:
    """A recorded case."""
    return replace(next(case for case in CASES if case.name == name), keep=EVENTS)


SHUFFLED = of("SH003/joined-by-adaptive-execution")
STATIC, ONE, SKEWED = of("BC001/static-side"), of("SR004/one-partition"), of("SR003/skewed-partitions")
WAVES = replace(
    of("CL002/16-tasks-on-2-slots"),
    source={**of("CL002/16-tasks-on-2-slots").source, "numPartitions": "2"},
    conf={"spark.master": "local-cluster[1,1,1024]"},
)
COUNTED = of("ST004/rows-counted")
UNCOUNTED = {"conf": {"spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false"}}
ONE_FILE = {"conf": {"spark.shuffle.sort.bypassMergeThreshold": "1"}}
PAIRS = (
    Pair("SK001 rare checkpoints", of("SK001/delta-in-foreachbatch"),
         {"conf": {"spark.databricks.delta.properties.defaults.checkpointInterval": "100"}},
         "delta-checkpoint-interval", FOUR, RHYTHM),
    Pair("SR004 two tasks", replace(ONE, trigger="1 second"),
         {"source": {**ONE.source, "minPartitions": "2"}}, "more-source-partitions"),
    Pair("BC001 cached", STATIC, {"shape": {**STATIC.shape, "cached": True}}, "cache-static-side"),
    Pair("CL002 two executors", WAVES, {"conf": {"spark.master": "local-cluster[2,1,1024]"}}, "more-task-slots"),
    Pair("SK004 persist", of("SK004/count-check-and-write"),
         {"sink": {"foreach_batch": "count_check_and_write_persisted"}}, "persist-in-foreach-batch"),
    Pair("SK004 persist state", of("SK004/count-and-write"), {"sink": {"foreach_batch": "count_and_write_persisted"}},
         "persist-in-foreach-batch", runs=until(20, 90)),
    Pair("CL005 fair", of("CL005/beside-a-heavy-query"), {"conf": {"spark.scheduler.mode": "FAIR"}}, "fair-scheduler"),
    Pair("SH003 one file", SHUFFLED, ONE_FILE, "shuffle-in-one-file"),
    Pair("SH003 20 in the code", replace(SHUFFLED, shape={"name": "shuffled", "into": 20}), ONE_FILE,
         "shuffle-in-one-file"),
    Pair("SH003 100,000 rows", replace(SHUFFLED, source={**SHUFFLED.source, "rowsPerBatch": "100000"}), ONE_FILE,
         "shuffle-in-one-file"),
    Pair("SH003 20,000 rows, hashed 20 times", replace(SHUFFLED, source={**SHUFFLED.source, "rowsPerBatch": "20000"},
             shape={"name": "shuffled", "rounds": 20}), ONE_FILE, "shuffle-in-one-file"),
    Pair("ST004 uncounted", COUNTED, UNCOUNTED, "no-row-count"),
    Pair("ST004 each once", replace(COUNTED, shape={"name": "never_forgotten", "watermark": False},
             output_mode="append"), UNCOUNTED, "no-row-count"),
    Pair("ST004 20,000 rows, snapshots", replace(COUNTED, source={**COUNTED.source, "rowsPerBatch": "20000"},
             conf={**ROCKSDB, "spark.sql.shuffle.partitions": "2"}), UNCOUNTED, "no-row-count"),
    Pair("CL004 no wait", of("CL004/locality-wait"), {"conf": {"spark.locality.wait": "0s"}}, "no-locality-wait"),
    Pair("SR003 more tasks", SKEWED, {"source": {**SKEWED.source, "minPartitions": "4"}}, "more-source-partitions"),
    Pair("CG001 id as text", replace(of("CG001/batch-id-in-expressions"), keep=("text", "eventlog")),
         {"sink": {"foreach_batch": "with_batch_id_as_text"}}, "constant-code"),
)  # fmt: skip


def main() -> None:
    """Run the chosen pairs, print one line of a table for each; a pair that fails costs no other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="the rule whose steps are tried (default: all)")
    parser.add_argument("--turns", type=int, default=8, metavar="RUNS", help="runs of both sides together")
    asked = parser.parse_args()
    lab = Lab(CACHE)
    print(HEAD, flush=True)
    for pair in PAIRS:
        if not asked.names or pair.name.split()[0] in asked.names:
            try:
                print(line(pair, lab, asked.turns), flush=True)
            except (OSError, subprocess.SubprocessError, AdvisorError, LookupError) as error:
                print(f"| {pair.name}, `{pair.step}` | not measured: {error} |", flush=True)


def line(pair: Pair, lab: Lab, turns: int) -> str:
    """What the step saved beside what it promised."""
    both, told_of = sides(pair), []
    for turn in order(turns):
        with tempfile.TemporaryDirectory() as out:
            told_of.append((turn, told(pair, play(both[turn], pair.spark, lab, Path(out)))))
    return f"| {pair.name}, `{pair.step}` | {' | '.join(outcome(told_of).cells())} |"


def sides(pair: Pair) -> dict[Arm, Case]:
    """The case without the step, and with it."""
    changed = {
        key: {**getattr(pair.case, key), **value} if key == "conf" else value for key, value in pair.change.items()
    }
    return {"A": replace(pair.case, runs=pair.runs), "B": replace(pair.case, runs=pair.runs, **changed)}


def play(case: Case, spark: str, lab: Lab, out: Path) -> Path:
    """Run a case in an application of its own; where its logs are."""
    run.record(case, spark, lab, out)
    return out / f"{case.name}-{spark}"


class Told(NamedTuple):
    """What one run says: how long what the step shortens took (ms), the promise, and the metric that it is taken of."""

    level: float
    promise: Promise | None
    metric: Estimate | None


class Tried(NamedTuple):
    """What a step saved (ms): the level of each run without it and with it, and what was promised."""

    before: list[float]
    after: list[float]
    saved: Estimate
    promise: Promise | None
    verdict: str
    metric: Estimate | None

    def cells(self) -> list[str]:
        """As a table's row shows it."""
        levels = [" and ".join(f"{level:.0f}" for level in side) + " ms" for side in (self.before, self.after)]
        saved = f"{self.saved.value:.0f} ms ({self.saved.low:.0f} to {self.saved.high:.0f})"
        promised = f"{self.promise.low:.0f} to {self.promise.high:.0f} ms" if self.promise else "nothing"
        return [*levels, saved, promised, self.verdict]


def outcome(told_of: list[tuple[Arm, Told]]) -> Tried:
    """What the runs say together; what is promised is the mean of the runs without the step."""
    effect = interleaved([(turn, run.level) for turn, run in told_of]).effect
    saved = Estimate(-effect.difference_ms.high, -(effect.difference_ms.value or 0.0), -effect.difference_ms.low)
    without = [run for turn, run in told_of if turn == "A"]
    promises = [run.promise for run in without if run.promise]
    promise = mean(promises) if promises else None
    judged = verdict(promise, saved, effect.before_ms) if promise else "promises nothing"
    levels = {side: [run.level for turn, run in told_of if turn == side] for side in "AB"}
    metrics = [run.metric for run in without if run.metric]
    ends = [float(np.mean([getattr(one, end) for one in metrics])) for end in ("low", "safe", "high") if metrics]
    return Tried(levels["A"], levels["B"], saved, promise, judged, Estimate(*ends) if ends else None)


def told(pair: Pair, kept: Path) -> Told:
    """What of one run the step shortens, by the statistic that its promise takes, and what it promises of it."""
    saves = CATALOGUE.steps[pair.step].saves
    logs = sorted(kept.glob("driver.log*" if "text" in pair.case.keep else "eventlog*"))
    name = pair.case.name.split("/")[1]
    window = next(one.window for one in judged_runs(files.read(logs, stages=True), CATALOGUE) if one.run.name == name)
    level, promise = measure(window, *level_of(pair.step)), promised(saves, window) if saves else None
    assert isinstance(level, Estimate), level
    metric = measure(window, saves.metric, saves.stat) if saves else None
    # Where the step has nothing to save, the rule's metric may be missing: it promises nothing then.
    given = Promise(0.0, None, 0.0) if isinstance(promise, Missing) else promise
    return Told(level.safe, given, metric if isinstance(metric, Estimate) else None)


def level_of(step: str) -> tuple[str, str]:
    """The metric that the step shortens, and of it what: a record's latency where it saves waiting, else the batch."""
    saves = CATALOGUE.steps[step].saves
    if saves is None or named(saves.metric).time == "latency":
        return "record_latency_ms", "p50"
    return "trigger_execution_ms", saves.stat or "mean"


def mean(promises: list[Promise]) -> Promise:
    """The promise of several runs as one."""
    low, high, safe = (float(np.mean([getattr(one, end) for one in promises])) for end in ("low", "high", "safe"))
    return Promise(low, None, high, safe)


if __name__ == "__main__":
    main()
