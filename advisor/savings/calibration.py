"""What trials say of the shares that steps promise; `python -m tests.promises.calibrate` makes the file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

FILE: Final = files("advisor.savings") / "calibrated.json"
"""Beside this module, which may lie in a zip file that was sent to a worker."""


class Calibrated(msgspec.Struct, frozen=True):
    """Trials of one step on several workloads, as shares of the metric that its promise stands on.

    `expected`: the median share that was saved. `error`: how far the expected share lay off in nine of ten trials of
    workloads that it was not taken from; None where there are too few of them to say.
    """

    metric: str
    expected: float
    error: float | None
    cases: int
    workloads: int

    def share(self, most: float) -> tuple[float, float, float]:
        """(low, expected, high) with no high above `most`; from nothing to `most` where the error is not known."""
        if self.error is None:
            return 0.0, min(self.expected, most), most
        low = max(0.0, self.expected - self.error)
        return min(low, most), min(self.expected, most), min(self.expected + self.error, most)


class Calibration(msgspec.Struct, frozen=True):
    """The file: where its trials ran, when, on which Sparks, and what they say of each step."""

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
