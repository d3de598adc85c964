"""By how much one number differs between two windows, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor import contract
from advisor.comparison.bootstrap import Level
from advisor.metrics import Estimate

SAME_SHARE = 0.05  # of BEFORE: two sides whose whole interval lies closer than this do not differ


@dataclass(frozen=True)
class Effect:
    """AFTER less BEFORE of one number in ms: positive is slower. `stat` as in metrics, `share` of BEFORE, or None.

    `difference` and `share` hold the value and its 95 % interval, at the same load where that could be adjusted.
    """

    name: str
    stat: str
    before: float
    after: float
    difference: Estimate
    share: Estimate | None

    @property
    def told(self) -> bool:
        """Whether the difference is more than noise."""
        return self.difference.low > 0 or self.difference.high < 0

    @property
    def at_most(self) -> float:
        """The largest difference in ms, either way, that the interval allows."""
        return max(abs(self.difference.low), abs(self.difference.high))

    @property
    def same(self) -> bool:
        """Whether the two sides are sure to differ by less than 5 %."""
        return self.at_most < SAME_SHARE * self.before

    def entry(self) -> contract.Effect:
        """Return it as the report holds it: ms to a hundredth, shares to a millionth."""
        return contract.Effect(
            name=self.name,
            stat=self.stat,
            before_ms=round(self.before, 2),
            after_ms=round(self.after, 2),
            difference_ms=interval(self.difference, 2),
            difference_share=interval(self.share, 6) if self.share else None,
            told=self.told,
        )


def effect(name: str, stat: str, before: Level, after: Level) -> Effect:
    """The effect between two levels; no share where BEFORE is not above 0."""
    ratio = after.over(before)
    change = Level(ratio.value - 1, ratio.draws - 1)
    sound = math.isfinite(change.value) and (before.draws > 0).mean() > 0.99
    difference = (after - before).interval()
    return Effect(name, stat, before.value, after.value, difference, change.interval() if sound else None)


def interval(estimate: Estimate, digits: int) -> contract.Interval:
    """Return an estimate as the report holds it, rounded to `digits`."""
    value = None if estimate.value is None else round(estimate.value, digits)
    return contract.Interval(low=round(estimate.low, digits), value=value, high=round(estimate.high, digits))
