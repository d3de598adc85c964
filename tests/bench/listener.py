"""What listening costs: ratios in one run to PySpark's own listener with empty callbacks, and to no listener.

`python tests/bench/listener.py [--batches 500] [--only events|query|day]` needs Java. Events: wall and CPU time
of this process per event, decode and table included, on turns of the same query. Query: medians of
triggerExecution with no listener, with ours, with PySpark's, in turns, with 95 % intervals of a bootstrap over the
turns. Day: 86,400 events.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from advisor.catalogue import load
from advisor.session.judging import Judging
from advisor.sources.listener.events import OfPython
from advisor.wishes import user_wishes
from tests.made import event
from tests.sources.sessions import recorder

TURN = 50
"""Batches of one turn; the first five of each are left out."""
TARGETS = {"wall": 1 / 20, "cpu": 1 / 20, "trigger": 1.03, "report": 1.0}


@dataclass
class Cost:
    """Seconds of wall and CPU time for some events."""

    wall: float = 0.0
    cpu: float = 0.0
    events: int = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.thread_time()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.thread_time() - cpu
        self.events += 1

    def __str__(self) -> str:
        return f"{1000 * self.wall / self.events:7.2f} ms wall {1000 * self.cpu / self.events:7.3f} ms CPU per event"


def pysparks(cost: Cost) -> Any:
    """PySpark's listener with empty callbacks, timed around all that it does with an event."""
    from pyspark import SparkContext
    from pyspark.sql.streaming import listener as theirs

    class Empty(theirs.StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None: ...  # noqa: N802
        def onQueryProgress(self, event: Any) -> None: ...  # noqa: N802
        def onQueryIdle(self, event: Any) -> None: ...  # noqa: N802
        def onQueryTerminated(self, event: Any) -> None: ...  # noqa: N802

        @property
        def _jlistener(self) -> Any:
            if not hasattr(self, "_made"):
                self._made = SparkContext._jvm.PythonStreamingQueryListenerWrapper(Timed(self))
            return self._made

    class Timed(theirs.JStreamingQueryListener):
        def onQueryProgress(self, jevent: Any) -> None:  # noqa: N802
            with cost.counted():
                super().onQueryProgress(jevent)

        class Java:
            implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)

    return Empty()


def ours(advisor: Any) -> Cost:
    """What our listener took so far, facts of the run and the table included, the watch over findings not."""
    recorder, worker = advisor.recorder, advisor.recorder.worker
    return Cost(
        recorder.callback_seconds + worker.wall_seconds - advisor._watch_wall_seconds,
        recorder.callback_cpu_seconds + worker.cpu_seconds - advisor._watch_cpu_seconds,
        recorder.heard["progress"],
    )


@contextmanager
def spark_session(place: Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    from tests.spark.conftest import settings

    builder = SparkSession.builder
    own = {"spark.ui.showConsoleProgress": "false", "spark.sql.streaming.numRecentProgressUpdates": str(4 * TURN)}
    for key, value in (settings(place) | own).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()


def start(spark: Any, place: Path, stateful: bool) -> Any:
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "1000").load()
    store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    if stateful:
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", store)
        rows = rows.selectExpr("value % 100 AS key").groupBy("key").count()
    writer = rows.writeStream.format("noop").outputMode("update")
    return writer.option("checkpointLocation", (place / f"checkpoint-{stateful}").as_uri()).start()


