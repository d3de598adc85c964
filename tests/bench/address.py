"""A driver's address beside the event log of the same run: `python -m tests.bench.address [PYTHON...] [--only NAME]`.

For each Spark (its python) and each workload of tests/record/ui_queries.py a row: batches that the pages show of the
last hundred, how far phases differ, task slots, headline and first step of both ways, and what a report took.
`--only kafka` needs the group lab. With `--turns`, of one query, the median batch while it is asked every ten seconds
and while it is not, in turns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import advisor
from advisor.sources.ui.driver import Driver
from advisor.sources.ui.web import Server
from tests.record.ui import batches_of, running

WORKLOADS = ("stateless", "aggregation", "join", "foreach-batch", "files", "two")
SHOWN = 100
EVERY = 10  # seconds between two looks of `watch`


def main() -> None:
    """Print both tables as Markdown."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("pythons", nargs="*", default=[sys.executable])
    given.add_argument("--only", action="append")
    given.add_argument("--batches", type=int, default=SHOWN)
    given.add_argument("--turns", type=int, default=0, help="instead: pairs of 10 s, asked once and not")
    asked = given.parse_args()
    print(
        "| Spark | workload | batches | phases apart | length apart | slots | headline | first step | report |",
        flush=True,
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for python in asked.pythons:
        for workload in asked.only or (() if asked.turns else WORKLOADS):
            with tempfile.TemporaryDirectory() as place:
                print(row(python, workload, Path(place), asked.batches), flush=True)
    if asked.turns:
        with tempfile.TemporaryDirectory() as place:
            print(cost(asked.pythons[0], Path(place), asked.turns), flush=True)


def row(python: str, workload: str, work: Path, batches: int) -> str:
    """One workload on one Spark."""
    with served(workload, work, python) as jars, running(workload, work, python, *jars) as address:
        batches_of(Driver(Server(address), stages=False), 2 if workload == "two" else 1, batches)
        begin = time.monotonic(), time.process_time()
        pages = advisor.analyze(address)
        took = time.monotonic() - begin[0], time.process_time() - begin[1]
        table = advisor.read_progress(address)
    return compared(workload, pages, table, str(next((work / "events").iterdir())), took)


@contextmanager
def served(workload: str, work: Path, python: str) -> Iterator[tuple[str, ...]]:
    """For `kafka` a broker with a load, and the connector's jars for that Python's Spark; else nothing."""
    if workload != "kafka":
        yield ()
        return
    from advisor.cli.spark import session
    from lab import jars
    from lab.broker import broker, topics
    from lab.load import Load
    from tests.legality.outcomes import JARS

    asked = [python, "-c", "import pyspark; print(pyspark.__version__)"]
    version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    with (
        session("kafka", {}) as spark,
        broker(spark) as address,
        topics(address, "incoming", partitions=2),
        topics(address, "outgoing", partitions=2),
        Load(address, "incoming", 200),
    ):
        (work / "bootstrap").write_text(address)
        yield (",".join(map(str, jars.fetched(spark, JARS[version]["kafka"]))),)


def compared(workload: str, pages: Any, table: pd.DataFrame, logs: str, took: tuple[float, float]) -> str:
    """What the pages gave beside the event log; `took`: seconds of a report, and of CPU time here."""
    whole = advisor.read_progress(logs)
    keys = ["run_id", "batch_id", "timestamp"]
    seen = table[~table["idle"]].merge(whole[~whole["idle"]], on=keys, suffixes=("", "_log"))
    phases = [f"{name}_ms" for name in PHASES if f"{name}_ms_log" in seen]
    apart = max(float((seen[name] - seen[f"{name}_log"]).abs().max()) for name in phases)
    length = (seen["trigger_execution_ms"] - seen["trigger_execution_ms_log"]).abs()
    last = whole[~whole["idle"] & (whole["timestamp"] <= table["timestamp"].max())].groupby("run_id").tail(SHOWN)
    log = advisor.analyze(logs, since=str(table["timestamp"].min()), until=str(table["timestamp"].max()))
    first = {query["run_id"]: query for query in log.data["queries"]}
    pairs = [(query, first[query["run_id"]]) for query in pages.data["queries"]]
    cells = [
        pages.data["queries"][0]["spark_version"],
        workload,
        f"{len(last.merge(table, on=keys))} of {len(last)}",
        f"{apart:.0f} ms",
        f"{length.median():.0f}, at most {length.max():.0f} ms",
        " ".join(sorted({f"{slots(one)}/{slots(other)}" for one, other in pairs})),
        "; ".join(same(*map(headline, pair)) for pair in pairs),
        "; ".join(same(*map(step, pair)) + promises(*pair) for pair in pairs),
        f"{took[0]:.1f} s, CPU {took[1]:.1f} s, {pages.typed.input.bytes / 1e6:.1f} MB",
    ]
    return "| " + " | ".join(cells) + " |"


PHASES = ("add_batch", "latest_offset", "get_batch", "query_planning", "wal_commit", "commit_offsets")


def slots(query: dict[str, Any]) -> Any:
    """Its task slots."""
    return query["facts"]["task_slots"]["value"]


def headline(query: dict[str, Any]) -> str:
    """The rule on top."""
    return query["findings"][0]["rule"] if query["findings"] else "none"


def step(query: dict[str, Any]) -> str:
    """The step to take first."""
    best = query["best_step"]
    return json.dumps(best["step"] if best else None)[:60].strip('"')


def promises(one: dict[str, Any], other: dict[str, Any]) -> str:
    """What the pages promise of the same first step, as a multiple of what the log promises."""
    saved = [found["best_step"] and found["best_step"]["advice"]["saves_ms"] for found in (one, other)]
    if step(one) != step(other) or not all(saved):
        return ""
    return f" × {saved[0]['high'] / saved[1]['high']:.2f}"


def same(one: str, other: str) -> str:
    """One word where both agree."""
    return f"same ({one})" if one == other else f"{one}, log: {other}"


def cost(python: str, work: Path, turns: int) -> str:
    """The query while it is asked, and while it is not, in the order A B B A: the median ratio of the pairs."""
    spans: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    with running("aggregation", work, python) as address:
        driver = Driver(Server(address))
        batches_of(driver, 1, SHOWN)
        for turn in range(2 * turns):
            begin, on = time.time(), turn % 4 in (1, 2)
            with asking(driver, on=on):
                time.sleep(EVERY)
            spans[on].append((begin, time.time()))
    table = advisor.read_progress(str(next((work / "events").iterdir())))
    starts = table["timestamp"].map(pd.Timestamp.timestamp)
    found = {
        on: np.array(
            [table["trigger_execution_ms"][(starts >= begin) & (starts < end)].median() for begin, end in each]
        )
        for on, each in spans.items()
    }
    ratios = np.log(found[True] / found[False])
    drawn = np.median(np.random.default_rng(0).choice(ratios, (4000, turns)), axis=1)
    middle, low, high = np.exp([np.median(ratios), *np.quantile(drawn, [0.025, 0.975])])
    medians = [np.median(found[on]) for on in (True, False)]
    return (
        f"{turns} pairs, asked every {EVERY} s: median batch {medians[0]:.0f} ms, not asked {medians[1]:.0f} ms; "
        f"median ratio {middle:.3f} ({low:.3f} to {high:.3f}); quartiles of the ratios "
        f"{np.exp(np.quantile(ratios, 0.25)):.2f} and {np.exp(np.quantile(ratios, 0.75)):.2f}"
    )


@contextmanager
def asking(driver: Driver, *, on: bool) -> Iterator[None]:
    """Ask every ten seconds on a thread, if at all."""
    over = threading.Event()

    def ask() -> None:
        while on and not over.is_set():
            driver.look()
            over.wait(EVERY)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    main()
