"""How lines about falling behind follow each other: one after the other, once in so many batches, seldom."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from advisor.metrics.words import milliseconds

FEWEST: Final = 4
"""Lines that make a pattern."""
_AT_ONCE: Final = 0.1
"""How far, of its length, a batch's end may lie from where it ends if it began as the one before ended."""
_SECOND_MS: Final = 1000
"""As near as a log's clock tells."""
_GROWS: Final = 1.1
"""Times the batch before, on average: they grow by themselves."""
_GREW: Final = 1.15
"""Times the first batch: they grew."""
_EVEN: Final = 0.1
"""How far the time between two lines may lie from the usual one in a rhythm."""
_CLOCK: Final = re.compile(r"(?:(\d{2,4})[-/](\d\d)[-/](\d\d)[ T])?(\d\d):(\d\d):(\d\d)")
_DAY_MS: Final = 86_400_000


class Late(NamedTuple):
    """A batch that took too long: when its line was written (ms of the log's clock), and how long it took."""

    ended: int
    spent: int


class Rhythm(NamedTuple):
    """Late batches at even distances: one in `every`, one each `period` ms."""

    every: int
    period: float


def on_clock(clocks: Sequence[str | None], spent: Sequence[int]) -> list[Late]:
    """The batches in order of time; empty where one has no clock."""
    ended = [_ms(clock) for clock in clocks]
    told = [Late(end, ms) for end, ms in zip(ended, spent, strict=True) if end is not None]
    return sorted(told) if len(told) == len(spent) else []


def _ms(clock: str | None) -> int | None:
    found = _CLOCK.match(clock or "")
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    days = (year * 12 + month) * 31 + day  # months of 31 days: only times that lie close together are compared
    return days * _DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000


def one_after_the_other(late: Sequence[Late]) -> bool:
    """Whether each batch began as the one before ended: none of those between kept the interval."""
    off = [abs(after.ended - before.ended - after.spent) for before, after in pairwise(late)]
    allowed = [max(_SECOND_MS, _AT_ONCE * each.spent) for each in late[1:]]
    return len(late) >= FEWEST and all(one <= most for one, most in zip(off, allowed, strict=True))


def growth(late: Sequence[Late]) -> float:
    """How many times as long as the one before a batch takes, where nearly each takes longer; else 1."""
    rises = sum(after.spent > before.spent for before, after in pairwise(late))
    if len(late) < FEWEST or rises < 0.9 * (len(late) - 1):
        return 1.0
    return float((late[-1].spent / late[0].spent) ** (1 / (len(late) - 1)))


def rhythm(late: Sequence[Late], interval: int) -> Rhythm | None:
    """That one batch in so many is late; None without a rhythm, or where every batch is."""
    apart = [after.ended - before.ended for before, after in pairwise(late)]
    if len(late) < FEWEST or not interval:
        return None
    period, spent = median(apart), median(each.spent for each in late)
    if any(abs(each - period) > max(_SECOND_MS, _EVEN * period) for each in apart):
        return None
    lost = max(0, int(spent // interval) - 1)  # starts that the late batch takes, beside the one right after it
    every = round(period / interval) - lost
    return Rhythm(every, period) if every > 1 and period > spent + interval / 2 else None


def pattern(late: Sequence[Late], interval: int) -> str:
    """What the lines show together, in a sentence or two; empty where they show no pattern."""
    if one_after_the_other(late):
        return _in_a_row(late)
    found = rhythm(late, interval)
    if found is not None:
        return f"{_one_in(found)}{_grew(late)}"
    return _share(late, interval)


def _in_a_row(late: Sequence[Late]) -> str:
    times = growth(late)
    if times < _GROWS:
        return "They follow each other without a pause: no batch keeps the interval."
    return (
        f"They follow each other without a pause, each about {times:.1f} times as long as the one before: a longer "
        "batch finds more rows, and so the next gets longer still. A limit of rows per batch (maxOffsetsPerTrigger, "
        "maxFilesPerTrigger) ends that; what it leaves waits, until batches are faster than rows come."
    )


def _one_in(found: Rhythm) -> str:
    return f"One batch in {found.every} is late, every {milliseconds(found.period)}; those between keep the interval."


def _grew(late: Sequence[Late]) -> str:
    first, last = late[0].spent, late[-1].spent
    if growth(late) == 1.0 or last < _GREW * first:
        return ""
    return f" It takes ever longer: {milliseconds(first)} at first, {milliseconds(last)} at last."


def _share(late: Sequence[Late], interval: int) -> str:
    """How few of the intervals were overrun, where most were not."""
    if len(late) < FEWEST or not interval:
        return ""
    passed = late[-1].ended - late[0].ended
    kept = (passed - sum(each.spent for each in late[1:])) / interval
    if kept < len(late):
        return ""
    return f"Between them lie about {kept:,.0f} intervals that were kept: only some batches are late, without a rhythm."
