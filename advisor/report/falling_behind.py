"""What Spark's lines about falling behind show where a log has no progress; rules/clues.yaml words it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from advisor.batches import Overrun
from advisor.catalogue import late_batches
from advisor.contract import FallingBehind
from advisor.metrics.units import milliseconds, times
from advisor.redaction import hide


def falling_behind(overruns: Iterable[Overrun]) -> tuple[FallingBehind, ...]:
    """One entry for each file and trigger interval: how often batches took longer, by how much, since when."""
    ordered = sorted(overruns, key=lambda one: (one.file, one.interval_ms, one.offset))
    entries: list[FallingBehind] = []
    for (file, interval), group in groupby(ordered, key=lambda one: (one.file, one.interval_ms)):
        lines = list(group)
        spent = [ms for one in lines for ms in one.spent_ms]
        clocks = [one.clock for one in lines if one.clock]
        first = not entries or entries[-1].file != hide(file)  # they come file by file
        entry = FallingBehind(
            file=hide(file),
            lines=len(lines),
            interval_ms=interval,
            first=clocks[0] if clocks else None,
            last=clocks[-1] if clocks else None,
            says=" ".join(_sentences(interval, lines, spent, clocks, first=first)),
        )
        entries.append(entry)
    return tuple(entries)


def _sentences(
    interval: int, lines: Sequence[Overrun], spent: list[int], clocks: list[str], *, first: bool
) -> Iterator[str]:
    """Yield what is said of these lines; what it means that a batch is late is explained once a file."""
    says = late_batches()
    often = "One line says" if len(lines) == 1 else f"{len(lines):,} lines say"
    times_of_day = (f"at {clocks[0]}" if len(clocks) == 1 else f"from {clocks[0]} to {clocks[-1]}") if clocks else ""
    at = f" ({times_of_day} by the log's clock)" if clocks else ""
    work = _range(min(spent), max(spent), milliseconds)
    yield says["lines"].format(often=often, work=work, interval=milliseconds(interval), at=at)
    if interval:
        longer = _range(min(spent) / interval, max(spent) / interval, times)
        yield says["longer" if first else "again"].format(longer=longer)
    if not first:
        yield says["another_interval"]
        return
    if len(lines) == 1 and len(set(spent)) == 1:
        yield says["alone"]
    yield from [one.suggests for one in lines if one.suggests][:1]


def _range(low: float, high: float, words: Callable[[float], str]) -> str:
    return words(low) if words(low) == words(high) else f"{words(low)} to {words(high)}"
