"""How bad and how sure: the level of a finding and the confidence in it."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.metrics import METRICS, Estimate, measure
from advisor.vocabulary import LEVELS, Confidence, Level
from advisor.window import Window

SURE_BATCHES = {"high": 30, "medium": 10}
FELT_SHARE: Mapping[Level, float] = {"medium": 0.02, "high": 0.10}
"""The share of a record's wait from which a finding may be more than low: 100 ms under a trigger of 60 s is low."""


def level_of(value: float, levels: Mapping[Level, float]) -> Level | None:
    """Return the level that a value reaches; None below the lowest. Falling levels mean that less is worse."""
    limits = list(levels.values())
    falling = len(limits) > 1 and limits[0] > limits[-1]
    reached = [level for level, limit in levels.items() if (value <= limit if falling else value >= limit)]
    return max(reached, key=LEVELS.index) if reached else None


def spans(estimate: Estimate, levels: Mapping[Level, float]) -> bool:
    """Return whether the two ends of an interval lie in different levels."""
    return level_of(estimate.low, levels) != level_of(estimate.high, levels)


def felt_level(level: Level, felt: float | None) -> Level:
    """Return the level, lowered if a record hardly feels it."""
    if felt is None:
        return level
    allowed = [name for name in LEVELS if felt >= FELT_SHARE.get(name, 0.0)]
    return min(level, allowed[-1], key=LEVELS.index)


def felt_share(ms: float, window: Window) -> float | None:
    """Divide milliseconds of a batch by what its records wait: the longer of batch and interval."""
    waits = [measure(window, name) for name in ("trigger_execution_ms", "interval_ms")]
    known = [wait.safe for wait in waits if isinstance(wait, Estimate) and wait.safe > 0]
    return ms / max(known) if known else None


def part_ms(metric: str, stat: str | None, window: Window) -> Estimate | None:
    """Return the milliseconds of a batch that a share stands for; None for other metrics."""
    part = METRICS[metric].part
    if part is None or METRICS[metric].basis != "wall":
        return None
    value = measure(window, part.name, "mean" if stat == "total" else stat)
    return value if isinstance(value, Estimate) else None


def confidence(batches: int, *lowered_by: bool) -> Confidence:
    """Return high from 30 steady batches, medium from 10, else low; each reason to doubt lowers it by one."""
    rank = next((i for i, name in enumerate(SURE_BATCHES) if batches >= SURE_BATCHES[name]), 2)
    return LEVELS[max(0, 2 - rank - sum(lowered_by))]
