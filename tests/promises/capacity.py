"""Whether the rows that a query is said to hold are those at which it falls behind, and an outage is gone in time.

`python -m tests.promises.capacity [--list] [--only TEXT]` runs the workloads beside each other on this machine (Kafka
needs the group lab), each twice: with a load that rises until batches outlast their interval, and at half of what it
then holds, stopped for two minutes and started again. A row costs a wait, not computing, so that what a query holds
follows little of what else the machine does: one row in eight waits 20 ms, since eight queries beside each other made
half as much again of a wait of 2 ms in each. The progress of both runs is kept in `capacity/`. `--judge` reads it and
judges: the first run's batches that took at most two thirds of the interval give the promise; its later ones and the
second run tell what came of it. `lost-in-noise` is an older run on a busy machine, with rows of 20 ms, for a test.
"""

from __future__ import annotations

import gzip
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from advisor.cli.spark import session
from advisor.metrics import Estimate, Missing, measure
from advisor.metrics.capacity import drained_ms, lines
from advisor.metrics.slopes import theil_sen
from advisor.views.text import plural
from advisor.window import run_window
from lab.broker import topics
from lab.processes import scratch
from tests import made
from tests.promises.run import SESSION, kafka, parser

KEPT = Path(__file__).with_name("capacity")
INTERVAL_MS = 10_000
WARM_UP, SECONDS, OUTAGE = 120.0, 900.0, 120.0
"""How long the code of a query is warmed, by another run of it, its load rises, and it is stopped."""
ROW_MS, EVERY = 20, 8
"""One row in so many waits, and for how long: 2.5 ms on average. Spark's own source cannot rise by less than a row."""
LIMIT = 2 / 3
"""Of the interval: so long batches give the promise."""
RISES_TO = 1300.0
"""Rows a second at the end; two tasks hold at most 800. Spark's own source rises by a row each second: to 900."""
Rate = Callable[[float], float]
WAITS = f"java_method('java.lang.Thread', 'sleep', CAST({ROW_MS} AS BIGINT))"
WORK = f"CASE WHEN (value DIV 2) % {EVERY} = 0 THEN {WAITS} END AS work"


@dataclass
class Feed:
    """A source whose load is `start` rows a second at first, and `end` after `seconds`."""

    spark: Any
    place: Path
    end: float
    seconds: float | None
    address: str = ""

    def rate(self, passed: float) -> float:
        return self.end if self.seconds is None else self.end * min(1.0, passed / self.seconds)

    def rows(self) -> Any:
        """Rows with `value` and `timestamp`, of Spark's own source."""
        reader = self.spark.readStream.format("rate").option("rowsPerSecond", max(1, int(self.end)))
        if self.seconds is not None:
            reader = reader.option("rampUpTime", f"{int(self.seconds)}s")
        return reader.option("numPartitions", 2).load()

    def files(self) -> Any:
        folder = self.place / "in"
        folder.mkdir(exist_ok=True)

        def put(number: int, rows: range) -> None:
            made = folder / f".{number:06}"
            made.write_text("".join(f"{row}\n" for row in rows))
            made.rename(folder / f"{number:06}.txt")

        self.put, self.every = put, 0.25
        return self.spark.readStream.text(str(folder)).selectExpr("CAST(value AS BIGINT) AS value")

    def kafka(self) -> Any:
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.address, "linger.ms": 20})
        topic = f"capacity-{self.place.name}"

        def put(number: int, rows: range) -> None:
            for row in rows:
                producer.produce(topic, str(row).encode(), partition=row % 2)
                producer.poll(0)
            producer.flush()

        self.put, self.every, self.topic = put, 0.1, topic
        reader = self.spark.readStream.format("kafka").option("kafka.bootstrap.servers", self.address)
        read = reader.option("subscribe", topic).option("startingOffsets", "earliest").load()
        return read.selectExpr("CAST(CAST(value AS STRING) AS BIGINT) AS value", "timestamp")

    @contextmanager
    def running(self) -> Iterator[None]:
        """While it lasts rows come."""
        with ExitStack() as stack:
            if hasattr(self, "topic"):
                stack.enter_context(topics(self.address, self.topic, partitions=2))
            over = threading.Event()
            if hasattr(self, "put"):
                worker = threading.Thread(target=self._work, args=(over,), daemon=True)
                worker.start()
                stack.callback(worker.join)
            stack.callback(over.set)
            yield

    def _work(self, over: threading.Event) -> None:
        begun, made, number = time.monotonic(), 0.0, 0
        last = begun
        while not over.wait(max(0.0, last + self.every - time.monotonic())):
            now = time.monotonic()
            due = made + self.rate(now - begun) * (now - last)
            if int(due) > int(made):
                self.put(number, range(int(made), int(due)))
            made, last, number = due, now, number + 1


