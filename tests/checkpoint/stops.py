"""Stop queries at random moments, ask the reader, let Spark do it, and compare.

python -m tests.checkpoint.stops STOPS SEED VERSION=PYTHON [VERSION=PYTHON ...]

Of each version so many stops: by kill -9, by a copy of the folder while the JVM is frozen (what a crash leaves), or in
order. Each time one change is asked for, Spark is started with it on that checkpoint, and its answer stands beside the
reader's: does it start, with which batch and how many rows does it go on, and did the change take effect.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from advisor.api import read_checkpoint
from advisor.checkpoint import Checkpoint
from tests.checkpoint.workers import Worker

PREFIX = "spark.sql.streaming.stateStore."
ROCKSDB = {f"{PREFIX}providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"}
CHANGELOG = {f"{PREFIX}rocksdb.changelogCheckpointing.enabled": "true"}
ASYNC = {"asyncProgressTrackingEnabled": "true", "asyncProgressTrackingCheckpointIntervalMs": "300"}
PARTITIONS = "spark.sql.shuffle.partitions"
KINDS: dict[str, dict[str, Any]] = {
    "count on the default store": {"query": "count"},
    "count on RocksDB": {"query": "count", "confs": ROCKSDB},
    "count with changelogs": {"query": "count", "confs": {**ROCKSDB, **CHANGELOG}},
    "deduplication": {"query": "dedup"},
    "deduplication within watermark": {"query": "within", "confs": {**ROCKSDB, **CHANGELOG}},
    "windows": {"query": "window"},
    "join": {"query": "join"},
    "no state": {"query": "plain"},
    "asynchronous": {"query": "plain", "options": ASYNC},
    "asynchronous, interval 0": {
        "query": "plain", "options": {**ASYNC, "asyncProgressTrackingCheckpointIntervalMs": "0"},
    },
    "files": {"query": "files"},
    "unique ids": {"query": "count", "confs": {**ROCKSDB, **CHANGELOG, f"{PREFIX}checkpointFormatVersion": "2"}},
}  # fmt: skip
CHANGES = ("nothing", "async-off", "partitions=5", "provider", "changelog=on", "spark", "trigger=available-now", "move")
WAYS = ("freeze", "freeze", "stop")
KILLED = 10
"""Of so many stops one is by kill -9, after which a Spark starts anew."""


class WrongError(Exception):
    """What Spark did otherwise than the reader said."""


def stopped(worker: Worker, kind: dict[str, Any], place: Path, way: str, chance: random.Random) -> Path:
    """Run a query and stop it at a random moment; the checkpoint that is left."""
    running = place / "running"
    worker.ask(**kind, checkpoint=str(running), batches=chance.randint(1, 12), wait=False)
    time.sleep(chance.uniform(0, 1.5))
    left = place / "left"
    if way == "freeze":
        worker.freeze()
        copied(running, left)
        worker.thaw()
        worker.ask(stop=True)
        return left
    if way == "kill":
        worker.kill()
    else:
        worker.ask(stop=True)
    copied(running, left)
    return left


def copied(here: Path, there: Path) -> None:
    """Copy a checkpoint with the files beside it, which a query of files reads and writes."""
    for beside in ("", ".in", ".out"):
        if Path(f"{here}{beside}").exists():
            try:
                shutil.copytree(f"{here}{beside}", f"{there}{beside}")
            except shutil.Error:  # tasks of a stopped query end a little later, and take their temporary files away
                shutil.rmtree(f"{there}{beside}")
                shutil.copytree(f"{here}{beside}", f"{there}{beside}")
    for log in [*Path(f"{there}/sources/0").glob("[0-9]*"), *Path(f"{there}.out/_spark_metadata").glob("[0-9]*")]:
        log.write_text(log.read_text().replace(f"{here}.", f"{there}."))


def listed(place: Path) -> list[tuple[str, int, int]]:
    """Every file with its size and the time of its change: two lists are the same if nothing was written."""
    return sorted((str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in place.rglob("*"))


def newest_confs(place: Path) -> dict[str, str]:
    newest = max((one for one in (place / "offsets").iterdir() if one.name.isdigit()), key=lambda one: int(one.name))
    confs: dict[str, str] = json.loads(newest.read_text().splitlines()[1])["conf"]
    return confs


def check(worker: Worker, other: Worker | None, kind: dict[str, Any], left: Path, change: str) -> str:
    """Ask the reader, let Spark do it; the answer that both gave. Raises WrongError where they differ."""
    target = other if change == "spark" and other else worker
    asked = {"provider": f"provider={'hdfs' if 'confs' in kind else 'rocksdb'}", "move": f"move={left}.moved",
             "spark": f"spark={target.version}", "nothing": ""}.get(change, change)  # fmt: skip
    before = listed(left)
    found = read_checkpoint(left, before=[asked] if asked else [], set=[f"spark_version={worker.version}"])
    if listed(left) != before:
        raise WrongError("the reader wrote")
    order: dict[str, Any] = {**kind, "checkpoint": str(left), "batches": 2}
    if change == "async-off":
        order["options"] = {}
    elif change == "partitions=5":
        order["confs"] = {**kind.get("confs", {}), PARTITIONS: "5"}
    elif change == "provider":
        order["confs"] = {} if "confs" in kind else ROCKSDB
    elif change == "changelog=on":
        order["confs"] = {**kind.get("confs", {}), **CHANGELOG}
    elif change == "trigger=available-now":
        order |= {"options": {}, "trigger": {"availableNow": True}} if kind["query"] == "files" else {"options": {}}
    elif change == "move":
        copied(left, Path(f"{left}.moved"))
        order["checkpoint"] = f"{left}.moved"
    if found.start[0].answer == "no":  # said of a new Spark: the old one holds what its other queries asked for
        target.kill()
    done = target.ask(**order)
    compare(found, change, order, done)
    return f"{change}: {found.answers[0].answer if found.answers else found.start[0].answer}"


def compare(found: Checkpoint, change: str, order: dict[str, Any], done: dict[str, Any]) -> None:
    """Raise WrongError where Spark did otherwise than the reader said."""
    answer = found.answers[0] if found.answers else None
    needs = [stage.change for one in (answer, found.start[0]) if one for stage in one.stages]
    has_conf = any(one.conf and one.conf.items() <= order.get("confs", {}).items() for one in needs)
    is_async = "asyncProgressTrackingEnabled" in order.get("options", {})
    says = (
        answer.answer if answer and change in ("async-off", "spark", "trigger=available-now") else found.start[0].answer
    )
    if says == "if":  # the reader does not know, and says what would decide
        return
    runs = says == "yes" or (says == "only_so" and (is_async or has_conf))
    ran = bool(done["batches"])
    if ran != runs:
        raise WrongError(f"{says}, and Spark {'ran' if ran else 'ended with ' + str(done['error'])[:200]}")
    if not ran:
        return
    if done["batches"][0] != found.again.next:
        raise WrongError(f"goes on with {found.again.next}, and Spark went on with {done['batches'][0]}")
    if found.again.rows is not None and done["rows"][0] != found.again.rows and not is_async:
        raise WrongError(f"{found.again.rows} rows again, and Spark read {done['rows'][0]}")
    if change in ("partitions=5", "provider") and answer and answer.answer in ("no", "only_so", "if"):
        kept = newest_confs(Path(order["checkpoint"]))
        if any(kept[key] != found.pinned[key] for key in (PARTITIONS, f"{PREFIX}providerClass")):
            raise WrongError("the checkpoint was to keep its setting, and did not")
    if change == "changelog=on" and answer:
        later = [*Path(order["checkpoint"]).glob(f"state/0/0/**/{found.again.next + 2}*.changelog")]
        if bool(later) != (answer.answer == "yes" and (Path(order["checkpoint"]) / "state").exists()):
            raise WrongError(f"changelogs: {answer.answer}, and Spark wrote {len(later)}")


def tried(workers: list[Worker], stops: int, seed: int) -> Iterator[tuple[str, str, str, str, str | None]]:
    """Yield (version, kind, way, what was asked and answered, what was wrong) of each stop."""
    chances = [random.Random(f"{seed} {worker.version}") for worker in workers]
    for number in range(stops):
        for worker, chance in zip(workers, chances, strict=True):
            others = [one for one in workers if one is not worker]
            kinds = [one for one in KINDS if one != "unique ids" or not worker.version.startswith("3")]
            kind = chance.choice(kinds) if number >= len(kinds) else kinds[number]
            change = CHANGES[number % len(CHANGES)] if number % 2 else chance.choice(CHANGES)
            way = "kill" if number % KILLED == 0 else chance.choice(WAYS)
            with tempfile.TemporaryDirectory(prefix="stops") as folder:
                left = stopped(worker, KINDS[kind], Path(folder), way, chance)
                said, wrong = change, None
                try:
                    said = check(worker, chance.choice(others) if others else None, KINDS[kind], left, change)
                except WrongError as error:
                    wrong = str(error)
                    kept = Path(tempfile.gettempdir()) / "wrong" / f"{worker.version}-{seed}-{number}"
                    shutil.copytree(left, kept, dirs_exist_ok=True)
            yield worker.version, kind, way, said, wrong


def main(stops: int, seed: int, environments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="stops") as folder:
        workers = [Worker(one.partition("=")[2], Path(folder) / one.partition("=")[0]) for one in environments]
        counted: Counter[str] = Counter()
        wrong = 0
        for version, kind, way, said, found in tried(workers, stops, seed):
            counted[f"{version}: {said}"] += 1
            wrong += found is not None
            print(version, kind, way, said, f"WRONG: {found}" if found else "", sep=" | ", flush=True)
        for worker in workers:
            worker.close()
    for said, count in sorted(counted.items()):
        print(f"{count:4} {said}")
    print(f"{sum(counted.values())} stops, {wrong} wrong answers")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
