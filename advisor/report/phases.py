"""Where batch time goes: the phases of a typical batch, and all time of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from advisor.batches import lacks
from advisor.catalogue.rule import Phase
from advisor.contract import LossKind, Part
from advisor.metrics import sure
from advisor.metrics.phases import hides_commit_log, summed
from advisor.metrics.slow_batches import Rhythm, rhythm
from advisor.statistics import known, total
from advisor.window import PHASES, Window

LEAST_PART = 0.02  # of all batch time: what takes less is left out


def goes_to(window: Window, phases: Sequence[Phase]) -> list[Part]:
    """Return all batch time by where it goes: batches that are slow in a rhythm, and the phases of the others.

    Nothing of real-time mode, whose batches last as long as their trigger.
    """
    if not len(window) or window.facts.value("trigger") == "real_time":
        return []
    found, duration = rhythm(window), window.batches["trigger_execution_ms"]
    if isinstance(found, Rhythm):
        others, counted, count = ~found.slow, ~np.isnan(duration), len(window)
    else:
        others = counted = ~np.isnan(duration) & window.middle
        count = max(1, int(others.sum()))
    parts = {kind: total(ms[others]) for kind, ms in _by_phase(window, phases).items()}
    rest = _rest(window)
    parts[rest] = parts.get(rest, 0.0) + _in_no_phase(window, others)
    if isinstance(found, Rhythm):
        parts["batches"] = total(duration[found.slow])
    return _largest({kind: ms / count for kind, ms in parts.items()}, total(duration[counted]) / count)


def typical_parts(window: Window, phases: Sequence[Phase]) -> list[Part]:
    """Return the phases of a typical batch, the longest first."""
    inside = window.middle
    parts = {kind: _mean(ms[inside]) for kind, ms in _by_phase(window, phases).items()}
    rest = _rest(window)
    parts[rest] = parts.get(rest, 0.0) + sure(window, "unaccounted_ms")
    return _largest(parts, sure(window, "trigger_execution_ms"))


def phase_of(columns: Iterable[str], phases: Sequence[Phase]) -> LossKind:
    """Return the phase that shares most columns with these; `batches` where they are all phases of a batch."""
    there = set(columns)
    if there >= PHASES.keys():
        return "batches"
    return max(phases, key=lambda phase: len(there & set(phase.columns))).kind


def _by_phase(window: Window, phases: Sequence[Phase]) -> dict[LossKind, np.ndarray]:
    """Return the milliseconds of each phase in each batch; what only this Spark has is one of the others."""
    found: dict[LossKind, np.ndarray] = {one.kind: summed(window, one.columns) for one in phases if one.columns}
    found["other"] = found["other"] + np.nan_to_num(window.batches["other_phases_ms"])
    return found


def _in_no_phase(window: Window, counted: np.ndarray) -> float:
    """Return the time of these batches in no phase; nothing of those whose records leave phases out."""
    whole = counted & ~lacks(window.batches, "durationMs")
    named = summed(window, tuple(PHASES)) + window.batches["other_phases_ms"]
    return max(0.0, total((window.batches["trigger_execution_ms"] - named)[whole]))


def _rest(window: Window) -> LossKind:
    """Return what the time in no phase is: before Spark 3.4 mostly the commit log's."""
    return "logs" if hides_commit_log(window) else "unaccounted"


def _largest(parts: Mapping[LossKind, float], whole: float) -> list[Part]:
    if not whole > 0:
        return []
    found = [Part(kind=kind, ms=round(ms, 1), share=round(ms / whole, 4)) for kind, ms in parts.items()]
    return sorted((part for part in found if part.share >= LEAST_PART), key=lambda part: -part.ms)


def _mean(values: np.ndarray) -> float:
    present = known(values)
    return float(present.mean()) if len(present) else 0.0