def per_event(spark: Any, place: Path, stateful: bool, batches: int) -> None:
    from advisor.session import attach

    cost = Cost()
    theirs = pysparks(cost)
    with attach(spark, on_finding=lambda notice: None) as advisor:
        query = start(spark, place, stateful)
        for _ in range(-(-batches // TURN)):
            wait(query, TURN)
            spark.streams.removeListener(advisor)
            spark.streams.addListener(theirs)
            wait(query, TURN)
            spark.streams.removeListener(theirs)
            spark.streams.addListener(advisor)
        query.stop()
        advisor.progress()
        mine = ours(advisor)
    kind = "RocksDB aggregation" if stateful else "stateless"
    wall, cpu = (
        (mine.wall / mine.events) / (cost.wall / cost.events),
        (mine.cpu / mine.events) / (cost.cpu / cost.events),
    )
    print(f"per event, {kind}, {mine.events} events: ours {mine}; PySpark's {cost}")
    watch, called = advisor._watch_cpu_seconds, 1000 * advisor.recorder.callback_seconds / mine.events
    print(f"  callback alone {called:.2f} ms wall; the watch over findings {watch:.1f} s CPU in all")
    print(f"  ratio: wall 1/{1 / wall:.1f}, CPU 1/{1 / cpu:.1f} (target 1/{1 / TARGETS['wall']:.0f})", flush=True)


def wait(query: Any, more: int) -> None:
    """Until so many more batches are done; asks Java for one number, five times a second."""
    execution = query._jsq.streamingQuery()
    first = number(execution)
    while query.isActive and number(execution) < first + more:
        time.sleep(0.2)
    assert query.exception() is None, query.exception()


def number(execution: Any) -> int:
    last = execution.lastProgress()
    return -1 if last is None else int(last.batchId())


def query_itself(spark: Any, place: Path, batches: int, seed: int) -> None:
    from advisor.session import attach

    order = np.random.default_rng(seed)
    query = start(spark, place, stateful=False)
    wait(query, 2 * TURN)
    medians: dict[str, list[float]] = {"none": [], "ours": [], "PySpark's": []}
    rates: dict[str, list[float]] = {arm: [] for arm in medians}
    for _ in range(-(-batches // TURN)):
        for arm in order.permutation(list(medians)):
            listener = attach(spark, on_finding=lambda notice: None) if arm == "ours" else None
            theirs = pysparks(Cost()) if arm == "PySpark's" else None
            if theirs is not None:
                spark.streams.addListener(theirs)
            took, rate = turn(query)
            medians[arm].append(took)
            rates[arm].append(rate)
            if listener is not None:
                listener.detach()
            if theirs is not None:
                spark.streams.removeListener(theirs)
    query.stop()
    for arm, values in medians.items():
        low, high = interval(values, medians["none"], order)
        rows_low, rows_high = interval(rates[arm], rates["none"], order)
        print(
            f"query with {arm:9} {len(values) * TURN} batches: trigger median {np.median(values):6.1f} ms, to none "
            f"{np.median(values) / np.median(medians['none']):.3f} (95 % {low:.3f} to {high:.3f}); "
            f"rows/s to none {np.median(rates[arm]) / np.median(rates['none']):.3f} "
            f"({rows_low:.3f} to {rows_high:.3f})",
            flush=True,
        )


def turn(query: Any) -> tuple[float, float]:
    """(median triggerExecution, rows per second) of one turn."""
    execution = query._jsq.streamingQuery()
    begin = number(execution)
    wait(query, TURN)
    events = [json.loads(one.json()) for one in execution.recentProgress()]
    done = [one for one in events if begin + 5 < one["batchId"] <= begin + TURN]
    times = [np.datetime64(one["timestamp"][:-1]) for one in (done[0], done[-1])]
    seconds = (times[1] - times[0]) / np.timedelta64(1, "s")
    rows = sum(one["numInputRows"] for one in done[:-1])
    return float(np.median([one["durationMs"]["triggerExecution"] for one in done])), rows / seconds


def interval(values: list[float], against: list[float], order: np.random.Generator) -> tuple[float, float]:
    """95 % of the ratio of medians when turns are drawn again; turns of one round stay together."""
    drawn = order.integers(0, len(values), (2000, len(values)))
    ratios = np.median(np.array(values)[drawn], axis=1) / np.median(np.array(against)[drawn], axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def day(events: int = 86_400) -> None:
    """A day of one event a second through the recorder, the queue never full."""
    catalogue = load()
    listening, form, sizes = recorder(), OfPython(), []
    slow = {"triggerExecution": 100, "walCommit": 25, "commitOffsets": 25, "addBatch": 40, "queryPlanning": 10}
    cpu = time.process_time()
    for done in range(0, events, 7200):
        for at in range(done, done + 7200):
            made = event(at, at * 1000, 1000, slow)
            listening.hear("progress", SimpleNamespace(progress=made), form)
        listening.worker.flush(600)
        sizes.append((listening.store.memory_bytes() / 1e6, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3))
    cpu = time.process_time() - cpu
    judging = Judging(catalogue, user_wishes([], None, [], catalogue), print)
    judging.report(listening.store.reading())  # imports
    begin, wall = time.process_time(), time.perf_counter()
    judging.report(listening.store.reading())
    took, wall = time.process_time() - begin, time.perf_counter() - wall
    dropped, half = listening.worker.dropped, len(sizes) // 2
    print(f"a day: {events:,} events, {dropped} dropped, {1000 * cpu / events:.3f} ms CPU each, their making included")
    tables = ", ".join(f"{kept:.1f}" for kept, _ in sizes[:: max(1, len(sizes) // 6)])
    print(f"  tables: {tables} MB, end {sizes[-1][0]:.1f} MB")
    print(f"  memory of the process, peak: {sizes[half][1]:.0f} MB half way, {sizes[-1][1]:.0f} MB at the end")
    print(f"  report: {took:.2f} s CPU, {wall:.2f} s wall (target {TARGETS['report']} s)", flush=True)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--batches", type=int, default=500)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only", choices=["events", "query", "day"])
    asked = words.parse_args()
    if asked.only in (None, "day"):
        day()
    if asked.only == "day":
        return
    with tempfile.TemporaryDirectory() as place, spark_session(Path(place)) as spark:
        for stateful in (False, True) if asked.only in (None, "events") else ():
            per_event(spark, Path(place), stateful, asked.batches)
        if asked.only in (None, "query"):
            query_itself(spark, Path(place) / "query", asked.batches, asked.seed)


if __name__ == "__main__":
    main()
