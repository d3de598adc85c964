"""What the starts of many batches show of the trigger: multiples of an interval, or each at once after the other."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from advisor.batches import whole_seconds
from advisor.facts.fact import Known
from advisor.numbers import middle, sorted_quantile

_WAITS: Final = 10
"""How many starts after a wait are needed before their alignment means something."""
_ALIGNED_SHARE: Final = 0.9
LATE_MS: Final = 20
"""How late after its time a batch may start and still count as aligned."""
AT_ONCE_MS: Final = 60
"""The longest pause between batches that start at once: progress is reported in between."""
PAUSE_MS: Final = 1000
"""A longer pause between two batches is one in which the trigger waited."""
USUAL_MS: Final = (
    100,
    200,
    250,
    500,
    1000,
    2000,
    3000,
    5000,
    10000,
    15000,
    20000,
    30000,
    60000,
    120000,
    300000,
    600000,
)

Millis = npt.NDArray[np.int64]


def interval_of(starts: Millis, pauses: Millis) -> int | None:
    """The longest interval at whose multiples nearly all starts after a wait lie."""
    waited = pauses > LATE_MS
    if waited.sum() < _WAITS:
        return None
    after = starts[1:][waited]
    steps = np.diff(starts)[waited]
    shortest = middle(steps) if whole_seconds(starts) else 0  # where seconds were cut, all lie at multiples of one
    candidates = sorted((each for each in _candidates(steps) if each >= shortest), reverse=True)
    return next((each for each in candidates if _aligned(after, each) and _reached(pauses, starts, each)), None)


def _candidates(steps: Millis) -> set[int]:
    """Usual intervals, and the usual step between starts rounded to what a person writes."""
    usual = int(middle(steps))
    rounded = {round(usual / unit) * unit for unit in (10, 50, 100, 500, 1000)}
    return {each for each in rounded | set(USUAL_MS) if each >= 5 * LATE_MS}


def _aligned(starts: Millis, interval: int) -> bool:
    return bool((starts % interval < LATE_MS).mean() >= _ALIGNED_SHARE)


def _reached(pauses: Millis, starts: Millis, interval: int) -> bool:
    """Whether batches wait for the next multiple only: a batch that is done waits less than one interval, mostly."""
    waits = pauses[pauses > LATE_MS]
    return bool((waits <= interval).mean() >= 0.5) and len(starts) > _WAITS


def each_at_once(durations: Millis, pauses: Millis) -> bool:
    """Whether every batch started as soon as the one before was done, and not before: that clock stands."""
    if len(pauses) < 2 * _WAITS:
        return False
    allowed = max(AT_ONCE_MS, 0.15 * middle(durations))
    ordered = np.sort(pauses)
    soonest, latest = sorted_quantile(ordered, 0.1), sorted_quantile(ordered, 0.9)
    return bool(-allowed <= soonest and latest <= allowed)


def every(interval: int, origin: str = "progress") -> dict[str, Known]:
    """An interval that the starts show: by chance, they would not lie at its multiples."""
    return {"trigger": Known("processing_time", origin), "trigger_interval_ms": Known(interval, origin)}
