"""By how much one number differs between two windows, with its interval."""

from __future__ import annotations

import math

from msgspec.structs import replace

from advisor.comparison.bootstrap import Level
from advisor.contract import Effect, Interval
from advisor.metrics import Estimate

SAME_SHARE = 0.05  # of the smaller side: two sides whose whole interval lies closer than this do not differ


def effect(name: str, stat: str, before: Level, after: Level) -> Effect:
    """The effect between two levels; no share where BEFORE is not above 0."""
    ratio = after.over(before)
    change = Level(ratio.value - 1, ratio.draws - 1)
    sound = math.isfinite(change.value) and (before.draws > 0).mean() > 0.99
    difference = (after - before).interval()
    return made_of(name, stat, (before.value, after.value), difference, change.interval() if sound else None)


def made_of(name: str, stat: str, ms: tuple[float, float], difference: Interval, share: Interval | None) -> Effect:
    """The effect of these numbers before and after, exactly."""
    told = difference.low > 0 or difference.high < 0
    before, after = ms
    return Effect(
        name=name, stat=stat, before_ms=before, after_ms=after, difference_ms=difference, difference_share=share,
        told=told,
    )  # fmt: skip


def at_most(one: Effect) -> float:
    """The largest difference in ms, either way, that the interval allows."""
    return max(abs(one.difference_ms.low), abs(one.difference_ms.high))


def close_ms(one: Effect) -> float:
    """The difference in ms below which the sides are the same."""
    return SAME_SHARE * min(one.before_ms, one.after_ms)


def same(one: Effect) -> bool:
    """Whether the two sides are sure to differ by less than 5 %."""
    return at_most(one) < close_ms(one)


def rounded(one: Effect) -> Effect:
    """The effect as the report holds it: ms to a hundredth, shares to a millionth."""
    share = one.difference_share and interval(one.difference_share, 6)
    before, after = round(one.before_ms, 2), round(one.after_ms, 2)
    return replace(
        one, before_ms=before, after_ms=after, difference_ms=interval(one.difference_ms, 2), difference_share=share
    )


def interval(found: Interval | Estimate, digits: int) -> Interval:
    """Return it as the report holds it, rounded to `digits`."""
    value = None if found.value is None else round(found.value, digits)
    return Interval(low=round(found.low, digits), value=value, high=round(found.high, digits))
