"""What is said of a log that has no progress: its lines about falling behind, and how to get progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from statistics import median

from advisor.batches import Overrun
from advisor.contract import FallingBehind
from advisor.metrics.words import milliseconds
from advisor.redaction import hide

WAYS = {
    "attach": 'advisor.attach(spark, history="progress/")',
    "event log": "spark.eventLog.enabled=true and spark.eventLog.dir=DIR",
    "driver log in a file": "the settings that `latency-advisor log4j` prints",
    "Databricks": "cluster logs",
    "EMR": "the driver's stderr",
    "Kubernetes": "kubectl logs",
}
"""Ways to a log that shows progress, in the words of docs/get-a-log.md."""
PROGRESS_NEEDS_INFO = (
    "Spark writes progress at level INFO; on Spark 4, PySpark's console never shows it. Ways to get it: "
    + "; ".join(f"{where}: {way}" for where, way in WAYS.items())
)
_AT_ONCE = "the next batch begins at once: no rows are lost by it, and its length decides the latency."
_LITTLE = 1.2
"""Times the interval: what is less is told in percent."""
_CLUES = {
    "jdbc": (
        "The text names JDBC: what each batch reads or writes there counts into the batch, a whole table above all."
    ),
    "s3a": (
        "The text names S3: if the checkpoint is there, each batch writes its logs and files there, one request after "
        "the other, however few its rows."
    ),
    "shuffle_partitions": (
        "The text names spark.sql.shuffle.partitions: 200 by default, and where state is kept or rows are shuffled "
        "each batch runs as many tasks, however few its rows. It is the usual cause of a slow batch with few rows."
    ),
}
"""What a text around such lines suggests, the likeliest first; one is said."""


def falling_behind(overruns: Iterable[Overrun]) -> tuple[FallingBehind, ...]:
    """One entry for each file and trigger interval: how often batches took longer, by how much, since when."""
    ordered = sorted(overruns, key=lambda one: (one.file, one.interval_ms, one.offset))
    groups = groupby(ordered, key=lambda one: (one.file, one.interval_ms))
    entries: list[FallingBehind] = []
    for (file, interval), lines in groups:
        brief = any(entry.file == hide(file) for entry in entries)  # what it means is explained once a file
        entries.append(_entry(file, interval, list(lines), brief=brief))
    return tuple(entries)


def _entry(file: str, interval: int, lines: Sequence[Overrun], *, brief: bool) -> FallingBehind:
    spent = [ms for one in lines for ms in one.spent_ms]
    clocks = [one.clock for one in lines if one.clock]
    return FallingBehind(
        file=hide(file),
        lines=len(lines),
        interval_ms=interval,
        low_ms=min(spent),
        median_ms=median(spent),
        high_ms=max(spent),
        first=clocks[0] if clocks else None,
        last=clocks[-1] if clocks else None,
        says=" ".join(islice(_sentences(interval, spent, clocks, lines), 1 if brief else None)),
    )


def _sentences(interval: int, spent: list[int], clocks: list[str], lines: Sequence[Overrun]) -> Iterator[str]:
    often = "One line says" if len(lines) == 1 else f"{len(lines):,} lines say"
    work = _range(min(spent), max(spent), milliseconds)
    since = f" (from {clocks[0]} to {clocks[-1]} by the log's clock)" if len(clocks) > 1 else ""
    since = since or (f" (at {clocks[0]} by the log's clock)" if clocks else "")
    yield f"{often} that batches fall behind: {work} of work in an interval of {milliseconds(interval)}{since}."
    if interval:
        yield f"That is {_longer(min(spent) / interval, max(spent) / interval)}; {_AT_ONCE}"
    if len(lines) == 1 and len(set(spent)) == 1:
        yield "One line is no pattern: the first batch after a start often works off what had piled up until then."
    clues = {clue for one in lines for clue in one.clues}
    yield from [words for clue, words in _CLUES.items() if clue in clues][:1]


def _longer(low: float, high: float) -> str:
    """How much longer than the interval: in percent where that is little."""
    if high < _LITTLE:
        return f"{_range(100 * (low - 1), 100 * (high - 1), lambda percent: f'{percent:.0f}')} % more than the interval"
    return f"{_range(low, high, lambda ratio: f'{ratio:,.1f}')} times the interval"


def _range(low: float, high: float, words: Callable[[float], str]) -> str:
    return words(low) if words(low) == words(high) else f"{words(low)} to {words(high)}"
