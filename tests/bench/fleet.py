"""How fast a fleet's logs are read and judged on Spark: ratios, in one run, to Spark's own readers of text and JSON.

`python tests/bench/fleet.py [--gigabytes 2] [--files 10000] [--judged 1000] [--batches 1000000]
[--only text,json,files,cores,million]` builds logs from recorded events in a temporary folder and reads them on
`local[2]`. Wall time, the best of some rounds; every round is a job that makes all columns of the table of batches.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

from advisor import api
from advisor.cluster import read
from advisor.cluster.jobs import Jobs
from advisor.sources import files

SAMPLES = Path(__file__).resolve().parents[2] / "sample_progress"
MARKER = "made progress: "
EVENT = re.compile(rb"(?m)^[^\n]*made progress: \{\n.*?\n\}\n", re.DOTALL)
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
DENSITY = 0.07
TARGETS = {"text": 3.0, "json": 2.0, "cores": 1.7}


def session(cores: int) -> Any:
    """A Spark of its own with that many cores."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "1g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@cache
def recorded() -> tuple[list[bytes], bytes]:
    """(events as they stand in one recorded driver log, all that stands between them)."""
    log = _text(SAMPLES / "LG001" / "rate-to-noop-4.3.0" / "driver.log.gz")
    return EVENT.findall(log), EVENT.sub(b"", log)


def _text(path: Path) -> bytes:
    with pa.input_stream(str(path)) as stream:
        return bytes(stream.read())


