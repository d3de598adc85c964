"""What listening costs: ratios in one run to PySpark's own listener with empty callbacks, and to no listener.

`python tests/bench/listener.py [--only events|query|day] [--batches 600] [--place DIR] [--keep FILE]` needs Java.
Events: wall and CPU time of this process per event, decode and table included. Query: triggerExecution and rows per
second of a query that is never restarted, while listeners come and go in many short turns. Both for a stateless query
and for an aggregation in RocksDB. Day: 86,400 events. MISSED stands beside what is not as good as it should be.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from advisor.catalogue import load
from advisor.config import user_wishes
from advisor.report import Asked, assemble
from tests.bench import _turns
from tests.bench._streams import KINDS, Cost, listening, pysparks, running, spark_session, wait
from tests.made import event
from tests.sources.sessions import recorder

TURN = 50
"""Events of one listener before the other has its turn."""
ARMS = 3
"""No listener, ours, PySpark's."""
LEAST = {"wall": 20, "CPU": 20}
"""PySpark's cost of an event, in ours."""
MOST = {"trigger": 1.03, "report": 1.0, "grown": 1.1}
"""Trigger with ours to trigger without, high end of the interval; seconds; memory of a day to that of its half."""


def met(good: bool) -> str:
    return "" if good else "  MISSED"


def ours(advisor: Any) -> Cost:
    """What our listener took so far, facts of the run and the table included, the watch over findings not."""
    recorder, worker = advisor.recorder, advisor.recorder.worker
    return Cost(
        recorder.callback_seconds + advisor.handling.wall - advisor.watching.wall,
        recorder.callback_cpu_seconds + worker.cpu_seconds - advisor._watch_cpu_seconds,
        recorder.heard["progress"],
    )


def timed(advisor: Any) -> None:
    """Measure what the worker's thread takes for its items, and what the watch over findings takes of that."""
    worker, advisor.handling, advisor.watching = advisor.recorder.worker, Cost(), Cost()

    def counted(cost: Cost, work: Callable[..., None]) -> Callable[..., None]:
        def done(*given: Any) -> None:
            with cost.counted():
                work(*given)

        return done

    worker._handle, advisor._watch = (
        counted(advisor.handling, worker._handle),
        counted(advisor.watching, advisor._watch),
    )


