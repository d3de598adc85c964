"""What a step would save: a promise with an interval, from the run's own batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from advisor.catalogue import Saves
from advisor.metrics import Estimate, Missing, measure, named
from advisor.window import PHASES, Window

FURTHEST = 0.12
"""How far from the expected saving a promise reaches, as a share of the batch.

Of 109 savings that trials measured 99 lay within it, large and small ones alike: a trial's noise is that of batches.
"""


@dataclass(frozen=True)
class Promise:
    """Milliseconds saved, at least `low` and at most `high`; `expected` is None until such a step has been measured."""

    low: float
    expected: float | None
    high: float

    @property
    def likely(self) -> float:
        """What steps are ranked by: the expected saving, or the low end."""
        return self.low if self.expected is None else self.expected

    def scaled(self, at_least: float, at_most: float) -> Promise:
        """Another time that follows from this saving, between two factors."""
        expected = None if self.expected is None else self.expected * (at_least + at_most) / 2
        return Promise(self.low * at_least, expected, self.high * at_most)

    def to_dict(self) -> dict[str, float | None]:
        """Plain data, to a tenth of a millisecond."""
        expected = None if self.expected is None else round(self.expected, 1)
        return {"low": round(self.low, 1), "expected": expected, "high": round(self.high, 1)}


def per_batch(saves: Saves | None, window: Window) -> Promise | Missing | None:
    """What the step saves of a batch; None where it saves only waiting, or promises nothing."""
    if saves is None or named(saves.metric).time == "latency":
        return None
    return _promised(saves, window)


def per_record(saves: Saves | None, window: Window) -> Promise | Missing | None:
    """What the step saves of the typical record's latency.

    A saving s of the batch makes results visible s earlier (less what lies in commitOffsets, which comes after them).
    With the default trigger the interval shrinks by s too, and the mean wait by half of that; a trigger interval
    stays. Trigger unknown: between both.
    """
    if saves is None:
        return None
    promised = _promised(saves, window)
    if named(saves.metric).time == "latency" or not isinstance(promised, Promise):
        return promised
    seen = 1 - _share_after_sink(saves, window)
    trigger = window.facts.get("trigger")
    kept = seen
    shrinks = seen + 0.5
    if trigger is None or trigger.source == "inferred":
        return promised.scaled(kept, shrinks)
    both = {"unspecified": shrinks, "processing_time": kept}.get(str(trigger.value))
    return None if both is None else promised.scaled(both, both)


def _share_after_sink(saves: Saves, window: Window) -> float:
    phases = named(saves.metric).phases
    if "commit_offsets_ms" not in phases or set(phases) == set(PHASES):
        return 0.0
    total = float(window.batches[list(phases)].sum().sum())
    return float(window.batches["commit_offsets_ms"].sum()) / total if total else 0.0


def _promised(saves: Saves, window: Window) -> Promise | Missing:
    value = measure(window, saves.metric, saves.stat)
    if isinstance(value, Missing):
        return value
    low, expected, high = saves.share
    promise = Promise(
        low * value.low,
        None if expected is None or value.value is None else expected * value.value,
        high * value.high,
    )
    return _possible(promise, window, saves)


def _possible(promise: Promise, window: Window, saves: Saves) -> Promise:
    """Per batch, in order, within the batch, and no further from what is expected than trials have come out."""
    whole = _whole(window, saves)
    cut: Callable[[float], float] = lambda ms: max(0.0, min(ms / saves.per_batches, whole))  # noqa: E731
    low, high = cut(promise.low), cut(promise.high)
    if promise.expected is None:
        return Promise(min(low, high), None, high)
    expected = min(cut(promise.expected), high)
    reach = FURTHEST * whole
    if low:  # where it is 0 the step may save nothing, and that stays
        low = min(max(low, expected - reach), expected)
    return Promise(low, expected, min(high, expected + reach))


def _whole(window: Window, saves: Saves) -> float:
    """What there is to save: the batch; of waiting, any time."""
    if named(saves.metric).time == "latency":
        return float("inf")
    whole = measure(window, "trigger_execution_ms", saves.stat or "typical")
    return whole.high if isinstance(whole, Estimate) else float("inf")
