"""From a table of 100,000 events to findings, and what a person waits for: ratios in one run against named opponents.

python -m tests.bench.judging [--events 100000] [--runs 10]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import Reading
from advisor.catalogue import load
from advisor.report import assemble
from advisor.sources import files

SAMPLE = Path(__file__).parents[2] / "sample_progress" / "ST002" / "rocksdb-without-changelog-4.3.0"
SECONDS = {"findings": 5.0, "--help": 0.3, "8 MB log": 2.0}


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


def waiting(*arguments: str) -> float:
    """Wall seconds of the whole command, the best of three."""
    command = [sys.executable, "-m", "advisor", *arguments]
    return min(_timed(command) for _ in range(3))


def _timed(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> int:
    """Print each figure beside its target; 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=10)
    asked = parser.parse_args()
    found = {"findings": judging(asked.events, asked.runs), "--help": waiting("--help")}
    found["8 MB log"] = waiting("analyze", str(SAMPLE))
    nothing = min(_timed([sys.executable, "-c", "pass"]) for _ in range(3))
    for name, seconds in found.items():
        missed = "" if seconds <= SECONDS[name] else "  MISSED"
        times = f"{seconds / nothing:.0f} x an empty Python"
        print(f"  {name:<10} {seconds:6.2f} s (target {SECONDS[name]} s, {times}){missed}")
    return int(any(seconds > SECONDS[name] for name, seconds in found.items()))


if __name__ == "__main__":
    sys.exit(main())
