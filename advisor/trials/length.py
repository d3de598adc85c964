"""How long the runs of a trial are: what was asked for, and the rest from the pace of the warm-up's batches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from advisor.comparison.levels import FEWEST
from advisor.errors import UsageError
from advisor.metrics.units import milliseconds

if TYPE_CHECKING:
    from advisor.trials.run import Bounds, Run

USUAL_BATCHES: Final = 40
USUAL_SECONDS: Final = 60.0
"""A run takes so many steady batches where they fit into so long, else fewer."""
WARM_UP_SECONDS: Final = 300.0
"""For which the warm-up waits for steady batches."""
_MARGIN: Final = 2.0
"""Times the expected length of a run, after which it ends all the same."""


@dataclass(frozen=True)
class Length:
    """Steady batches of each run, and the longest that it takes; None: as the warm-up shows."""

    batches: int | None = None
    seconds: float | None = None

    def check(self) -> None:
        """UsageError for a length that no result can come from; needs no Spark."""
        if self.batches is not None and self.batches < FEWEST:
            found = f"{self.batches} steady batches are too few for a result"
            raise UsageError("--batches", found, f"give at least {FEWEST}, or leave it out")
        if self.seconds is not None and self.seconds <= 0:
            raise UsageError("--seconds", f"{self.seconds:g} is no length", "give a few seconds, or leave it out")

    def of_runs(self, first: Run, bounds: Bounds) -> Bounds:
        """Return the bounds of the runs that count; UsageError where the warm-up shows that they cannot be enough."""
        if not len(first.window):
            found = f"the query had no steady batch in {bounds.seconds:g} s"
            reach = ", the state that you ask for is reached" if bounds.state_rows else ""
            raise UsageError("trial", found, f"see that rows arrive{reach}, or give a longer time with --seconds")
        pace, lead = pace_of(first), first.seconds
        needed = math.ceil((lead + FEWEST * pace) / 5) * 5
        if self.seconds is not None and self.seconds < FEWEST * pace:
            found = f"{FEWEST} steady batches of {milliseconds(1000 * pace)} do not fit into {self.seconds:g} s"
            raise UsageError("--seconds", found, f"give --seconds {needed}, or leave it out")
        fit = int((self.seconds or USUAL_SECONDS) / pace)
        batches = self.batches or max(FEWEST, min(USUAL_BATCHES, fit))
        return replace(
            bounds, batches=batches, seconds=self.seconds or max(USUAL_SECONDS, lead + _MARGIN * batches * pace)
        )


def pace_of(run: Run) -> float:
    """Return the seconds from one steady batch to the next."""
    first, last = run.window.span
    took = float(run.window.batches["trigger_execution_ms"][-1]) / 1000
    between = (last - first).total_seconds() / (len(run.window) - 1) if first and last and len(run.window) > 1 else 0.0
    return max(took, between, 0.001)


def said(first: Run, bounds: Bounds) -> Iterator[str]:
    """Yield what to say before the runs: how long each of them and all of them take."""
    pace = pace_of(first)
    run = bounds.batches * pace
    yield f"each run: {bounds.batches} steady batches, one every {milliseconds(1000 * pace)}: about {_time(run)}"
    most = f"; at most {bounds.most_runs} runs, {_time(bounds.most_runs * run)}, where {bounds.runs} cannot tell"
    extra = most if bounds.most_runs > bounds.runs else ""
    yield f"all {bounds.runs} runs: about {_time(bounds.runs * run)}, and the start of each{extra}"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{max(1.0, seconds):.0f} s"
