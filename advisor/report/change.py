"""What changed, since when, and where latency and backlog are going."""

from __future__ import annotations

import numpy as np

from advisor.catalogue import ranking
from advisor.contract import Changed, Regime, Trend, Trends, moment
from advisor.metrics import Estimate, measured
from advisor.metrics.flow import SAME_LOAD, passed_ms, rows_taken
from advisor.metrics.latency import typical_by_batch
from advisor.metrics.phases import LACKING, budget
from advisor.metrics.slopes import trend
from advisor.metrics.units import milliseconds, number
from advisor.statistics import known, median
from advisor.vocabulary import Direction, Since
from advisor.window import Window

_UNKNOWN = Trend(direction="unknown", per_hour=None)


def change(before: Window, now: Window, because: Since) -> Changed | None:
    """How the judged batches differ from those before them; None where one of both is empty."""
    if not len(before) or not len(now):
        return None
    says = _says(before, now, "Since the restart" if because == "restart" else "Since the change")
    return Changed(at=moment(now.span[0]), because=because, says=says, before=_side(before), after=_side(now))


def _side(window: Window) -> Regime:
    first, last = map(moment, window.span)
    return Regime(first=first, last=last, batches=len(window))


def _says(before: Window, now: Window, since: str) -> str:
    if at := now.span[0]:
        since = f"{since} at {at:%Y-%m-%d %H:%M:%S} UTC"
    old, new = (median(window.batches["trigger_execution_ms"]) for window in (before, now))
    then, today = budget(before), budget(now)
    told = [phase for phase in dict.fromkeys([*then, *today]) if phase != LACKING]
    grown = {phase: today.get(phase, 0) - then.get(phase, 0) for phase in told}
    phase = max(grown, key=lambda name: grown[name] if new >= old else -grown[name], default=None)
    where = f"most of the difference is in {phase} ({grown[phase]:+.0f} ms), " if phase else ""
    if now.facts.value("trigger") == "real_time":
        return f"{since} the query runs in real-time mode: a batch lasts as long as its trigger, and is no latency."
    went = f"takes {milliseconds(new)} instead of {milliseconds(old)}"
    return f"{since} the median batch {went}; {where}{_load(before, now)}."


def _load(before: Window, now: Window) -> str:
    old, new = (median(rows_taken(window)) for window in (before, now))
    if np.isnan(old) or np.isnan(new):
        return "under a load that is not known"
    if max(old, new) <= SAME_LOAD * min(old, new):
        return f"at the same load ({number(new, 'rows')} per batch)"
    return f"while the load went from {old:,.0f} to {number(new, 'rows')} per batch"


def trends(window: Window) -> Trends:
    """Direction of record latency and backlog over the window, and the change per hour."""
    if not len(window):
        return Trends(record_latency_ms=_UNKNOWN, backlog_rows=_UNKNOWN)
    rows = measured(window, "backlog_rows")
    return Trends(
        record_latency_ms=_trend(typical_by_batch(window), window),
        backlog_rows=_trend(rows if isinstance(rows, np.ndarray) else None, window),
    )


def _trend(values: np.ndarray | None, window: Window) -> Trend:
    if values is None:
        return _UNKNOWN
    hours = passed_ms(window) / 3_600_000
    span = float(known(hours)[-1]) if len(known(hours)) else 0.0
    if span < ranking()["direction_from_min"] / 60:
        return _UNKNOWN
    slope = trend(hours, values)
    if not isinstance(slope, Estimate):
        return _UNKNOWN
    drift = slope.safe * span
    felt = abs(drift) > ranking()["steady_share"] * max(median(np.abs(values)), 1.0)
    direction: Direction = (
        "steady" if not felt else "rising" if slope.low > 0 else "falling" if slope.high < 0 else "steady"
    )
    rate = round(slope.safe, 1) if span >= ranking()["rate_from_min"] / 60 else None
    return Trend(direction=direction, per_hour=rate)
