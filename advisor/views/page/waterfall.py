"""The phases of a typical batch, one after another, with what the advised step takes away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from advisor.contract import QueryEntry


@dataclass(frozen=True)
class Bar:
    """One phase: its milliseconds, the step's part of them, and where it lies, in percent of the batch."""

    phase: str
    ms: float
    saved_ms: float
    start: float
    width: float
    saved_width: float

    @property
    def saved_start(self) -> float:
        """Where the part begins that the step takes away: the end of the phase."""
        return self.start + self.width - self.saved_width


def waterfall(query: QueryEntry) -> Iterator[Bar]:
    """The bars in the order of the batch's life; together they are as wide as the batch."""
    whole, start = sum(query.budget.values()), 0.0
    for phase, ms in query.budget.items():
        saved = query.saved.get(phase, 0.0)
        yield Bar(phase, ms, saved, 100 * start / whole, 100 * ms / whole, 100 * saved / whole)
        start += ms
