"""Try what the steps promise on real Spark, and write the table of promises into docs/measurements.md.

`python -m tests.promises.run [--list] [--only TEXT] [--minutes N] [--delta | --s3a]`; without options what needs only
this machine's disk, over an hour; the cases with Kafka and with S3A need the group lab. Each case is a trial:
baseline and candidate in turns, A B B A, on throw-away checkpoints. What was promised is computed from the baseline's
own batches. A case that was measured before is measured again and replaces the old figure.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from advisor.catalogue import Saves, load
from advisor.cli.spark import session
from advisor.comparison.levels import TOTAL
from advisor.errors import AdvisorError
from advisor.metrics import Estimate, measure, named
from advisor.metrics.latency import Mixture, mixture, mixture_medians
from advisor.savings.saving import Gains, gained, gains
from advisor.savings.shorter import waits_follow
from advisor.trials.run import Bounds
from advisor.trials.setup import Permissions
from advisor.trials.turns import MEASURED as MEASURED_LATENCY
from advisor.window import Window
from lab import jars
from lab.broker import broker
from lab.bucket import bucket
from tests.promises.calibrate import OF_MODEL
from tests.promises.cases import DELAYS, DELTA, Case, Servers, cases, delta_cases, s3a_cases
from tests.promises.scoreboard import markdown, verdicts
from tests.promises.table import MEASUREMENTS, written
from tests.promises.turns import MOST_RUNS, Keeping, UntilNarrow

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "measured.json"
Table = Callable[[dict[str, Any]], str]
RUNS = 4
RECORD = "record p50"
SOONEST = (None, "cannot say yet", "", "broken", "kept")
"""Which cases come first, by what their promises came to: those never measured, then those that cannot say."""
SESSION = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


def main() -> None:
    """Measure the chosen cases; the file and the table grow case by case."""
    words = parser("promises", __doc__)
    words.add_argument("--keep", type=Path, help="a directory for what each run's progress told")
    words.add_argument(
        "--minutes",
        type=float,
        default=600.0,
        help="begin no case later, nor more runs of one; new cases come first, then those that cannot say",
    )
    where = words.add_mutually_exclusive_group()
    where.add_argument("--delta", action="store_true", help="the cases with a Delta table; they need PySpark 4.0")
    where.add_argument("--s3a", action="store_true", help="those with the checkpoint on S3A; they need PySpark 4.0")
    asked = words.parse_args()
    every = delta_cases if asked.delta else s3a_cases if asked.s3a else cases
    names = [case.name for case in every(Servers()) if asked.only in case.name]
    if asked.list or not names:
        print("\n".join(names) or f"no case holds {asked.only!r}")
        return
    until = time.monotonic() + asked.minutes * 60
    known = json.loads(MEASURED.read_text())
    with (
        session("promises", SESSION | (DELTA if asked.delta else {})) as spark,
        lab(spark, names) as servers,
    ):
        chosen = [case for case in every(servers) if case.name in names]
        said = verdicts(known)
        for case in sorted(
            chosen, key=lambda case: SOONEST.index(said.get(case.name) or said.get(of_record(case.name)))
        ):
            if time.monotonic() > until:
                break
            keep(MEASURED, known, measured(spark, case, until, asked.keep), "promises", markdown)


def of_record(name: str) -> str:
    """What the row of a case is called that tells the latency of its records."""
    return f"{name}, {RECORD}"


def row_of_record(case: Case, spark: str, found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The row that tells the latency of a case's records."""
    words = {"workload": case.workload, "settings": f"{case.settings}, {RECORD}", "step": case.step}
    return {of_record(case.name): {"case": words, "spark": spark, **found}}


def keep(file: Path, known: dict[str, Any], found: dict[str, Any], name: str, table: Table) -> None:
    """Add what was found to what is known, to its file and to the table of that name."""
    known |= found
    print(json.dumps(found), flush=True)
    file.write_text(json.dumps(known, indent=1) + "\n")
    MEASUREMENTS.write_text(written(MEASUREMENTS.read_text(), name, table(known)))


@contextmanager
def lab(spark: Any, names: Sequence[str]) -> Iterator[Servers]:
    """The servers that what has these names needs."""
    with ExitStack() as stack:
        address, buckets = "", {}
        if any("Kafka" in name for name in names):
            address = stack.enter_context(kafka(spark))
        if any("S3A" in name for name in names):
            needed = [*jars.s3a(jars.hadoop_version(spark)), *jars.abortable(spark.version)]
            jars.added_to_driver(spark, jars.fetched(spark, needed))
            buckets = {delay: stack.enter_context(bucket(spark, delay)) for delay in DELAYS}
        yield Servers(address, buckets)


@contextmanager
def kafka(spark: Any) -> Iterator[str]:
    """The address of a broker that this session reads and writes."""
    jars.added(spark, jars.fetched(spark, jars.connector(spark.version)))
    with broker(spark) as address:
        yield address


