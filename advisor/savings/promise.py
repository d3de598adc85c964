"""A saving as a promise: an interval around the expected saving, calibrated by trials, and the certain part.

`python -m tests.promises.calibrate` makes the file of calibrated shares.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from advisor.catalogue import Saves
from advisor.contract import Promise
from advisor.metrics import Estimate

FILE: Final = files("advisor.savings") / "calibrated.json"
"""Beside this module, which may lie in a zip file that was sent to a worker."""
OF_WHOLE: Final = 1 / 3
"""How far off a saving is grows with the metric up to this share of the batch or latency, and then no more."""


class Calibrated(msgspec.Struct, frozen=True):
    """Trials of one step on several workloads, as shares of the metric of its promise.

    `expected`: the median share that was saved. `error`: how far off the expected saving was in nine of ten trials of
    left-out workloads, as a share of `uncertain_of`; None if there are too few.
    """

    metric: str
    expected: float
    error: float | None
    cases: int
    workloads: int


class Calibration(msgspec.Struct, frozen=True):
    """The result of the trials for each step; the file also holds where, when and on which Sparks they ran."""

    steps: dict[str, Calibrated]


@cache
def shipped() -> Calibration:
    """The calibration that comes with the package."""
    return msgspec.json.decode(FILE.read_bytes(), type=Calibration)


def uncertain_of(metric_ms: float, whole_ms: float) -> float:
    """Return what the error is a share of, in ms: the metric, or a third of the batch or latency if that is less."""
    return min(metric_ms, whole_ms * OF_WHOLE)


def promise(
    saves: Saves, value: Estimate, most: float, whole: float = float("inf"), by: Calibration | None = None
) -> Promise:
    """Return the promised saving of a metric of this value, at most `most` ms; `by` the shipped calibration or another.

    `whole`: the batch or latency, in ms. What is uncertain of the metric and of the share adds up as independent errors
    do: the root of the sum of their squares. If the metric is an interval, what is certain is the low share of its low
    end.
    """

    def cut(ms: float) -> float:
        return max(0.0, min(ms / saves.per_batches, most))

    low, likely, high = _saved(saves, value, whole, by or shipped())
    certain = cut(saves.share[0] * value.low)
    least, greatest = max(certain, cut(low)), max(certain, cut(high))
    return Promise(least, None if likely is None else min(max(cut(likely), least), greatest), greatest, certain)


def _saved(saves: Saves, value: Estimate, whole: float, by: Calibration) -> tuple[float, float | None, float]:
    """Return what is saved of the metric at least, as expected and at most, in ms: calibrated, else as in the rule."""
    known = by.steps.get(saves.calibrated or "")
    low, expected, high = saves.share
    if known is None or known.metric != saves.metric:
        return low * value.low, _of(expected, value), high * value.high
    share = min(known.expected, high)
    if known.error is None:
        return 0.0, _of(share, value), high * value.high
    middle = share * value.safe
    below, above = (
        math.hypot(share * end - middle, known.error * uncertain_of(end, whole)) for end in (value.low, value.high)
    )
    return middle - below, _of(share, value), min(middle + above, high * value.high)


def _of(share: float | None, value: Estimate) -> float | None:
    return None if share is None or value.value is None else share * value.value
