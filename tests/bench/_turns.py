"""One query with one listener after the other, in many short turns: what a listener does to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from scipy import stats

from tests.bench._streams import all_progress, wait

TURN = 20
"""Batches of one turn."""
LEFT_OUT = 5
"""The first of a turn, in which the listener before may still be at work."""

Arms = Mapping[str, Callable[[], AbstractContextManager[None]]]


@dataclass(frozen=True)
class Turn:
    """What the batches of one turn came to."""

    trigger_ms: float  # median of triggerExecution
    rows_per_second: float


@dataclass(frozen=True)
class Ratio:
    """Of one arm to another: the median over the rounds, with 95 %."""

    low: float
    value: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} (95 % {self.low:.3f} to {self.high:.3f})"


def take_turns(query: Any, arms: Arms, rounds: int, order: np.random.Generator) -> dict[str, list[Turn]]:
    """Turns by arm, in the order of the rounds. In a round every arm has its turn, in an order drawn anew.

    The query goes on all the time, and its progress is read when everything is over: no turn has a cold start, and
    none is watched more than another.
    """
    begun: dict[str, list[int]] = {arm: [] for arm in arms}
    for _ in range(rounds):
        for arm in order.permutation(list(arms)):
            with arms[arm]():
                begun[arm].append(wait(query, TURN))
    events = all_progress(query)
    return {arm: [_turn(events, before) for before in all_before] for arm, all_before in begun.items()}


def ratio(turns: Sequence[float], against: Sequence[float]) -> Ratio:
    """The ratio within each round, where both had the same machine, and the rounds drawn again for the interval."""
    ratios = np.array(turns) / np.array(against)
    drawn = stats.bootstrap((ratios,), np.median, method="percentile", n_resamples=9999, rng=1)
    return Ratio(float(drawn.confidence_interval.low), float(np.median(ratios)), float(drawn.confidence_interval.high))


def _turn(events: Mapping[int, Mapping[str, Any]], before: int) -> Turn:
    counted = [events[batch] for batch in range(before + 1 + LEFT_OUT, before + 1 + TURN)]
    begin, end = (datetime.fromisoformat(one["timestamp"][:-1]) for one in (counted[0], counted[-1]))
    rows = sum(one["numInputRows"] for one in counted[:-1])
    trigger = float(np.median([one["durationMs"]["triggerExecution"] for one in counted]))
    return Turn(trigger, rows / (end - begin).total_seconds())
