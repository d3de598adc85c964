"""Where the milliseconds of a typical batch go."""

from __future__ import annotations

import numpy as np

from advisor.batches import lacks
from advisor.metrics.index import measure, sure
from advisor.metrics.phases import hides_commit_log
from advisor.metrics.registry import Estimate
from advisor.window import PHASES, Window

LACKING = "lacking"
"""The time of phases that the records lack."""


def budget(window: Window) -> dict[str, float]:
    """Milliseconds per phase, by Spark's names; they add up to the typical triggerExecution.

    The time in no phase is `unaccounted`; before Spark 3.4, where it is mostly the commit log's, `commitLog`; `lacking`
    where records do not have all phases. Empty where they have none.
    """
    if not len(window):
        return {}
    inside = window.middle
    columns = np.array([window.batches[column][inside] for column in (*PHASES, "other_phases_ms")])
    means = np.nansum(columns, axis=1) / max(1, int(inside.sum()))
    parts = dict(zip((*PHASES.values(), "other"), means.tolist(), strict=True))
    rest = measure(window, "unaccounted_ms", "typical")
    parts["commitLog" if hides_commit_log(window) else "unaccounted"] = rest.safe if isinstance(rest, Estimate) else 0.0
    if any(parts.values()) and lacks(window.batches, "durationMs")[inside].any():
        parts[LACKING] = sure(window, "trigger_execution_ms") - sum(parts.values())
    return {name: round(ms, 1) for name, ms in parts.items() if ms >= 0.05}