def per_event(spark: Any, place: Path, stateful: bool, batches: int) -> None:
    from advisor.session import attach

    cost = Cost()
    theirs = pysparks(cost)
    with attach(spark, on_finding=lambda notice: None) as advisor, running(spark, place, stateful) as query:
        timed(advisor)
        for _ in range(-(-batches // TURN)):
            wait(query, TURN)
            spark.streams.removeListener(advisor)
            with listening(spark, theirs):
                wait(query, TURN)
            spark.streams.addListener(advisor)
        query.stop()
        advisor.progress()
        mine = ours(advisor)
        called, watch = 1000 * advisor.recorder.callback_seconds / mine.events, advisor._watch_cpu_seconds
    print(f"per event, {KINDS[stateful]}: ours, {mine.events} events {mine}; PySpark's, {cost.events} {cost}")
    print(f"  callback alone {called:.2f} ms wall; the watch over findings {watch:.1f} s CPU in all")
    fewer = {
        "wall": (cost.wall / cost.events) / (mine.wall / mine.events),
        "CPU": (cost.cpu / cost.events) / (mine.cpu / mine.events),
    }
    for what, times in fewer.items():
        print(f"  {what} 1/{times:.1f} (target 1/{LEAST[what]}){met(times >= LEAST[what])}", flush=True)


def query_itself(
    spark: Any, place: Path, stateful: bool, batches: int, order: np.random.Generator, keep: Path | None
) -> None:
    from advisor.session import attach

    counted = _turns.TURN - _turns.LEFT_OUT
    with rested(), attach(spark, on_finding=lambda notice: None) as advisor, running(spark, place, stateful) as query:
        wait(query, 100)  # warm, and what starts a judgement has run once
        spark.streams.removeListener(advisor)
        empty = pysparks()
        begin, watched = time.perf_counter(), advisor._watch_cpu_seconds
        pair = {"none": nullcontext, "ours": lambda: listening(spark, advisor)}
        other = {"PySpark's": lambda: listening(spark, empty)}
        rounds = _turns.take_turns(query, pair, other, -(-batches // counted), order)
        share = (advisor._watch_cpu_seconds - watched) / (time.perf_counter() - begin)
    if keep is not None:
        rounds = _turns.kept(keep.with_name(f"{keep.name}-{'stateful' if stateful else 'stateless'}.jsonl"), rounds)
    print(f"query, {KINDS[stateful]}: {len(rounds)} rounds, {len(rounds) * counted} batches of each counted")
    for arm in (*pair, *other):
        print(f"  {arm:9}  {_levels(rounds, arm)}", flush=True)
    print(f"  the watch over findings took {ARMS * share:.1%} of a core while ours listened", flush=True)


@contextmanager
def rested() -> Iterator[None]:
    """The watch rests by the clock, of which ours has its part only: without this it would judge too often here."""
    from advisor.session import live

    share, live.CPU_SHARE = live.CPU_SHARE, live.CPU_SHARE / ARMS  # type: ignore[misc]
    yield
    live.CPU_SHARE = share  # type: ignore[misc]


def _levels(rounds: list[_turns.Round], arm: str) -> str:
    turns, none = [one[arm] for one in rounds], [one["none"] for one in rounds]
    trigger, rows = ([getattr(one, name) for one in turns] for name in ("trigger_ms", "rows_per_second"))
    level = f"trigger {np.median(trigger):6.1f} ms, {np.median(rows):7,.0f} rows/s"
    if arm == "none":
        return level
    to_none = _turns.ratio(trigger, [one.trigger_ms for one in none])
    missed = met(to_none.high <= MOST["trigger"]) if arm == "ours" else ""
    rows_to_none = _turns.ratio(rows, [one.rows_per_second for one in none])
    return f"{level}  to none: trigger {to_none}{missed}, rows/s {rows_to_none}"


def day(events: int = 86_400) -> None:
    """A day of one event a second through the recorder, the queue never full."""
    catalogue = load()
    listens, sizes = recorder(), []
    slow = {"triggerExecution": 100, "walCommit": 25, "commitOffsets": 25, "addBatch": 40, "queryPlanning": 10}
    cpu = time.process_time()
    for done in range(0, events, 7200):
        for at in range(done, done + 7200):
            made = event(at, at * 1000, 1000, slow)
            listens.hear("progress", SimpleNamespace(progress=made))
        listens.worker.flush(600)
        sizes.append((listens.store.memory_bytes() / 1e6, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3))
    cpu = time.process_time() - cpu
    asked = Asked(wishes=user_wishes([], None, [], catalogue), live=True)
    assemble(listens.store.reading(), catalogue, asked)  # imports
    begin, wall = time.process_time(), time.perf_counter()
    assemble(listens.store.reading(), catalogue, asked)
    took, wall = time.process_time() - begin, time.perf_counter() - wall
    half, end = sizes[len(sizes) // 2], sizes[-1]
    print(f"a day: {events:,} events, {listens.worker.dropped} dropped, {1000 * cpu / events:.3f} ms CPU each, "
          f"their making included{met(not listens.worker.dropped)}")  # fmt: skip
    flat = all(late <= MOST["grown"] * early for early, late in zip(half, end, strict=True))
    print(f"  tables: {half[0]:.1f} MB half way, {end[0]:.1f} MB at the end; the process at its most: {half[1]:.0f} MB "
          f"and {end[1]:.0f} MB{met(flat)}")  # fmt: skip
    print(f"  report: {wall:.2f} s wall, {took:.2f} s CPU (target {MOST['report']} s){met(wall < MOST['report'])}",
          flush=True)  # fmt: skip


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--batches", type=int, default=600)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only", choices=["events", "query", "day"])
    words.add_argument("--stateful", choices=["no", "yes"], help="one of the two queries only")
    words.add_argument("--keep", type=Path, help="begin of a file's name: rounds are added to those of runs before")
    words.add_argument("--place", help="where checkpoints lie; by default the system's directory for temporary files")
    asked = words.parse_args()
    if asked.only in (None, "day"):
        day()
    if asked.only == "day":
        return
    order = np.random.default_rng(asked.seed)
    kinds = [stateful for stateful in KINDS if asked.stateful in (None, "yes" if stateful else "no")]
    with tempfile.TemporaryDirectory(dir=asked.place) as name, spark_session(Path(name)) as spark:
        for stateful in kinds if asked.only in (None, "events") else ():
            per_event(spark, Path(name) / "events", stateful, asked.batches)
        for stateful in kinds if asked.only in (None, "query") else ():
            query_itself(spark, Path(name) / "query", stateful, asked.batches, order, asked.keep)


if __name__ == "__main__":
    main()
