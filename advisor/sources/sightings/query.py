"""Lines that speak of one query: its start, its options, its pinned configuration, its end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from stringzilla import find

from advisor.facts import LATE_BATCH, from_conf, in_order
from advisor.progress import UNNAMED
from advisor.sources.sightings.errors import error
from advisor.sources.sightings.line import Line, Told

_START: Final = re.compile(
    r"Starting (?P<name>(?:(?!\[id = ).){0,1000}?) ?\[id = [0-9a-f-]{36}, runId = [0-9a-f-]{36}\]\. "
    r"Use (?P<path>\S.{0,1000}?) to store the query checkpoint"
)
_REAL_TIME: Final = re.compile(
    r"(?:(?!.* to store the query checkpoint)[^\n]*\n){0,4}[^\n]*Real-Time Mode: defaulting "
)
"""A line that Spark 4.3 writes next of a query in real-time mode, before another one starts."""
_ROOT: Final = re.compile(r"Checkpoint root .{1,1000}? resolved to (.+)")
_SCHEME: Final = re.compile(r"([A-Za-z][\w+.-]{0,20}):")
_PINNED: Final = re.compile(r"OffsetSeqMetadata\w{0,20}\(.{0,200}?Map\((.*)", re.DOTALL)
_PAIR: Final = re.compile(r"(?:^|, )(spark\.[\w.\-]+) -> (.*?)(?=, spark\.[\w.\-]+ -> |$)", re.DOTALL)
_UPDATED: Final = re.compile(r"value of conf '([^']+)' in current session from '([^']*)' to '([^']*)'")
_BETWEEN: Final = rb"[\s#/*|>]+"
_TIME: Final = (
    rb"\{?(\d{1,15})\}?[\s#/*|>]*(?:(?:-|\xe2\x80\x93|to)\s*(\d{1,15})\s*)?"
    rb"(milliseconds?|ms|seconds?|s|minutes?|min)?\b"
)
_WORDS: Final = (rb"[Tt]rigger", rb"interval", rb"is", _TIME + rb",?", rb"but", rb"spent", _TIME)
LATE: Final = re.compile(_BETWEEN.join(_WORDS))
"""What Spark writes of a batch that took longer than its interval, in all spellings: lines broken by hand, ranges."""
_UNITS: Final = {b"s": 1000, b"second": 1000, b"seconds": 1000, b"min": 60000, b"minute": 60000, b"minutes": 60000}
_IDS: Final = re.compile(r'\A\s*"id" : "([0-9a-f-]{36})",\s*"runId" : "([0-9a-f-]{36})"')
_IDENTIFIER: Final = re.compile(
    r"(?:[^\n]*\n){0,20}?=== Streaming Query ===\s+Identifier:[^\n]*\[id = ([0-9a-f-]{36}), runId = ([0-9a-f-]{36})\]"
)
_ASYNC_ON: Final = re.compile(rb"asyncProgressTrackingEnabled[\"'`]?\s{0,9}(?:[,=:]|->)\s{0,9}[\"'`]?[Tt]rue")
_REPORTER: Final = "ProgressReporter: "
_UNROUNDED: Final = re.compile(r'RowsPerSecond" : \d+\.\d{2,}')
_ROUNDED: Final = re.compile(r'RowsPerSecond" : (\d{2,}\.[1-9])\b')
_LISTING: Final = "BatchIds found from listing: "
_METADATA: Final = re.compile(r"StreamMetadata\(([0-9a-f-]{36})\) to ")
_FAILED: Final = " terminated with exception: "
_STOPPED: Final = "RejectedExecutionException: Producer interrupted"
_LIMIT: Final = re.compile(
    r"\b(maxoffsets|minoffsets|maxfiles)pertrigger\s{0,9}(?:->|=|:)\s{0,9}(\d{1,18})\b", re.IGNORECASE
)
LIMITS: Final = {
    "maxoffsets": "max_offsets_per_trigger",
    "minoffsets": "min_offsets_per_trigger",
    "maxfiles": "max_files_per_trigger",
}
"""The facts of options that limit a batch, by how the options begin."""
_MODES: Final[dict[str, list[tuple[str, Any]]]] = {
    "MicroBatchExecution": [("async_progress", False)],
    "AsyncProgressTrackingMicroBatchExecution": [("async_progress", True)],
    "ContinuousExecution": [("trigger", "continuous")],
}
_LOGGERS: Final = re.compile(rf"\b({'|'.join(_MODES)})\b")


def read_start(line: Line) -> list[Told]:
    """Of `Starting NAME [id = …]. Use PATH to store the query checkpoint`: kind of execution, checkpoint, time."""
    match = _START.search(line.text)
    if match is None:
        return []
    found = execution(line) + checkpoint(match["path"])
    if match["name"]:
        found.append(Told("query_name", match["name"]))
    if _REAL_TIME.match(line.after):
        found.append(Told("trigger", "real_time"))
    if line.timestamp is not None:
        found.append(Told("start_time", line.timestamp.isoformat().replace("+00:00", "Z")))
    return found


def execution(line: Line) -> list[Told]:
    """Read the execution mode from the logger of a line that the execution wrote."""
    logger = _LOGGERS.search(line.text if line.logger is None else line.logger)
    return [Told(fact, value) for fact, value in _MODES[logger[1]]] if logger else []


def read_progress_header(line: Line) -> list[Told]:
    """Until 3.5 the execution itself reports progress, and so shows its kind; since 4.0 a reporter does.

    Since 4.1 it rounds rates to one decimal.
    """
    ids = _IDS.search(line.after)
    query, run = ids.groups() if ids else (None, None)
    found = execution(line)
    head = line.after.partition('"durationMs"')[0] if ids else ""
    if _REPORTER in f"{line.logger or line.text}: ":
        rounded = len({*_ROUNDED.findall(head)}) > 1  # one rate alone may be even by chance
        found.append(Told("spark_version_at_least", "4.1" if rounded else "4.0"))
    if _UNROUNDED.search(head):
        found.append(Told("spark_version_below", "4.1"))
    return [each._replace(id=query, run_id=run) for each in found]


def read_checkpoint_root(line: Line) -> list[Told]:
    """Of `Checkpoint root X resolved to Y.`."""
    match = _ROOT.search(line.text)
    return checkpoint(match[1].removesuffix(".")) if match else []


def checkpoint(path: str) -> list[Told]:
    """The path and the file system of a checkpoint; a path without one leaves the file system unknown."""
    scheme = _SCHEME.match(path)  # urlsplit refuses what a host cannot be
    found = [Told("checkpoint_path", path)]
    return [*found, Told("checkpoint_scheme", scheme[1].lower())] if scheme else found


def read_pinned(line: Line) -> list[Told]:
    """Of `Committed offsets for batch N. Metadata OffsetSeqMetadata(…, Map(…))`: what the checkpoint pins."""
    match = _PINNED.search(line.text)
    return list(_pinned(match[1].rpartition(")")[0])) if match else []


@lru_cache(maxsize=256)  # every batch names the same settings
def _pinned(settings: str) -> tuple[Told, ...]:
    return tuple(of_confs((key, text.rstrip(")")) for key, text in _PAIR.findall(settings)))


def of_confs(pairs: Iterable[tuple[str, str]]) -> list[Told]:
    """Return the facts that settings settle."""
    return [Told(*found) for key, text in in_order(pairs) for found in from_conf(key, text)]


def read_conf_update(line: Line) -> list[Told]:
    """Of `Updating the value of conf K in current session from A to B`: the session wanted A, the checkpoint pins B."""
    found = []
    for key, wanted, pinned in _UPDATED.findall(line.text):
        found += [Told(fact, value, "session") for fact, value in from_conf(key, wanted)]
        found += [Told(fact, value) for fact, value in from_conf(key, pinned)]
    return found


def read_falling_behind(line: Line) -> list[Told]:
    """Of `Current batch is falling behind. The trigger interval is N milliseconds, …` in all its spellings."""
    match = LATE.search(f"{line.text} {line.after[:200]}".encode())
    if match is None:
        return []
    interval, spent, _ = late_batch(match)
    late = Told(LATE_BATCH, [interval, spent])
    timed = [Told("trigger", "processing_time"), Told("trigger_interval_ms", interval), late] if interval else []
    return [Told("falling_behind", value=True), *timed]


def late_batch(match: re.Match[bytes]) -> tuple[int, int, int]:
    """Return the interval, the least and the most that was spent, in ms, of what LATE found."""
    interval, _, interval_unit, low, high, unit = match.groups()
    spent = _UNITS.get(unit, 1)
    return int(interval) * _UNITS.get(interval_unit, 1), int(low) * spent, int(high or low) * spent


def read_termination(line: Line) -> list[Told]:
    """Of `Query NAME [id = …, runId = …] terminated with error` and the first line of the error below it."""
    first = line.after.strip().partition("\n")[0]
    if not line.run_id or _STOPPED in first:  # stopping a query before 4.0 interrupts its asynchronous writes
        return []
    return [*execution(line), *error(line.after)]


def read_refused_start(line: Line) -> list[Told]:
    """Of `Error writing stream metadata StreamMetadata(ID) to PATH` and the error below: the query never started."""
    query = _METADATA.search(line.text)
    return [each._replace(id=query[1], run_id=UNNAMED) for each in error(line.after)] if query else []


def read_failure(line: Line) -> list[Told]:
    """Of `[STREAM_FAILED] Query [id = …, runId = …] terminated with exception: WHY`, as Spark's exceptions have it."""
    why = line.text.partition(_FAILED)[2]
    ended = line.run_id and _STOPPED not in why
    return error(f"{why}\n{line.after}") if ended else []


