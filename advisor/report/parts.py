"""Where batch time goes: the parts of a typical batch, what of addBatch is known, all time of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from advisor.contract import Finding, LossKind, Part
from advisor.engine.levels import part_ms
from advisor.metrics import METRICS, Estimate, label, measure, sure
from advisor.metrics.numbers import known
from advisor.metrics.phases import DATABRICKS, DISCOVERY, OFFSET_LOG, hides_commit_log, summed
from advisor.metrics.spikes import Rhythm, rhythm
from advisor.numbers import total
from advisor.window import PHASES, Window

LEAST_PART = 0.02  # of all batch time: what takes less is not told
_GROUPS: dict[LossKind, tuple[str, ...]] = {
    "add_batch": ("add_batch_ms",),
    "logs": OFFSET_LOG,
    "discovery": (*DISCOVERY, "get_batch_ms"),
    "planning": ("query_planning_ms",),
    "other": DATABRICKS,
}
"""The phases of a batch as a reader sees them, by their columns."""
_NOTHING = Estimate.exactly(0.0)
_MS_OF_RULE = {"ST005": "state_waves_excess_ms", "ST012": "state_waves_excess_ms", "SR002": "reread_ms"}
"""The time that a rule speaks of, where what it measures is no share of the batch."""


def goes_to(window: Window) -> list[Part]:
    """All batch time by where it goes: batches that are slow in a rhythm, and the parts of the others.

    Nothing of real-time mode, whose batches last as long as they are told to.
    """
    if not len(window) or window.facts.value("trigger") == "real_time":
        return []
    found = rhythm(window)
    duration = window.batches["trigger_execution_ms"]
    others = ~found.slow if isinstance(found, Rhythm) else ~np.isnan(duration)
    if not isinstance(found, Rhythm):
        others &= window.middle
    whole = total(duration if isinstance(found, Rhythm) else duration[others])
    count = len(window) if isinstance(found, Rhythm) else max(1, int(others.sum()))
    parts = {kind: total(summed(window, columns)[others]) for kind, columns in _GROUPS.items()}
    parts["other"] += total(window.batches["other_phases_ms"][others])
    parts[_rest(window)] = parts.get(_rest(window), 0.0) + _in_no_phase(window, others)
    if isinstance(found, Rhythm):
        parts["spikes"] = total(duration[found.slow])
    return _told({kind: ms / count for kind, ms in parts.items()}, whole / count)


def typical_parts(window: Window) -> list[Part]:
    """The parts of a typical batch."""
    batch = sure(window, "trigger_execution_ms")
    inside = window.middle
    parts = {kind: _mean(summed(window, columns)[inside]) for kind, columns in _GROUPS.items()}
    parts[_rest(window)] = parts.get(_rest(window), 0.0) + sure(window, "unaccounted_ms")
    return _told(parts, batch)


def within_add_batch(window: Window, findings: Sequence[Finding]) -> list[Part]:
    """What of a typical addBatch is a loss by one of these findings, the largest first, with its share of addBatch."""
    whole = sure(window, "add_batch_ms")
    found: dict[str, Part] = {}
    for finding in findings if whole else ():
        metric, ms = _time_of(finding, window)
        if metric == "add_batch_ms" or set(METRICS[metric].phases) != {"add_batch_ms"} or ms.safe < LEAST_PART * whole:
            continue
        share, most = (round(min(1.0, value / whole), 3) for value in (ms.safe, ms.high))
        at_most = most if ms.value is None and most > share else None
        name, told = label(metric), round(min(ms.safe, whole), 3)
        part = Part("within_add_batch", told, share, share_at_most=at_most, name=name, rule=finding.rule)
        found.setdefault(name, part)
    return sorted(found.values(), key=lambda part: -part.ms)


def _time_of(finding: Finding, window: Window) -> tuple[str, Estimate]:
    """(the metric in milliseconds that the finding speaks of, its value per batch); 0 where it speaks of none."""
    if name := _MS_OF_RULE.get(finding.rule):
        told = measure(window, name)
        return name, told if isinstance(told, Estimate) and np.isfinite(told.safe) else _NOTHING
    measured = finding.measure
    part = METRICS[measured.metric].part if measured else None
    if measured is None or part is None:
        return "add_batch_ms", _NOTHING
    return part.name, part_ms(measured.metric, measured.stat, window) or _NOTHING


def _in_no_phase(window: Window, counted: np.ndarray) -> float:
    """The time of these batches in no phase, all of them together; nothing of those that somebody shortened."""
    told = counted & ~window.batches["shortened"]
    named = summed(window, tuple(PHASES)) + window.batches["other_phases_ms"]
    return max(0.0, total((window.batches["trigger_execution_ms"] - named)[told]))


def _rest(window: Window) -> LossKind:
    """What the time in no phase is: before Spark 3.4 mostly the commit log's."""
    return "logs" if hides_commit_log(window) else "unaccounted"


def _told(parts: dict[LossKind, float], whole: float) -> list[Part]:
    if not whole > 0:
        return []
    found = [Part(kind=kind, ms=round(ms, 1), share=round(ms / whole, 4)) for kind, ms in parts.items()]
    return sorted((part for part in found if part.share >= LEAST_PART), key=lambda part: -part.ms)


def _mean(values: np.ndarray) -> float:
    told = known(values)
    return float(told.mean()) if len(told) else 0.0
