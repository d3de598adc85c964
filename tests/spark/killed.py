"""Kill incremental runs at random moments: the tables must be those of one clean run.

python -m tests.spark.killed TIMES [SEED]
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.sources.formats_made import json_lines
from tests.spark.conftest import quiet, settings

SORTED_BY = {
    "batches": ("run_id", "batch_id", "timestamp", "file", "offset"),
    "sightings": ("log", "run_id", "fact", "value", "file", "offset"),
    "findings": ("run_id", "rule", "last"),
    "files": ("path", "size", "rows"),
}
LIGHT = {
    "spark.master": "local[1]",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


def run(logs: Path, table: Path, place: Path) -> None:
    """One run, as a process of its own; it says when it begins and when it has ended."""
    from advisor import api

    with quiet({**settings(place), **LIGHT}) as spark:
        print("begun", flush=True)
        api.analyze_fleet(logs, spark=spark, save_table=table, incremental=True, stages=False)
        print("ended", flush=True)


def begun(*folders: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.spark.killed", "run", *map(str, folders)]
    options = "--driver-java-options -XX:TieredStopAtLevel=1 pyspark-shell"
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": options},
    )  # fmt: skip
    assert process.stdout is not None
    assert any(line == "begun\n" for line in process.stdout)
    return process


def whole(*folders: Path) -> float:
    """Let one run end; how long it took."""
    process, start = begun(*folders), time.monotonic()
    assert "ended" in process.communicate()[0]
    assert not process.returncode
    return time.monotonic() - start


def held(spark: Any, table: Path) -> dict[str, list[Any]]:
    return {
        name: sorted(map(str, spark.read.parquet(f"{table}/{name}").select(*key).collect()))
        for name, key in SORTED_BY.items()
    }


def main(times: int, seed: int) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        place, logs = Path(folder), Path(folder) / "logs"
        logs.mkdir()
        (logs / "0.jsonl").write_bytes(json_lines())
        longest = whole(logs, place / "first", place)
        committed = 0
        for number in range(1, times + 1):
            run_id = f"{number:08}".encode()
            (logs / f"{number}.jsonl").write_bytes(json_lines().replace(b"33333333", run_id))
            process = begun(logs, place / "killed", place)
            time.sleep(chance.uniform(0, longest))
            alone = chance.random() < 0.5  # then the JVM outlives it for a moment
            (os.kill if alone else os.killpg)(process.pid, signal.SIGKILL)
            process.communicate()
            there = [path.name for path in (place / "killed").glob("manifest-*.json")]
            committed = max([committed, *(int(name.split("-")[1].split(".")[0]) for name in there)])
            print(number, "alone" if alone else "with the JVM", there, flush=True)
        whole(logs, place / "killed", place)
        whole(logs, place / "clean", place)
        with quiet({**settings(place), **LIGHT}) as spark:
            one, other = held(spark, place / "killed"), held(spark, place / "clean")
        for name, rows in one.items():
            print(name, len(rows), "rows, as of one clean run" if rows == other[name] else "rows, and NOT as of one")
        print(f"{committed} of {times} killed runs had committed")
        sys.exit(one != other)


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(*map(Path, sys.argv[2:]))
    else:
        main(int(sys.argv[1]), int([*sys.argv, "1"][2]))