def read_exception(line: Line) -> list[Told]:
    """Of a StreamingQueryException, whose lines `=== Streaming Query ===` and `Identifier: …` name the run."""
    below = _IDENTIFIER.match(line.after)
    if below is None or line.run_id:
        return []
    return [found._replace(id=below[1], run_id=below[2]) for found in error(f"{line.text}\n{line.after}")]


def read_stop(line: Line) -> list[Told]:
    """Of `Query NAME [id = …, runId = …] was stopped`, or of the end of the whole application."""
    return [Told("stopped", value=True)] if line.run_id or "SparkContext" in line.text else []


def read_listing(line: Line) -> list[Told]:
    """Of `BatchIds found from listing: 0, 1, 12` at a restart: only asynchronous tracking leaves batches out."""
    numbers = sorted(int(number) for number in re.findall(r"\b\d{1,18}\b", line.text.partition(_LISTING)[2]))
    gaps = any(later - earlier > 1 for earlier, later in pairwise(numbers))
    return [Told("async_progress_before", value=True)] if gaps and "OffsetSeqLog" in (line.logger or line.text) else []


def async_before(region: bytes) -> list[Told]:
    """Read that asynchronous tracking was on before: a text about a missing batch names its option."""
    was_on = find(region, b"doesn't exist") >= 0 and _ASYNC_ON.search(region)
    return [Told("async_progress_before", value=True)] if was_on else []


def limits(text: str) -> list[Told]:
    """`maxOffsetsPerTrigger` and its kin in printed options, each only where one source has one."""
    found: dict[str, set[int]] = {}
    for option, value in _LIMIT.findall(text):
        found.setdefault(option.lower(), set()).add(int(value))
    alone = ((option, value) for option, values in found.items() if len(values) == 1 for value in values)
    return [Told(LIMITS[option], value) for option, value in alone if value]
