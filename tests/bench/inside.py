"""What opening addBatch costs while reading, and how much of it the parts show.

`python -m tests.bench.inside [--megabytes 100] [PATHS...]` prints, for every recorded log that tells of jobs (or for
PATHS), how many batches are told, by how much their parts miss addBatch, what is not visible, and how much is the
driver's without a time; where a run has both logs, by how much the time in jobs differs between them; then the speed
of reading with stages beside that without, in CPU seconds of one thread, in turns, the best of some rounds; and what
it holds of logs of one query that go on for long.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import re
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

import advisor
from advisor.batches import to_pandas
from advisor.errors import InputError
from advisor.sources import files
from advisor.sources.codecs import Source, blocks
from advisor.sources.paths import expand
from advisor.sources.stages.stagetables import StageTables
from advisor.stages import PARTS
from tests.bench._long import ONE_QUERY, repeated
from tests.bench.reading import SAMPLES, limit, write_log

TARGETS = {"driver log, of the limit": 0.25, "event log, of reading without": 0.5}
VISIBLE = {"driver_log": 0.15, "event_log": 0.05}
"""The most that may not be visible, at the median batch."""
_NAMES = [part.name for part in PARTS]
_PERCENT = dict.fromkeys(("within 5 %", "not visible, median", "driver, no time"), "{:.1%}".format)
_RUN = re.compile(rb'"runId":"([0-9a-f-]{36})"')


def shares(paths: Sequence[str]) -> pd.DataFrame:
    """One row per log that tells of jobs."""
    rows = []
    for log in dict.fromkeys(one.log for one in expand(paths)):
        found = _of_log(log)
        if found is not None:
            rows.append(found)
    return pd.DataFrame(rows)


def _of_log(log: str) -> dict[str, object] | None:
    try:
        reading = files.read([path.path for path in expand([log + "*"])], sightings=False, stages=True)
    except InputError:
        return None
    parts = to_pandas(reading.tables["batch_parts"])
    if not len(parts):
        return None
    whole = parts["add_batch_ms"]
    off = (parts[_NAMES].sum(axis=1) - whole).abs() / whole.clip(lower=1)
    executed = to_pandas(reading.batches)["add_batch_ms"].notna().sum()
    return {
        "log": _name(log),
        "origin": parts["origin"].iloc[0],
        "batches": executed,
        "told": len(parts),
        "within 5 %": float((off <= 0.05).mean()),
        "not visible, median": float((parts["not_visible_ms"] / whole.clip(lower=1)).median()),
        "driver, no time": float((parts["driver_ms"].fillna(0) / whole.clip(lower=1)).median()),
    }


def print_agreement(paths: Sequence[str]) -> None:
    """Where a folder holds both logs of a run: by how much of addBatch the time in jobs differs between them."""
    rows, found, waits = [], [], []
    for place in sorted({Path(one.log).parent for one in expand(paths)}):
        of_driver, events = sorted(place.glob("driver*.log*")), sorted(place.glob("eventlog_*"))
        if of_driver and events:
            off = (_in_jobs(of_driver) - _in_jobs(events)).abs().dropna()
            rows.append((_name(str(place)), len(off), off.median(), off.quantile(0.95)))
            found.append(off)
            waits.append(pd.concat([_waits(of_driver), _waits(events)], axis=1, join="inner"))
    if found:
        columns = ["run with both logs", "batches", "jobs differ, median", "p95"]
        percent = dict.fromkeys(columns[2:], "{:.1%}".format)
        print(pd.DataFrame(rows, columns=columns).to_string(index=False, formatters=percent))
        differences = pd.concat(found)
        print(
            f"{len(found)} runs with both logs, {len(differences)} batches: the time in jobs differs by "
            f"{differences.median():.1%} of addBatch at the median, {differences.quantile(0.95):.1%} at p95"
        )
        told = pd.concat(waits)
        of_driver, of_events = told.iloc[:, 0], told.iloc[:, 1].fillna(0)
        print(
            f"waits for slots: event logs {of_events.sum():,.0f} ms; driver logs {of_driver.sum():,.0f} ms in the "
            f"{of_driver.notna().sum()} of {len(told)} stages of which they tell it, where event logs say "
            f"{of_events[of_driver.notna()].sum():,.0f} ms; at most {(of_driver - of_events).abs().max():,.0f} ms apart"
        )


def _name(log: str) -> str:
    return str(Path(log).relative_to(SAMPLES)) if Path(log).is_relative_to(SAMPLES) else log


def _in_jobs(logs: Sequence[Path]) -> pd.Series:
    """Of each batch the share of addBatch in which a job ran."""
    parts = advisor.read_stages(logs, parts=True).set_index(["run_id", "batch_id"])
    around = ["driver_before_ms", "planning_ms", "driver_between_ms", "sink_commit_ms", "driver_after_ms", "driver_ms"]
    return 1 - parts[around].fillna(0).sum(axis=1) / parts["add_batch_ms"].clip(lower=1)


def _waits(logs: Sequence[Path]) -> pd.Series:
    """Of each stage how long it waited for slots."""
    return advisor.read_stages(logs).set_index(["run_id", "batch_id", "stage", "attempt"])["slots_wait_ms"]


def print_shares(table: pd.DataFrame) -> bool:
    """Print them and what they come to; whether the targets are met."""
    print(table.to_string(index=False, formatters=_PERCENT))
    met = True
    for source, of_source in table.groupby("origin"):
        told = of_source["told"].sum() / of_source["batches"].sum()
        within = np.average(of_source["within 5 %"], weights=of_source["told"])
        hidden = of_source["not visible, median"].max()
        met &= bool(within >= 0.95 and hidden <= VISIBLE.get(str(source), 0.15))
        most = VISIBLE.get(str(source), 0.15)
        print(f"{source}: {len(of_source)} logs, {of_source['batches'].sum()} batches, {told:.1%} told")
        print(f"  parts within 5 % of addBatch in {within:.1%} (target 95 %)")
        print(f"  not visible at the median of a log: at most {hidden:.1%} (target {most:.0%})")
        print(f"  the driver's, without a time: {of_source['driver, no time'].median():.1%} at the median log")
    return met


def write_event_log(path: Path, size: int) -> None:
    """Recorded event logs one after another, each copy a run of its own."""
    logs = [_unpacked(one.path) for one in expand([str(SAMPLES)]) if "events_1" in one.path]
    with path.open("wb") as file:
        copy = 0
        while file.tell() < size:
            for log in logs:
                copy += 1
                run = _RUN.search(log)
                if run:
                    file.write(log.replace(run[1], b"%036x" % copy))


def _unpacked(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return b"".join(blocks(Source(file)))


def fastest(works: Sequence[object], rounds: int) -> list[float]:
    """The least CPU seconds of each, in turns."""
    taken = []
    for _ in range(rounds):
        for work in works:
            start = time.process_time()
            work()  # type: ignore[operator]
            taken.append(time.process_time() - start)
    return [min(taken[nth :: len(works)]) for nth in range(len(works))]


def speeds(megabytes: int, rounds: int) -> bool:
    """Print how fast both kinds of logs are read with stages; whether the targets are met."""
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (
            ("driver log, of the limit", lambda path, size: write_log(path, size, 0.07)),
            ("event log, of reading without", write_event_log),
        ):
            path = Path(folder) / "log"
            write(path, megabytes * 1_000_000)
            size = path.stat().st_size

            def read(stages: bool, path: Path = path) -> None:
                files.read([path], sightings=False, stages=stages)

            works = [lambda path=path: limit(path), lambda: read(False), lambda: read(True)]
            bare, without, with_stages = fastest(works if "driver" in name else [lambda: None, *works[1:]], rounds)
            ratio = (bare if "driver" in name else without) / with_stages
            met &= ratio >= TARGETS[name]
            words = ", ".join(
                f"{label} {size / seconds / 1e6:,.0f} MB/s"
                for label, seconds in (("limit", bare), ("without", without), ("with stages", with_stages))
                if seconds > 1e-4
            )
            missed = "" if ratio >= TARGETS[name] else "  MISSED"
            print(f"{size / 1e6:.0f} MB, {words}: {ratio:.2f} x {name} (target {TARGETS[name]}){missed}")
    return met


def print_memory(repeats: Sequence[int] = (7, 29, 116)) -> None:
    """Print what reading with stages holds of a log of one query when all of it has been read, beside the tables."""
    held: list[int] = []
    ending = StageTables.tables

    def measured(self: StageTables, *given: pa.Table) -> dict[str, pa.Table]:
        gc.collect()
        files_of = tracemalloc.take_snapshot().statistics("filename")
        held.append(sum(one.size for one in files_of if "/stages/" in one.traceback[0].filename))
        return ending(self, *given)

    StageTables.tables = measured  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        for (kind, log), times in itertools.product(ONE_QUERY.items(), repeats):
            path = Path(folder) / "log"
            with path.open("wb") as file:
                file.writelines(repeated(log, times))
            tracemalloc.start()
            reading = files.read([path], sightings=False, stages=True)
            tracemalloc.stop()
            tables = sum(table.nbytes for table in reading.inside.values())
            print(
                f"{kind}, {len(reading.inside['batch_parts']):,} batches, {path.stat().st_size / 1e6:.0f} MB: "
                f"{held[-1] / 1e6:.1f} MB held, tables of {tables / 1e6:.1f} MB"
            )
    StageTables.tables = ending  # type: ignore[method-assign]


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("paths", nargs="*", default=[str(SAMPLES)])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(f"streaming-latency-advisor {advisor.__version__}")
    met = print_shares(shares(asked.paths))
    print_agreement(asked.paths)
    if asked.megabytes:
        met &= speeds(asked.megabytes, asked.rounds)
        print_memory()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
