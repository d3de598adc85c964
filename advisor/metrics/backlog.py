"""What waits in the sources: how much, how old, whether it grows, and which limits hold it back."""

from __future__ import annotations

import math
import re

import numpy as np

from advisor.batches import kafka_offsets
from advisor.metrics.flow import (
    files_taken,
    files_waiting,
    full_of_files_share,
    leaves_a_pause,
    passed_ms,
    rows_taken,
    sum_of_sources,
)
from advisor.metrics.metric import Estimate, batch_metric, window_metric
from advisor.metrics.missing import NO_BATCHES, NO_INTERVAL, Missing, needed
from advisor.metrics.slopes import trend
from advisor.progress.shapes import FURTHEST, MEAN
from advisor.statistics import any_above_zero, known, mean, median, rounded_up, total
from advisor.window import Window

_BEHIND = "metrics:avgMsBehindLatest"
"""Kinesis' own metric: the mean of its shards."""
_FURTHEST, _MEAN_BEHIND = f"metrics:{FURTHEST}", f"metrics:{MEAN}"
_IS_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,30})?(?:E-?\d)?")
"""As Java writes a mean: 333333.3333333333, 1.2345678E7."""
DEFAULT_FILES = 1000.0
"""Files that Delta and Auto Loader take a batch where no limit is set."""
NO_BACKLOG = Missing("the sources do not report how far behind they are")
_FURTHEST_ALONE = Missing("the sources report only their furthest partition, not how many rows wait in all")
NO_ROWS = Missing("the rows of a batch are not known")
AS_LARGE, MOST_BATCHES = 0.98, 0.9  # of the largest batch (a limit is split over partitions), of the batches


@batch_metric("rows", "count", label="backlog")
def backlog_rows(window: Window) -> np.ndarray | Missing:
    """Rows that waited in the sources after the batch (latestOffset - endOffset), at the trigger's start.

    Without offsets, by Kafka's own metrics: the mean of its partitions times their number.
    """
    backlog = sum_of_sources(window, window.sources["backlog_rows"])
    backlog = np.where(np.isnan(backlog), _by_the_mean(window), backlog)
    if not np.isnan(backlog).all():
        return backlog
    return NO_BACKLOG if isinstance(furthest_behind_rows(window), Missing) else _FURTHEST_ALONE


@batch_metric("rows", "count", label="rows that wait in the partition furthest behind")
def furthest_behind_rows(window: Window) -> np.ndarray | Missing:
    """Rows that wait in Kafka's furthest partition, by its own metric: at least so many wait."""
    furthest = _furthest(window, _FURTHEST)
    return NO_BACKLOG if np.isnan(furthest).all() else furthest


def _by_the_mean(window: Window) -> np.ndarray:
    """Rows behind of all sources by their partitions' mean; 0 where the furthest of each is not behind."""
    sources = window.sources
    if _FURTHEST not in sources and _MEAN_BEHIND not in sources:
        return np.full(len(window), math.nan)
    partitions = np.array([len(kafka_offsets(text) or ()) or math.nan for text in sources["end_offset"]])
    rows = np.where(_of_metric(window, _FURTHEST) == 0, 0.0, _of_metric(window, _MEAN_BEHIND) * partitions)
    return sum_of_sources(window, rows)


def _of_metric(window: Window, metric: str) -> np.ndarray:
    """Return the source metric of each source, NaN if it is not a number."""
    found = window.sources[metric] if metric in window.sources else [None] * len(window.sources["batch"])
    return np.array([float(text) if text and _IS_NUMBER.fullmatch(text) else math.nan for text in found])


def _furthest(window: Window, metric: str) -> np.ndarray:
    """Return the largest value of each batch's sources, NaN if no source has one."""
    furthest = np.full(len(window), math.nan)
    np.fmax.at(furthest, window.sources["batch"], _of_metric(window, metric))
    return furthest


