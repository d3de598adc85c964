"""A checkpoint of a million files: CPU time, clock and memory of a process of its own that reads it, without Spark.

python -m tests.bench.checkpoint [--files 1000000] [--partitions 200] [--folder DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from zipfile import ZipFile

from tests.bench.many import measured

SAMPLE = Path(__file__).parents[1] / "checkpoint" / "samples" / "4.3-default.zip"
READ = "api.read_checkpoint(sys.argv[1]).files"


def grown(place: Path, files: int, partitions: int) -> Path:
    """A checkpoint with so many files, most of them empty changes of old versions, as without any clean-up."""
    with ZipFile(SAMPLE) as archive:
        archive.extractall(place)
    for partition in range(partitions):
        folder = place / "state" / "0" / str(partition)
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(files // partitions):
            (folder / f"{number + 100}.delta").touch()
    return place


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=200)
    parser.add_argument("--folder")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        place = grown(Path(folder), asked.files, asked.partitions)
        found, seconds, took, most = measured(READ, place)
        print(f"{found:,} files: {took:.1f} s of CPU, {seconds:.1f} s by the clock, {most:.0f} MB")


if __name__ == "__main__":
    main()
