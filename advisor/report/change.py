"""What changed, since when, and where latency and backlog are going."""

from __future__ import annotations

from typing import Any

import pandas as pd

from advisor.metrics import Estimate, measure, measured
from advisor.metrics.flow import SAME_LOAD, rows_taken, trend
from advisor.metrics.words import milliseconds, number
from advisor.report.budget import budget, moment
from advisor.window import Window

COMPARED = (
    ("trigger_execution_ms", "p50"),
    ("record_latency_ms", "p50"),
    ("record_latency_ms", "p99"),
    ("input_rows", "p50"),
)
STEADY_SHARE = 0.05  # a drift of less than this share of the value over the window is no trend
SHORTEST_FOR_DIRECTION = pd.Timedelta("2min")  # below, the JVM still warms up
SHORTEST_FOR_RATE = pd.Timedelta("10min")  # below, a change per hour would be an extrapolation


def change(before: Window, now: Window, because: str) -> dict[str, Any] | None:
    """How the judged batches differ from those before them; None where one of both is empty."""
    if not len(before) or not len(now):
        return None
    return {
        "at": moment(now.batches["timestamp"].iloc[0]),
        "because": because,
        "says": _says(before, now, because),
        "before": _side(before),
        "after": _side(now),
    }


def _side(window: Window) -> dict[str, Any]:
    metrics: dict[str, dict[str, float]] = {}
    for name, stat in COMPARED:
        value = measure(window, name, stat)
        if isinstance(value, Estimate):
            metrics.setdefault(name, {})[stat] = round(value.safe, 1)
    return {
        "first": moment(window.batches["timestamp"].iloc[0]),
        "last": moment(window.batches["timestamp"].iloc[-1]),
        "batches": len(window),
        "metrics": metrics,
    }


def _says(before: Window, now: Window, because: str) -> str:
    old, new = (float(window.batches["trigger_execution_ms"].median()) for window in (before, now))
    then, today = budget(before), budget(now)
    grown = {phase: today.get(phase, 0) - then.get(phase, 0) for phase in {*then, *today}}
    phase = max(grown, key=lambda name: grown[name] if new >= old else -grown[name])
    since = "Since the restart" if because == "restart" else "Since then"
    if now.facts.value("trigger") == "real_time":
        return f"{since} the query runs in real-time mode: a batch lasts as long as its trigger, and is no latency."
    return (
        f"{since} the median batch takes {milliseconds(new)} instead of {milliseconds(old)}; "
        f"most of the difference is in {phase} ({grown[phase]:+.0f} ms), {_load(before, now)}."
    )


def _load(before: Window, now: Window) -> str:
    old, new = (float(rows_taken(window).median()) for window in (before, now))
    if max(old, new) <= SAME_LOAD * min(old, new):
        return f"at the same load ({number(new, 'rows')} per batch)"
    return f"while the load went from {old:,.0f} to {number(new, 'rows')} per batch"


def trends(window: Window) -> dict[str, dict[str, Any]]:
    """Direction of record latency and backlog over the window, and the change per hour."""
    if not len(window):
        return {"record_latency_ms": _trend(None, window), "backlog_rows": _trend(None, window)}
    frame = window.batches
    waited = measured(window, "backlog_ms")
    latency = frame["trigger_execution_ms"] - frame["commit_offsets_ms"].fillna(0) + frame["interval_ms"] / 2
    if isinstance(waited, pd.Series):
        latency = latency + waited.fillna(0)
    rows = measured(window, "backlog_rows")
    return {
        "record_latency_ms": _trend(latency, window),
        "backlog_rows": _trend(rows if isinstance(rows, pd.Series) else None, window),
    }


def _trend(values: pd.Series[float] | None, window: Window) -> dict[str, Any]:
    if values is None:
        return {"direction": "unknown", "per_hour": None}
    span = window.batches["timestamp"].iloc[-1] - window.batches["timestamp"].iloc[0]
    if span < SHORTEST_FOR_DIRECTION:
        return {"direction": "unknown", "per_hour": None}
    hours = (window.batches["timestamp"] - window.batches["timestamp"].iloc[0]).dt.total_seconds() / 3600
    slope = trend(hours.to_numpy(), values.to_numpy(dtype=float))
    if not isinstance(slope, Estimate):
        return {"direction": "unknown", "per_hour": None}
    drift = slope.safe * float(hours.iloc[-1])
    felt = abs(drift) > STEADY_SHARE * max(float(values.abs().median()), 1.0)
    direction = "steady" if not felt else "rising" if slope.low > 0 else "falling" if slope.high < 0 else "steady"
    rate = round(slope.safe, 1) if span >= SHORTEST_FOR_RATE else None
    return {"direction": direction, "per_hour": rate}
