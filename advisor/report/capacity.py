"""What the report says of the load that a query holds."""

from __future__ import annotations

import math

from advisor.contract import Capacity, Interval
from advisor.metrics import Estimate, Missing, measure, sure
from advisor.metrics.capacity import asked_load, load_factor, outage_minutes
from advisor.window import Window


def capacity(window: Window) -> Capacity | None:
    """Return the rows a second that the query holds; None if that is unknown and nobody asked."""
    held, facts = measure(window, "capacity_per_second"), window.facts
    if isinstance(held, Missing):
        asked = facts.get("load_factor") or facts.get("outage_minutes")
        return Capacity(missing=held.reason) if asked else None
    drain, batch = measure(window, "outage_drain_ms"), measure(window, "batch_at_load_ms")
    factor = load_factor(window)
    return Capacity(
        low=_rounded(held.low),
        value=None if held.value is None else _rounded(held.value),
        high=_rounded(held.high) if math.isfinite(held.high) else None,
        coming=_rounded(sure(window, "rows_coming_per_second")),
        outage_minutes=outage_minutes(window),
        drain_ms=_interval(drain),
        load_factor=factor,
        asked=_rounded(asked_load(window)) if factor != 1 else None,
        asked_batch_ms=_rounded(batch.safe) if factor != 1 and isinstance(batch, Estimate) else None,
    )


def _interval(drain: Estimate | Missing) -> Interval | None:
    if isinstance(drain, Missing) or not math.isfinite(drain.high):
        return None
    value = None if drain.value is None else _rounded(drain.value)
    return Interval(low=_rounded(drain.low), value=value, high=_rounded(drain.high))


def _rounded(number: float) -> float:
    """Return three significant figures: more would be noise."""
    return float(f"{number:.3g}")
