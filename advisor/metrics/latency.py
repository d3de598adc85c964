"""How long a record waits until its result is visible, from progress alone."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from advisor.metrics.backlog import NO_BACKLOG, backlog_ms, grows, limited_share
from advisor.metrics.event_time import watermark_delay_ms
from advisor.metrics.metric import Bounds, Estimate, Quantiles, metric, remembered, window_metric
from advisor.metrics.missing import NO_BATCHES, Missing, needed
from advisor.metrics.operators import ARBITRARY, partitions
from advisor.metrics.phases import DISCOVERY, summed
from advisor.metrics.slow_batches import rhythm
from advisor.metrics.state import state_commit_per_task_ms, state_waves_excess_ms
from advisor.metrics.tasks import most, spread
from advisor.metrics.units import milliseconds
from advisor.statistics import median, zero_filled
from advisor.window import Window

VISIBLE_BEFORE_END = 1 / 3
"""Of addBatch: how long before its end the typical row was in Kafka (local broker, 110 batches, four settings)."""
NARROWEST_MS = 1e-3
"""Of an interval in which records are spread: one of no width has no density."""
AT_ONCE = {"dedupe", "dedupeWithinWatermark", "symmetricHashJoin"}
"""Operators whose results come out in their batch; of an outer join, the matched rows."""
_ENDS_AT_ONCE = "a one-shot trigger: records wait for the next start, which progress does not show"
ONE_SHOT = {
    "once": _ENDS_AT_ONCE,
    "available_now": _ENDS_AT_ONCE,
    "continuous": "continuous processing writes no progress",
    "real_time": "in real-time mode the trigger's length is no latency",
}


@metric("ms", per="window", time="latency")
def record_latency_ms(window: Window) -> Quantiles:
    """Record created -> result visible, p50 and p99.

    A batch takes what came until latestOffset asked, half way through that phase; its rows came uniformly over the gap
    g to the trigger before, and are visible when the sink has written them: latencies are uniform over [v, v + g], v =
    triggerExecution - latestOffset / 2 - commitOffsets, mixed over the batches by rows. Without state, rows reach Kafka
    while the tasks run, by measurement a third of addBatch before its end, or of its last stage where several are seen
    (at its end with Python), and of several waves of tasks, which share the rows, the typical one in the middle;
    with state they reach it as their task ends, of deduplication and joins before the task's state is committed, so
    that several waves of tasks spread them over addBatch x (1 - 1 / waves). A backlog comes on top: rows that wait over
    the pace at which the query takes them. With a backlog this is the latency of records that come now, not of
    those that become visible now. Records are assumed to reach the source at once. In real-time mode it is the events'
    own latency in a typical batch, as Databricks reports it.
    """
    if (found := told_by_events(window)) is not None:
        return found
    mixed = needed(mixture(window))
    return Quantiles(*mixture_quantiles(mixed.start, mixed.width, mixed.rows, (0.50, 0.99)))


def told_by_events(window: Window) -> Quantiles | None:
    """Return the end-to-end latency that real-time events report, of the median batch; None if they do not."""
    usual, high = (median(window.batches[name]) for name in ("e2e_p50_ms", "e2e_p99_ms"))
    return Quantiles(usual, high) if np.isfinite(usual) and np.isfinite(high) else None


def latency_with_spikes(window: Window, left: float) -> Quantiles | Missing:
    """Record latency where only that share of the periodic slow batches is left, p50 and p99.

    They count as much less, as do those right after them, whose records waited for them.
    """
    mixed = mixture(window)
    if isinstance(mixed, Missing):
        return mixed
    rows = rows_with_spikes(window, mixed, left)
    if isinstance(rows, Missing):
        return rows
    return Quantiles(*mixture_quantiles(mixed.start, mixed.width, rows, (0.50, 0.99)))


def rows_with_spikes(window: Window, mixed: Mixture, left: float) -> np.ndarray | Missing:
    """Return the rows of each batch, of those slow in a rhythm and right after them only that share."""
    found = rhythm(window)
    if isinstance(found, Missing):
        return found
    before = (window.batches["batch_id"] - 1) % found.every
    follows = before == found.offset  # the slow one before it may not be in the window
    calm = ~(found.slow | follows)[mixed.known]
    if not calm.any():
        return Missing("every batch is slow, or follows one that is")
    return mixed.rows * np.where(calm, 1.0, left)


class Mixture(NamedTuple):
    """Record latency per batch: uniform over [start, start + width] in ms, weighed by rows.

    `waited`: the backlog's age within `start`. `waves`: what several waves of state tasks add to `width`. `early`: the
    share of what a shorter addBatch saves that shows no row sooner. `known`: which of the window's batches have a
    latency; the other arrays hold one number for each of these.
    """

    start: np.ndarray
    width: np.ndarray
    rows: np.ndarray
    waited: np.ndarray
    waves: np.ndarray
    early: np.ndarray
    known: np.ndarray


@remembered
def mixture(window: Window) -> Mixture | Missing:
    """Return the record latency of each batch, or why it is unknown."""
    if (reason := _not_estimable(window)) is not None:
        return reason
    width, duration, rows = (window.batches[name] for name in ("interval_ms", "trigger_execution_ms", "input_rows"))
    known = ~np.isnan(width) & ~np.isnan(duration)
    if not known.any():
        return Missing("the time between batches is not known")
    ran = window.executed
    cold = np.append(ran["batch_id"][ran["cold"]], 0)  # batch 0 always is
    steady = known & ~np.isin(window.batches["batch_id"] - 1, cold)
    known = steady if steady.any() else known & (np.rint(width / (window.facts.fixed_interval_ms or np.nan)) <= 1)
    if not known.any():
        return Missing("these rows waited for the first batch after the start; those of later batches do not")
    visible = np.maximum(duration - _not_waited(window), 0)
    rows = np.where(np.isnan(rows), 1, rows)
    age, spread = backlog_ms(window), _spread(window)
    waited = np.zeros(len(window)) if isinstance(age, Missing) else zero_filled(age)  # no backlog where none is told
    if isinstance(spread, Missing):
        return spread
    spread = np.minimum(spread, visible)
    start, width = visible - spread + waited, width + spread
    return Mixture(start[known], width[known], rows[known], waited[known], spread[known], _early(window)[known], known)


def typical_by_batch(window: Window) -> np.ndarray | None:
    """Return what a typical record of each batch waits, in ms; NaN for an unknown batch, None if all are unknown."""
    mixed = mixture(window)
    if isinstance(mixed, Missing):
        return None
    typical = np.full(len(window), np.nan)
    typical[mixed.known] = mixed.start + mixed.width / 2
    return typical


def mixture_quantiles(
    start: np.ndarray, width: np.ndarray, weight: np.ndarray, at: tuple[float, ...]
) -> tuple[float, ...]:
    """Quantiles of a mixture of uniform distributions over [start, start + width]."""
    ends, share = _distribution(start, width, weight)
    return tuple(np.interp(np.array(at) * share[-1], share, ends).tolist())


def mixture_medians(start: np.ndarray, width: np.ndarray, weight: np.ndarray) -> list[float]:
    """The medians of several such mixtures, a row of `start` and `width` each, of the same weights; of one too."""
    ends, share = _distribution(np.atleast_2d(start), np.atleast_2d(width), weight)
    return [float(np.interp(0.5 * shares[-1], shares, places)) for places, shares in zip(ends, share, strict=True)]


def _distribution(start: np.ndarray, width: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(places in order, the weight up to each of them), row by row.

    The distribution function is straight between the ends of the intervals: each adds its density where it begins and
    takes it back where it ends.
    """
    width = np.maximum(width, NARROWEST_MS)
    ends, density = np.concatenate([start, start + width], axis=-1), weight / width
    order = ends.argsort(axis=-1)
    at = order if order.ndim == 1 else (np.arange(len(order))[:, np.newaxis], order)
    ends, density = ends[at], np.concatenate([density, -density], axis=-1)[at].cumsum(axis=-1)
    share = np.zeros(ends.shape)
    between = np.maximum(density[..., :-1], 0.0) * (ends[..., 1:] - ends[..., :-1])
    between.cumsum(axis=-1, out=share[..., 1:])
    return ends, share


