"""The latency of records once batches are shorter or longer: one model, for one step and for several together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from advisor.metrics import named
from advisor.metrics.latency import Mixture
from advisor.metrics.phases import summed
from advisor.window import PHASES, Window

SHORTEST_MS: Final = 1.0
AFTER_SINK: Final = "commit_offsets_ms"
IN_SINK: Final = ("add_batch_ms",)
OF_WAVES: Final = "state_waves_excess_ms"
Ms: TypeAlias = float | np.ndarray
"""Milliseconds: a number, one of each batch, or a column of alternatives."""
AS_TYPICAL: Final = np.ones(1)
"""Every batch saves as much as a typical one."""


def waits_follow(window: Window) -> tuple[bool, bool]:
    """Return whether the time between triggers shrinks with the batch: (surely, possibly).

    With the default trigger it does; a trigger interval stays, except for batches that overrun it.
    """
    trigger = window.facts.get("trigger")
    if trigger is None or trigger.origin == "inferred":
        return False, True
    return (trigger.value == "unspecified",) * 2


def shorter(
    window: Window,
    mixed: Mixture,
    cut: Ms,
    follows: bool | np.ndarray,
    interval: float | None,
    saved: Sequence[tuple[str, Ms]] = (),
    each: np.ndarray = AS_TYPICAL,
) -> tuple[np.ndarray, np.ndarray]:
    """Return start and width of the latencies with batches shorter by `cut`, a row for each alternative.

    `follows`: whether the time between triggers shrinks with the batch, for a record of the next one. `saved`: what
    steps save of which metric; all is visible if none. `each`: what a batch saves over a typical one. Rows of the first
    of several waves are visible early already; rows of later waves gain what these cannot. Fewer waves show no row of
    the first one sooner.
    """
    waves = np.minimum(sum(ms for metric, ms in saved if metric == OF_WAVES), mixed.waves)
    seen = np.maximum(cut - waves - sum(_hidden(ms, metric, window, mixed) for metric, ms in saved), np.minimum(cut, 0))
    held = window.batches["held_back"][mixed.known]  # by a limit from below: for rows, not for the batch before
    start, before = mixed.start - seen * each, np.where(held, 0.0, cut * np.append(1.0, each[:-1]))
    gap = np.maximum(window.batches["interval_ms"][mixed.known], SHORTEST_MS)
    if interval in (None, window.facts.fixed_interval_ms):
        least = np.where(follows, SHORTEST_MS, interval or np.inf)
        between = np.maximum(gap - before, np.minimum(gap, least))
    else:
        took = window.batches["trigger_execution_ms"][mixed.known]
        between = np.maximum(interval, np.maximum(took - cut * each, SHORTEST_MS))
    width = between + mixed.width - gap - np.minimum(waves * each, mixed.waves) + np.minimum(start, 0.0)
    return np.maximum(start, 0.0), np.maximum(width, 0.0)


def _hidden(ms: Ms, metric: str, window: Window, mixed: Mixture) -> Ms:
    """Return how much of a saving shows no result sooner: in the commit log, and while rows are in Kafka already."""
    phases = named(metric).phases
    if phases == IN_SINK:
        return ms * mixed.early
    if AFTER_SINK not in phases or set(phases) == set(PHASES):
        return 0.0
    after, whole = (summed(window, columns)[mixed.known] for columns in ((AFTER_SINK,), phases))
    earlier = np.clip(whole - after, 0.0, None)
    return ms - np.minimum(ms * earlier / np.maximum(whole, 1e-9), earlier)
