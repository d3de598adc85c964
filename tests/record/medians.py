"""Medians of durationMs in recorded files: `python medians.py FOLDER...`, run where zstandard is."""

from __future__ import annotations

import gzip
import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sanitise import frames

MARKER = "Streaming query made progress: "
PHASES = ("triggerExecution", "latestOffset", "queryPlanning", "walCommit", "addBatch", "commitOffsets")


def main() -> None:
    """One line per file."""
    for folder in sys.argv[1:]:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and path.suffix not in (".yaml", ".md"):
                print(f"{path}: {summary(list(progress(path)))}")


def progress(path: Path) -> Iterator[dict[str, Any]]:
    """Each progress object of a file, whatever its kind."""
    text = content(path)
    decoder, start = json.JSONDecoder(), 0
    if text.startswith("{"):
        yield from (found for line in text.splitlines() for found in line_progress(line))
        return
    while (start := text.find(MARKER, start)) >= 0:
        start += len(MARKER)
        try:
            yield decoder.raw_decode(text, start)[0]
        except json.JSONDecodeError:
            print(f"torn at {start}", file=sys.stderr)


def line_progress(line: str) -> Iterator[dict[str, Any]]:
    """The progress of one line of an event log, a structured log or a file of progress."""
    entry = json.loads(line)
    if "durationMs" in entry:
        yield entry
    elif entry.get("Event", "").endswith("QueryProgressEvent"):
        yield entry["progress"]
    elif "streaming_query_progress" in entry.get("context", {}):
        yield json.loads(entry["context"]["streaming_query_progress"])
    elif MARKER in entry.get("msg", ""):
        yield json.loads(entry["msg"].partition(MARKER)[2])


def content(path: Path) -> str:
    """The text of a plain, gz or zstd file."""
    data = path.read_bytes()
    if path.name.endswith(".gz"):
        data = gzip.decompress(data)
    if path.name.endswith(".zstd"):
        data = b"".join(frames(data))
    return data.decode()


def summary(events: list[dict[str, Any]]) -> str:
    """Batches and medians, the first two batches of a run left out."""
    batches = [event for event in events if "addBatch" in event["durationMs"]]
    steady = batches[2:]
    if not steady:
        return f"{len(events)} events, {len(batches)} batches"
    durations = {phase: middle([batch["durationMs"].get(phase) for batch in steady]) for phase in PHASES}
    commits = [
        sum(state["commitTimeMs"] for state in batch["stateOperators"]) for batch in steady if batch["stateOperators"]
    ]
    rows = middle([sum(source["numInputRows"] for source in batch["sources"]) for batch in steady])
    state = f", state commit sum {middle(commits)}" if commits else ""
    return f"{len(events)} events, {len(batches)} batches, rows {rows}, {durations}{state}"


def middle(values: list[Any]) -> float | None:
    """The median of the values that are there."""
    present = [value for value in values if value is not None]
    return statistics.median(present) if present else None


if __name__ == "__main__":
    main()
