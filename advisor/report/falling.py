"""What is said of a log that has no progress: its lines about falling behind, and how to get progress."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from statistics import median

from advisor.batches import Overrun
from advisor.contract import FallingBehind
from advisor.metrics.words import milliseconds, times
from advisor.redaction import hide
from advisor.report.overruns import on_clock, pattern, rhythm

WHOLE_RECORDS = (
    "No record here is whole enough to be judged. A running query prints whole ones:\n"
    "PySpark: import json; [print(json.dumps(p, default=str)) for p in query.recentProgress]\n"
    "Scala: query.recentProgress.foreach(p => println(p.json))\n"
    "Give what that prints"
)
"""How to get records that can be judged where only pieces of some are there."""
_AT_ONCE = "the next batch begins at once: no rows are lost by it, and its length decides the latency."
_HARDLY, _LITTLE = 1.005, 1.2
"""Times the interval: what is less is told without a number, and in percent."""
_TENTH = 10
"""A file sink writes its list of files anew, and Delta its checkpoint, in every tenth batch by default."""
_ALONE = "One line is no pattern: the first batch after a start often works off what had piled up until then."
_ALONE_LIMITED = (
    "One line is no pattern: the first batch after a start is a cold one. What had piled up did not make it longer, if "
    "the limit held that the text names."
)
_LATER = "One line is no pattern: it tells of one batch."
_FIRST = (
    "The text names it as the first batch after a start: that one is cold, and often works off what had piled up until "
    "then. By itself it shows no falling behind: judge later ones."
)
_ALL_FIRST = (
    "As the text numbers them, each was the first batch after a start: cold, and often with what had piled up until "
    "then. By themselves they show no falling behind: judge later ones."
)
_LISTED = (
    "Every tenth: the text names a file sink, which then writes the list of all its files anew, a list that grows with "
    "the table. Fewer files in each batch, or a table format, keep it short."
)
_EVERY_TENTH = "A file sink writes the list of all its files anew in every tenth batch; Delta writes a checkpoint then."
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
    "aggregation": (
        "The text names an aggregation: its state has as many partitions as spark.sql.shuffle.partitions says, 200 by "
        "default, and each is a task in every batch, however few its rows."
    ),
    "endless_keys": (
        "The text shows dropDuplicates by columns without the one of the watermark: on a stream no key ever leaves the "
        "state then, which grows with each new one (in foreachBatch, or on a table, it keeps none). Name that column "
        "among them, or use dropDuplicatesWithinWatermark (from Spark 3.5). The state has as many partitions as "
        "spark.sql.shuffle.partitions says, 200 by default, and each is a task in every batch, however few its rows."
    ),
    "duplicates": (
        "The text shows dropDuplicates: its state has as many partitions as spark.sql.shuffle.partitions says, 200 by "
        "default, and each is a task in every batch, however few its rows."
    ),
    "database": "The text names a database: what each batch reads or writes there counts into the batch.",
    "few_rows": (
        "The text shows few rows a batch. If the query keeps state or shuffles rows, each batch runs as many tasks as "
        "spark.sql.shuffle.partitions says, 200 by default, however few its rows: the usual cause of a slow batch with "
        "few rows."
    ),
    "console": (
        "The text shows what the console sink wrote, few rows a batch. If the query keeps state or shuffles rows, each "
        "batch runs as many tasks as spark.sql.shuffle.partitions says, 200 by default, however few its rows: the "
        "usual cause of a slow batch with few rows."
    ),
}
"""What a text around such lines suggests, the likeliest first; one is said."""


def falling_behind(overruns: Iterable[Overrun]) -> tuple[FallingBehind, ...]:
    """One entry for each file and trigger interval: how often batches took longer, by how much, since when."""
    ordered = sorted(overruns, key=lambda one: (one.file, one.interval_ms, one.offset))
    groups = groupby(ordered, key=lambda one: (one.file, one.interval_ms))
    entries: list[FallingBehind] = []
    for (file, interval), lines in groups:
        others = [entry for entry in entries if entry.file == hide(file)]
        entries.append(_entry(file, interval, list(lines), others))
    return tuple(entries)


def _entry(file: str, interval: int, lines: Sequence[Overrun], others: Sequence[FallingBehind]) -> FallingBehind:
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
        says=" ".join(_sentences(interval, spent, clocks, lines, others)),
    )


def _sentences(
    interval: int, spent: list[int], clocks: list[str], lines: Sequence[Overrun], others: Sequence[FallingBehind]
) -> Iterator[str]:
    """What is said of these lines; what it means that a batch is late is explained once a file."""
    often = "One line says" if len(lines) == 1 else f"{len(lines):,} lines say"
    work = _range(min(spent), max(spent), milliseconds)
    since = f" (from {clocks[0]} to {clocks[-1]} by the log's clock)" if len(clocks) > 1 else ""
    since = since or (f" (at {clocks[0]} by the log's clock)" if clocks else "")
    yield f"{often} that batches fall behind: {work} of work in an interval of {milliseconds(interval)}{since}."
    if interval:
        longer = _longer(min(spent) / interval, max(spent) / interval)
        yield f"That is {longer}{'.' if others else f'; {_AT_ONCE}'}"
    late = on_clock([one.clock for one in lines], [max(one.spent_ms) for one in lines])
    if words := pattern(late, interval):
        yield words
    clues = {clue for one in lines for clue in one.clues}
    if len(lines) > 1:
        yield from _first_and_later(lines)
    elif len(set(spent)) == 1 and (not others or "first_batch" in clues):
        yield _of_one(clues)
    if others:
        yield _another_query(clocks, others)
        return
    found = rhythm(late, interval)
    if found is not None and found.every == _TENTH:
        yield _LISTED if "file_sink" in clues else _EVERY_TENTH
    elif found is None and any("first_batch" not in one.clues for one in lines):
        yield from [words for clue, words in _CLUES.items() if clue in clues][:1]


def _of_one(clues: Collection[str]) -> str:
    """What one line tells of the others."""
    if "first_batch" in clues:
        return _FIRST
    return _LATER if "later_batch" in clues else _ALONE_LIMITED if "limit" in clues else _ALONE


def _first_and_later(lines: Sequence[Overrun]) -> Iterator[str]:
    """How long the first batches after a start took, and how long all others, where the text numbers both."""
    first = [ms for one in lines if "first_batch" in one.clues for ms in one.spent_ms]
    later = [ms for one in lines if "later_batch" in one.clues for ms in one.spent_ms]
    if first and later:
        cold, others = (_range(min(spent), max(spent), milliseconds) for spent in (first, later))
        yield f"As the text numbers them, the first after a start, which is cold, took {cold}; later ones {others}."
    elif all("first_batch" in one.clues for one in lines):
        yield _ALL_FIRST


def _another_query(clocks: Sequence[str], others: Sequence[FallingBehind]) -> str:
    """What another interval in the same log means: two queries where both ran at the same time."""
    spans = [(other.first, other.last) for other in others if other.first and other.last]
    if clocks and any(first <= clocks[-1] and clocks[0] <= last for first, last in spans):
        return (
            "Another interval is another query: both run at the same time, and share the task slots of their session, "
            "first come first served, unless spark.scheduler.mode is FAIR."
        )
    return "Another interval is another query, or the query after a restart."


def _longer(low: float, high: float) -> str:
    """How much longer than the interval: in percent where that is little."""
    if high < _HARDLY:
        return "hardly more than the interval"
    if high < _LITTLE:
        return f"{_range(100 * (low - 1), 100 * (high - 1), lambda percent: f'{percent:.0f}')} % more than the interval"
    return f"{_range(low, high, times)} times the interval"


def _range(low: float, high: float, words: Callable[[float], str]) -> str:
    return words(low) if words(low) == words(high) else f"{words(low)} to {words(high)}"
