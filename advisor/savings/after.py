"""The latency of records after several steps together, and at another trigger interval: one model of the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from msgspec.structs import replace

from advisor.contract import Advice, Latencies, Promise
from advisor.metrics import Estimate, Missing, named, sure
from advisor.metrics.backlog import keeps_up
from advisor.metrics.capacity import lines
from advisor.metrics.interval import advised_after_ms
from advisor.metrics.latency import Mixture, mixture, mixture_quantiles, record_latency_ms, rows_with_spikes
from advisor.metrics.missing import needed
from advisor.savings.promise import HAS_PARTS, in_common, promise
from advisor.savings.saving import AFTER_SINK, OF_RECORDS, OF_WAVES, of_records, waits_follow
from advisor.statistics import zero_filled
from advisor.window import PHASES, Window

SHORTEST_MS = 1.0
INTERVAL = ("interval_wait_ms", "unwanted_interval_wait_ms")
FETCHES = "kafka_fetch_wait_ms"
WAITING = ("backlog_wait_ms", "waiting_ms")
_Shorter: TypeAlias = tuple[float, float | np.ndarray, float | np.ndarray]


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
    ms = _shorter(needed(mixture(window)), steps, budget, end)[0] * waits_follow(window)[0]
    return keeps_up(window, ms) and not keeps_up(window, 0.0)


def _by_model(
    window: Window, mixed: Mixture, steps: Sequence[Advice], budget: Mapping[str, float], end: str
) -> tuple[Latencies, Latencies]:
    """Return the state by the model, not calibrated: with batches as long as today, and as short as after the steps."""
    cut, (surely, possibly) = _shorter(mixed, steps, budget, end), waits_follow(window)
    if catches_up(window, steps, budget, end):
        mixed = mixed._replace(start=mixed.start - mixed.waited, waited=0 * mixed.waited)
    follow = {"low": (surely,), "high": (possibly,)}.get(end, tuple({surely, possibly}))
    found = [_modelled(window, mixed, steps, cut, end, follows) for follows in follow]
    p50, p99 = (sum(each) / len(found) for each in zip(*((one.p50, one.p99) for one in found), strict=True))
    shorter = Latencies(p50=p50, p99=p99, interval_ms=found[0].interval_ms)
    return _modelled(window, mixed, steps, (0.0, 0.0, 0.0), end, surely) if cut[0] else shorter, shorter


def _modelled(
    window: Window, mixed: Mixture, steps: Sequence[Advice], shorter: _Shorter, end: str, follows: bool
) -> Latencies:
    """Return the state by the model. `follows`: whether the time between triggers shrinks with the batch."""
    cut, seen, waves = shorter
    each = _of_each(window, mixed, steps, end)
    mixed = mixed._replace(width=mixed.width - np.minimum(waves * each, mixed.waves))
    rows, waited = _rows_left(window, mixed, steps, end), mixed.waited * _waits_left(window, steps, end)
    interval = window.facts.fixed_interval_ms
    if interval is not None and any(step.saves_of in INTERVAL for step in steps):
        interval = min(interval, advised_after_ms(window, cut))
    start, width = _spread(window, mixed, cut * each, seen * each, interval, follows)
    off = sum(_of(step.saves_latency_ms, end) for step in steps if _waits_otherwise(step))
    start = np.maximum(start - mixed.waited + waited - off, 0.0)
    return _state(start, width, rows, interval)


def _state(start: np.ndarray, width: np.ndarray, rows: np.ndarray, interval: float | None) -> Latencies:
    p50, p99 = mixture_quantiles(start, width, rows, (0.5, 0.99))
    return Latencies(p50=p50, p99=p99, interval_ms=interval)


def at_interval(window: Window, interval: float) -> Latencies:
    """Return the state with a longer trigger interval: batches take what comes meanwhile.

    By the cost of a row where the run's batches show it; else as if all of a batch grew with its rows.
    """
    mixed = needed(mixture(window))
    gap = _gaps(window, mixed)
    more = np.maximum(interval / gap - 1, 0.0)
    drawn = lines(window)
    took = window.batches["trigger_execution_ms"][mixed.known]
    longer = took * more if isinstance(drawn, Missing) else drawn[0].per_row * mixed.rows * more
    width = np.maximum(interval, took + longer) + mixed.width - gap
    return _state(mixed.start + longer, width, mixed.rows, interval)


def at_load(window: Window, share: float) -> Latencies | None:
    """Return the state with that share of today's rows in each batch; None where the cost of a row is unknown."""
    mixed, drawn, before = mixture(window), lines(window), now(window)
    if isinstance(drawn, Missing) or not isinstance(mixed, Mixture) or isinstance(before, Missing):
        return None
    less = drawn[1].per_row * mixed.rows * (1 - share)
    start, width = _spread(window, mixed, less, less, before.interval_ms, waits_follow(window)[0])
    return _state(np.maximum(start, 0.0), width, mixed.rows, before.interval_ms)


