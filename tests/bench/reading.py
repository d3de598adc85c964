"""How fast progress is read: ratios, in one run, to the limit of the machine and to a plain loop over lines.

`python tests/bench/reading.py [--megabytes 500] [--memory-gigabytes 0]` builds logs from recorded events in a temporary
folder, at two densities: about 7 % progress, as Spark at INFO writes it, and progress only. Times are CPU seconds of
one thread, the best of some rounds, each in a process of its own: what one leaves in memory slows another.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import mmap
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import msgspec

from advisor.progress import Progress
from advisor.sources import files

SAMPLES = Path(__file__).resolve().parents[2] / "sample_progress"
MARKER = b"made progress:"
EVENT = re.compile(rb"(?m)^[^\n]*made progress: \{\n.*?\n\}\n", re.DOTALL)
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
TARGETS = {"limit": 0.6, "lines": 1.3, "limit, with sightings": 0.3, "lines, with sightings": 1.0}


class Recorded(NamedTuple):
    """One recorded driver log: what stands before its first event, its events, and the lines between them."""

    head: bytes
    events: list[bytes]
    between: list[bytes]


def recorded() -> list[Recorded]:
    """One recorded driver log of each folder that has one with enough events to go on from."""
    logs = {path.parts[-3]: _parts(_text(path)) for path in sorted(SAMPLES.glob("*/*/driver.log*"))}
    found = [log for log in logs.values() if len(log.events) >= 20]
    return found or sys.exit(f"no recorded driver logs under {SAMPLES}")


def _parts(text: bytes) -> Recorded:
    head, *_ = EVENT.split(text, maxsplit=1)
    events = EVENT.findall(text)
    between = b"".join(EVENT.split(text)[1:-1])
    return Recorded(head, events, between.splitlines(keepends=True))


def _text(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def write_log(path: Path, size: int, density: float) -> None:
    """A log of `size` bytes: the recorded queries one after another, each going on for long.

    Each event has a batch id and a time of its own. Of the recorded lines between events, as Spark at INFO writes them,
    there are so many that events make up `density` of the bytes; none at density 1.
    """
    logs = recorded()
    numbers = itertools.count()
    with path.open("wb") as file:
        for done, log in enumerate(logs, 1):
            if density < 1:
                file.write(log.head)
            lines = itertools.cycle(log.between)
            for event in itertools.cycle(log.events):
                file.write(_renumbered(event, next(numbers)))
                if density < 1:
                    file.write(_some(lines, round(len(event) / density) - len(event)))
                if file.tell() >= size * done / len(logs):
                    break


def write_event_log(path: Path, size: int) -> None:
    """An event log of nothing but progress."""
    events = [event[event.index(b"{") :] for log in recorded() for event in log.events]
    kind = b'{"Event":"org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent","progress":'
    with path.open("wb") as file:
        for number, event in enumerate(itertools.cycle(events)):
            file.write(kind + b" ".join(_renumbered(event, number).split()) + b"}\n")
            if file.tell() >= size:
                return


def _some(lines: Iterator[bytes], size: int) -> bytes:
    """The next lines, at least `size` bytes of them."""
    taken: list[bytes] = []
    while size > 0:
        taken.append(next(lines))
        size -= len(taken[-1])
    return b"".join(taken)


def _renumbered(event: bytes, number: int) -> bytes:
    moment = (START + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z").encode()
    event = re.sub(rb'("timestamp" : ")[^"]*', rb"\g<1>" + moment, event, count=1)
    return re.sub(rb'("batchId" : )\d+', rb"\g<1>%d" % number, event, count=1)


def limit(path: Path) -> int:
    """Search in the mapped file for the marker and the end of each event, and its typed decode: no table, no errors."""
    decode = msgspec.json.Decoder(Progress).decode
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as log:
        count, at = 0, log.find(MARKER)
        while at >= 0:
            end = log.find(b"\n}", at) + 2
            decode(log[at + len(MARKER) : end])
            count, at = count + 1, log.find(MARKER, end)
    return count


def line_loop(path: Path) -> int:
    """What one writes in ten minutes: a loop over lines and json.loads."""
    count = 0
    lines: list[str] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if lines:
                lines.append(line)
                if line.startswith("}"):
                    json.loads("".join(lines))
                    count, lines = count + 1, []
            elif "made progress: {" in line:
                lines = ["{"]
    return count


def ours(path: Path) -> int:
    """The reading as `read_progress` does it."""
    return files.read([path], sightings=False).events


def ours_with_sightings(path: Path) -> int:
    """The reading as `analyze` does it."""
    return files.read([path]).events


def once(work: Callable[[Path], int], path: Path) -> tuple[float, int]:
    """(CPU seconds, events), in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return process.apply(_timed, (work, path))


