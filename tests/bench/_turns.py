"""One query with one listener after the other, in many short turns: what a listener does to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from tests.bench._streams import all_progress, wait

TURN = 12
"""Batches of one turn: few, since what else a machine does changes within seconds."""
LEFT_OUT = 2
"""The first of a turn, in which the listener before may still be at work."""

Arms = Mapping[str, Callable[[], AbstractContextManager[None]]]


@dataclass(frozen=True)
class Turn:
    """What the batches of one turn came to."""

    trigger_ms: float  # median of triggerExecution
    rows_per_second: float


Round = dict[str, Turn]
"""One turn of each arm, by its name."""


@dataclass(frozen=True)
class Ratio:
    """Of one arm to another: the median over the rounds, with 95 %."""

    low: float
    value: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} (95 % {self.low:.3f} to {self.high:.3f})"


def take_turns(query: Any, pair: Arms, other: Arms, rounds: int, order: np.random.Generator) -> list[Round]:
    """So many rounds of a query that goes on all the time. The two of `pair` are neighbours in each, in random order.

    Progress is read when everything is over: no turn has a cold start, and none is watched more than another.
    """
    arms = {**pair, **other}
    begun: list[dict[str, int]] = []
    for _ in range(rounds):
        parts = [list(map(str, order.permutation(list(some)))) for some in (pair, other)]
        turns = {}
        for arm in [arm for part in order.permutation([0, 1]) for arm in parts[part]]:
            with arms[arm]():
                turns[arm] = wait(query, TURN)
        begun.append(turns)
    events = all_progress(query)
    return [{arm: _turn(events, before) for arm, before in turns.items()} for turns in begun]


def kept(file: Path, rounds: Sequence[Round]) -> list[Round]:
    """These rounds and those that the file holds from runs before, to which they are added."""
    with file.open("a") as lines:
        lines.writelines(json.dumps({arm: asdict(turn) for arm, turn in one.items()}) + "\n" for one in rounds)
    found = [json.loads(line) for line in file.read_text().splitlines()]
    return [{arm: Turn(**turn) for arm, turn in one.items()} for one in found]


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