@batch_metric("ms")
def backlog_ms(window: Window) -> np.ndarray | Missing:
    """The backlog over the rows that the query takes per millisecond: the age of the oldest row that waits.

    For a source without rows, its own delay (Kinesis on Databricks), or the waiting files over the files that it takes
    (Delta on Databricks).
    """
    backlog = backlog_rows(window)
    if isinstance(backlog, np.ndarray):
        return _age(window, backlog, rows_taken(window))
    behind = _furthest(window, _BEHIND)
    if not np.isnan(behind).all():
        return behind
    files = files_waiting(window)
    aged = backlog if isinstance(files, Missing) else _age(window, files, files_taken(window))
    return backlog if isinstance(aged, Missing) else aged


def _age(window: Window, waiting: np.ndarray, taken: np.ndarray) -> np.ndarray | Missing:
    """What waits over what the query takes per millisecond."""
    if not any_above_zero(waiting):
        return waiting
    interval = window.batches["interval_ms"]  # since the trigger before: without what waits they would find nothing
    passed = total(interval[~np.isnan(taken)])
    pace = total(taken) / passed if passed > 0 else 0.0
    return waiting / pace if pace > 0 else Missing("the pace of the query is not known")


@window_metric("share", "count", label="the share of batches longer than the interval")
def over_interval_share(window: Window) -> float | Missing:
    """Share of the batches that took longer than the trigger interval and held up the next one.

    Where the next one begins later than at once, triggers found nothing: the query waits for rows, not they for it.
    Where that is so behind most of the long ones, it works off what piles up behind the others.
    """
    interval, trigger = window.facts.number("trigger_interval_ms"), window.facts.get("trigger")
    if (trigger is not None and trigger.value != "processing_time") or interval == 0:
        inferred = trigger is not None and trigger.origin == "inferred"
        no = "no interval is known" if inferred else "the trigger has no interval"
        return Missing(f"{no} to overrun, and the sources do not report a backlog")
    if interval is None:
        return NO_INTERVAL
    if not len(window):
        return NO_BATCHES
    long, waits = window.batches["trigger_execution_ms"] > interval, leaves_a_pause(window)
    late = long & ~waits
    return 0.0 if (long & waits).sum() > late.sum() else float(late.mean())


@window_metric("share", "count", label="the share of late batches")
def falling_behind_share(window: Window) -> float | Estimate | Missing:
    """Share of the batches longer than the trigger interval; 1 where the backlog grows by more than a batch waits.

    Without an interval, all that is known of a backlog that does not grow is that no batch leaves rows behind.
    """
    over, slope = over_interval_share(window), backlog_trend_ms_per_minute(window)
    if isinstance(slope, Missing):
        none_is_over = isinstance(over, Estimate) and not over.value
        return slope if none_is_over and slope != NO_BACKLOG else over
    if grows(window):
        return 1.0
    if over == NO_INTERVAL:
        return Estimate(0.0, None, 1.0, NO_INTERVAL.fact)
    return 0.0 if isinstance(over, Missing) else over


def grows(window: Window) -> bool:
    """Whether the backlog's age is known to have grown over the window by at least one mean interval."""
    slope, times = backlog_trend_ms_per_minute(window), known(window.batches["timestamp"])
    if isinstance(slope, Missing):
        return False
    minutes = (times[-1] - times[0]) / 60_000
    return bool(slope.low > 0 and slope.safe * minutes >= mean(window.batches["interval_ms"]))


@window_metric("ms", time="latency", label="the wait in the backlog")
def backlog_wait_ms(window: Window) -> float:
    """Median age of the backlog: what a record waits for those before it, and would not if the query kept up."""
    return median(needed(backlog_ms(window)))


@window_metric("ratio", "count", label="batches that the query is behind")
def backlog_batches(window: Window) -> float | Missing:
    """The backlog's age, at the end where it falls, over the mean time between two batches."""
    wait, interval = needed(_age_now(window)), mean(window.batches["interval_ms"])
    return wait.safe / interval if interval > 0 else Missing("the time between batches is not known")


