"""What a source tells of a batch's parts, and which parts hold another's time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from advisor.stages.inside import Inside
from advisor.stages.numbers import column, matrix
from advisor.stages.parts import DRIVER, HOME, PLACE
from advisor.stages.work import Attempt, Work


def tells_waits(inside: Inside) -> bool:
    """Whether it is known how long all stages of a batch waited for other queries."""
    return all(tells_wait(inside.work, attempt) for attempt in inside.attempts)


def tells_wait(work: Work, attempt: Attempt) -> bool:
    """Whether it is known how long a stage waited for other queries: by the slots' number, or by the order of lines."""
    if work.spans.alone:
        return work.tells_waits
    if work.origin == "driver_log":
        return work.clock or not attempt.paused
    return work.tells_waits and attempt.slots is not None


def told(insides: Sequence[Inside], parts: np.ndarray) -> np.ndarray:
    """The parts; NaN where the source says nothing of one."""
    silent = np.zeros(parts.shape, bool)
    for part, of_batches in _silent(insides).items():
        silent[:, PLACE[part]] = of_batches
    return np.where(silent & (parts == 0), np.nan, np.maximum(parts, 0.0))


def _silent(insides: Sequence[Inside]) -> dict[str, np.ndarray | bool]:
    """The parts that the source does not tell, if they hold nothing, and of which batches it does not."""
    clock = np.array([inside.work.clock for inside in insides], bool)
    attempts = [attempt for inside in insides for attempt in inside.attempts]
    of = np.repeat(np.arange(len(insides)), [len(inside.attempts) for inside in insides])
    numbers = matrix(attempt.numbers for attempt in attempts)

    def any_of(which: np.ndarray) -> np.ndarray:
        return np.bincount(of[which], minlength=len(insides)) > 0

    holds_state = any_of(np.array([attempt.kind == "state" for attempt in attempts], bool))
    return {
        **dict.fromkeys(DRIVER, ~clock),
        "driver_ms": clock,
        "sink_commit_ms": True,
        "planning_ms": np.array([inside.work.origin != "driver_log" for inside in insides], bool),
        "slots_wait_ms": np.array([not tells_waits(inside) for inside in insides], bool),
        "python_ms": ~any_of(~np.isnan(column(numbers, "python_ms"))),
        "state_load_ms": holds_state & ~any_of(~np.isnan(column(numbers, "state_load_ms"))),
    }


def together(inside: Inside) -> Sequence[str]:
    """Which parts hold another's time, as Spark works on both in one stage or the source names neither apart."""
    notes = {note.name for note in inside.notes}
    stages = [
        (attempt.kind, attempt.last, "state_load_ms" in attempt.numbers, attempt.seen) for attempt in inside.attempts
    ]
    lacking = tuple(part for part in ("planning", "sink_commit") if f"{part}_ms" not in notes)
    return _joined(inside.work.clock, tells_waits(inside), lacking, tuple(dict.fromkeys(stages)))


@lru_cache(maxsize=256)
def _joined(
    clock: bool, tells_waits: bool, lacking: Sequence[str], stages: Sequence[tuple[str | None, bool | None, bool, bool]]
) -> Sequence[str]:
    """`lacking`: the driver's parts of which no line tells.

    Of each stage its kind, `last`, whether it tells of loads, and whether its tasks were seen.
    """
    homes = {"planning": "driver_before", "sink_commit": "driver_after"}
    found = dict.fromkeys(f"{homes[part] if clock else 'driver'}+{part}" for part in lacking)
    if not tells_waits:
        found["scheduling+slots_wait"] = None
    for kind, last, tells_load, seen in stages:
        if not seen:
            found[f"{HOME[kind].removesuffix('_ms')}+scheduling"] = None
        if kind is None:
            found["source_read+other"] = None
        if last and kind in ("source_read", None):
            found["source_read+sink_write"] = None
        if last and kind == "state":
            found["state_update+sink_write"] = None
        if kind == "state" and not tells_load:
            found["state_update+state_load"] = None
    return list(found)
