"""Run every cell of the matrix on real Spark, and compare what came of it with the rules: `make legality`.

`python -m tests.legality [--spark VERSION] [--only TEXT] [--list] [--keep DIR]`; without options all versions. Each
PySpark is installed beside the others, in the cache. What Spark did is written into `outcomes/VERSION.json`, which
`test_legality.py` asks the rules about without Spark. Exit 1 where a rule disagrees.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from advisor.catalogue import load
from advisor.cli.spark import end_in_order, session
from advisor.errors import AdvisorError
from lab import jars
from lab.broker import broker_of, topics
from lab.processes import scratch
from tests.legality import outcomes, streams, verdicts
from tests.legality.cells import ON_APPLICATION, Cell, cells
from tests.legality.effects import PARTITIONS
from tests.record.cases import DELTA
from tests.record.sparks import CACHE
from tests.spark.versions import installed_in

ROOT: Final = Path(__file__).parents[2]
BROKER: Final = "broker"
ROWS_A_SECOND: Final = 400
MAKE_TOPICS: Final = {streams.TOPIC_OUT: 2} | {streams.TOPICS[source]: number for source, number in PARTITIONS.items()}


def main() -> None:
    """Run the chosen cells of the chosen Sparks."""
    end_in_order()
    words = argparse.ArgumentParser(prog="python -m tests.legality", description=__doc__.partition("\n")[0])
    words.add_argument("--spark", action="append", choices=outcomes.VERSIONS, help="only this version; may be repeated")
    words.add_argument("--only", action="append", help="only cells whose step or name holds this text; may be repeated")
    words.add_argument("--list", action="store_true", help="name the cells and end")
    words.add_argument("--keep", type=Path, help="an empty directory for what the runs write")
    asked = words.parse_args()
    chosen = {version: _chosen(version, asked.only) for version in asked.spark or outcomes.VERSIONS}
    if asked.list:
        print("\n".join(f"{version} {cell.step}: {cell.name}" for version, found in chosen.items() for cell in found))
        return
    kafka = any(cell.query.needs_kafka for found in chosen.values() for cell in found)
    try:
        with _servers(kafka, list(chosen)) as (bootstrap, jars_of), _directory(asked.keep) as place:
            for version, found in chosen.items():
                _run(version, found, bootstrap, jars_of[version], place / version)
    except AdvisorError as error:
        sys.exit(str(error))
    outcomes.WRITTEN.write_text(outcomes.summary())
    wrong = [line for version in chosen for line in verdicts.disagreements(outcomes.read(version), load())]
    print("\n".join([*wrong, f"{len(wrong)} disagreements"]))
    sys.exit(bool(wrong))


def _chosen(version: str, texts: Sequence[str] | None) -> list[Cell]:
    return [cell for cell in cells(version) if any(text in f"{cell.step}: {cell.name}" for text in texts or [""])]


@contextlib.contextmanager
def _directory(kept: Path | None) -> Iterator[Path]:
    if kept is None:
        with scratch() as place:
            yield place
    else:
        yield kept


@contextlib.contextmanager
def _servers(kafka: bool, versions: Sequence[str]) -> Iterator[tuple[str | None, dict[str, dict[str, list[Path]]]]]:
    """A broker with topics that fill, if one is needed, and the jars of each version by what they are for."""
    found = _jars(versions)
    with contextlib.ExitStack() as stack:
        address = None
        if kafka:
            address = stack.enter_context(broker_of(found[BROKER]["kafka"]))
            for name, partitions in MAKE_TOPICS.items():
                stack.enter_context(topics(address, name, partitions=partitions))
            stack.enter_context(_filled(address))
        yield address, found


def _jars(versions: Sequence[str]) -> dict[str, dict[str, list[Path]]]:
    """The jars of each version and of the broker; once fetched they need no Spark any more."""
    file = CACHE / "legality-jars.json"
    known: dict[str, dict[str, list[str]]] = json.loads(file.read_text()) if file.exists() else {}
    wanted = [version for version in (BROKER, *versions) if not _there(known.get(version))]
    if wanted:
        with session("legality", {"spark.master": "local[1]"}) as spark:
            known |= {version: _fetched(spark, version) for version in wanted}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(known, indent=1))
    return {version: {use: [Path(jar) for jar in of] for use, of in uses.items()} for version, uses in known.items()}


def _there(uses: dict[str, list[str]] | None) -> bool:
    return uses is not None and all(Path(jar).exists() for of in uses.values() for jar in of)


def _fetched(spark: Any, version: str) -> dict[str, list[str]]:
    if version == BROKER:
        return {"kafka": [str(jar) for jar in (*jars.fetched(spark, jars.BROKER), jars.scala_library(spark))]}
    found: dict[str, list[str]] = {}
    for use, coordinates in outcomes.JARS[version].items():
        try:
            found[use] = [str(jar) for jar in jars.fetched(spark, coordinates)]
        except AdvisorError as error:
            print(f"Spark {version}: no jars for {use}: {error}", flush=True)
    return found


@contextlib.contextmanager
def _filled(address: str) -> Iterator[None]:
    """Records for every partition, all the time."""
    from confluent_kafka import Producer

    producer, over = Producer({"bootstrap.servers": address, "linger.ms": 5}), threading.Event()

    def fill() -> None:
        number = 0
        while not over.wait(0.02):
            for _ in range(ROWS_A_SECOND // 50):
                number += 1
                for name in (streams.TOPICS["kafka"], streams.TOPICS["kafka_wide"]):
                    producer.produce(name, str(number), partition=number % MAKE_TOPICS[name])
            producer.poll(0)

    thread = threading.Thread(target=fill, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        producer.flush(10)


def _run(
    version: str, found: Sequence[Cell], bootstrap: str | None, jars_of: dict[str, list[Path]], place: Path
) -> None:
    began, missing = time.monotonic(), []
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    results = place / "results.jsonl"
    for group, conf in _applications(found).items():
        mine = [cell for cell in found if _application(cell) == group]
        lacks = {use for use in ("kafka", "delta") for cell in mine if _needs(cell, use) and use not in jars_of}
        missing += [cell for cell in mine if any(_needs(cell, use) for use in lacks)]
        mine = [cell for cell in mine if cell not in missing]
        if mine:
            given = [str(jar) for use in jars_of for jar in jars_of[use] if use != "delta" or group == "delta"]
            _apart(version, {"conf": conf, "jars": given, "bootstrap": bootstrap, "place": str(place),
                             "results": str(results), "cells": [asdict(cell) for cell in mine]}, place)  # fmt: skip
    outcomes.write(version, [json.loads(line) for line in results.read_text().splitlines()], missing)
    print(f"Spark {version}: {len(found) - len(missing)} cells in {time.monotonic() - began:.0f} s", flush=True)


def _needs(cell: Cell, use: str) -> bool:
    return cell.query.needs_kafka if use == "kafka" else cell.query.needs_delta


def _application(cell: Cell) -> str:
    """Cells that share an application: those with Delta, those with a setting of its start, the others."""
    if cell.query.needs_delta:
        return "delta"
    return {"fair-scheduler": ON_APPLICATION[0], "shuffle-in-one-file": ON_APPLICATION[1]}.get(cell.step, "")


def _applications(found: Iterable[Cell]) -> dict[str, dict[str, str]]:
    needed = {_application(cell) for cell in found}
    every = {
        "": {},
        "delta": DELTA,
        ON_APPLICATION[0]: {ON_APPLICATION[0]: "FAIR"},
        ON_APPLICATION[1]: {ON_APPLICATION[1]: "1"},
    }
    return {name: conf for name, conf in every.items() if name in needed}


def _apart(version: str, plan: dict[str, Any], place: Path) -> None:
    """Run a plan in a process with that PySpark."""
    (place / "plan.json").write_text(json.dumps(plan))
    with (place / "console.txt").open("a") as console:
        command = [sys.executable, "-m", "tests.legality.runs", str(place / "plan.json")]
        subprocess.run(command, check=True, cwd=place, env=environment(version), stdout=console, stderr=console)


def environment(version: str) -> dict[str, str]:
    """The variables of a process that is to run with that PySpark."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    path = f"{installed_in(CACHE / 'pyspark', version)}:{ROOT}"
    return kept | {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}


if __name__ == "__main__":
    main()