def _not_waited(window: Window) -> np.ndarray:
    """What of each trigger lies before its last record came, or after the typical record was visible."""
    asking, after = summed(window, DISCOVERY), summed(window, ("commit_offsets_ms",))
    written = _written_before_end(window) if _is_written_by_tasks(window) else 0.0
    return zero_filled(asking / 2 + after + written + _committed_after(window))


def _is_written_by_tasks(window: Window) -> bool:
    stateless = window.facts.value("stateful") is False and not len(window.operators)
    return stateless and window.facts.value("sink") == "kafka"


def _early(window: Window) -> np.ndarray:
    """The share of addBatch in which rows are in Kafka already; it shrinks with addBatch, the last stage's does not."""
    in_one_stage = np.bincount(window.stages["batch"], minlength=len(window)) <= 1
    return _before_end(window) * (in_one_stage & _is_written_by_tasks(window))


def _before_end(window: Window) -> np.ndarray:
    """The share of a stage after the typical row is in Kafka: a third of its task, and half of the other waves.

    Python hands a task's rows back together, near its end.
    """
    of_task = 0.0 if window.facts.value("runs_python") else VISIBLE_BEFORE_END
    if not len(window.stages):
        return np.full(len(window), of_task)
    waves = np.fmax(most(window, np.where(_is_last(window), spread(window).rounds, np.nan)), 1.0)
    return of_task / waves + (1 - 1 / waves) / 2


def _written_before_end(window: Window) -> np.ndarray:
    """How long before addBatch's end the typical row is in Kafka: a share of it, or of the last of several stages."""
    whole, stages = summed(window, ("add_batch_ms",)), window.stages
    if not len(stages):
        return _before_end(window) * whole
    last = most(window, np.where(_is_last(window), stages["wall_ms"], np.nan))
    several = np.bincount(stages["batch"], minlength=len(window)) > 1
    return _before_end(window) * np.where(several & (last > 0), np.fmin(last, whole), whole)


