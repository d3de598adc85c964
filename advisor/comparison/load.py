"""Whether two windows ran at the same load, and what the difference of load costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from advisor.comparison.bootstrap import DRAWS, SEED, Level
from advisor.comparison.levels import TOTAL, Levels
from advisor.contract import LoadKind
from advisor.metrics import Estimate, Missing
from advisor.metrics.flow import SAME_LOAD, rows_taken, since_batch_ms
from advisor.metrics.interval import fit
from advisor.metrics.latency import ONE_SHOT
from advisor.metrics.units import number
from advisor.statistics import mean, median, quantile
from advisor.window import Window

BEYOND = 1.5  # a fit is not stretched further than this beyond the rows it has seen
_NORMAL_95 = 2 * 1.96  # standard errors in a 95 % interval


@dataclass(frozen=True)
class Load:
    """How the loads compare: `same`, `adjusted` by the fitted cost of rows, `differs` and why, or `unknown`.

    `grown`: whether AFTER has more. `shift`: what to take off AFTER's levels so that they stand at BEFORE's load.
    """

    kind: LoadKind
    says: str
    grown: bool = False
    shift: Level | None = None


def load(before: Window, after: Window) -> Load:
    """Return how the loads compare.

    Equal rows per second are the same load whatever the rows per batch: with the default trigger these follow the
    length of the batch, and a longer interval fills batches by design. Equal rows per batch are the same load too:
    where a limit fills every batch alike, the rate follows from the length of the batch. A one-shot trigger reads what
    is there: its load is rows per batch alone.
    """
    rows = (rows_per_batch(before), rows_per_batch(after))
    one_shot = any(window.facts.value("trigger") in ONE_SHOT for window in (before, after))
    per_second = (None, None) if one_shot else (rows_per_second(before), rows_per_second(after))
    units = {"rows per second": per_second, "rows per batch": rows}
    known = {unit: (old, new) for unit, (old, new) in units.items() if old and new and old > 0 and new > 0}
    if not known:
        return Load("unknown", "at a load that is not known")
    unit, (old, new) = min(known.items(), key=lambda item: max(item[1]) / min(item[1]))
    if max(old, new) <= SAME_LOAD * min(old, new):
        return Load("same", f"at the same load ({_went(old, new)} {unit})", new > old)
    old_rate, new_rate = per_second
    if old_rate is None or new_rate is None:
        why = "rows per second are not known, or the trigger takes what is there"
        return _differs(*rows, "rows per batch", why)
    shift = _shift((before, after), (old_rate, new_rate))
    if isinstance(shift, Missing):
        return _differs(old_rate, new_rate, "rows per second", shift.reason)
    went = f"it went from {_went(old_rate, new_rate)} rows per second"
    return Load("adjusted", f"at an equal load, by the fitted cost of rows ({went})", new_rate > old_rate, shift)


def _differs(old: float, new: float, unit: str, why: str) -> Load:
    went = f"while the load went from {_went(old, new)} {unit}"
    return Load("differs", f"{went}, which cannot be corrected for: {why}", new > old)


def _went(old: float, new: float) -> str:
    words = number(old, "count"), number(new, "count")
    return words[0] if words[0] == words[1] else " to ".join(words)


def at_same_load(levels: Levels, shift: Level | None) -> Levels:
    """The levels with the cost of more rows taken off: of the whole, of addBatch, and of the record latency."""
    if shift is None:
        return levels
    typical = {name: at - shift if name in (TOTAL, "addBatch") else at for name, at in levels.typical.items()}
    latency = levels.latency
    if not isinstance(latency, Missing):
        latency = {name: at - shift for name, at in latency.items()}
    return replace(levels, typical=typical, mean=levels.mean - shift, latency=latency)


def _shift(sides: tuple[Window, Window], rates: tuple[float, float]) -> Level | Missing:
    """Return the cost per row times the rows by which AFTER's batches exceed BEFORE's; turned, its sign turns.

    The busier side's fit counts where it has seen so few rows, else the other's where it has seen so many.
    """
    old, new = rates
    missing = []
    busier = ((sides[0], new / old, 1, "BEFORE"), (sides[1], old / new, -1, "AFTER"))
    for window, to, sign, name in sorted(busier, key=lambda side: side[1]):
        fitted, rows = fit(window), rows_per_batch(window)
        if isinstance(fitted, Missing):
            missing.append(fitted)
        elif _seen(window, rows * to):
            cost = _cost(fitted[1], sign * rows * (to - 1))
            if abs(cost.value) < median(sides[int(new > old)].batches["trigger_execution_ms"]):
                return cost
            missing.append(Missing("the rows that one side has more would take longer than its whole batch"))
        else:
            missing.append(Missing(f"{name} has seen no batch nearly as small or large"))
    return missing[0]


def _cost(per_row: Estimate, rows: float) -> Level:
    likely = per_row.safe
    error = (per_row.high - per_row.low) / _NORMAL_95
    drawn = np.random.default_rng([SEED, 2]).normal(likely, error, DRAWS).clip(min=0)
    return Level(likely * rows, drawn * rows)


def _seen(window: Window, rows: float) -> bool:
    seen = window.batches["input_rows"]
    return bool(quantile(seen, 0.05) / BEYOND <= rows <= quantile(seen, 0.95) * BEYOND)


def rows_per_batch(window: Window) -> float:
    """Mean rows that a batch takes from its sources, each counted once however often the batch reads it."""
    return mean(rows_taken(window))


def rows_per_second(window: Window) -> float | None:
    """Return the same over the time from batch to batch, idle triggers included; None if no batch knows that time."""
    passed = since_batch_ms(window)
    known = ~np.isnan(passed)
    return float(np.nansum(rows_taken(window)[known])) / passed[known].sum() * 1000 if known.any() else None
