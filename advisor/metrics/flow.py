"""How batches follow each other, and how many rows they take: intervals, waits, rates."""

from __future__ import annotations

import numpy as np

from advisor.metrics.numbers import fact_number, known, median
from advisor.metrics.registry import Batchwise, Estimate, Missing, Windowed, batch_metric, window_metric
from advisor.vocabulary import ENDING
from advisor.window import Window

SAME_LOAD = 1.1  # loads that differ by less are the same
LEAST_WITHOUT_POLLING_MS = 1000  # by default Spark asks its sources anew every few milliseconds


@batch_metric("ms", label="the time from one trigger to the next")
def interval_ms(window: Window) -> Batchwise:
    """From the start of the trigger before to this one's."""
    return window.batches["interval_ms"]


@batch_metric("ratio", label="the batch over the time from one trigger to the next")
def utilisation(window: Window) -> Batchwise:
    """triggerExecution over the time since the batch before: how much of the time the query is busy.

    inputRowsPerSecond alone gives the time since the last trigger, which may have been idle: for a batch without its
    predecessor it is ignored below a second and half the batch.
    """
    batches = window.batches
    if window.facts.value("trigger") == "real_time":
        return Missing("in real-time mode a batch lasts as long as its trigger")
    if window.facts.value("trigger") in ENDING:
        return Missing("with a one-shot trigger all rows came before the run")
    duration, since_trigger = batches["trigger_execution_ms"], batches["interval_ms"]
    follows, since_batch = (np.diff(batches[name], prepend=np.nan) for name in ("batch_id", "timestamp"))
    polled = since_trigger < np.minimum(duration / 2, LEAST_WITHOUT_POLLING_MS)
    since = np.where(follows == 1, np.fmax(since_trigger, since_batch), np.where(polled, np.nan, since_trigger))
    return duration / np.where(since > 0, since, np.nan)


@window_metric("ms", time="latency", label="the wait for more rows")
def held_back_wait_ms(window: Window) -> Windowed:
    """What a record waits on average because triggers that found rows ran no batch.

    Half of what the time from batch to batch is longer than a trigger's interval, or than a batch where it has none.
    """
    held, apart = window.batches["held_back"], window.batches["interval_ms"]
    if not len(window):
        return Missing("there are no steady batches")
    if not held.any():
        return Estimate.exactly(0.0)
    longer = known(np.where(held, np.maximum(apart - _cycle(window), 0.0), 0.0 * apart))
    return Estimate.exactly(float(longer.mean()) / 2)


@window_metric("ms", label="the shortest maxTriggerDelay")
def least_trigger_delay_ms(window: Window) -> Windowed:
    """The shortest maxTriggerDelay that still means something: the trigger's interval, or a batch."""
    return Estimate.exactly(float(np.ceil(_cycle(window)))) if len(window) else Missing("there are no steady batches")


def _cycle(window: Window) -> float:
    """How often batches start if none is held back: at each trigger, without an interval one after the other."""
    interval, batch = fact_number(window, "trigger_interval_ms"), median(window.batches["trigger_execution_ms"])
    return max(interval or 0.0, batch)


@window_metric("ms", label="the time from batch to batch while rows wait")
def held_back_interval_ms(window: Window) -> Windowed:
    """From one batch to the next where rows wait on purpose, the median."""
    apart = median(window.batches["interval_ms"][window.batches["held_back"]])
    return Estimate.exactly(apart) if np.isfinite(apart) else Missing("no batch was held back")


@batch_metric("rows", "count", label="rows a batch")
def input_rows(window: Window) -> Batchwise:
    """Rows that the batch read (twice as many when the source is read twice)."""
    return window.batches["input_rows"]


@batch_metric("per_second", "count", label="rows a second")
def input_rows_per_second(window: Window) -> Batchwise:
    """Rows over the time since the trigger before."""
    return window.batches["input_rows_per_second"]


@batch_metric("per_second", "count", label="rows a second that a batch processes")
def processed_rows_per_second(window: Window) -> Batchwise:
    """Rows over the batch's own duration."""
    return window.batches["processed_rows_per_second"]


def of_sources(window: Window, column: str) -> np.ndarray:
    """Sum a number over the sources of each batch; NaN for a batch with an unknown one."""
    return sum_of_sources(window, window.sources[column])


def sum_of_sources(window: Window, values: np.ndarray) -> np.ndarray:
    """The sum per batch of a number of each source; NaN for a batch of which one source has none."""
    batch = window.sources["batch"]
    total = np.bincount(batch, values, len(window))  # NaN where one is NaN
    return np.where(np.bincount(batch, minlength=len(window)) > 0, total, np.nan)


@batch_metric("ms", label="addBatch per row")
def add_batch_per_row_ms(window: Window) -> Batchwise:
    """addBatch over the rows of the batch."""
    rows = window.batches["input_rows"]
    return window.batches["add_batch_ms"] / np.where(rows > 0, rows, np.nan)


def rows_taken(window: Window) -> np.ndarray:
    """Return the rows between a batch's offsets, else the rows that it counted."""
    between = of_sources(window, "offset_rows")
    return np.where(np.isnan(between), window.batches["input_rows"], between)


def passed_ms(window: Window) -> np.ndarray:
    """Milliseconds from the start of the first batch whose start is known."""
    times = window.batches["timestamp"]
    begun = known(times)[:1]
    return times - begun if len(begun) else times
