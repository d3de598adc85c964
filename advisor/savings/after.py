"""The latency of records after several steps together, and at another trigger interval: one model of the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from msgspec.structs import replace

from advisor.contract import Advice, Latencies, Promise
from advisor.metrics import Estimate, Missing, backlog, named, sure
from advisor.metrics.capacity import fewer_rows_ms, lines
from advisor.metrics.interval import advised_after_ms
from advisor.metrics.latency import Mixture, mixture, mixture_quantiles, record_latency_ms, rows_with_spikes
from advisor.metrics.missing import needed
from advisor.savings.promise import in_common, promise
from advisor.savings.saving import FETCHES, INTERVAL, OF_RECORDS, of_records, worked_off
from advisor.savings.shorter import OF_WAVES, shorter, waits_follow
from advisor.statistics import zero_filled
from advisor.window import Window

WAITING = ("backlog_wait_ms", "waiting_ms")
_Saved: TypeAlias = Sequence[tuple[str, float]]


def can_be_modelled(step: Advice) -> bool:
    """Whether the step promises something of a batch or of a record, and the model knows of what."""
    return step.saves_of is not None and (step.saves_ms is not None or step.saves_latency_ms is not None)


def now(window: Window) -> Latencies | Missing:
    """Return the state as it is."""
    found = record_latency_ms(window)
    if isinstance(found, Missing):
        return found
    return Latencies(p50=found.p50, p99=found.p99, interval_ms=window.facts.fixed_interval_ms)


def after(window: Window, steps: Sequence[Advice], budget: Mapping[str, float], end: str = "likely") -> Latencies:
    """Return the state after these steps, with the `low`, the `likely` or the `high` end of what each promises.

    Batches are shorter by what the steps save of them in common; the trigger follows where it waits for them. What the
    model gains at p50 counts as much as it did in trials; p99 is the model's, with the error of those trials. Another
    mode of execution replaces the batch.
    """
    before, mixed = now(window), mixture(window)
    assert isinstance(before, Latencies) and isinstance(mixed, Mixture)
    uncut, cut = _by_model(window, mixed, steps, budget, end)
    likely = cut if end == "likely" or cut == uncut else _by_model(window, mixed, steps, budget, "likely")[1]
    p50, p99 = (
        was - _calibrated(was - then, was - usual, was, steps, end)
        for was, then, usual in ((uncut.p50, cut.p50, likely.p50), (uncut.p99, cut.p99, likely.p99))
    )
    gain = uncut.p99 - likely.p99  # all of it: in trials only the median gained less than the model says
    p99 -= gain - _calibrated(gain, gain, uncut.p99, steps, "likely")
    if len(steps) == 1 and steps[0].saves_latency_ms is not None and not catches_up(window, steps, budget, end):
        p50 = before.p50 - _of(steps[0].saves_latency_ms, end)  # as it is promised by itself
    mode = next((step for step in steps if step.saves_of == "record_latency_ms"), None)
    if mode is None:
        return Latencies(p50=p50, p99=max(p50, p99), interval_ms=cut.interval_ms)
    left = 1 - min(1.0, _of(mode.saves_latency_ms, end) / max(before.p50, 1e-9))
    p50 = min(p50, left * before.p50)
    return Latencies(p50=p50, p99=max(p50, min(p99, left * before.p99)))


def catches_up(window: Window, steps: Sequence[Advice], budget: Mapping[str, float], end: str) -> bool:
    """Return whether a query that leaves more and more behind takes all that comes after the steps."""
    return backlog.catches_up(window, _saved(steps, budget, end)[1] * waits_follow(window)[0])


def _by_model(
    window: Window, mixed: Mixture, steps: Sequence[Advice], budget: Mapping[str, float], end: str
) -> tuple[Latencies, Latencies]:
    """Return the state by the model, not calibrated: with batches as long as today, and as short as after the steps."""
    (saved, cut), (surely, possibly) = _saved(steps, budget, end), waits_follow(window)
    if catches_up(window, steps, budget, end):
        mixed = mixed._replace(start=mixed.start - mixed.waited, waited=0 * mixed.waited)
    follow = {"low": (surely,), "high": (possibly,)}.get(end, tuple({surely, possibly}))
    found = [_modelled(window, mixed, steps, saved, cut, end, follows) for follows in follow]
    p50, p99 = (sum(each) / len(found) for each in zip(*((one.p50, one.p99) for one in found), strict=True))
    then = Latencies(p50=p50, p99=p99, interval_ms=found[0].interval_ms)
    return _modelled(window, mixed, steps, (), 0.0, end, surely) if cut else then, then


def _modelled(
    window: Window, mixed: Mixture, steps: Sequence[Advice], saved: _Saved, cut: float, end: str, follows: bool
) -> Latencies:
    """Return the state by the model. `follows`: whether the time between triggers shrinks with the batch."""
    interval = window.facts.fixed_interval_ms
    if interval is not None and any(step.saves_of in INTERVAL for step in steps):
        interval = min(interval, advised_after_ms(window, cut))
        less = dict(zip(("low", "likely", "high"), fewer_rows_ms(window, interval).ends, strict=True))[end]
        saved, cut = [*saved, ("add_batch_ms", less)], cut + less
    start, width = shorter(window, mixed, cut, follows, interval, saved, _of_each(window, mixed, saved))
    off = sum(_of(step.saves_latency_ms, end) for step in steps if _waits_otherwise(step))
    waits_less = max(1 - _waits_left(window, steps, end), worked_off(window, cut) if follows else 0.0)
    start = np.maximum(start - mixed.waited * waits_less - off, 0.0)
    return _state(start, width, _rows_left(window, mixed, steps, end), interval)


def _state(start: np.ndarray, width: np.ndarray, rows: np.ndarray, interval: float | None) -> Latencies:
    p50, p99 = mixture_quantiles(start, width, rows, (0.5, 0.99))
    return Latencies(p50=p50, p99=p99, interval_ms=interval)


def at_interval(window: Window, interval: float) -> Latencies:
    """Return the state with a longer trigger interval: batches take what comes meanwhile.

    By the cost of a row where the run's batches show it; else as if all work on rows grew with them.
    """
    mixed = needed(mixture(window))
    return _state(*shorter(window, mixed, fewer_rows_ms(window, interval).high, False, interval), mixed.rows, interval)


def at_load(window: Window, share: float) -> Latencies | None:
    """Return the state with that share of today's rows in each batch; None where the cost of a row is unknown."""
    mixed, drawn, before = mixture(window), lines(window), now(window)
    if isinstance(drawn, Missing) or not isinstance(mixed, Mixture) or isinstance(before, Missing):
        return None
    less = drawn[1].per_row * mixed.rows * (1 - share)
    start, width = shorter(window, mixed, less, waits_follow(window)[0], before.interval_ms)
    return _state(start, width, mixed.rows, before.interval_ms)


