"""Workloads that no promise was calibrated on, diagnosed, promised and measured: `python workloads.py [NAME...]`.

Each runs once as it is, its logs are analyzed as a user would, and the best legal step is then tried in turns, A B B A
(then B A, then A B, as long as its share of the time lasts), every run in an application of its own. Rows go to a file
one by one; a row that is there is not made again, unless it failed. `--dry` measures nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import run
import savings
from cases import CHANGELOG, EIGHT_PARTITIONS, MAIN, RATE, ROCKSDB, Case, Made, Run
from sparks import CACHE, Lab

import advisor
from advisor.comparison.interleaved import Arm, order
from advisor.errors import AdvisorError
from tests.promises.calibrate import MEASURED

FEWEST, MOST = 4, 8
"""Runs of a workload whose step is tried."""
DRY = {"A": (14, 150), "B": (3, 90)}
"""Batches and seconds of a dry run without the step, and with it."""
HEAD = (
    "| workload | what a good engineer says | diagnosis | judged | step | before | after | saved | promised | |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)
UNHURRIED = {"kind": "kafka", "rows_per_second": 200}


class Workload(NamedTuple):
    """A query, what a good engineer says of it (written before it ran), and how its diagnosis was judged afterwards.

    `by_hand`: what changes in the case by steps whose change is code; None where nothing here stands for the code.
    """

    case: Case
    cause: str
    judged: str = ""
    by_hand: Mapping[str, Made | None] = {}

    @property
    def name(self) -> str:
        """What it is called on the command line and in the table."""
        return self.case.name.split("/")[1]


def kafka(**more: Any) -> Made:
    """A topic of Kafka, and options of its source."""
    return {"format": "kafka", "feed": more.pop("feed"), **more}


def case(name: str, batches: int = 45, seconds: int = 40, **more: Any) -> Case:
    """A case that keeps its driver log and its event log."""
    source = more.setdefault("source", RATE)
    needs = ("kafka",) if source["format"] == "kafka" else ()
    return Case(f"workload/{name}", name, keep=("text", "eventlog"), runs=(Run(batches, seconds),), needs=needs, **more)


FEWER = {"conf": {"spark.sql.shuffle.partitions": "2"}}
STATE_BY_HAND = {"offline-state-repartition": FEWER}
"""On a new checkpoint the number is a setting: the batches are the same as after the repartition of an old one."""
TO_KAFKA = {"format": "kafka"}

WORKLOADS = (
    Workload(
        case("session-windows", source=kafka(feed={"kind": "kafka", "rows_per_second": 1000}),
             shape={"name": "sessions", "keys": 2000}, sink=TO_KAFKA, conf=EIGHT_PARTITIONS),
        "eight state partitions on two slots: four waves of small tasks, each with a commit of its own; two would do",
        by_hand=STATE_BY_HAND,
    ),
    Workload(
        case("outer-join", source={**RATE, "rowsPerBatch": "500"}, shape={"name": "unmatched"},
             conf={**ROCKSDB, "spark.sql.shuffle.partitions": "3"}, batches=40, seconds=45),
        "a join keeps four stores per partition, and RocksDB without changelogs writes a snapshot of each: changelogs",
        by_hand=STATE_BY_HAND,
    ),
    Workload(
        case("state-in-pandas", source={**RATE, "rowsPerBatch": "3000"},
             shape={"name": "state_in_pandas", "keys": 1500}, output_mode="update"),
        "a Python call for each key of a batch: state in Python; a plain aggregation would do it in Spark",
    ),
    Workload(
        case("transform-with-state", source={**RATE, "rowsPerBatch": "2000"},
             shape={"name": "last_values", "keys": 600}, output_mode="update",
             conf={**CHANGELOG, "spark.sql.shuffle.partitions": "2"}),
        "each key costs some calls between Python and the state store: state in Python",
    ),
    Workload(
        case("deduplication-within-a-minute", source={**RATE, "rowsPerBatch": "40000"},
             shape={"name": "once_within_watermark"}, conf={**CHANGELOG, "spark.sql.shuffle.partitions": "2"}),
        "40,000 new rows of state in every batch, each looked up and counted by RocksDB: no count of rows",
    ),
    Workload(
        case("many-small-files", shape={"name": "plain"}, sink={"format": "parquet"},
             source={"format": "files", "maxFilesPerTrigger": "25",
                     "feed": {"kind": "files", "files": 4000, "rows": 5, "every_seconds": 0}}),
        "4,000 files of five rows: each trigger lists all, a batch opens 25: larger files, a clean folder",
    ),
    Workload(
        case("two-queries", shape={"name": "work_on_rows", "rounds": 1}, batches=40,
             beside={"source": {**RATE, "rowsPerBatch": "40000", "numPartitions": "2"},
                     "shape": {"name": "skewed_shuffle", "rounds": 40, "spread": True}}),
        "waits for the slots that the other query holds: a fair scheduler, or more slots",
    ),
    Workload(
        case("skewed-shuffle", source={**RATE, "rowsPerBatch": "20000"}, batches=30,
             shape={"name": "skewed_shuffle", "rounds": 16}),
        "nine of ten rows fall into one shuffle partition: one task works, the other slot idles; spread the key",
    ),
    Workload(
        case("scored-by-batch-id", sink={"foreach_batch": "scored_by_batch_id"}, batches=40),
        "the batch's id is a number in the expressions, so code is generated and compiled anew in every batch",
    ),
    Workload(
        case("capped-backlog", shape={"name": "to_kafka", "rounds": 1}, sink=TO_KAFKA,
             source=kafka(feed={"kind": "kafka", "rows_per_second": 3000}, maxOffsetsPerTrigger="250")),
        "a batch may take 250 records while 3,000 a second come: the backlog grows; raise the limit",
    ),
    Workload(
        case("three-actions-on-sparse-kafka", sink={"foreach_batch": "largest_and_two_tables"}, batches=35, seconds=45,
             source=kafka(feed={"kind": "kafka", "rows_per_second": 20, "partitions": 4})),
        "three actions read few records from Kafka three times, each waits for fetches: a short fetch wait, or persist",
        by_hand={"persist-in-foreach-batch": {"sink": {"foreach_batch": "largest_and_two_tables_persisted"}}},
    ),
    Workload(
        case("words-in-python", source={**RATE, "rowsPerBatch": "60000"}, shape={"name": "words_in_python"}),
        "a Python function for each row that Spark has a function for: regexp_extract_all",
        by_hand={"spark-functions": {"shape": {"name": "words_in_python", "spark": True}}},
    ),
    Workload(
        case("wide-json", shape={"name": "wide_json", "fields": 220}, batches=35, seconds=45),
        "220 fields and expressions are planned and generated anew in every batch: fewer columns, or one struct",
    ),
    Workload(
        case("shuffled-table", shape={"name": "beside_shuffled_table", "rows": 250_000}, batches=30, seconds=45),
        "a table that does not change is read, shuffled and sorted in every batch: cache it, broadcast it",
        by_hand={"cache-static-side": {"shape": {"name": "beside_shuffled_table", "rows": 250_000, "cached": True}}},
    ),
    Workload(
        case("every-second", source=kafka(feed=UNHURRIED), shape={"name": "to_kafka"}, sink=TO_KAFKA,
             trigger="1 second", batches=40, seconds=50),
        "records wait for the interval of a second, the batch takes a tenth of it: a shorter interval",
    ),
    Workload(
        case("200-state-partitions", source=kafka(feed=UNHURRIED), sink=TO_KAFKA, output_mode="update",
             shape={"name": "counted_in_windows", "keys": 20, "window": "5 seconds", "delay": "10 seconds"},
             conf={"spark.sql.shuffle.partitions": ""}, batches=15, seconds=50),
        "20 keys in the default of 200 state partitions: far fewer, in a new checkpoint",
        by_hand={"offline-state-repartition": FEWER},
    ),
    Workload(
        case("large-rocksdb-state", source={**RATE, "rowsPerBatch": "40000"}, output_mode="update", batches=30,
             shape={"name": "count_by_key", "keys": 400_000}, conf={**ROCKSDB, "spark.sql.shuffle.partitions": "2"}),
        "40,000 rows of state change in every batch, and each commit writes a snapshot of RocksDB: changelogs",
        by_hand=STATE_BY_HAND,
    ),
    Workload(
        case("window_results_wait", trigger="1 second", sink={"format": "memory"}, batches=40, seconds=45,
             source={"format": "rate", "rowsPerSecond": "100", "numPartitions": "2"},
             shape={"name": "counted_in_windows", "keys": 5, "window": "10 seconds", "delay": "1 minute"}),
        "in append mode a window comes out when the watermark has passed it, 70 s: a shorter delay, if rows allow it",
    ),
)  # fmt: skip


def main() -> None:
    """Run the workloads whose row is missing, then print the table."""
    arguments = parser().parse_args()
    if arguments.join:
        join(json.loads(arguments.out.read_text()))
        return
    rows = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    known = {work.name: work for work in WORKLOADS}
    chosen = [known[name] for name in arguments.name or known]
    left = [work for work in chosen if "failed" in rows.get(work.name, {"failed": ""})]
    end, lab = time.monotonic() + 60 * arguments.minutes, Lab(CACHE)
    for number, work in enumerate(left):
        began = time.monotonic()
        if began > end:
            print("the time is over; the same command goes on from here")
            break
        share = (end - began) / (len(left) - number)
        rows[work.name] = attempt(work, lab, share, dry=arguments.dry, logs=arguments.logs)
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")
        took, gone = time.monotonic() - began, 60 * arguments.minutes - (end - time.monotonic())
        print(
            f"{number + 1} of {len(left)} in {took:.0f} s, {gone / 60:.1f} min in all: {line(work, rows)}", flush=True
        )
    print("\n".join([HEAD, *(line(work, rows) for work in chosen)]))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="workloads.py", description=__doc__)
    made.add_argument("name", nargs="*", help="workloads, such as session-windows; without any, all")
    made.add_argument("--minutes", type=float, default=40.0, help="for all of them (default: %(default)g)")
    made.add_argument("--dry", action="store_true", help="few batches, each side once: only whether all of it works")
    made.add_argument("--join", action="store_true", help="add the rows that are there to tests/promises, and end")
    made.add_argument("--logs", type=Path, help="a folder that keeps the logs of each first run")
    made.add_argument("--out", type=Path, default=run.HERE / "workloads.json", help="the rows (default: %(default)s)")
    return made


def attempt(work: Workload, lab: Lab, seconds: float, *, dry: bool, logs: Path | None) -> Made:
    """The row of a workload; where it fails, why."""
    try:
        return measured(work, lab, seconds, dry=dry, logs=logs)
    except (OSError, subprocess.SubprocessError, AdvisorError, LookupError, AssertionError, RuntimeError) as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def measured(work: Workload, lab: Lab, seconds: float, *, dry: bool, logs: Path | None) -> Made:
    """What is diagnosed of the first run, and what its best step saves in the runs that follow."""
    began, base = time.monotonic(), shortened(work.case, "A") if dry else work.case
    with contextlib.nullcontext(logs) if logs else tempfile.TemporaryDirectory() as out:
        kept = savings.play(base, MAIN, lab, Path(out))
        row = diagnosis(work, kept)
        change = changed(work, row["step"], row.pop("change"))
        if change is None:
            return row
        pair = savings.Pair(work.name, base, change, row["step"], MAIN, base.runs)
        told: list[tuple[Arm, savings.Told]] = [("A", savings.told(pair, kept))]
    both = savings.sides(pair)
    for turn in turns(began + seconds, dry=dry):
        side = shortened(both[turn], turn) if dry else both[turn]
        with tempfile.TemporaryDirectory() as out:
            told.append((turn, savings.told(pair, savings.play(side, MAIN, lab, Path(out)))))
    if dry:
        return row | {"dry": [[turn, round(run.level)] for turn, run in told]}
    tried = savings.outcome(told)
    return row | {
        "measured": tried.cells(),
        "of": savings.level_of(pair.step)[0],
        "case": as_case(work.name, pair.step, tried),
    }


def as_case(name: str, step: str, tried: savings.Tried) -> Made:
    """What was measured, as tests/promises keeps its cases."""
    saves, before = savings.CATALOGUE.steps[step].saves, fmean(tried.before)
    ends = {"low": tried.saved.low, "high": tried.saved.high}
    metric = tried.metric and {
        "name": saves.metric if saves else "",
        **{
            end: round(getattr(tried.metric, of), 2)
            for end, of in (("low", "low"), ("value", "safe"), ("high", "high"))
        },
    }
    return {
        "case": {"workload": name.replace("-", " ").replace("_", " "), "settings": "as it came", "step": step},
        "spark": MAIN,
        "before_ms": round(before, 2),
        "after_ms": round(before - tried.saved.safe, 2),
        "saved_ms": round(tried.saved.safe, 2),
        "saved_between_ms": [round(ms, 2) for ms in ends.values()],
        "promised_ms": tried.promise and {end: round(getattr(tried.promise, end), 2) for end in ("low", "high")},
        "runs": len(tried.before) + len(tried.after),
        "metric_ms": metric,
        "on": date.today().isoformat(),
    }


def join(rows: Mapping[str, Made]) -> None:
    """Add what was measured to the cases that promises are calibrated on."""
    known = json.loads(MEASURED.read_text())
    known |= {f"workload/{name}": row["case"] for name, row in rows.items() if "case" in row}
    MEASURED.write_text(json.dumps(known, indent=1) + "\n")


def turns(end: float, *, dry: bool) -> Iterator[Arm]:
    """The turns after the first A: to four runs, then two at a time to eight, while they are likely to end in time."""
    began = time.monotonic()
    for done, turn in enumerate(order(MOST)[1:], start=1):
        now = time.monotonic()
        late = done >= FEWEST and done % 2 == 0 and now + 2 * (now - began) / (done - 1) > end
        if late or (dry and done > 1):
            return
        yield turn


def shortened(base: Case, turn: Arm) -> Case:
    """The case with the few batches of a dry run."""
    return replace(base, runs=(Run(*DRY[turn]),))


def diagnosis(work: Workload, kept: Path) -> Made:
    """What a user reads of the run first: the verdict, the largest loss, the step to take with what it promises."""
    queries = advisor.analyze([str(path) for path in sorted(kept.glob("*log*"))]).data["queries"]
    query = next(query for query in queries if query["name"] == work.name)
    best, loss = query["best_step"], query["screen"]["loss"]
    advice = best["advice"] if best else {}
    return {
        "verdict": query["verdict"],
        "loss": loss and f"{loss.get('name') or loss['kind']}: {loss['says']}",
        "rules": [finding["rule"] for finding in query["findings"]],
        "rule": best and best["rule"],
        "step": best and best["step"],
        "do": advice.get("do"),
        "legal": advice.get("legal"),
        "saves_ms": advice.get("saves_ms"),
        "saves_latency_ms": advice.get("saves_latency_ms"),
        "change": advice.get("change"),
    }


def changed(work: Workload, step: str | None, change: Made | None) -> Made | None:
    """What a step changes in the case; None where there is no step, or it is code that nothing here stands for."""
    if step in work.by_hand:
        return work.by_hand[step]
    if not change or change.get("code") or any("<" in str(value) for value in change.values()):
        return None
    made = {"conf": change["conf"]} if change.get("conf") else {}
    if change.get("reader_option"):
        made["source"] = {**work.case.source, **change["reader_option"]}
    if change.get("writer_option"):
        made["options"] = {**work.case.options, **change["writer_option"]}
    if change.get("trigger"):
        made["trigger"] = change["trigger"].get("processing_time")
    return made if made.get("trigger", "-") else None


def line(work: Workload, rows: Mapping[str, Made]) -> str:
    """A row of the table."""
    row = rows.get(work.name, {"failed": "not run yet"})
    if "failed" in row:
        return f"| {work.name} | {work.cause} | failed: {row['failed'][:200]} |"
    step = f"`{row['step']}` ({row['rule']})" if row["step"] else "none"
    cells = row.get("measured") or ["", "", "", "", str(row.get("dry", "not measured"))]
    return f"| {' | '.join([work.name, work.cause, row['verdict'], work.judged, step, *cells])} |"


if __name__ == "__main__":
    main()