def _work(frame: Any) -> Any:
    return frame.selectExpr("value", WORK)


def _noop(frame: Any, mode: str = "append") -> Any:
    return frame.writeStream.format("noop").outputMode(mode)


def _aggregated(feed: Feed) -> Any:
    keyed = feed.rows().selectExpr("value % 20000 AS key", WORK)
    return _noop(keyed.groupBy("key").agg({"work": "max"}), "update")


def _once(feed: Feed) -> Any:
    seen = feed.rows().withWatermark("timestamp", "5 seconds").selectExpr("value DIV 2 AS key", "timestamp", WORK)
    return _noop(seen.dropDuplicatesWithinWatermark(["key"]))


def _joined(feed: Feed) -> Any:
    from pyspark.sql import functions as f

    left, right = (
        feed.rows()
        .selectExpr(f"value AS {side}", f"timestamp AS {side}_at", WORK.replace(" AS work", f" AS work_{side}"))
        .withWatermark(f"{side}_at", "5 seconds")
        for side in ("one", "other")
    )
    near = "one = other AND other_at BETWEEN one_at AND one_at + INTERVAL 2 SECONDS"
    return _noop(left.join(right, f.expr(near)))


def _in_foreach(feed: Feed) -> Any:
    table = str(feed.place / "table")
    return _work(feed.rows()).writeStream.foreachBatch(lambda rows, _: rows.write.mode("append").parquet(table))


WORKLOADS: Mapping[str, tuple[Callable[[Feed], Any], bool]] = {
    "rate to nowhere": (lambda feed: _noop(_work(feed.rows())), True),
    "files to nowhere": (lambda feed: _noop(_work(feed.files())), True),
    "Kafka to nowhere": (lambda feed: _noop(_work(feed.kafka())), True),
    "aggregation": (_aggregated, True),
    "deduplication": (_once, True),
    "stream-stream join": (_joined, True),
    "foreachBatch to Parquet": (_in_foreach, True),
    "default trigger": (lambda feed: _noop(_work(feed.rows())), False),
}
"""What is run, and whether it has an interval."""


def main() -> None:
    """Run the chosen workloads; or judge what is kept."""
    words = parser("capacity", __doc__)
    words.add_argument("--judge", action="store_true", help="run nothing, judge what is kept")
    asked = words.parse_args()
    names = [name for name in WORKLOADS if any(part in name for part in asked.only.split("|"))]
    if asked.list or not names:
        print("\n".join(names) or f"no workload holds {asked.only!r}")
        return
    if asked.judge:
        print(markdown({name: judged(name) for name in names if kept(name).exists()}))
        return
    settings = SESSION | {
        "spark.master": "local[20]",
        "spark.scheduler.mode": "FAIR",
        "spark.sql.files.minPartitionNum": "2",
        "spark.sql.files.openCostInBytes": "1",  # else many small files are many tasks
        "spark.sql.streaming.numRecentProgressUpdates": "2000",
    }
    with session("capacity", settings) as spark, ExitStack() as stack:
        address = stack.enter_context(kafka(spark)) if any("Kafka" in name for name in names) else ""
        thread = spark._jvm.java.lang.Thread
        found_by = thread.currentThread().getContextClassLoader()  # the connector's classes, in the pool's threads too
        with ThreadPoolExecutor(
            len(names), initializer=lambda: thread.currentThread().setContextClassLoader(found_by)
        ) as pool:
            for name, found in zip(names, pool.map(lambda name: _measured(spark, name, address), names), strict=True):
                print(name, found, flush=True)