def _timed(work: Callable[[Path], int], path: Path) -> tuple[float, int]:
    """What is imported at the first reading is no part of it."""
    with tempfile.NamedTemporaryFile(suffix=".log") as short, path.open("rb") as log:
        head = log.read(1_000_000)
        short.write(head[: head.rindex(b"\n}\n") + 3])
        short.flush()
        work(Path(short.name))
    start = time.process_time()
    count = work(path)
    return time.process_time() - start, count


def compare(path: Path, rounds: int) -> bool:
    """Print the speeds and ratios for one log; whether all targets are met."""
    size = path.stat().st_size
    works = (limit, line_loop, ours, ours_with_sightings)
    taken = [[once(work, path) for work in works] for _ in range(rounds)]
    results = {work.__name__: min(times) for work, times in zip(works, zip(*taken, strict=True), strict=True)}
    assert len({count for _, count in results.values()}) == 1, "not all read the same events"
    for name, (seconds, count) in results.items():
        print(f"  {name:<20} {size / seconds / 1e6:8,.0f} MB/s {seconds / count * 1e6:8.1f} us/event")
    time_of = {name: seconds for name, (seconds, _) in results.items()}
    ratios = {
        "limit": time_of["limit"] / time_of["ours"],
        "lines": time_of["line_loop"] / time_of["ours"],
        "limit, with sightings": time_of["limit"] / time_of["ours_with_sightings"],
        "lines, with sightings": time_of["line_loop"] / time_of["ours_with_sightings"],
    }
    for name, ratio in ratios.items():
        print(f"  {ratio:5.2f} x {name} (target {TARGETS[name]}){'' if ratio >= TARGETS[name] else '  MISSED'}")
    return all(ratio >= TARGETS[name] for name, ratio in ratios.items())


_PEAK = """
import re, sys, threading, time
from pathlib import Path
from typing import NamedTuple
from advisor.sources import files
peak, done = 0, False
def watch():
    global peak
    while not done:
        peak = max(peak, int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]))
        time.sleep(0.02)
watcher = threading.Thread(target=watch)
watcher.start()
reading = files.read([sys.argv[1]])
done = True
watcher.join()
megabytes = f"anonymous memory peaks at {peak / 1024:.0f} MB (target 400)"
missed = "  MISSED" if peak > 400 * 1024 else ""
print(f"  {reading.bytes / 1e9:.2f} GB, {reading.events:,} events: {megabytes}{missed}")
sys.exit(bool(missed))
"""


def flat(path: Path) -> bool:
    """Print the most memory that reading this log takes, in a new process; whether the target is met."""
    return subprocess.run([sys.executable, "-c", _PEAK, str(path)], check=False).returncode == 0


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--memory-gigabytes", type=float, default=0.0, help="also read a log of that size for its memory"
    )
    parser.add_argument("--folder", help="where to build the logs (default: a temporary folder)")
    asked = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for words, density in (("INFO log, 7 % progress", 0.07), ("progress only", 1.0)):
            path = Path(folder) / "driver.log"
            write_log(path, asked.megabytes * 1_000_000, density)
            print(f"{words}, {asked.megabytes} MB")
            met &= compare(path, asked.rounds)
        print("event log, progress only")
        path = Path(folder) / "events"
        write_event_log(path, asked.megabytes * 300_000)
        met &= flat(path)
        if asked.memory_gigabytes:
            path = Path(folder) / "driver.log"
            write_log(path, int(asked.memory_gigabytes * 1e9), 0.07)
            met &= flat(path)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
