"""Make the small checkpoints that tests read: python -m tests.checkpoint.samples VERSION=PYTHON [VERSION=PYTHON ...]

Each is a zip below samples/, named by Spark's version and its kind, without Hadoop's check sums, which nobody reads.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tests.checkpoint.stops import ASYNC, CHANGELOG, PREFIX, ROCKSDB
from tests.checkpoint.workers import Worker

PLACE = Path(__file__).with_name("samples")
EVOLUTION = {
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    "spark.sql.streaming.offsetLog.formatVersion": "2",
}
SAMPLES: dict[str, dict[str, Any]] = {
    "default": {"query": "count", "batches": 12}, "rocksdb": {"query": "count", "confs": ROCKSDB, "batches": 12},
    "changelog": {"query": "count", "confs": {**ROCKSDB, **CHANGELOG}, "batches": 12},
    "join": {"query": "join", "batches": 12}, "stateless": {"query": "plain", "batches": 12},
    "async": {"query": "plain", "options": ASYNC, "batches": 40}, "files": {"query": "files", "batches": 12},
}  # fmt: skip
FROM_4: dict[str, dict[str, Any]] = {
    "ids": {
        "query": "count", "confs": {**ROCKSDB, **CHANGELOG, f"{PREFIX}checkpointFormatVersion": "2"}, "batches": 12,
    },
    "named": {"query": "named", "confs": EVOLUTION, "batches": 12},
}  # fmt: skip


def packed(place: Path, into: Path) -> None:
    """Put a checkpoint into a zip, always the same for the same files, as if it had lain below /data."""
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(place.rglob("*")):
            if file.is_file() and not file.name.startswith(".") and is_kept(file):
                held = file.read_bytes().replace(str(place.parent).encode(), b"/data")
                archive.writestr(zipfile.ZipInfo(str(file.relative_to(place))), held, zipfile.ZIP_DEFLATED)


def is_kept(file: Path) -> bool:
    """Whether a start may read the file: Spark itself deletes older ones in time."""
    number = re.match(r"\d+", file.name)
    if number is None or file.parent.name in ("SSTs", "v2"):
        return True
    beside = [one for one in file.parent.iterdir() if one.name[0].isdigit()]
    if file.parent.name in ("offsets", "commits"):
        return int(number[0]) >= max(int(one.name) for one in beside) - 2
    wholes = [int(re.split(r"\D", one.name)[0]) for one in beside if one.suffix in (".zip", ".snapshot", ".compact")]
    return int(number[0]) >= max(wholes, default=0)


def main(environments: list[str]) -> None:
    PLACE.mkdir(exist_ok=True)
    for one in environments:
        version, _, python = one.partition("=")
        with tempfile.TemporaryDirectory() as folder:
            worker = Worker(python, Path(folder) / "spark")
            for name, order in {**SAMPLES, **(FROM_4 if version >= "4.2" else {})}.items():
                worker.ask(**order, checkpoint=f"{folder}/{name}")
                packed(Path(folder) / name, PLACE / f"{version}-{name}.zip")
            worker.close()


if __name__ == "__main__":
    main(sys.argv[1:])