def _spread(
    window: Window,
    mixed: Mixture,
    cut: float | np.ndarray,
    seen: float | np.ndarray,
    interval: float | None,
    follows: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (start, width) of the latencies with batches shorter by `cut` and results visible earlier by `seen`."""
    start, gap, took = mixed.start - seen, _gaps(window, mixed), window.batches["trigger_execution_ms"][mixed.known]
    set_one = window.facts.fixed_interval_ms
    shorter = np.maximum(took - cut, SHORTEST_MS)
    if set_one is None or interval is None:
        between = np.maximum(gap - cut * follows, SHORTEST_MS)
    elif interval < set_one:
        between = np.maximum(interval, shorter)
    else:
        between = np.where(gap > set_one, np.maximum(gap - cut, np.minimum(gap, set_one)), gap)
    return start, np.maximum(between + mixed.width - gap + np.minimum(start, 0.0), 0.0)


def _gaps(window: Window, mixed: Mixture) -> np.ndarray:
    return np.maximum(window.batches["interval_ms"][mixed.known], SHORTEST_MS)


def _shorter(mixed: Mixture, steps: Sequence[Advice], budget: Mapping[str, float], end: str) -> _Shorter:
    """Return by how much batches are shorter, results visible earlier, and waves of state tasks less apart."""
    saving = [at_best(step) for step in steps if step.saves_ms is not None and not step.ends_slow_batches]
    cut = _of(in_common(saving, budget), end)
    after_sink = sum(_of(one.saves_ms, end) * _part_after_sink(mixed, one, budget) for one in saving)
    waves = np.minimum(sum(_of(one.saves_ms, end) for one in saving if one.saves_of == OF_WAVES), mixed.waves)
    return cut, np.maximum(0.0, cut - after_sink - waves), waves


def _of_each(window: Window, mixed: Mixture, steps: Sequence[Advice], end: str) -> np.ndarray:
    """Return what each batch saves over what a typical one does: waits for fetches, and waves, make addBatch long."""
    saved = {step.saves_of: _of(step.saves_ms, end) for step in steps if not step.ends_slow_batches}
    usual, whole, each = sure(window, "add_batch_ms"), sum(saved.values()), np.ones(len(window))
    grows = sum(saved.get(metric, 0.0) for metric in (FETCHES, OF_WAVES))
    if grows and usual > 0:
        each += zero_filled(window.batches["add_batch_ms"] / usual - 1) * grows / whole
    return each[mixed.known]


def at_best(step: Advice) -> Advice:
    """Return the step; of one that was never measured, as if it saved the most that it may."""
    batch, record = (one and replace(one, expected=one.told) for one in (step.saves_ms, step.saves_latency_ms))
    return replace(step, saves_ms=batch, saves_latency_ms=record)


def _part_after_sink(mixed: Mixture, step: Advice, budget: Mapping[str, float]) -> float | np.ndarray:
    """Return the share of a step's saving that lies after the results are visible."""
    if step.saves_in == (HAS_PARTS,):
        return mixed.early
    inside, after_sink = {phase: budget.get(phase, 0.0) for phase in step.saves_in}, PHASES[AFTER_SINK]
    if after_sink not in inside or len(inside) == 1:
        return float(after_sink in inside)
    return inside[after_sink] / max(sum(inside.values()), 1e-9)


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
