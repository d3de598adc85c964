"""Event time: how far it lies behind the clock, the watermark behind it, and which rows come too late."""

from __future__ import annotations

import numpy as np

from advisor.metrics.metric import Batchwise, Bounds, batch_metric, bounded_metric, window_metric
from advisor.metrics.missing import Missing, MissingError, needed
from advisor.metrics.operators import SESSIONS, per_batch
from advisor.statistics import above_zero, any_above_zero, known, median
from advisor.window import Window

NO_EVENT_TIME = Missing("the query has no event time")
_NOT_NAMED = "nothing shows whether Spark counts dropped rows or groups"
_COUNTS = {"stateStoreSave": "groups", "StatefulStreamlineAggregate": ""}
"""What operators count as dropped that do not count rows (run on 4.3.0); nobody tried the one of real-time mode."""
_NEWER_BEFORE = Missing("the watermark lies ahead of the rows: newer ones were read before these batches")
YEAR_MS = 365 * 86_400_000.0
FEWEST_TO_REST = 5
"""Batches in which a watermark must stand still, to be one that does not move."""
SECOND_MS, AS_LATE_AGAIN = 1000.0, 2.0
"""Times as late as the latest row that was seen: so much delay is left to rows that come later still."""


def _untold(window: Window) -> Missing:
    """Why no event time is known: the query reports none, its record was cut, or no batch had a row."""
    if "eventTime" in window.lacks:
        return Missing("event time is missing in the records or cut off")
    if not np.isnan(window.batches["event_time_max"]).all():
        return Missing("the watermark has not moved from 1970 yet, where Spark starts it")
    if not np.isnan(watermarks(window)).all():
        return Missing("the records hold a watermark, but no event times of rows")
    return NO_EVENT_TIME


def watermarks(window: Window) -> np.ndarray:
    """Return the watermark of each batch, ms since 1970; NaN where there is none yet: Spark starts it at 1970."""
    return above_zero(window.batches["watermark"])


@batch_metric("ms", label="the watermark behind the newest event")
def watermark_delay_ms(window: Window) -> np.ndarray | Missing:
    """The newest event time of the batch less the watermark that it used; below 0 where the watermark is ahead.

    In append mode a window's result waits at least so long after the window's end.
    """
    delay = window.batches["event_time_max"] - watermarks(window)
    return _untold(window) if np.isnan(delay).all() else delay


@batch_metric("ms", label="the watermark ahead of the clock")
def watermark_ahead_of_clock_ms(window: Window) -> np.ndarray | Missing:
    """The watermark less the latest time that the run's clock showed, 0 where it is not ahead.

    Only an event of the future moves it there, or a clock that was set back: these two cannot be told apart.
    """
    watermark, batches = watermarks(window), window.batches
    ahead = np.maximum(watermark - batches["clock"], 0.0)
    if (watermark > batches["timestamp"]).any() and not (ahead > 0).any():
        return Missing("the run's clock was set back behind the watermark")
    return _untold(window) if np.isnan(watermark).all() else ahead


@window_metric("ms", label="how much the latest row came after a newer one")
def latest_row_ms(window: Window) -> float | Missing:
    """By how much the latest row came after a newer one, at most: the newest event time till then less its own."""
    newest, oldest = window.batches["event_time_max"], window.batches["event_time_min"]
    seen = ~np.isnan(newest) & ~np.isnan(oldest)
    if not seen.any():
        return _untold(window)
    latest = float((np.maximum.accumulate(newest[seen]) - oldest[seen]).max())
    return latest or Missing("all rows of a batch have one event time, so how late rows come is not seen")


@window_metric("ms", label="the advised delay of the watermark")
def advised_watermark_delay_ms(window: Window) -> float:
    """A delay, in whole seconds, that keeps rows which come twice as late as the latest one in these batches."""
    latest = needed(latest_row_ms(window)).safe
    return max(1.0, np.ceil(AS_LATE_AGAIN * latest / SECOND_MS)) * SECOND_MS


@window_metric("ms", label="the delay by which no row is too late")
def delay_for_all_rows_ms(window: Window) -> float:
    """The delay, in whole seconds, by which no row of these batches would have come too late.

    Not known where the watermark lies ahead of all rows so far: newer ones, before these batches, moved it there.
    """
    newest = np.fmax.accumulate(window.batches["event_time_max"])
    if (watermarks(window) > newest).any():
        raise MissingError(_NEWER_BEFORE)
    return float(np.ceil(needed(latest_row_ms(window)).safe / SECOND_MS)) * SECOND_MS


@window_metric("ms", label="the watermark ahead of all rows")
def watermark_ahead_of_rows_ms(window: Window) -> float:
    """How far the last watermark lies ahead of the newest event time of all these batches; at least 0."""
    marks, newest = known(watermarks(window)), known(window.batches["event_time_max"])
    return max(0.0, float(marks[-1] - newest.max())) if len(marks) and len(newest) else 0.0


