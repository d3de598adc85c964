"""Many small logs, many runs in one file, to a report: CPU time and memory of a process of its own, without Spark.

python -m tests.bench.many [--files 50000] [--logs 1000] [--runs 10000] [--folder DIR]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.fleet import write_driver_log
from tests.bench.judging import write_runs

FLEET = "len(api.analyze_fleet(sys.argv[1]).queries)"
REPORT = "len(api.analyze(sys.argv[1]).typed.queries)"
MEASURED = """
import pathlib, re, sys, time
from advisor import api
found = {call}
most = re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())
print(found, time.process_time(), most[1])
"""
SMALL, LOG = 10_000, 100_000
"""Bytes of a small file (one batch and what stands around it), and of a log."""


def measured(call: str, place: Path) -> tuple[int, float, float]:
    """(queries, CPU seconds, megabytes at most)."""
    told = subprocess.run(
        [sys.executable, "-c", MEASURED.format(call=call), str(place)], check=True, capture_output=True, text=True
    ).stdout.split()
    return int(told[0]), float(told[1]), float(told[2]) / 1000


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


def main() -> int:
    """Print each figure beside its target; 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--logs", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--folder", help="where to build the logs (default: a temporary folder)")
    asked = parser.parse_args()
    cases = (
        ("small files to the fleet's report", logs(asked.files, SMALL), FLEET, asked.files, 120.0, 1000.0),
        ("logs of 100 kB to the fleet's report", logs(asked.logs, LOG), FLEET, asked.logs, 20.0, 1000.0),
        ("runs of 30 batches in one file to a report", one_file(asked.runs), REPORT, asked.runs, 90.0, 1000.0),
    )
    missed = False
    for words, build, call, count, seconds, megabytes in cases:
        if not count:
            continue
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            found, spent, held = measured(call, build(Path(folder)))
        assert found == count
        late = spent > seconds or held > megabytes
        missed |= late
        print(
            f"{count:,} {words}: {spent:.1f} s CPU (target {seconds:.0f}), {held:.0f} MB (target {megabytes:.0f})"
            f"{'  MISSED' if late else ''}",
            flush=True,
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