def renumbered(event: bytes, number: int, run: int = 0) -> bytes:
    """The event as batch `number` of run `run`."""
    moment = (START + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z").encode()
    event = re.sub(rb'("timestamp" ?: ?")[^"]*', rb"\g<1>" + moment, event, count=1)
    event = re.sub(rb'("(?:id|runId)" ?: ?")[^"]{8}', rb"\g<1>%08x" % run, event, count=2)
    return re.sub(rb'("batchId" ?: ?)\d+', rb"\g<1>%d" % number, event, count=1)


def write_driver_log(path: Path, size: int, density: float = DENSITY, run: int = 0) -> None:
    """A driver's log of `size` bytes, of which that share is progress."""
    events, text = recorded()
    mean = sum(map(len, events)) / len(events)
    between = _pieces(text, round(mean / density - mean)) if density < 1 else itertools.repeat(b"")
    with path.open("wb") as file:
        for number, event in enumerate(itertools.cycle(events)):
            file.write(next(between))
            file.write(renumbered(event, number, run))
            if file.tell() >= size:
                return


def _pieces(text: bytes, size: int) -> Iterator[bytes]:
    lines = [line for line in text.splitlines(keepends=True) if b"[id = " not in line]
    piece, length = [], 0
    for line in itertools.cycle(lines):
        piece.append(line)
        length += len(line)
        if length >= size:
            yield b"".join(piece)
            piece, length = [], 0


def write_event_logs(folder: Path, size: int, count: int) -> None:
    """A recorded event log, again and again, as `count` applications; `size` bytes in all before compression."""
    source = next((SAMPLES / "LG001" / "event-log-4.3.0").glob("eventlog_v2_*/events_1_*"))
    with pa.input_stream(str(source), compression="zstd") as stream:
        lines = stream.read().splitlines(keepends=True)
    for nth in range(count):
        place = folder / f"eventlog_v2_app-{nth}"
        place.mkdir(parents=True)
        with pa.output_stream(str(place / f"events_1_app-{nth}.zstd"), compression="zstd") as file:
            written = number = 0
            for line in itertools.cycle(lines):
                is_event = b"QueryProgressEvent" in line
                written += file.write(renumbered(line, number, nth) if is_event else line)
                number += is_event
                if written >= size / count:
                    break


def forced(frame: Any) -> None:
    """Make every row and column of a data frame."""
    frame.write.format("noop").mode("overwrite").save()


def ours(spark: Any, path: Path) -> None:
    """The table of batches of these logs."""
    forced(read(spark, [str(path)]))


def text_and_json(spark: Any, path: Path) -> None:
    """What one writes in ten minutes: records split at the marker, `from_json` with the schema given."""
    from pyspark.sql import functions

    lines = spark.read.option("lineSep", MARKER).text(str(path))
    value = functions.substring_index(functions.col("value"), "\n}", 1)
    parsed = lines.select(functions.from_json(functions.concat(value, functions.lit("\n}")), PROGRESS).alias("p"))
    forced(parsed.filter("p.id is not null").select("p.*"))


def json_reader(spark: Any, path: Path) -> None:
    """Spark's reader of JSON lines over event logs, with the schema given."""
    option = spark.read.schema(f"Event string, progress {PROGRESS}").option("recursiveFileLookup", "true")
    forced(option.json(str(path)).filter("Event like '%QueryProgressEvent'").select("progress.*"))


_PHASES = "addBatch, commitOffsets, getBatch, latestOffset, queryPlanning, triggerExecution, walCommit, getOffset"
_SOURCE = (
    "description: string, startOffset: string, endOffset: string, latestOffset: string, numInputRows: long, "
    "inputRowsPerSecond: double, processedRowsPerSecond: double, metrics: map<string,string>"
)
_OPERATOR = (
    "operatorName: string, numRowsTotal: long, numRowsUpdated: long, numRowsRemoved: long, allUpdatesTimeMs: long, "
    "allRemovalsTimeMs: long, commitTimeMs: long, memoryUsedBytes: long, numRowsDroppedByWatermark: long, "
    "numShufflePartitions: long, numStateStoreInstances: long, customMetrics: map<string,double>"
)
PROGRESS = (
    "struct<id: string, runId: string, name: string, batchId: long, timestamp: timestamp, batchDuration: long, "
    "numInputRows: long, inputRowsPerSecond: double, processedRowsPerSecond: double, "
    f"durationMs: struct<{', '.join(f'{name}: long' for name in _PHASES.split(', '))}>, "
    "eventTime: map<string,string>, "
    f"stateOperators: array<struct<{_OPERATOR}>>, "
    f"sources: array<struct<{_SOURCE}>>, "
    "sink: struct<description: string, numOutputRows: long>>"
)
"""The columns of the table of batches, as Spark's own readers would make them."""


def best(work: Callable[[], Any], rounds: int) -> float:
    """Fewest seconds of wall time."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def ratio(name: str, value: float) -> bool:
    """Print a ratio and whether it meets its target."""
    target = TARGETS[name.split(maxsplit=1)[0]]
    print(f"  {value:.2f} x ({name}; target {target}){'' if value >= target else '  MISSED'}", flush=True)
    return value >= target


def against(spark: Any, path: Path, other: Callable[[Any, Path], None], name: str, rounds: int, size: int) -> bool:
    """Print both speeds over the same files, in turns, and the ratio. The first round warms up both."""
    times: dict[str, float] = {}
    for nth in range(rounds + 1):
        for work in (ours, other):
            seconds = best(lambda work=work: work(spark, path), 1)
            times[work.__name__] = min(seconds, times.get(work.__name__, seconds)) if nth > 1 else seconds
    for each, seconds in times.items():
        print(f"  {each:<14} {seconds:6.1f} s {size / seconds / 1e6:8,.0f} MB/s")
    return ratio(name, times[other.__name__] / times["ours"])


def bench_text(folder: Path, asked: argparse.Namespace) -> bool:
    """A driver log of some gigabytes."""
    path = folder / "driver.log"
    write_driver_log(path, int(asked.gigabytes * 1e9))
    print(f"driver log at INFO, {asked.gigabytes} GB, {DENSITY:.0%} progress, local[2]")
    spark = session(2)
    assert read(spark, [str(path)]).count() == files.read([path], sightings=False).events
    return against(spark, path, text_and_json, "text + from_json", asked.rounds, path.stat().st_size)


def bench_json(folder: Path, asked: argparse.Namespace) -> bool:
    """Compressed event logs."""
    path = folder / "eventlogs"
    write_event_logs(path, int(asked.gigabytes * 1e9), 16)
    print(f"16 event logs, zstd, {asked.gigabytes} GB before compression, local[2]")
    spark = session(2)
    assert read(spark, [str(path)]).count() == files.read([path], sightings=False).events
    return against(spark, path, json_reader, "json reader", asked.rounds, int(asked.gigabytes * 1e9))


def bench_cores(folder: Path, asked: argparse.Namespace) -> bool:
    """One core against two, one huge file among the rest."""
    path = folder / "huge.log"
    write_driver_log(path, int(asked.huge * 1e9))
    print(f"one driver log of {asked.huge} GB")
    seconds = {}
    for cores in (2, 1):
        with ProcessPoolExecutor(1, get_context("spawn"), os.sched_setaffinity, (0, range(cores))) as child:
            seconds[cores] = child.submit(timed, cores, path, asked.rounds).result()
        print(f"  local[{cores}] {seconds[cores]:6.1f} s {path.stat().st_size / seconds[cores] / 1e6:8,.0f} MB/s")
    return ratio("cores 1 to 2", seconds[1] / seconds[2])


def timed(cores: int, path: Path, rounds: int) -> float:
    """Fewest seconds for the table of batches on that many cores; the process has no others, also for its JVM."""
    spark = session(cores)
    ours(spark, path)
    return best(lambda: ours(spark, path), rounds)


def bench_files(folder: Path, asked: argparse.Namespace) -> bool:
    """Many small logs, read; and some of them judged into the fleet's report."""
    place = folder / "many"
    place.mkdir()
    for nth in range(asked.files):
        write_driver_log(place / f"driver-{nth}.log", 100_000, run=nth)
    size = sum(file.stat().st_size for file in place.iterdir())
    print(f"{asked.files:,} driver logs of 100 kB ({size / 1e9:.1f} GB), local[2]")
    spark = session(2)
    seconds = best(lambda: ours(spark, place), 1)
    print(f"  table of batches {seconds:6.1f} s")
    start = time.perf_counter()
    report = api.analyze_fleet([place / f"driver-{nth}.log" for nth in range(asked.judged)], spark=spark)
    seconds = time.perf_counter() - start
    queries = len(report.queries)
    print(f"  fleet report of {queries:,} queries {seconds:6.1f} s, {seconds * 2 / queries:.3f} core-seconds a query")
    print(f"  {memory()}")
    return bool(queries == asked.judged)


def bench_million(folder: Path, asked: argparse.Namespace) -> bool:
    """One run of a million batches among a thousand small ones."""
    place = folder / "million"
    place.mkdir()
    event = len(recorded()[0][0])
    write_driver_log(place / "long.log", asked.batches * event, density=1, run=1 << 20)
    for nth in range(200):
        write_driver_log(place / f"small-{nth}.log", 100_000, run=nth)
    spark = session(2)
    start = time.perf_counter()
    report = api.analyze_fleet(place, spark=spark)
    seconds = time.perf_counter() - start
    events = report.input.events
    print(f"a run of {asked.batches:,} batches among 200 small ones: {seconds:.1f} s, {events:,} events, local[2]")
    print(f"  {memory()} (target 1000 for the driver)")
    jobs = Jobs(spark)
    units = task_list(spark, place)
    row = jobs.rows(units).filter("kind = 'batches'").selectExpr("sum(length(payload))", "sum(rows)").first()
    print(f"  shuffled per batch row: {row[0] / row[1]:.0f} bytes")
    return peak() < 1000


def task_list(spark: Any, place: Path) -> Any:
    """The tasks that reading these logs takes."""
    from advisor.cluster.units import logs, planned, tasks
    from advisor.sources.paths import expand
    from advisor.sources.random_access import sizes

    inputs = expand([place])
    found = logs(inputs, sizes(one.path for one in inputs))
    return tasks(planned(found, 64 << 20, Jobs(spark).looks), 64 << 20)


def peak(process: str = "self") -> float:
    """Most megabytes that a process has held."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def memory() -> str:
    """Most megabytes that the driver's Python, its JVM (executor too, where it is local) and one worker have held."""
    held: dict[str, float] = {"java": 0.0, "pyspark.daemon": 0.0}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            command = (process / "cmdline").read_text()
            held |= {name: max(most, peak(process.name)) for name, most in held.items() if name in command}
    jvm, worker = held.values()
    return f"driver: {peak():.0f} MB in Python; JVM {jvm:.0f} MB; the largest worker {worker:.0f} MB"


BENCHES = {"text": bench_text, "json": bench_json, "cores": bench_cores, "files": bench_files, "million": bench_million}


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--huge", type=float, default=5.0)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--judged", type=int, default=1_000, help="how many of the small logs are judged")
    parser.add_argument("--batches", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(BENCHES))
    parser.add_argument("--folder", help="where to build the logs (default: a temporary folder)")
    asked = parser.parse_args()
    met = True
    for name in asked.only.split(","):
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            met &= BENCHES[name](Path(folder), asked)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