def _measured(spark: Any, name: str, address: str) -> dict[str, float]:
    build, fixed = WORKLOADS[name]

    def run(end: float, seconds: float | None, lasts: float, outage: float = 0.0) -> list[Any]:
        with scratch() as place:
            feed = Feed(spark, place, end, seconds, address)
            writer = build(feed).option("checkpointLocation", str(place / "checkpoint"))
            writer = writer.trigger(processingTime=f"{INTERVAL_MS} milliseconds") if fixed else writer
            with feed.running():
                found = _events(writer, lasts)
                if outage:
                    time.sleep(outage)
                    found += _events(writer, 300.0, until_calm=True)
        return found

    run(0.2 * RISES_TO, None, WARM_UP)
    rising = run(RISES_TO, SECONDS, SECONDS)
    half = 0.5 * _fitted(rising, fixed) / len(rising[-1].sources)
    drained = run(half, None, 40.0, OUTAGE)
    KEPT.mkdir(exist_ok=True)
    with gzip.open(kept(name), "wt") as out:
        out.writelines(f"{event.json}\n" for event in (*rising, *drained) if event.numInputRows)
    return {"half": round(half), "rising": len(rising), "drained": len(drained)}


def _events(writer: Any, seconds: float, until_calm: bool = False) -> list[Any]:
    """Progress of a run that lasts so long, or until its batches have outlasted their interval, or keep it again."""
    query, begun = writer.start(), time.monotonic()
    try:
        took: list[int] = []
        while time.monotonic() - begun < seconds and query.exception() is None:
            time.sleep(1.0)
            took = [event.durationMs.get("triggerExecution", 0) for event in query.recentProgress if event.numInputRows]
            late = [ms > (0.9 if until_calm else 1.15) * INTERVAL_MS for ms in took]
            if (until_calm and len(took) > 3 and not any(late[-2:])) or (len(took) > 40 and all(late[-5:])):
                break
        if query.exception():
            raise RuntimeError(str(query.exception()))
        return list(query.recentProgress)
    finally:
        query.stop()


def _fitted(events: list[Any], fixed: bool) -> float:
    """Rows a second at which a straight line through the batches reaches the interval; without one, its slope's."""
    found = [(e.numInputRows, e.durationMs["triggerExecution"]) for e in events if e.numInputRows][4:]
    rows, took = np.array(found, dtype=float).T
    slope, fixed_cost = np.polyfit(rows, took, 1)
    return float(max(INTERVAL_MS - fixed_cost, 500) / slope / INTERVAL_MS * 1000 if fixed else 1000 / slope)


def kept(name: str) -> Path:
    """Return the file of a workload's progress."""
    return KEPT / f"{name.replace(' ', '-')}.jsonl.gz"


