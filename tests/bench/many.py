"""Many small logs, many runs in one file, to a report: time and memory of a process of its own, without Spark.

The time is the clock's, beside the CPU time of all processes; the memory is that of all of them, what they share once.

python -m tests.bench.many [--files 50000] [--logs 1000] [--runs 10000] [--queries 20000] [--folder DIR]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from tests.bench.fleet import write_driver_log
from tests.bench.judging import write_runs

FLEET = "len(api.analyze_fleet(sys.argv[1]).queries)"
REPORT = "len(api.analyze(sys.argv[1]).typed.queries)"
COMMAND = "{count} - analyze.main([sys.argv[1], '--output', os.devnull, {options}], standalone_mode=False)"
"""As many as there are, less the code of the exit."""
MEASURED = """
import os, sys, time
from advisor import api
from advisor.cli.analyze import analyze
begun = time.monotonic()
found = {call}
print(found, time.monotonic() - begun, sum(os.times()[:4]))
"""
SMALL, LOG = 10_000, 100_000
"""Bytes of a small file (one batch and what stands around it), and of a log."""


def measured(call: str, place: Path) -> tuple[int, float, float, float]:
    """(queries, seconds, CPU seconds, megabytes at most)."""
    command = [sys.executable, "-c", MEASURED.format(call=call), str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        most = 0.0
        while process.poll() is None:
            most = max(most, sum(map(_megabytes, (process.pid, *_children(process.pid)))))
            time.sleep(0.2)
        assert process.stdout is not None
        count, seconds, cpu = process.stdout.read().split()
    return int(count), float(seconds), float(cpu), most


def _children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in found.read_text().split()] if found.exists() else []


def _megabytes(process: int) -> float:
    """Its memory, of what it shares its part; 0 where it has ended."""
    try:
        told = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:")) / 1000


def logs(count: int, size: int) -> Callable[[Path], Path]:
    """So many driver logs, each of a query of its own."""

    def build(folder: Path) -> Path:
        for number in range(count):
            write_driver_log(folder / f"driver-{number}.log", size, run=number)
        return folder

    return build


def one_file(runs: int) -> Callable[[Path], Path]:
    """So many runs of 30 batches in one file."""

    def build(folder: Path) -> Path:
        write_runs(folder / "progress.json", runs)
        return folder / "progress.json"

    return build


def of_one_event(queries: int) -> Callable[[Path], Path]:
    """So many queries in one file, each with one event of its own numbers: 13 MB for 20,000."""

    def build(folder: Path) -> Path:
        with (folder / "progress.json").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(_event(number)) + "\n" for number in range(queries))
        return folder / "progress.json"

    return build


def _event(number: int) -> dict[str, Any]:
    """One batch from Kafka into a foreachBatch, without state."""
    told = Random(number)
    ends = {"addBatch": 3000, "walCommit": 300, "commitOffsets": 300, "queryPlanning": 100, "latestOffset": 50}
    took = {phase: told.randint(end // 50, end) for phase, end in ends.items()}
    whole, rows = sum(took.values()) + 3, told.randint(1, 100_000)
    source = {"description": f"KafkaV2[Subscribe[t{number}]]", "numInputRows": rows}
    offsets = {"startOffset": {"t": {"0": 1}}, "endOffset": {"t": {"0": 1 + rows}}}
    return {
        "id": str(UUID(int=number + 1)),
        "runId": str(UUID(int=number + 10**9)),
        "name": f"query {number}",
        "timestamp": f"2026-03-01T02:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "batchId": told.randint(1, 50),
        "numInputRows": rows,
        "inputRowsPerSecond": round(rows / (whole / 1000 + told.random()), 3),
        "processedRowsPerSecond": rows / whole * 1000,
        "durationMs": took | {"getBatch": 1, "triggerExecution": whole},
        "stateOperators": [],
        "sources": [source | offsets],
        "sink": {"description": "ForeachBatchSink", "numOutputRows": -1},
    }


def main() -> int:
    """Print each figure beside its target; 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--logs", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--folder", help="where to build the logs (default: a temporary folder)")
    asked = parser.parse_args()
    cases = (
        ("small files to the fleet's report", logs(asked.files, SMALL), FLEET, asked.files, 120.0, 1000.0),
        ("logs of 100 kB to the fleet's report", logs(asked.logs, LOG), FLEET, asked.logs, 20.0, 1000.0),
        ("runs of 30 batches in one file to a report", one_file(asked.runs), REPORT, asked.runs, 90.0, 1000.0),
        *(
            (
                f"queries of one event in one file, {command}",
                of_one_event(asked.queries),
                COMMAND.format(count=asked.queries, options=", ".join(map(repr, command.split()[1:]))),
                asked.queries,
                60.0,
                500.0,
            )
            for command in ("analyze", "analyze --format json", "analyze --fleet")
        ),
    )
    missed = False
    for words, build, call, count, seconds, megabytes in cases:
        if not count:
            continue
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            found, spent, cpu, held = measured(call, build(Path(folder)))
        assert found == count
        late = spent > seconds or held > megabytes
        missed |= late
        print(
            f"{count:,} {words}: {spent:.1f} s (target {seconds:.0f}; CPU {cpu:.1f}), "
            f"{held:.0f} MB (target {megabytes:.0f})"
            f"{'  MISSED' if late else ''}",
            flush=True,
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
