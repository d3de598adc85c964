"""Stage attempts of a driver's log whose tasks were submitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.sources.stages.begun import Begun
from advisor.stages import Attempt

OPEN = np.iinfo(np.int64).max
"""The end of an attempt that has not ended."""
_STAGE = np.dtype([("stage", "i8"), ("line", "i8"), ("end", "i8"), ("tasks", "i8"), ("job", "i8"), ("told", "?")])
"""As `Submitted`; `job`: how many jobs began before its own, -1 without one; `told`: whether its end was told."""


@dataclass(slots=True, eq=False)
class Submitted:
    """A stage attempt whose tasks were submitted."""

    stage: int
    line: int
    """How many lines of the log stand before the one that says so."""
    time: float
    tasks: int
    begun: Begun | None
    leaf: bool
    end: int = OPEN
    """The line behind which no task is its own."""
    attempt: Attempt | None = None
    """What it became, if its end was told."""
    until: int = OPEN
    """The line before which it had tasks to start; told where it ended."""
    python_ms: float | None = None
    """Its tasks' Python workers; NaN where lines may be of another stage."""

    @property
    def over(self) -> bool:
        """Whether no more is to come of it."""
        return self.end < OPEN

    def works(self, ms: float) -> None:
        """A task of it was so long in a Python worker; NaN where it may have been another's."""
        self.python_ms = (self.python_ms or 0.0) + ms


def columns_of(submitted: Sequence[Submitted]) -> np.ndarray:
    """A row for each."""
    return np.array(
        [
            (one.stage, one.line, one.end, one.tasks, one.begun.number if one.begun else -1, one.attempt is not None)
            for one in submitted
        ],
        _STAGE,
    )
