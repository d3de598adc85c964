"""What a step takes away of a typical batch's phases, and which batches were worst."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

import numpy as np

from advisor.batches import instant
from advisor.contract import Advice, WorstBatch
from advisor.metrics import measured
from advisor.report.addbatch import slow_inside
from advisor.statistics import row_quantiles
from advisor.window import PHASES, Window

WORST = 5
LEAST_EXCESS = 0.02  # of the batch: a phase above its median by less is no reason


def saved(parts: Mapping[str, float], step: Advice) -> dict[str, float]:
    """Milliseconds of these phases that the step takes away, shared out by their length; never more than it."""
    touched = {name: parts[name] for name in step.saves_in if name in parts}
    whole = sum(touched.values())
    if step.legal == "no" or step.saves_ms is None or not whole:
        return {}
    share = min(1.0, step.saves_ms.likely / whole)
    return {name: round(share * ms, 1) for name, ms in touched.items() if share * ms >= 0.05}


def worst(window: Window) -> tuple[WorstBatch, ...]:
    """The five longest steady batches, each with the phase that was most above its own median.

    Where none was above it, as in a run of few batches, that is the phase that took longest.
    """
    if not len(window):
        return ()
    duration = window.batches["trigger_execution_ms"]
    longest = np.argsort(-duration, kind="stable")[:WORST]  # NaN comes last
    longest = longest[~np.isnan(duration[longest])]
    phases = {name: window.batches[column] for column, name in PHASES.items()}
    rest = measured(window, "unaccounted_ms")
    if isinstance(rest, np.ndarray):
        phases["unaccounted"] = rest
    rows = np.array(list(phases.values()))
    took, usual = rows[:, longest], row_quantiles(rows, (0.5,)).T
    took, above = (np.where(np.isnan(took), -np.inf, ms) for ms in (took, took - usual))
    most = np.where(above.max(axis=0) < LEAST_EXCESS * duration[longest], took.argmax(axis=0), above.argmax(axis=0))
    named = [*phases]
    return tuple(
        _told(window, at, named[phase], float(took[phase, nth]))
        for nth, (at, phase) in enumerate(zip(longest, most, strict=True))
    )


def _told(window: Window, at: int, phase: str, ms: float) -> WorstBatch:
    number, when, rows, duration = (
        float(window.batches[name][at]) for name in ("batch_id", "timestamp", "input_rows", "trigger_execution_ms")
    )
    known = math.isfinite(ms)
    return WorstBatch(
        batch_id=None if math.isnan(number) else int(number),
        timestamp=moment(instant(when)),
        trigger_execution_ms=duration,
        input_rows=None if math.isnan(rows) else int(rows),
        phase=phase if known else "triggerExecution",
        phase_ms=ms if known else duration,
        inside=slow_inside(window, at) if known and phase == "addBatch" else (),
    )


def moment(when: datetime | None) -> str | None:
    """ISO 8601 in UTC, as Spark writes it."""
    return None if when is None else when.isoformat(timespec="milliseconds")[:23] + "Z"
