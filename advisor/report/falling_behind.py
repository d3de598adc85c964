"""What Spark's lines about falling behind show where a log has no progress; rules/clues.yaml words it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import Any, NamedTuple

from advisor.batches import Overrun
from advisor.catalogue import late_batches
from advisor.contract import FallingBehind
from advisor.metrics.units import milliseconds, times
from advisor.redaction import hide

_CLOCK = re.compile(r"(?:(\d{2,4})[-/](\d\d)[-/](\d\d)[ T])?(\d\d):(\d\d):(\d\d)")
_SECOND_MS, _MINUTE_MS, _HOUR_MS, _DAY_MS = 1000, 60_000, 3_600_000, 86_400_000


class Late(NamedTuple):
    """A batch that took too long: when its line was written (ms of the log's clock), and how long it took."""

    ended: int
    spent: int


def falling_behind(overruns: Iterable[Overrun]) -> tuple[FallingBehind, ...]:
    """One entry for each file and trigger interval: how often batches took longer, by how much, since when."""
    ordered = sorted(overruns, key=lambda one: (one.file, one.interval_ms, one.offset))
    entries: list[FallingBehind] = []
    for (file, interval), group in groupby(ordered, key=lambda one: (one.file, one.interval_ms)):
        lines = list(group)
        spent = [ms for one in lines for ms in one.spent_ms]
        clocks = [one.clock for one in lines if one.clock]
        others = [one for one in entries if one.file == hide(file)]
        entry = FallingBehind(
            file=hide(file),
            lines=len(lines),
            interval_ms=interval,
            low_ms=min(spent),
            median_ms=median(spent),
            high_ms=max(spent),
            first=clocks[0] if clocks else None,
            last=clocks[-1] if clocks else None,
            says=" ".join(_sentences(interval, lines, spent, clocks, others)),
        )
        entries.append(entry)
    return tuple(entries)


def _say(name: str, **numbers: Any) -> str:
    words: str = late_batches()["says"][name]
    return words.format(**numbers)


def _sentences(
    interval: int, lines: Sequence[Overrun], spent: list[int], clocks: list[str], others: Sequence[FallingBehind]
) -> Iterator[str]:
    """Yield what is said of these lines; what it means that a batch is late is explained once a file."""
    often = "One line says" if len(lines) == 1 else f"{len(lines):,} lines say"
    times_of_day = (f"at {clocks[0]}" if len(clocks) == 1 else f"from {clocks[0]} to {clocks[-1]}") if clocks else ""
    at = f" ({times_of_day} by the log's clock)" if clocks else ""
    work = _range(min(spent), max(spent), milliseconds)
    yield _say("lines", often=often, work=work, interval=milliseconds(interval), at=at)
    if interval:
        yield _say("again" if others else "longer", longer=_longer(min(spent) / interval, max(spent) / interval))
    late = on_clock([one.clock for one in lines], [max(one.spent_ms) for one in lines])
    yield from _patterns(late, interval)
    if len(lines) == 1 and len(set(spent)) == 1 and not others:
        yield _say("alone")
    every = one_in(late, interval)
    if others:
        spans = [(one.first, one.last) for one in others if one.first and one.last and clocks]
        together = any(first <= clocks[-1] and clocks[0] <= last for first, last in spans)
        yield _say("two_queries" if together else "another_interval")
    elif every and f"every_{every}" in late_batches()["says"]:
        yield _say(f"every_{every}")
    elif not every:
        yield from [one.suggests for one in lines if one.suggests][:1]


def _longer(low: float, high: float) -> str:
    """How much longer than the interval: in percent where that is little."""
    limits = late_batches()
    if high < limits["hardly"]:
        return _say("hardly")
    if high < limits["little"]:
        return _say("percent", range=_range(100 * (low - 1), 100 * (high - 1), "{:.0f}".format))
    return _say("times", range=_range(low, high, times))


def _range(low: float, high: float, words: Callable[[float], str]) -> str:
    return words(low) if words(low) == words(high) else f"{words(low)} to {words(high)}"


def _patterns(late: Sequence[Late], interval: int) -> Iterator[str]:
    """Yield what the lines show together; nothing where they are too few, or follow no pattern."""
    if (minutes := _minutes_of_the_day(late)) is not None:
        yield _say("daily", hour=f"{minutes // 60:02}:{minutes % 60:02}", days=len(_starts(late)))
        return
    if len(late) < late_batches()["fewest"]:
        return
    every, grown = one_in(late, interval), growth(late)
    if one_after_the_other(late):
        if grown >= late_batches()["grows"]:
            yield _say("growing", times=f"{grown:.1f}")
            return
        yield _say("in_a_row")
    elif every:
        yield _say("one_in", every=every, period=milliseconds(_period(late)))
    first, last = late[0].spent, late[-1].spent
    if grown != 1.0 and last >= late_batches()["grew"] * first:
        yield _say("longer_and_longer", first=milliseconds(first), last=milliseconds(last))
    elif growth(late[::-1]) != 1.0 and first >= late_batches()["grew"] * last:
        yield _say("shorter", first=milliseconds(first), last=milliseconds(last))
    elif not every and not one_after_the_other(late) and interval:
        kept = (late[-1].ended - late[0].ended - sum(each.spent for each in late[1:])) / interval
        if kept >= len(late):
            yield _say("kept", kept=f"{kept:,.0f}")


def on_clock(clocks: Sequence[str | None], spent: Sequence[int]) -> list[Late]:
    """The batches in order of time; empty where one has no clock."""
    ended = [_ms(clock) for clock in clocks]
    found = [Late(end, ms) for end, ms in zip(ended, spent, strict=True) if end is not None]
    return sorted(found) if len(found) == len(spent) else []


def _ms(clock: str | None) -> int | None:
    found = _CLOCK.match(clock or "")
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    days = (year * 12 + month) * 31 + day  # months of 31 days: only times that lie close together are compared
    return days * _DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000


def one_after_the_other(late: Sequence[Late]) -> bool:
    """Whether each batch began as the one before ended: none of those between kept the interval."""
    share = late_batches()["at_once"]
    return all(
        abs(after.ended - before.ended - after.spent) <= max(_SECOND_MS, share * after.spent)
        for before, after in pairwise(late)
    )


def growth(late: Sequence[Late]) -> float:
    """How many times as long as the one before a batch takes, where nearly each takes longer; else 1."""
    rises = sum(after.spent > before.spent for before, after in pairwise(late))
    if rises < late_batches()["rises"] * (len(late) - 1):
        return 1.0
    return float((late[-1].spent / late[0].spent) ** (1 / (len(late) - 1)))


def _period(late: Sequence[Late]) -> float:
    return median(after.ended - before.ended for before, after in pairwise(late))


def one_in(late: Sequence[Late], interval: int) -> int | None:
    """In how many batches one is late; None without a rhythm, or where every batch is."""
    limits = late_batches()
    if len(late) < limits["fewest"] or not interval:
        return None
    spent, period = [one.spent for one in late], _period(late)
    off = max(abs(after.ended - before.ended - period) for before, after in pairwise(late))
    if max(spent) > limits["alike"] * min(spent) or off > max(_SECOND_MS, limits["even"] * period):
        return None
    lost = max(0, int(median(spent) // interval) - 1)  # starts that the late batch takes, beside the one right after it
    every = round(period / interval) - lost
    return every if every > 1 and period > median(spent) + interval / 2 else None


def _starts(late: Sequence[Late]) -> list[int]:
    """When late batches begin that follow no other one within an hour."""
    ends = [-_DAY_MS, *(one.ended for one in late)]
    return [after for before, after in pairwise(ends) if after - before > _HOUR_MS]


def _minutes_of_the_day(late: Sequence[Late]) -> int | None:
    """At which minute of the day batches are late, where they are on several days and at no other time."""
    starts = _starts(late)
    apart = [later - one for one, later in pairwise(starts)]
    daily = all(abs(gap - round(gap / _DAY_MS) * _DAY_MS) < _HOUR_MS for gap in apart)
    if len(starts) < late_batches()["days"] or not daily or min(apart) < _DAY_MS - _HOUR_MS:
        return None
    return starts[0] // _MINUTE_MS % (24 * 60)
