"""Where the milliseconds of a typical batch go, and which batches were worst."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from advisor.metrics import Estimate, measure
from advisor.window import PHASES, Window

WORST = 5
_TOLD = ("batch_id", "timestamp", "trigger_execution_ms", "input_rows")


def budget(window: Window) -> dict[str, float]:
    """Milliseconds per phase, by Spark's names; they add up to the typical triggerExecution."""
    if not len(window):
        return {}
    middle = window.batches[window.middle]
    parts = {name: float(middle[column].fillna(0).mean()) for column, name in PHASES.items()}
    rest = measure(window, "unaccounted_ms", "typical")
    other = float(middle["other_phases_ms"].mean())
    parts |= {"other": other, "unaccounted": rest.safe if isinstance(rest, Estimate) else 0.0}
    return {name: round(ms, 1) for name, ms in parts.items() if ms >= 0.05}


def worst(window: Window) -> list[dict[str, Any]]:
    """The five longest steady batches, each with the phase that was most above its own median."""
    longest = window.batches[[*_TOLD, *PHASES]].nlargest(WORST, "trigger_execution_ms")
    phases = longest[list(PHASES)].to_numpy()
    above = phases - window.batches[list(PHASES)].median().to_numpy()
    return [_told(row, _furthest(over)) for row, over in zip(longest.to_dict("records"), above, strict=True)]


def _furthest(above: np.ndarray) -> str:
    return "trigger_execution_ms" if np.isnan(above).all() else list(PHASES)[int(np.nanargmax(above))]


def _told(row: dict[Hashable, Any], column: str) -> dict[str, Any]:
    return {
        "batch_id": None if pd.isna(row["batch_id"]) else int(row["batch_id"]),
        "timestamp": moment(row["timestamp"]),
        "trigger_execution_ms": float(row["trigger_execution_ms"]),
        "input_rows": None if pd.isna(row["input_rows"]) else int(row["input_rows"]),
        "phase": PHASES.get(column, "triggerExecution"),
        "phase_ms": float(row[column]),
    }


def moment(when: Any) -> str | None:
    """ISO 8601 in UTC, as Spark writes it."""
    if when is None or pd.isna(when):
        return None
    return f"{pd.Timestamp(when).tz_convert('UTC'):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