def _saved(steps: Sequence[Advice], budget: Mapping[str, float], end: str) -> tuple[_Saved, float]:
    """Return what each step saves of which metric, and by how much batches are shorter with all of them."""
    saving = [at_best(step) for step in steps if step.saves_ms and not step.ends_slow_batches]
    saved = [(step.saves_of, _of(step.saves_ms, end)) for step in saving if step.saves_of]
    return saved, _of(in_common(saving, budget), end)


def _of_each(window: Window, mixed: Mixture, saved: _Saved) -> np.ndarray:
    """Return what each batch saves over what a typical one does: waits for fetches, and waves, make addBatch long."""
    usual, whole, each = sure(window, "add_batch_ms"), sum(ms for _, ms in saved), np.ones(len(window))
    grows = sum(ms for metric, ms in saved if metric in (FETCHES, OF_WAVES))
    if grows and usual > 0:
        each += zero_filled(window.batches["add_batch_ms"] / usual - 1) * grows / whole
    return each[mixed.known]


def at_best(step: Advice) -> Advice:
    """Return the step; of one that was never measured, as if it saved the most that it may."""
    batch, record = (one and replace(one, expected=one.told) for one in (step.saves_ms, step.saves_latency_ms))
    return replace(step, saves_ms=batch, saves_latency_ms=record)


def _rows_left(window: Window, mixed: Mixture, steps: Sequence[Advice], end: str) -> np.ndarray:
    """Return the rows of each batch, of batches slow in a rhythm as many as steps against them leave."""
    promises = [step.saves_ms for step in steps if step.ends_slow_batches]
    excess = sure(window, "spike_excess_ms")
    left = max(0.0, 1 - max((_of(one, end) for one in promises), default=0.0) / excess) if excess > 0 else 1.0
    rows = rows_with_spikes(window, mixed, left)
    return mixed.rows if isinstance(rows, Missing) else rows


def _waits_left(window: Window, steps: Sequence[Advice], end: str) -> float:
    """Return the share of the wait in the backlog that is left."""
    saved = [_of(step.saves_latency_ms, end) for step in steps if step.saves_of in WAITING]
    waits = sure(window, "waiting_ms")
    return max(0.0, 1 - max(saved) / waits) if saved and waits > 0 else 1.0


def _waits_otherwise(step: Advice) -> bool:
    """Whether the step spares a wait outside of the batch that is neither the interval's nor the backlog's."""
    if step.saves_of is None or step.saves_of in (*INTERVAL, *WAITING, "record_latency_ms"):
        return False
    return named(step.saves_of).time == "latency"


def _calibrated(gain: float, likely: float, whole: float, steps: Sequence[Advice], end: str) -> float:
    """Return what records gain of what the model says at this end, as they did in trials; `whole`: their latency."""
    saves = of_records(steps[0].id) if len(steps) == 1 else OF_RECORDS
    low, high = (max(0.0, limit(gain, likely)) for limit in (min, max))
    return _of(promise(saves, Estimate(low, max(likely, 0.0), high), whole, whole), end)


def _of(promised: Promise | None, end: str) -> float:
    """Return one end of a promise; a step that was never measured counts with the most that it may save."""
    if promised is None:
        return 0.0
    return {"low": promised.low, "likely": promised.told, "high": promised.high}[end]
