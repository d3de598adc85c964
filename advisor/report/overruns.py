"""How lines about falling behind follow each other: one after the other, once in so many batches, seldom."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from advisor.metrics.units import milliseconds

FEWEST: Final = 4
"""Lines that make a pattern."""
_AT_ONCE: Final = 0.1
"""How far, of its length, a batch's end may lie from where it ends if it began as the one before ended."""
_SECOND_MS: Final = 1000
"""The precision of a log's clock."""
_GROWS: Final = 1.1
"""Times the batch before, on average: they grow by themselves."""
_GREW: Final = 1.15
"""Times the first batch: they grew."""
_ALIKE: Final = 1.6
"""Times the shortest: batches of one rhythm differ by less."""
_HOUR_MS: Final = 3_600_000
_DAYS: Final = 3
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
    if len(late) < FEWEST or not interval or max(one.spent for one in late) > _ALIKE * min(one.spent for one in late):
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
    if words := _at_one_hour(late):
        return words
    found = rhythm(late, interval)
    if found is not None:
        return f"{_one_in(found)}{_trend(late)}"
    return _trend(late).lstrip() or _kept(late, interval)


def _in_a_row(late: Sequence[Late]) -> str:
    times = growth(late)
    if times >= _GROWS:
        return (
            f"They follow each other without a pause, each about {times:.1f} times as long as the one before: a longer "
            "batch finds more rows, and so the next gets longer still. A limit of rows per batch "
            "(maxOffsetsPerTrigger, maxFilesPerTrigger) ends that; what it leaves waits, until batches are faster than "
            "rows come."
        )
    return f"They follow each other without a pause: no batch keeps the interval.{_trend(late)}"


def _one_in(found: Rhythm) -> str:
    return f"One batch in {found.every} is late, every {milliseconds(found.period)}; those between keep the interval."


def _trend(late: Sequence[Late]) -> str:
    """That the late batches get longer, or shorter, from one to the next."""
    first, last = (milliseconds(late[at].spent) for at in (0, -1)) if late else ("", "")
    if growth(late) != 1.0 and late[-1].spent >= _GREW * late[0].spent:
        return f" They take ever longer: {first} at first, {last} at last."
    if growth(late[::-1]) != 1.0 and late[0].spent >= _GREW * late[-1].spent:
        return f" They get shorter, {first} at first, {last} at last: the query catches up."
    return ""


def _at_one_hour(late: Sequence[Late]) -> str:
    """That batches are late at the same hour of several days only."""
    starts = [after.ended for before, after in pairwise([Late(-_DAY_MS, 0), *late]) if _far(before, after)]
    apart = [later - one for one, later in pairwise(starts)]
    daily = len(starts) >= _DAYS and all(abs(gap - round(gap / _DAY_MS) * _DAY_MS) < _HOUR_MS for gap in apart)
    if not daily or min(apart) < _DAY_MS - _HOUR_MS:
        return ""
    minutes = starts[0] // 60_000 % (24 * 60)
    return (
        f"They are late only around {minutes // 60:02}:{minutes % 60:02} by the log's clock, on {len(starts)} days: "
        "look for what runs then beside the query, or for rows that come then."
    )


def _far(before: Late, after: Late) -> bool:
    return after.ended - before.ended > _HOUR_MS


def _kept(late: Sequence[Late], interval: int) -> str:
    """How few of the intervals were overrun, where most were not."""
    if len(late) < FEWEST or not interval:
        return ""
    passed = late[-1].ended - late[0].ended
    kept = (passed - sum(each.spent for each in late[1:])) / interval
    if kept < len(late):
        return ""
    return f"Between them lie about {kept:,.0f} intervals that were kept: only some batches are late, without a rhythm."
