"""From a table of 100,000 events to findings, and what a person waits for: ratios in one run against named opponents.

python -m tests.bench.judging [--events 100000] [--runs 10] [--in-one-file 2000]
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import COLUMNS, Reading, to_pandas
from advisor.catalogue import load
from advisor.report import assemble
from advisor.sources import files

SAMPLE = Path(__file__).parents[2] / "sample_progress" / "ST002" / "rocksdb-without-changelog-4.3.0"
SECONDS = {"findings": 5.0, "--help": 0.3, "one record": 1.0, "missing file": 0.3, "8 MB log": 2.0}
RUNS, BATCHES, MOST = 200, 60, 1.0
"""Short runs, and the most that judging one takes, all of it, against pandas on its phases alone."""
IN_FILE, FILE_MS, FILE_MB = 30, 9.0, 1000.0
"""Batches of each run in one file, the most that a run there takes (reading included), and that all memory comes to."""
ANALYZE = """
import pathlib, re, sys, time
import advisor
most = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
report = advisor.analyze(sys.argv[1])
print(len(report.typed.queries), time.process_time(), most())
"""
"""Runs on Linux; ru_maxrss would be that of the process that starts this one."""
PHASES = [column.name for column in COLUMNS if column.basis == "wall"]


def history(events: int, runs: int) -> pa.Table:
    """A recorded RocksDB run, told again and again with later times and batch ids, as `runs` runs of other queries."""
    recorded = files.read([str(SAMPLE)], sightings=False).batches.combine_chunks()
    length = pc.max(recorded["timestamp"]).as_py() - pc.min(recorded["timestamp"]).as_py() + timedelta(seconds=1)
    per_run = events // runs
    once = pa.concat_tables(_later(recorded, nth, length) for nth in range(per_run // len(recorded) + 1))
    once = once.slice(0, per_run).combine_chunks()
    return pa.concat_tables(_named(once, run) for run in range(runs))


def _later(table: pa.Table, nth: int, length: timedelta) -> pa.Table:
    moved = pc.add(table["timestamp"], pa.scalar(length * nth, pa.duration("ms"))).cast(
        table.schema.field("timestamp").type
    )
    return _with(_with(table, "timestamp", moved), "batch_id", pc.add(table["batch_id"], nth * len(table)))


def _named(table: pa.Table, run: int) -> pa.Table:
    for column in ("id", "run_id"):
        table = _with(table, column, pa.array([f"{column}-{run}"] * len(table)))
    return table


def _with(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(column), table.schema.field(column), values)


def judging(events: int, runs: int) -> float:
    """CPU seconds on one core from the table to the report."""
    reading, catalogue = Reading.of(history(events, runs)), load(None)
    started = time.process_time()
    report = assemble(reading, catalogue)
    spent = time.process_time() - started
    assert len(report.queries) == runs
    return spent


def by_pandas(events: int, runs: int) -> float:
    """CPU seconds of pandas for what the report says of each phase, column by column: a part of what is judged."""
    table = history(events, runs)
    started = time.process_time()
    for _, run in to_pandas(table).groupby("run_id"):
        duration = run["trigger_execution_ms"]
        middle = duration.between(duration.quantile(0.25), duration.quantile(0.75))
        for phase in PHASES:
            run[phase].quantile([0.50, 0.95, 0.99])
            run[phase][middle].mean()
            (run[phase] / duration).quantile(0.50)
    return time.process_time() - started


def in_one_file(runs: int) -> tuple[float, float]:
    """(CPU milliseconds per run, megabytes in all) of short runs in one file, through `advisor.analyze`."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "progress.json"
        write_runs(path, runs)
        told = subprocess.run([sys.executable, "-c", ANALYZE, str(path)], check=True, capture_output=True, text=True)
    judged, seconds, kilobytes = told.stdout.split()
    assert int(judged) == runs
    return float(seconds) / runs * 1000, float(kilobytes) / 1000


def write_runs(path: Path, runs: int) -> None:
    """So many runs of 30 batches, as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_lines(runs))


def _lines(runs: int) -> Iterator[str]:
    """The sample's first batches as JSON lines, told again as runs of other queries."""
    once = list(_recorded())[:IN_FILE]
    for run in range(runs):
        for event in once:
            yield json.dumps({**event, "id": f"id-{run}", "runId": f"run-{run:06}", "name": f"query {run}"}) + "\n"


def _recorded() -> Iterator[dict[str, Any]]:
    text, decoder = gzip.decompress((SAMPLE / "driver.log.gz").read_bytes()).decode(), json.JSONDecoder()
    at = text.find('{\n  "id"')
    while at >= 0:
        event, at = decoder.raw_decode(text, at)
        if "addBatch" in event.get("durationMs", {}):
            yield event
        at = text.find('{\n  "id"', at)


def waiting(*arguments: str) -> float:
    """Return the wall seconds of the whole command, the best of three."""
    command = [sys.executable, "-m", "advisor", *arguments]
    return min(_timed(command) for _ in range(3))


def _timed(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def _against_pandas() -> float:
    """Time of short runs over that of pandas, the least of three turns of both."""
    turns = [(judging(RUNS * BATCHES, RUNS), by_pandas(RUNS * BATCHES, RUNS)) for _ in range(3)]
    judged, opponent = (min(seconds) / RUNS * 1000 for seconds in zip(*turns, strict=True))
    ratio = judged / opponent
    print(f"  {judged:.1f} ms per run of {BATCHES} batches, {ratio:.2f} x pandas on its phases alone (target {MOST})")
    return ratio


def main() -> int:
    """Print each figure beside its target; 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--in-one-file", type=int, default=2000, metavar="RUNS")
    asked = parser.parse_args()
    found = {"findings": judging(asked.events, asked.runs), "--help": waiting("--help")}
    found["8 MB log"] = waiting("analyze", str(SAMPLE))
    with tempfile.TemporaryDirectory() as place:
        record = Path(place) / "record.json"
        record.write_text(json.dumps(next(iter(_recorded()))), encoding="utf-8")
        found["one record"] = waiting("analyze", str(record))
        found["missing file"] = waiting("analyze", str(record) + ".gone")
    nothing = min(_timed([sys.executable, "-c", "pass"]) for _ in range(3))
    ratio, each, megabytes = _against_pandas(), *in_one_file(asked.in_one_file)
    print(f"  {asked.in_one_file:,} runs in one file: {each:.1f} ms (target {FILE_MS}) per run, {megabytes:.0f} MB")
    for name, seconds in found.items():
        missed = "" if seconds <= SECONDS[name] else "  MISSED"
        times = f"{seconds / nothing:.0f} x an empty Python"
        print(f"  {name:<10} {seconds:6.2f} s (target {SECONDS[name]} s, {times}){missed}")
    slow = ratio > MOST or each > FILE_MS or megabytes > FILE_MB
    return int(slow or any(seconds > SECONDS[name] for name, seconds in found.items()))


if __name__ == "__main__":
    sys.exit(main())
