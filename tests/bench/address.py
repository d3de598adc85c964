"""A driver's address beside the event log of the same run: `python -m tests.bench.address [PYTHON...] [--only NAME]`.

For each Spark (its python) and each workload of tests/record/ui_queries.py a row: batches that the pages show of the
last hundred, how far phases differ, task slots, headline and first step of both ways, and what a report took.
Then, of one query, the median batch while it is asked every ten seconds and while it is not, in turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

import advisor
from advisor.sources.ui.driver import Driver
from advisor.sources.ui.web import Server
from tests.record.ui import batches_of, running

WORKLOADS = ("stateless", "aggregation", "join", "foreach-batch", "files", "two")
SHOWN = 100


def main() -> None:
    """Print both tables as Markdown."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("pythons", nargs="*", default=[sys.executable])
    given.add_argument("--only", action="append")
    given.add_argument("--batches", type=int, default=SHOWN)
    given.add_argument("--turns", type=int, default=0, help="instead: turns of 30 s each, asked and not asked")
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
    with running(workload, work, python) as address:
        batches_of(Driver(Server(address), stages=False), 2 if workload == "two" else 1, batches)
        begin = time.monotonic(), time.process_time()
        pages = advisor.analyze(address)
        took = time.monotonic() - begin[0], time.process_time() - begin[1]
        table = advisor.read_progress(address)
    return compared(workload, pages, table, str(next((work / "events").iterdir())), took)


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
        "; ".join(same(*map(step, pair)) for pair in pairs),
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


def same(one: str, other: str) -> str:
    """One word where both agree."""
    return f"same ({one})" if one == other else f"{one}, log: {other}"


def cost(python: str, work: Path, turns: int) -> str:
    """The query while it is asked, and while it is not."""
    spans: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    with running("aggregation", work, python) as address:
        driver = Driver(Server(address))
        batches_of(driver, 1, SHOWN)
        for turn in range(2 * turns):
            begin = time.time()
            with asking(driver, on=turn % 2 == 1):
                time.sleep(30)
            spans[turn % 2 == 1].append((begin, time.time()))
    table = advisor.read_progress(str(next((work / "events").iterdir())))
    starts = table["timestamp"].map(pd.Timestamp.timestamp)
    found = {}
    for on, each in spans.items():
        within = [table["trigger_execution_ms"][(starts >= begin) & (starts < end)].median() for begin, end in each]
        found[on] = [float(ms) for ms in within]
    ratio = statistics.median(one / other for one, other in zip(found[True], found[False], strict=True))
    return f"asked every 10 s: median batch {found[True]} ms; not asked: {found[False]} ms; median ratio {ratio:.3f}"


@contextmanager
def asking(driver: Driver, *, on: bool) -> Iterator[None]:
    """Ask every ten seconds on a thread, if at all."""
    over = threading.Event()

    def ask() -> None:
        while on and not over.is_set():
            driver.look()
            over.wait(10)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    main()
