"""Which parts of a batch each kind of log can measure."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache

import numpy as np

from advisor.stages.batchjobs import KINDS, Gathered
from advisor.stages.jobs import Attempt
from advisor.stages.parts import DRIVER, HOME, PLACE
from advisor.stages.work import Work

_LINES = {"planning_ms": "driver_before", "sink_commit_ms": "driver_after"}
"""The parts of the driver that only lines show, and the part that otherwise holds them."""
_NOTHING: frozenset[str] = frozenset()


def knows_wait(work: Work, attempt: Attempt) -> bool:
    """Whether it is known how long a stage waited for other queries: by the slots' number, or by the order of lines."""
    if work.spans.alone:
        return work.knows_waits
    if work.origin == "driver_log":
        return work.clock or not attempt.paused
    return work.knows_waits and attempt.slots is not None


def measured(gathered: Gathered, parts: np.ndarray, knows_waits: np.ndarray) -> np.ndarray:
    """Return the parts; NaN for parts that the source cannot measure. `knows_waits`: by batch."""
    silent = np.zeros(parts.shape, bool)
    for part, of_batches in _silent(gathered, knows_waits).items():
        silent[:, PLACE[part]] = of_batches
    return np.where(silent & (parts == 0), np.nan, np.maximum(parts, 0.0))


def _silent(gathered: Gathered, knows_waits: np.ndarray) -> dict[str, np.ndarray | bool]:
    """Return the parts that the source cannot measure if they hold nothing, and for which batches."""
    loads = gathered.count(~np.isnan(gathered.number("state_load_ms"))) > 0
    return {
        **dict.fromkeys(DRIVER, ~gathered.clock),
        "driver_ms": gathered.clock,
        "sink_commit_ms": True,
        "planning_ms": np.array([inside.work.origin != "driver_log" for inside in gathered.insides], bool),
        "slots_wait_ms": ~knows_waits,
        "python_ms": gathered.count(~np.isnan(gathered.number("python_ms"))) == 0,
        "state_load_ms": (gathered.count(gathered.kinds == KINDS.index("state")) > 0) & ~loads,
    }


def together(gathered: Gathered, knows_waits: np.ndarray) -> list[tuple[str, ...]]:
    """Of each batch which parts hold another's time: both are one stage's, or the source does not name them apart."""
    last = np.array([bool(attempt.last) for attempt in gathered.attempts], bool)
    loads = ~np.isnan(gathered.number("state_load_ms"))
    stages = (gathered.kinds * 8 + last * 4 + loads * 2 + gathered.seen).tolist()
    found, begin = [], 0
    for inside, clock, waits in zip(gathered.insides, gathered.clock.tolist(), knows_waits.tolist(), strict=True):
        end = begin + len(inside.attempts)
        noted = frozenset(note.name for note in inside.notes if note.name in _LINES) if inside.notes else _NOTHING
        found.append(_joined(clock, waits, noted, tuple(stages[begin:end])))
        begin = end
    return found


@lru_cache(maxsize=256)
def _joined(clock: bool, knows_waits: bool, noted: Set[str], stages: Sequence[int]) -> tuple[str, ...]:
    """`noted`: the ones of _LINES that a line gave.

    `stages`: for each the place of its kind; then, a bit each, whether it is the last, has loads, was seen.
    """
    lacking = [(home if clock else "driver", part) for part, home in _LINES.items() if part not in noted]
    found = dict.fromkeys(f"{home}+{part.removesuffix('_ms')}" for home, part in lacking)
    if not knows_waits:
        found["scheduling+slots_wait"] = None
    for stage in stages:
        kind, last, tells_load, seen = KINDS[stage >> 3], stage & 4, stage & 2, stage & 1
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
    return tuple(found)
