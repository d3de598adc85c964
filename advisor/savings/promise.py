"""A saving as a promise: an interval around the expected saving, calibrated by trials, and the certain part.

`python -m tests.promises.calibrate` makes the file of calibrated shares.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from advisor.catalogue import Saves
from advisor.catalogue.step import Share
from advisor.contract import Promise
from advisor.metrics import Estimate

FILE: Final = files("advisor.savings") / "calibrated.json"
"""Beside this module, which may lie in a zip file that was sent to a worker."""


class Calibrated(msgspec.Struct, frozen=True):
    """Trials of one step on several workloads, as shares of the metric of its promise.

    `expected`: the median share that was saved. `error`: how far off the expected share was in nine of ten trials of
    left-out workloads; None if there are too few.
    """

    metric: str
    expected: float
    error: float | None
    cases: int
    workloads: int

    def share(self, most: float) -> tuple[float, float, float]:
        """Return (low, expected, high) with high at most `most`; from 0 to `most` if the error is unknown."""
        if self.error is None:
            return 0.0, min(self.expected, most), most
        low = max(0.0, self.expected - self.error)
        return min(low, most), min(self.expected, most), min(self.expected + self.error, most)


class Calibration(msgspec.Struct, frozen=True):
    """The file: where, when and on which Sparks its trials ran, and their result for each step."""

    made_by: str
    coverage: float
    machine: str
    first: str
    last: str
    sparks: tuple[str, ...]
    steps: dict[str, Calibrated]


@cache
def shipped() -> Calibration:
    """The calibration that comes with the package."""
    return msgspec.json.decode(FILE.read_bytes(), type=Calibration)


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
