"""What a step saves of a record's latency: the latency model as the batches are, and with shorter ones."""

from __future__ import annotations

from typing import Final

import numpy as np

from advisor.catalogue import Saves
from advisor.contract import Promise
from advisor.metrics import Estimate, Missing, Quantiles, measure, named
from advisor.metrics.latency import Mixture, mixture, mixture_quantiles, record_latency_ms
from advisor.metrics.limits import keeps_up
from advisor.metrics.phases import summed
from advisor.savings.batch import of_slow_batches, promised
from advisor.savings.promise import promise
from advisor.window import PHASES, Window

OF_RECORDS: Final = Saves(metric="record_latency_ms", stat="p50", share=(0, None, 1.5), calibrated="record-latency")
"""A saving of record latency as a share of what the model says, by the trials in which records were measured."""
AFTER_SINK: Final = "commit_offsets_ms"


def per_record(saves: Saves | None, window: Window) -> Promise | Missing | None:
    """What the step saves of the median record's latency; None or Missing where that latency is not known.

    None of what ends slow batches only: the median record is in none of them. A record waits for its own batch in any
    case, and for a trigger whose interval stays: what is left of that bounds the promise.
    """
    if saves is None or of_slow_batches(saves):
        return None
    if named(saves.metric).time == "latency":
        return promised(saves, window)
    estimated = estimated_per_record(saves, window)
    if isinstance(estimated, Missing):
        return estimated
    now, most, before = record_latency_ms(window), promised(saves, window), mixture(window)
    assert isinstance(now, Quantiles)
    assert isinstance(most, Promise)
    assert isinstance(before, Mixture)
    follows = _may_follow(window)
    own = _shorter(before, most.high, saves, window, follows=follows)
    left = mixture_quantiles(own.start, own.start * 0 if follows else own.width, own.rows, (0.5,))[0]
    return promise(OF_RECORDS, estimated, max(0.0, now.p50 - left))


def estimated_per_record(saves: Saves, window: Window) -> Estimate | Missing:
    """The model's p50 now less its p50 with batches that are shorter by what the step promises, in ms."""
    saved, now, before = promised(saves, window), record_latency_ms(window), mixture(window)
    if isinstance(saved, Missing):
        return saved
    if isinstance(before, Missing):
        return before
    assert isinstance(now, Quantiles)
    likely = None if saved.expected is None else felt(saved.expected, saves, window, before, now.p50).value
    low = felt(saved.low, saves, window, before, now.p50).low
    return Estimate(low, likely, felt(saved.high, saves, window, before, now.p50).high)


def felt(ms: float, saves: Saves, window: Window, before: Mixture, now: float | None = None) -> Estimate:
    """What the median record feels of batches that are shorter by `ms` by such a step; its wait follows, or may.

    `now`: the median of `before`, where it is known already.
    """
    median = _p50(before) if now is None else now
    left = {follows: _p50(_shorter(before, ms, saves, window, follows=follows)) for follows in {*_waits_follow(window)}}
    least, most = (max(0.0, median - left[follows]) for follows in _waits_follow(window))
    return Estimate(least, (least + most) / 2, most)


def _p50(of: Mixture) -> float:
    return mixture_quantiles(of.start, of.width, of.rows, (0.5,))[0]


def _waits_follow(window: Window) -> tuple[bool, bool]:
    """Whether the time between triggers shrinks with the batch: (surely, possibly).

    With the default trigger it does; a trigger interval stays, but for batches that overrun it.
    """
    trigger = window.facts.get("trigger")
    if trigger is None or trigger.origin == "inferred":
        return False, True
    return (trigger.value == "unspecified",) * 2


def _may_follow(window: Window) -> bool:
    """Whether a record may wait less, too: not where every batch ends within a trigger interval that stays."""
    over = measure(window, "over_interval_share")
    return _waits_follow(window)[1] or (isinstance(over, Estimate) and over.high > 0)


def _shorter(before: Mixture, ms: float, saves: Saves, window: Window, *, follows: bool) -> Mixture:
    """The latencies with batches that are shorter by `ms`: seen earlier, waited for less, and without a backlog where
    batches that a limit fills then take what comes.

    Rows of the first of several waves are seen early already; what they cannot gain is gained by those behind them.
    """
    start = before.start - _seen(ms, saves, window, before)
    width = before.width - (ms if follows else 0.0) + np.minimum(start, 0.0)
    if follows and keeps_up(window, ms):
        start = start - before.waited
    return before._replace(start=np.maximum(start, 0.0), width=np.maximum(width, 0.0))


def _seen(ms: float, saves: Saves, window: Window, before: Mixture) -> np.ndarray:
    """How much earlier results are visible: what is saved of the commit log comes after them."""
    phases = named(saves.metric).phases
    if AFTER_SINK not in phases or set(phases) == set(PHASES):
        return np.full(len(before.start), ms)
    after, whole = (summed(window, columns)[before.known] for columns in ((AFTER_SINK,), phases))
    earlier = np.clip(whole - after, 0.0, None)
    seen: np.ndarray = np.minimum(ms * earlier / np.maximum(whole, 1e-9), earlier)
    return seen