def parser(prog: str, doc: str) -> argparse.ArgumentParser:
    """The command line of what measures things that have names; `doc` is the module's."""
    made = argparse.ArgumentParser(prog=prog, description=doc.split("\n\n", maxsplit=1)[0])
    made.add_argument("--list", action="store_true", help="print the names and end")
    made.add_argument("--only", default="", help="those whose name holds this text")
    return made


def measured(spark: Any, case: Case, until: float, kept: Path | None) -> dict[str, dict[str, Any]]:
    """What one case gave: of the batch and, where that was measured, of a record; or why there is nothing.

    A step that promises something of records only has no row for the batch.
    """
    tried, runner = on_trial(spark, case, [case.step], until, kept)
    batch, record = outcome(tried, "batch", TOTAL, "typical"), outcome(tried, "record", MEASURED_LATENCY, "p50")
    words = {"workload": case.workload, "settings": case.settings, "step": case.step}
    saves = runner.catalogue.steps[case.step].saves
    found = {case.name: {"case": words, "spark": spark.version, **batch, "metric_ms": stands_on(saves, runner)}}
    if "failed" in record:
        return found
    more = row_of_record(case, spark.version, {**record, "metric_ms": of_model(saves, runner, batch["saved_ms"])})
    return more if batch["promised_ms"] is None and record["promised_ms"] else found | more


def on_trial(
    spark: Any, case: Case, steps: Sequence[str], until: float, kept: Path | None
) -> tuple[dict[str, Any], Keeping]:
    """What a trial of these steps told, or why it told nothing; and what ran it."""
    for key, value in case.conf.items():
        spark.conf.set(key, value)
    bounds = Bounds(MOST_RUNS, case.batches, case.seconds, case.state_rows)
    runner = Keeping(spark, case.build, bounds, Permissions(sink=True), load(), case.latency)
    runner.place = kept
    try:
        tried = UntilNarrow(runner, case.place, lambda _: None, until).tried(steps).data
    except AdvisorError as error:
        tried = {"effects": [], "says": str(error)}
    finally:
        for key in case.conf:
            spark.conf.unset(key)
        spark.conf.set("spark.sql.shuffle.partitions", SESSION["spark.sql.shuffle.partitions"])
    return tried, runner


def outcome(tried: dict[str, Any], of: str, name: str, stat: str) -> dict[str, Any]:
    """A batch or a record before and after, with what was promised of the difference."""
    effect = next((one for one in tried["effects"] if (one["name"], one["stat"]) == (name, stat)), None)
    if effect is None:
        return {"failed": tried["says"]}
    promised = [kept["predicted_ms"] for kept in tried["promises"] if kept["of"] == of]
    runs = tried.get("runs", ())
    return {
        "before_ms": effect["before_ms"],
        "after_ms": effect["after_ms"],
        "saved_ms": -effect["difference_ms"]["value"],
        "saved_between_ms": [-effect["difference_ms"]["high"], -effect["difference_ms"]["low"]],
        "promised_ms": promised[0] if promised else None,
        "runs": len(runs),
        "on": runs[0]["first"][:10] if runs else None,
    }


def stands_on(saves: Saves | None, runner: Keeping) -> dict[str, Any] | None:
    """The metric that the step's promise is a share of, as the baseline's runs show it, in ms."""
    if saves is None:
        return None
    return _mean(saves.metric, (measure(run.window, saves.metric, saves.stat) for run in runner.baselines))


def of_model(saves: Saves | None, runner: Keeping, saved_ms: float) -> dict[str, Any] | None:
    """What the promise of a record's latency is a share of: the metric itself, or what the latency model says.

    `of_measured` is what the model says of batches that are as much shorter as they were measured to be: by this the
    model is calibrated by itself, whatever the batch was promised.
    """
    if saves is None or named(saves.metric).time == "latency":
        return stands_on(saves, runner)
    mixed = [(run.window, found) for run in runner.baselines if isinstance(found := mixture(run.window), Mixture)]
    of_each = [gains(saves, window) for window, _ in mixed]
    told = _mean(OF_MODEL, [one.estimated for one in of_each if isinstance(one, Gains)])
    known = [_felt(max(saved_ms, 0.0), saves, window, found) for window, found in mixed]
    return told and {**told, "of_measured": round(float(np.mean(known)), 2)}


def _felt(ms: float, saves: Saves, window: Window, before: Mixture) -> float:
    """What the median record gains from batches shorter by `ms`: if its wait half follows."""
    now = mixture_medians(before.start, before.width, before.rows)[0]
    least, most = gained(now, before, [(ms, follows, True) for follows in waits_follow(window)], saves, window)
    return (least + most) / 2


def _mean(name: str, found: Iterable[object]) -> dict[str, Any] | None:
    known = [one for one in found if isinstance(one, Estimate)]
    if not known:
        return None
    ends = {end: round(float(np.mean([getattr(one, end) for one in known])), 2) for end in ("low", "safe", "high")}
    return {"name": name, "low": ends["low"], "value": ends["safe"], "high": ends["high"]}


if __name__ == "__main__":
    sys.exit(main())
