"""The effect of the candidate on trigger, phases and record latency, from the levels of single runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from advisor.comparison import Effect, Trial, interleaved
from advisor.comparison.interleaved import Arm
from advisor.comparison.levels import INSIDE, TOTAL, Levels, is_opened
from advisor.metrics import Missing
from advisor.window import Window

ESTIMATED, MEASURED = "record latency", "measured record latency"


class Counted(NamedTuple):
    """One run that counts: its side, its levels, its measured record latency by quantile."""

    arm: Arm
    window: Window
    levels: Levels
    latency: dict[str, float]


def effects(runs: Sequence[Counted]) -> list[Trial]:
    """The typical batch, the mean batch, each phase, each part of addBatch where all runs were opened, record latency.

    The record latency is estimated from progress, and measured where that was asked for.
    """
    return [interleaved(list(zip((run.arm for run in runs), found, strict=True)), name, stat)
            for name, stat, found in _levels(runs)]  # fmt: skip


def _levels(runs: Sequence[Counted]) -> Iterator[tuple[str, str, list[float]]]:
    yield TOTAL, "typical", [run.levels.typical[TOTAL].value for run in runs]
    yield TOTAL, "mean", [run.levels.mean.value for run in runs]
    unseen = set() if all(is_opened(run.window) for run in runs) else set(INSIDE)
    for name in dict.fromkeys(name for run in runs for name in run.levels.typical):
        if name != TOTAL and name not in unseen:
            of_runs = [run.levels.typical.get(name) for run in runs]
            yield name, "typical", [level.value if level else 0.0 for level in of_runs]
    latencies = [run.levels.latency for run in runs]
    known = [latency for latency in latencies if not isinstance(latency, Missing)]
    if len(known) == len(latencies):
        for stat in known[0]:
            yield ESTIMATED, stat, [latency[stat].value for latency in known]
    for stat in runs[0].latency:
        if all(stat in run.latency for run in runs):
            yield MEASURED, stat, [run.latency[stat] for run in runs]


def found(trials: Sequence[Trial], name: str, stat: str) -> Effect | None:
    """The effect of that name, or None."""
    return next((one.effect for one in trials if (one.effect.name, one.effect.stat) == (name, stat)), None)
