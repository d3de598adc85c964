"""The shares that trials measured for the promises of steps; `python -m tests.promises.calibrate` makes the file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

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