def _is_last(window: Window) -> np.ndarray:
    return window.stages["submitted"] == most(window, window.stages["submitted"])[window.stages["batch"]]


def _committed_after(window: Window) -> np.ndarray:
    """The commit of one task's state, before which deduplication and joins have given their rows to Kafka."""
    commit = state_commit_per_task_ms(window)
    first_out = window.facts.value("sink") == "kafka" and (names := operators(window)) and names <= AT_ONCE
    return zero_filled(commit) if first_out and isinstance(commit, np.ndarray) else np.zeros(len(window))


def _spread(window: Window) -> np.ndarray | Missing:
    """From the first wave of state tasks to the last; a sink that publishes a batch as a whole has none."""
    if window.facts.value("sink") != "kafka" or not len(window.operators) or not np.any(partitions(window) > 1):
        return np.zeros(len(window))
    spread = state_waves_excess_ms(window)
    if isinstance(spread, Missing):
        return spread
    return zero_filled(spread.high if isinstance(spread, Bounds) else spread)


def _not_estimable(window: Window) -> Missing | None:
    value = window.facts.value("trigger")
    if str(value) in ONE_SHOT:
        return Missing(f"record latency cannot be read from progress: {ONE_SHOT[str(value)]}")
    if len(window) == 0:
        return NO_BATCHES
    return _held_back(window) if waits_for_watermark(window) is not False else None


def waits_for_watermark(window: Window) -> bool | None:
    """Return whether results wait for the watermark, as windows do in append mode; None if the output mode decides.

    Rows of a deduplication and matched rows of a join come out in their batch, whatever the output mode.
    """
    stateful = window.facts.value("stateful") is True or len(window.operators) > 0
    if not (stateful and window.facts.value("watermarked")) or ((names := operators(window)) and names <= AT_ONCE):
        return False
    mode = window.facts.value("output_mode")
    return None if mode is None else mode == "append"


def operators(window: Window) -> set[str]:
    """The names of the query's stateful operators, as far as they are known."""
    shown = {str(name) for name in window.operators["name"] if name}
    return shown or set(filter(None, str(window.facts.value("state_operators") or "").split(",")))


def _held_back(window: Window) -> Missing:
    if any(name.startswith(ARBITRARY) for name in operators(window)):
        return Missing("when the query's own code on its state gives out its results is not known")
    behind = watermark_behind(window)
    if window.facts.value("output_mode") is None:
        unknown = f"in append mode results wait for the watermark{behind}; the output mode is not known"
        return Missing(unknown, "output_mode")
    return Missing(f"in append mode a window's result waits until the watermark{behind} has passed the window's end")


def held_back_ms(window: Window) -> float | None:
    """The least that results of windows wait for the watermark, in ms; None where nothing waits, or only own code."""
    own_code = any(name.startswith(ARBITRARY) for name in operators(window))
    return watermark_wait_ms(window) if waits_for_watermark(window) and not own_code else None


def watermark_wait_ms(window: Window) -> float:
    """How far the watermark typically lies behind the newest event; 0 where that is not known, or it is ahead."""
    delay = watermark_delay_ms(window)
    return 0.0 if isinstance(delay, Missing) else max(0.0, median(delay))


def watermark_behind(window: Window) -> str:
    """Return ` (15 min behind the newest event)` for the watermark; empty if unknown."""
    behind = watermark_wait_ms(window)
    return f" ({milliseconds(behind)} behind the newest event)" if behind > 0 else ""


def latency_at_target(window: Window) -> float:
    """Return the record latency that the target is for: p99, unless it is said to be p50; raises MissingError."""
    found = needed(record_latency_ms(window))
    return found.p50 if window.facts.value("latency_target_stat") == "p50" else found.p99


@window_metric("ms", time="latency", label="the record latency less its target")
def latency_target_excess_ms(window: Window) -> float | Estimate | Missing:
    """The record latency (p99, or p50 where the target is for it) less the target: above 0 the target is missed."""
    target = window.facts.number("latency_target_ms")
    if target is None:
        return Missing("no target for the record latency is known", "latency_target_ms")
    excess, limited = latency_at_target(window) - target, limited_share(window)
    if excess <= 0 and grows(window):
        return Missing("what waits in the sources grows, and what each record waits with it")
    told = told_by_events(window) is not None or not isinstance(backlog_ms(window), Missing)
    unlimited = window.facts.value("source") in ("rate", "rate_micro_batch", "socket")
    if told or unlimited or (isinstance(limited, Estimate) and not limited.safe):  # else a limit may hold rows back
        return excess
    return Estimate(excess, None, math.inf) if excess > 0 else NO_BACKLOG


@window_metric("share", time="latency", label="the part of the latency above the target")
def latency_over_target_share(window: Window) -> Estimate:
    """How much of the record latency lies above the target."""
    excess, latency = needed(latency_target_excess_ms(window)), latency_at_target(window)
    least = max(0.0, excess.safe / latency) if latency > 0 else 0.0
    return Estimate.exactly(least) if excess.value is not None else Estimate(least, None, 1.0)