def judged(name: str) -> dict[str, Any]:
    """Return what the quick batches of the rising run promise, and what came of it."""
    fixed = WORKLOADS[name][1]
    with gzip.open(kept(name), "rt") as file:
        events = [json.loads(line) for line in file]
    runs = [list(run) for _, run in groupby(events, key=lambda event: event["runId"])]
    rising, before, drained = (run_window(made.table(run), _facts(fixed)) for run in runs)
    quick = rising.executed["trigger_execution_ms"] <= LIMIT * INTERVAL_MS
    until = len(quick) if quick.all() else int(np.argmin(quick | rising.executed["cold"]))
    early = run_window(made.table(runs[0][:until]), _facts(fixed))
    held, drawn = measure(early, "capacity_per_second"), lines(early)
    took, started = drained.executed["trigger_execution_ms"], drained.executed["timestamp"]
    rows, begun = (before.executed[name] for name in ("input_rows", "timestamp"))
    load = float(rows[1:].sum() / (begun[-1] - begun[0]))
    promised = None
    if not isinstance(drawn, Missing):
        outage = float(started[0] - before.executed["timestamp"][-1])
        promised = drained_ms(drawn[1], load, INTERVAL_MS if fixed else 0.0, None, outage)
    largest = int(np.argmax(drained.executed["input_rows"]))  # a batch that was begun before the outage comes first
    calm = took[largest:] <= INTERVAL_MS
    ended = float((started + took)[largest:][calm.argmax()] - started[0])
    return {
        "batches": len(early),
        "promised": held if isinstance(held, Estimate) else None,
        "says": held.reason if isinstance(held, Missing) else "",
        "measured": _crossing(rising) if fixed else _slope(rising),
        "drain_promised": promised,
        "drain_measured": ended if fixed and calm.any() else None,
    }


def _facts(fixed: bool) -> Any:
    known = {"trigger": "processing_time", "trigger_interval_ms": INTERVAL_MS} if fixed else {"trigger": "unspecified"}
    return made.facts(**known)


def _crossing(rising: Any) -> float | None:
    """Return the rows a second at which batches were as long as the interval, by those around it; None if none was."""
    rows, took = (rising.executed[name] for name in ("input_rows", "trigger_execution_ms"))
    near = (took > 0.7 * INTERVAL_MS) & (took < 1.6 * INTERVAL_MS) & ~rising.executed["cold"]
    if not (took[near] > INTERVAL_MS).any():
        return None
    slope = theil_sen(took[near], rows[near]).safe
    return 1000 * float(np.median(rows[near] + (INTERVAL_MS - took[near]) / slope)) / INTERVAL_MS


def _slope(rising: Any) -> float:
    """Return the rows a second at which batches never stop growing, by the larger half of them."""
    rows, took = (rising.executed[name] for name in ("input_rows", "trigger_execution_ms"))
    large = rows >= np.median(rows)
    return 1000 / theil_sen(took[large], rows[large]).safe


def markdown(found: Mapping[str, dict[str, Any]]) -> str:
    """Return the score in a sentence, and a row for each workload."""
    told = [one for one in found.values() if one["promised"] is not None and one["promised"].value is not None]
    told = [one for one in told if one["measured"] is not None]
    near = sum(abs(one["promised"].value / one["measured"] - 1) <= 0.15 for one in told)
    inside = sum(one["promised"].low <= one["measured"] <= one["promised"].high for one in told)
    drains = [one for one in found.values() if one["drain_promised"] and one["drain_measured"]]
    in_time = sum(abs(one["drain_promised"] / one["drain_measured"] - 1) <= 0.2 for one in drains)
    return "\n".join(
        [
            f"{plural(len(found), 'workload')}, {len(told)} with a number and driven to the end: the rows are within "
            f"15 % in {near} and inside the interval in {inside} of {len(told)}; the time to work off an outage is "
            f"within 20 % in "
            f"{in_time} of {len(drains)}.",
            "",
            "| workload | batches seen | held, rows/s | measured | outage worked off, s | measured |",
            "|---|---:|---|---:|---:|---:|",
            *(_row(name, one) for name, one in found.items()),
        ]
    )


def _row(name: str, one: Mapping[str, Any]) -> str:
    held = one["promised"]
    said = one["says"].partition(";")[0] if held is None else f"{held.safe:.1f} ({held.low:.1f} to {held.high:.1f})"
    measured = "not reached" if one["measured"] is None else format(one["measured"], ".1f")
    seconds = ["-" if one[key] is None else f"{one[key] / 1000:.0f}" for key in ("drain_promised", "drain_measured")]
    return f"| {' | '.join([name, str(one['batches']), said, measured, *seconds])} |"


if __name__ == "__main__":
    sys.exit(main())
