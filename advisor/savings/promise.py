"""A saving as a promise: an interval around what is expected, and what is certain."""

from __future__ import annotations

from advisor.catalogue import Saves
from advisor.catalogue.step import Share
from advisor.contract import Promise
from advisor.metrics import Estimate
from advisor.savings.calibration import Calibration, shipped


def promise(saves: Saves, value: Estimate, whole: float, by: Calibration | None = None) -> Promise:
    """The promised share of a metric of that value, at most `whole` ms; `by` the shipped calibration or another.

    Where the metric is itself an interval, the low share is taken of its low end: nothing raises what may be relied on.
    """
    low, expected, high = shares(saves, by or shipped())
    likely = None if expected is None or value.value is None else expected * value.value

    def cut(ms: float) -> float:
        return max(0.0, min(ms / saves.per_batches, whole))

    certain = cut(saves.share[0] * value.low)
    least, most = max(certain, cut(low * value.low)), max(certain, cut(high * value.high))
    return Promise(least, None if likely is None else min(max(cut(likely), least), most), most, certain)


def shares(saves: Saves, by: Calibration) -> Share:
    """The shares [low, expected, high] of the metric: by calibration, else as the rule gives them."""
    known = by.steps.get(saves.calibrated or "")
    return saves.share if known is None or known.metric != saves.metric else known.share(saves.share[2])
