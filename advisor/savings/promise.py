"""A saving as a promise: an interval around the expected saving, and the certain part."""

from __future__ import annotations

from advisor.catalogue import Saves
from advisor.catalogue.step import Share
from advisor.contract import Promise
from advisor.metrics import Estimate
from advisor.savings.calibration import Calibration, shipped


def promise(saves: Saves, value: Estimate, whole: float, by: Calibration | None = None) -> Promise:
    """Return the promised share of a metric of this value, at most `whole` ms; `by` the shipped calibration or another.

    If the metric is an interval, the low share is taken of its low end: nothing raises what may be relied on.
    """
    low, expected, high = shares(saves, by or shipped())
    likely = None if expected is None or value.value is None else expected * value.value

    def cut(ms: float) -> float:
        return max(0.0, min(ms / saves.per_batches, whole))

    certain = cut(saves.share[0] * value.low)
    least, most = max(certain, cut(low * value.low)), max(certain, cut(high * value.high))
    return Promise(least, None if likely is None else min(max(cut(likely), least), most), most, certain)


def shares(saves: Saves, by: Calibration) -> Share:
    """Return the shares [low, expected, high] of the metric: calibrated, else as in the rule."""
    known = by.steps.get(saves.calibrated or "")
    return saves.share if known is None or known.metric != saves.metric else known.share(saves.share[2])