def _age_now(window: Window) -> Estimate | Missing:
    """Return the backlog's age in ms: of the last batch where it falls from batch to batch, else the median."""
    slope = backlog_trend_ms_per_minute(window)
    falls = isinstance(slope, Estimate) and slope.safe < 0
    return Estimate.exactly(float(known(needed(backlog_ms(window)))[-1])) if falls else backlog_wait_ms(window)


@window_metric("ratio", "count", label="batches of work that wait in the source")
def waiting_batches(window: Window) -> float | Estimate | Missing:
    """How many batches wait in the source: by the backlog, else by the files that wait over those that a batch takes.

    Delta and Auto Loader take 1,000 files a batch where no limit is set.
    """
    behind, files = backlog_batches(window), files_waiting(window)
    if isinstance(behind, Estimate) or isinstance(files, Missing):
        return behind
    return median(files) / (window.facts.number("max_files_per_trigger") or DEFAULT_FILES)


@window_metric("ms", time="latency", label="the wait in the source")
def waiting_ms(window: Window) -> float | Estimate | Missing:
    """What a record waits in the source: the backlog's age, else as long as the batches that wait take."""
    age, waiting = _age_now(window), waiting_batches(window)
    if isinstance(age, Estimate) or isinstance(waiting, Missing):
        return age
    return waiting.safe * median(window.batches["trigger_execution_ms"])


@window_metric("ms_per_minute", label="the growth of the backlog")
def backlog_trend_ms_per_minute(window: Window) -> Estimate | Missing:
    """Growth of the backlog's age: Theil-Sen slope with its 95 % interval; 0 where Kendall's test sees no trend."""
    return trend(passed_ms(window) / 60_000, needed(backlog_ms(window)))


@window_metric("ms", label="the time until the backlog is gone")
def catch_up_ms(window: Window) -> Estimate | Missing:
    """How long until the backlog is gone: the age of what waits now over the pace at which this age shrinks."""
    ages = known(needed(backlog_ms(window)))
    if not any_above_zero(ages[-1:]):
        return Missing("nothing waits in the sources")
    slope = backlog_trend_ms_per_minute(window)
    if isinstance(slope, Missing):
        return Missing(slope.reason)
    if not slope.safe < 0 or ages[-2:].sum() >= ages[-4:-2].sum():
        return Missing("the backlog does not shrink, or no more")
    low, value, high = (-60_000 * float(ages[-1]) / pace if pace < 0 else math.inf for pace in slope.ends)
    return Estimate(low, value, high)


@window_metric("ms", time="latency", label="the time for which rows still wait")
def backlog_lasts_ms(window: Window) -> float:
    """How long rows still wait in the source: until the backlog is gone, without end where it does not fall."""
    gone = catch_up_ms(window)
    return gone.safe if isinstance(gone, Estimate) else math.inf


@window_metric("rows", "count", label="rows by which the backlog falls with each batch")
def worked_off_per_batch(window: Window) -> float | Missing:
    """Rows by which the backlog falls from one batch to the next (mean)."""
    came = arriving(window)
    return NO_BACKLOG if came is None else round(mean(rows_taken(window)[1:]) - came)


@window_metric("rows", "count", label="rows that a batch takes")
def rows_taken_per_batch(window: Window) -> float | Missing:
    """Rows that a batch takes from its sources (median)."""
    taken = median(rows_taken(window))
    return taken if np.isfinite(taken) else NO_ROWS


@window_metric("rows", "count", label="twice the rows of a batch")
def doubled_rows_per_batch(window: Window) -> float | Missing:
    """Twice the rows that a batch takes, two digits, rounded up."""
    taken = median(rows_taken(window))
    return rounded_up(2 * taken) if taken > 0 else NO_ROWS


