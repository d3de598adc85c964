"""Was a promise kept? A step taken between two windows: its promise against the measured saving."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from advisor.comparison.effect import interval
from advisor.contract import Advice, Effect, FactChange, KeptPromise, Of, Outcome, Promise
from advisor.facts import FACTS, Facts, from_conf, from_reader_options, from_writer_options
from advisor.facts.confs import ASYNC_ENABLED
from advisor.metrics import Estimate
from advisor.metrics.units import milliseconds

SLACK = 0.02  # of the batch before: a saving this close below the promise counts as kept
MOST_MORE = 100_000  # more batches than this are as good as never
_UNITS = {"millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000}
_INTERVAL = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(millisecond|second|minute|hour)s?\s*", re.IGNORECASE)

OF: tuple[Of, ...] = ("batch", "record")


def made(steps: Iterable[Advice], changed: Iterable[FactChange], after: Facts) -> list[Advice]:
    """Return the steps that were taken: one of their settings became what the step advises, and none differs."""
    became = {change.fact: change.after.value for change in changed if change.after is not None}
    wanted = {step.id: (step, _wanted(step)) for step in steps}
    return [step for step, facts in wanted.values() if _is_made(facts, became, after)]


def judged(step: Advice, of: Of, measured: Effect | None, batches: int, doubt: str | None = None) -> KeptPromise | None:
    """Whether the step's promise was kept by this effect, as it is printed; None if it promised nothing of the kind.

    `batches`: the fewer of both sides. `doubt`: why nothing can be concluded anyway.
    """
    promise = step.saves_ms if of == "batch" else step.saves_latency_ms
    if promise is None:
        return None
    saved, more = None, None
    found: Outcome = "cannot say yet"
    because = doubt or "there is nothing measured"
    if measured is not None and not doubt:
        changed = measured.difference_ms
        saved = Estimate(-changed.high, -(changed.value or 0.0), -changed.low)
        found = verdict(promise, saved, measured.before_ms)
        because, more = _because(found, promise, saved, measured.before_ms, batches)
    return KeptPromise(
        step=step.id, do=step.do, of=of, predicted_ms=promise.rounded(),
        measured_ms=interval(saved, 1) if saved else None, verdict=found, because=because, more_batches=more,
    )  # fmt: skip


def verdict(promise: Promise, saved: Estimate, before: float) -> Outcome:
    """Whether a promise was kept by what was saved, of a batch or latency of `before` ms.

    Kept: the saving is at least the low end, but for 2 % of what was before, with the whole interval. Broken: the whole
    interval lies below it.
    """
    if saved.low >= promise.low - SLACK * before:
        return "kept"
    return "broken" if saved.high < promise.low else "cannot say yet"


def _because(found: Outcome, promise: Promise, saved: Estimate, before: float, batches: int) -> tuple[str, int | None]:
    if found == "kept":
        kept = "only a most was promised" if promise.expected is None else "it saved what was promised"
        return "it saved more than was promised" if saved.low > promise.high else kept, None
    if found == "broken":
        return f"at most {milliseconds(saved.high)} were saved", None
    needed = _needed(saved, promise.low - SLACK * before, promise.low, batches)
    if needed is None:
        return "the batches vary so much that the saving lies on both sides of the promise", None
    return f"{needed:,} more batches on each side are needed", needed


def _needed(saved: Estimate, enough: float, low: float, batches: int) -> int | None:
    """More batches until the interval, which shrinks with the square root, lies on one side."""
    value = saved.safe
    apart = max((value - enough) / max(value - saved.low, 1e-9), (low - value) / max(saved.high - value, 1e-9))
    if apart <= 0:
        return None
    needed = math.ceil(batches / apart**2) - batches
    return max(needed, 1) if needed <= MOST_MORE else None


def _wanted(step: Advice) -> dict[str, Any]:
    """Return the facts that hold once the step is made, as far as its settings, or its last stage's, determine them."""
    change = step.stages[-1].change if step.stages else step.change
    pairs = [pair for key, text in change.conf.items() for pair in from_conf(key, text)]
    if ASYNC_ENABLED in change.writer_option:
        pairs += from_writer_options(change.writer_option)
    pairs += from_reader_options(change.reader_option)
    pairs += _of_trigger(change.trigger)
    return {fact: value for fact, value in pairs if value is not None and (fact in FACTS or ":" in fact)}


def _of_trigger(trigger: Mapping[str, Any]) -> list[tuple[str, Any]]:
    for kind, value in trigger.items():
        interval = _INTERVAL.fullmatch(str(value))
        if interval is None:
            return [("trigger", kind)]
        length = float(interval[1]) * _UNITS[interval[2].lower()]
        return [("trigger", kind), *([("trigger_interval_ms", round(length))] if kind == "processing_time" else [])]
    return []


def _is_made(wanted: Mapping[str, Any], became: Mapping[str, Any], after: Facts) -> bool:
    hit = any(fact in became and str(became[fact]) == str(value) for fact, value in wanted.items())
    known = {fact: after.value(fact) for fact in wanted if fact in after}
    return hit and not any(str(value) != str(wanted[fact]) for fact, value in known.items())