@window_metric("ms", label="what the watermark's delay is too short by")
def lacking_watermark_delay_ms(window: Window) -> float:
    """What the watermark's delay is too short by for the latest row of these batches."""
    delay = needed(watermark_delay_ms(window))
    return max(0.0, needed(delay_for_all_rows_ms(window)).safe - median(delay))


@window_metric("ms", label="the watermark's delay that no row needed")
def spare_watermark_delay_ms(window: Window) -> float:
    """What of the watermark's delay no row needed, by the advised one."""
    delay = needed(watermark_delay_ms(window))
    return max(0.0, median(delay) - needed(advised_watermark_delay_ms(window)).safe)


@window_metric("ratio", label="the watermark's delay over the span of event times")
def watermark_delay_in_spans(window: Window) -> float:
    """How many times the span of all event times of these batches the watermark's delay is."""
    delay, batches = needed(watermark_delay_ms(window)), window.batches
    span = np.nanmax(batches["event_time_max"]) - np.fmin.reduce(batches["event_time_min"])
    return median(delay) / max(span, SECOND_MS)


@window_metric("ms", label="what event times moved on while the watermark stood still")
def watermark_stands_still_ms(window: Window) -> float | Missing:
    """By how much event times moved on beyond a watermark that is the same in all these batches; 0 where it moves.

    It also rests while rows that are older than it are read again, and moves on with the first newer one; and at 1970
    while event times, made up ones, are of that year.
    """
    watermark, newest = window.batches["watermark"], window.batches["event_time_max"]
    seen = ~np.isnan(watermark) & ~np.isnan(newest)
    if seen.sum() < FEWEST_TO_REST:
        return _untold(window) if not seen.any() else Missing(f"fewer than {FEWEST_TO_REST} batches hold a watermark")
    watermark, newest = watermark[seen], np.maximum.accumulate(newest[seen])
    if newest[-1] <= YEAR_MS and not np.ptp(watermark):
        return Missing("the event times are of 1970, where Spark starts every watermark")
    rests = np.ptp(watermark) == 0 and newest[0] > max(watermark[0], YEAR_MS)
    return float(newest[-1] - newest[0]) if rests else 0.0


@bounded_metric("rows", "count", label="rows dropped as too late")
def late_rows(window: Window) -> Batchwise:
    """Rows that the watermark dropped; at least so many for session windows, whose rows a task joins before."""
    counted = _dropped(window, "rows")
    of_sessions = _of_sessions(window)
    if not of_sessions.any():
        return counted
    return Bounds(counted, np.where(of_sessions, np.fmax(counted, window.batches["input_rows"]), counted))


@batch_metric("ratio", "count", label="late rows over rows read")
def late_rows_over_read(window: Window) -> np.ndarray:
    """Rows that the watermark dropped over rows read; above 1 where the batch was computed several times."""
    return _dropped(window, "rows") / above_zero(window.batches["input_rows"])


@bounded_metric("share", "count", label="the share of rows dropped as too late")
def late_rows_share(window: Window) -> Batchwise:
    """Rows that the watermark dropped over rows read, of one computation where a batch was computed several times."""
    over, of_sessions = needed(late_rows_over_read(window)), _of_sessions(window)
    share = over / np.maximum(np.ceil(over), 1.0)
    return Bounds(share, np.where(of_sessions, 1.0, share)) if of_sessions.any() else share


@batch_metric("count", "count", label="groups dropped as too late")
def late_groups(window: Window) -> np.ndarray:
    """Groups of aggregations that the watermark dropped: one for each key of a batch's late rows."""
    return _dropped(window, "groups")


@batch_metric("share", "count", label="the share of groups dropped as too late")
def late_groups_share(window: Window) -> np.ndarray:
    """Groups of aggregations that the watermark dropped over those that it dropped or that changed the state."""
    late = needed(late_groups(window))
    changed = per_batch(window, np.where(_counts(window) == "groups", window.operators["rows_updated"], 0.0))
    return late / np.maximum(late + changed, 1.0)


def _dropped(window: Window, unit: str) -> np.ndarray:
    """What the watermark dropped at the operators that count in this unit; raises MissingError if only others did."""
    dropped, counts = window.operators["rows_dropped_by_watermark"], _counts(window)
    counted = np.where(counts == unit, dropped, 0 * dropped)
    if any_above_zero(dropped) and not any_above_zero(counted):
        other = next(iter(counts[dropped > 0]))
        raise MissingError(Missing(f"Spark counts dropped {other}, not {unit}" if other else _NOT_NAMED))
    return per_batch(window, counted)


def _counts(window: Window) -> np.ndarray:
    """What numRowsDroppedByWatermark counts at each operator: rows, or groups; empty where that is not known.

    An aggregation combines the rows of a batch before it looks at the watermark.
    """
    names = window.operators["name"].tolist()
    return np.array([_COUNTS.get(name, "rows") if name else "" for name in names], dtype=str)


def _of_sessions(window: Window) -> np.ndarray:
    sessions = window.operators["name"] == SESSIONS
    return per_batch(window, np.where(sessions, window.operators["rows_dropped_by_watermark"], 0.0)) > 0
