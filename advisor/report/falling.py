"""What is said of a log that has no progress: its lines about falling behind, and how to get progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from statistics import median

from advisor.batches import Overrun
from advisor.contract import FallingBehind
from advisor.metrics.units import milliseconds, times
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
_EVERY_TENTH = "A file sink writes the list of all its files anew in every tenth batch; Delta writes a checkpoint then."


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
    if len(lines) == 1 and len(set(spent)) == 1 and not others:
        yield _ALONE
    if others:
        yield _another_query(clocks, others)
        return
    found = rhythm(late, interval)
    if found is not None and found.every == _TENTH:
        yield _EVERY_TENTH
    elif found is None:
        yield from [one.suggests for one in lines if one.suggests][:1]


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
