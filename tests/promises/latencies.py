"""The record latency that progress tells, beside Kafka's own clock, workload by workload.

`python -m tests.promises.latencies [--list] [--only TEXT] [--minutes N] [--keep DIR]` needs the group lab; a table
in docs/measurements.md gets a row for each. Each workload runs once, from topic to topic. A query that falls behind is
asked for the records that come during the first fifth of its batches, which all become visible before it is stopped.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from advisor.catalogue import load
from advisor.cli.spark import session
from advisor.contract import OnTrial
from advisor.metrics import Quantiles
from advisor.metrics.latency import record_latency_ms
from advisor.trials.run import Bounds, Run
from advisor.trials.setup import Permissions, Setup
from advisor.trials.throwaway import throw_away
from advisor.views.text import plural
from advisor.window import Window
from lab.offsets.queries import Kafka, Measured
from tests.promises import through_kafka as other
from tests.promises.cases import STORES, with_partitions
from tests.promises.run import SESSION, kafka, parser
from tests.promises.table import MEASUREMENTS, written
from tests.promises.turns import Keeping

FILE = Path(__file__).with_name("latencies.json")
BOUNDS = Bounds(runs=1, batches=40, seconds=30.0)
EARLY = 0.2
Latency = Mapping[str, float]
WITHIN, OR_MS, HIGH_WITHIN = 0.10, 15.0, 0.25
"""How near an estimate must be: p50 by a share or by milliseconds, p99 by a share."""
HEAD = (
    "| query | p50 by progress | by Kafka | p99 by progress | by Kafka | p50, p99 near? |",
    "|---|---:|---:|---:|---:|---|",
)


def workloads(address: str) -> Iterator[tuple[str, Kafka, dict[str, str], OnTrial]]:
    """(name, query, session's settings, variant) of each."""
    plain, python = OnTrial(), other.KafkaInPython
    for rate, partitions in ((1_000, 2), (10_000, 2), (4, 4), (50, 4), (200, 1), (1_000, 6)):
        yield f"{rate:,} a second, {partitions} topic partitions", Kafka(rate, address, partitions), {}, plain
    every = OnTrial(trigger={"processing_time": "1 second"})
    yield "1,000 a second, every second", Kafka(1_000, address), {}, every
    yield "1,000 a second, asynchronous", Kafka(1_000, address), {}, OnTrial(writer_option=ASYNCHRONOUS)
    for partitions in (2, 6):
        name = f"1,000 a second, {partitions} topic partitions, Python function"
        yield name, python(1_000, address, partitions), {}, plain
    for what, query in STATEFUL.items():
        for partitions in (2, 4, 8):
            conf = {"spark.sql.shuffle.partitions": str(partitions)}
            yield f"1,000 a second, {what}, {partitions} state partitions", query(1_000, address), conf, plain
    yield "1,000 a second, counted and written in foreachBatch", other.KafkaInForeachBatch(1_000, address), {}, plain
    for rate, limit in ((1_000, 80), (5_000, 400)):
        yield f"{rate:,} a second, {limit} per batch: falls behind", other.KafkaCapped(rate, address, limit), {}, plain
    yield from kept_aside(address)


def kept_aside(address: str) -> Iterator[tuple[str, Kafka, dict[str, str], OnTrial]]:
    """The same of queries on which no number of the latency model was chosen."""
    half, tracked = OnTrial(trigger={"processing_time": "500 milliseconds"}), OnTrial(writer_option=ASYNCHRONOUS)
    new = {"joined with a table": other.KafkaWithTable, "through a shuffle": other.KafkaShuffled}
    for what, query in {**new, "exploded": other.KafkaExploded, "Python function": other.KafkaInPython}.items():
        yield f"500 a second, {what}", query(500, address), {}, OnTrial()
        yield f"5,000 a second, {what}, every half second", query(5_000, address), {}, half
    yield "1,000 a second, joined with a table, asynchronous", other.KafkaWithTable(1_000, address), {}, tracked
    for partitions in (2, 4):
        name, conf = f"1,000 a second, outer join, {partitions} state partitions", with_partitions({}, partitions)
        yield name, other.KafkaOuter(1_000, address), conf, OnTrial()
    four = with_partitions(STORES["RocksDB, changelogs"], 4)
    yield "1,000 a second, counted by value, RocksDB, changelogs", other.KafkaCounted(1_000, address), four, OnTrial()


ASYNCHRONOUS = {
    "asyncProgressTrackingEnabled": "true",
    "asyncProgressTrackingCheckpointIntervalMs": "1000",
}
STATEFUL = {
    "each once": other.KafkaOnce,
    "counted by value": other.KafkaCounted,
    "once within watermark": other.KafkaWithinWatermark,
    "joined with itself": other.KafkaJoined,
}


def main() -> None:
    """Run the chosen workloads; the file and the table grow row by row."""
    words = parser("latencies", __doc__)
    words.add_argument("--minutes", type=float, default=60.0, help="begin none after that; the unmeasured come first")
    words.add_argument("--keep", type=Path, help="a directory for what each run's progress told")
    asked = words.parse_args()
    names = [name for name, *_ in workloads("") if asked.only in name]
    if asked.list or not names:
        print("\n".join(names) or f"no workload holds {asked.only!r}")
        return
    until, known = time.monotonic() + asked.minutes * 60, json.loads(FILE.read_text()) if FILE.exists() else {}
    with session("latencies", SESSION) as spark, throw_away(spark, None) as place, kafka(spark) as address:
        chosen = sorted((one for one in workloads(address) if one[0] in names), key=lambda one: one[0] in known)
        _run(spark, place, "warm-up", *chosen[0][1:], None)
        for number, (name, query, conf, variant) in enumerate(chosen):
            if time.monotonic() > until:
                break
            run = _run(spark, place, str(number), query, conf, variant, asked.keep)
            known[name] = found = told(run, isinstance(query, other.KafkaCapped))
            print(name, json.dumps(found), flush=True)
            FILE.write_text(json.dumps(known, indent=1) + "\n")
    MEASUREMENTS.write_text(written(MEASUREMENTS.read_text(), "latencies", markdown(known)))


def _run(
    spark: Any, place: str, name: str, query: Kafka, conf: Mapping[str, str], variant: OnTrial, kept: Path | None
) -> Run:
    set_up(spark, conf)
    latency = of_part(query.latency, 0.0, EARLY) if isinstance(query, other.KafkaCapped) else query.latency
    runner = Keeping(spark, query.build, BOUNDS, Permissions(sink=True), load(), latency)
    runner.place = kept
    return runner.run(variant, f"latency-{name}", f"{place}/{name}", warms_up=name == "warm-up")


def set_up(spark: Any, conf: Mapping[str, str]) -> None:
    """Give a session the settings of a case that a running one takes."""
    for key, value in {**SESSION, **conf}.items():
        if key.startswith("spark.sql."):
            spark.conf.set(key, value)


def of_part(latency: Any, begins: float, ends: float) -> Any:
    """Latencies of the records that came in a part of the run: those of its first fifth from 0.0 to 0.2."""

    @contextmanager
    def measure(setup: Setup) -> Iterator[Measured]:
        with latency(setup) as measured:
            yield lambda first, last: measured(first + begins * (last - first), first + ends * (last - first))

    return measure


def told(run: Run, behind: bool) -> dict[str, Any]:
    """What progress and what Kafka say, in ms; why progress says nothing."""
    window = _first(run.window) if behind else run.window
    found = record_latency_ms(window)
    estimated = {"p50": round(found.p50, 1), "p99": round(found.p99, 1)} if isinstance(found, Quantiles) else None
    measured = {name: round(run.latency[name], 1) for name in ("p50", "p99")} if "p50" in run.latency else None
    return {
        "run": run.run_id,
        "spark": window.facts.value("spark_version"),
        "batches": len(window),
        "estimated": estimated,
        "measured": measured,
        "says": None if estimated else getattr(found, "reason", "nothing"),
        "missing_share": round(run.latency.get("missing_share", 0.0), 4),
    }


def _first(window: Window) -> Window:
    times = window.batches["timestamp"]
    return window.only(times <= times[0] + EARLY * (times[-1] - times[0]), "the first")


def near(one: Mapping[str, Any]) -> tuple[bool, bool] | None:
    """Whether p50 and p99 are near enough; None where there is no estimate, or nothing to compare it with."""
    if not one["estimated"] or not one["measured"]:
        return None
    return are_near(one["estimated"], one["measured"], WITHIN, HIGH_WITHIN)


def are_near(said: Latency, measured: Latency, within: float, high_within: float) -> tuple[bool, bool]:
    """Whether p50 is near by this share or by `OR_MS`, and p99 by that share."""
    off = {name: abs(said[name] - ms) for name, ms in measured.items()}
    return off["p50"] <= max(OR_MS, within * measured["p50"]), off["p99"] <= high_within * measured["p99"]


def markdown(known: Mapping[str, dict[str, Any]]) -> str:
    """How many estimates are near, and a row for each workload."""
    new = {name for name, *_ in kept_aside("")}
    return "\n".join(
        [
            score([one for name, one in known.items() if one["measured"] and name not in new]),
            "",
            "Of queries on which no number was chosen: "
            + score([one for name, one in known.items() if one["measured"] and name in new]),
            "",
            *HEAD,
            *(_row(name, one) for name, one in known.items() if one["measured"]),
        ]
    )


def score(measured: Sequence[Mapping[str, Any]]) -> str:
    """Return how many estimates are near."""
    said = [found for one in measured if (found := near(one)) is not None]
    return (
        f"{plural(len(measured), 'workload')}; progress gives the latency of {len(said)}, and a reason for the others. "
        f"Beside Kafka's clock, p50 is within 10 % or 15 ms in {sum(one for one, _ in said)} of {len(said)}, and p99 "
        f"within 25 % in {sum(one for _, one in said)}."
    )


def _row(name: str, one: Mapping[str, Any]) -> str:
    estimated = one["estimated"] or {"p50": None, "p99": None}
    cells = [f"{side[stat]:,.0f}" if side[stat] is not None else "-"
             for stat in ("p50", "p99") for side in (estimated, one["measured"])]  # fmt: skip
    found = near(one)
    last = one["says"] if found is None else ", ".join("yes" if answer else "no" for answer in found)
    return f"| {' | '.join([name, *cells, last])} |"


if __name__ == "__main__":
    sys.exit(main())