@window_metric("share", "count", label="the share of batches filled to the source's limit")
def full_batches_share(window: Window) -> float | Missing:
    """Share of the batches as large as the largest after which rows wait on: a limit of the source holds them."""
    rows = rows_taken(window)
    if not len(known(rows)):
        return NO_BACKLOG
    alike = rows >= AS_LARGE * known(rows).max()
    if alike.mean() < MOST_BATCHES:
        return 0.0
    backlog = backlog_rows(window)
    return NO_BACKLOG if isinstance(backlog, Missing) else float((alike & (backlog > 0)).mean())


@window_metric("share", "count", label="the share of batches as full as the limit allows")
def met_limit_share(window: Window) -> float | Missing:
    """Share of the batches that take as many rows as maxOffsetsPerTrigger allows, if no source reports what waits."""
    limit = window.facts.number("max_offsets_per_trigger")
    if isinstance(backlog_rows(window), np.ndarray):
        return 0.0
    if not limit:
        return Missing("no limit of rows per batch is known", "max_offsets_per_trigger")
    rows = known(rows_taken(window))
    return float(((rows >= AS_LARGE * limit) & (rows <= limit)).mean()) if len(rows) else NO_ROWS


@window_metric("share", "count", label="the share of batches that a limit of the source fills")
def limited_share(window: Window) -> float | Estimate | Missing:
    """Share of the batches that a limit of the source fills: rows wait on, or all that is allowed is taken."""
    if window.facts.value("source") == "file":
        return full_of_files_share(window)
    backlog = backlog_rows(window)
    return met_limit_share(window) if isinstance(backlog, Missing) else float((known(backlog) > 0).mean())


@window_metric("ratio", "count", label="batches that wait behind a limit")
def limited_batches(window: Window) -> float | Estimate | Missing:
    """How many batches wait behind the limit, by the backlog; one at least where nothing shows how much waits."""
    return backlog_batches(window) if isinstance(backlog_rows(window), np.ndarray) else 1.0


@window_metric("rows", "count", label="the advised rows per batch")
def advised_rows_per_batch(window: Window) -> float | Missing:
    """Twice the rows that arrive between two triggers (taken + growth of the backlog), two digits, rounded up."""
    came = arriving(window)
    if came is None:
        return NO_BACKLOG if len(window) > 1 else Missing("one batch does not show how many rows arrive")
    if not came > 0:
        return Missing("the rows that arrive between two triggers are not known")
    return rounded_up(2 * came)


@window_metric("ms", label="the time in which the advised limit works off the backlog")
def drain_ms(window: Window) -> Estimate | Missing:
    """How long what waits lasts at the advised limit: with batches as long as today, and half as long again.

    Without end, where such batches take less than comes.
    """
    limit, waits = needed(advised_rows_per_batch(window)).safe, known(needed(backlog_rows(window)))[-1:]
    if not any_above_zero(waits):
        return Missing("nothing waits in the sources")
    came, interval = arriving(window) or 0.0, window.facts.fixed_interval_ms
    cycle, took = (mean(window.batches[name]) for name in ("interval_ms", "trigger_execution_ms"))
    longer = cycle + took / 2 if interval is None else max(cycle, 1.5 * took)
    rates = (limit / each - came / cycle for each in (cycle, longer))
    low, high = (float(waits[0]) / rate if rate > 0 else math.inf for rate in rates)
    return Estimate(low, None, high)


def arriving(window: Window) -> float | None:
    """Return the rows that arrive between two triggers; None if the backlog is unknown."""
    rows, backlog = rows_taken(window), backlog_rows(window)
    if isinstance(backlog, Missing) or len(rows) < 2:
        return None
    return float((total(rows[1:]) + backlog[-1] - backlog[0]) / (len(rows) - 1))


def catches_up(window: Window, ms: float) -> bool:
    """Whether batches that a limit fills take all that arrives only once each starts `ms` sooner."""
    full = full_batches_share(window)
    if not isinstance(full, Estimate) or full.safe < MOST_BATCHES:
        return False
    came, interval = arriving(window), mean(window.batches["interval_ms"])
    if came is None or interval <= ms:
        return False
    taken = mean(rows_taken(window))
    return bool(taken / interval <= came / interval < taken / (interval - ms))
