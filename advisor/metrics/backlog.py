"""What waits in the sources: how much, how old, whether it grows, and batches longer than their interval."""

from __future__ import annotations

import math
import re

import numpy as np

from advisor.batches import kafka_offsets
from advisor.metrics.files import files_taken, files_waiting
from advisor.metrics.flow import of_sources, passed_ms, rows_taken, sum_of_sources
from advisor.metrics.numbers import any_above_zero, fact_number, known, mean, median
from advisor.metrics.registry import Batchwise, Estimate, Missing, Windowed, batch_metric, window_metric
from advisor.metrics.slopes import trend
from advisor.numbers import total
from advisor.progress import FURTHEST, MEAN
from advisor.window import Window

_BEHIND = "metrics:avgMsBehindLatest"
_FURTHEST, _MEAN_BEHIND = f"metrics:{FURTHEST}", f"metrics:{MEAN}"
_IS_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,30})?(?:E-?\d)?")
"""As Java writes a mean: 333333.3333333333, 1.2345678E7."""
DEFAULT_FILES = 1000.0
"""Files that Delta and Auto Loader take a batch where no limit is set."""
NO_BACKLOG = Missing("the sources do not report how far behind they are")
_FURTHEST_ALONE = Missing("the sources report only their furthest partition, not how many rows wait in all")


@batch_metric("rows", "count", label="backlog")
def backlog_rows(window: Window) -> Batchwise:
    """Rows that waited in the sources after the batch (latestOffset - endOffset), at the trigger's start.

    Without offsets, by Kafka's own metrics: the mean of its partitions times their number.
    """
    backlog = of_sources(window, "backlog_rows")
    backlog = np.where(np.isnan(backlog), _by_the_mean(window), backlog)
    if not np.isnan(backlog).all():
        return backlog
    return NO_BACKLOG if isinstance(furthest_behind_rows(window), Missing) else _FURTHEST_ALONE


@batch_metric("rows", "count", label="rows that wait in the partition furthest behind")
def furthest_behind_rows(window: Window) -> Batchwise:
    """Rows that wait in Kafka's furthest partition, by its own metric: at least so many wait."""
    furthest = _furthest_source(window, _of_metric(window, _FURTHEST))
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


def _furthest_source(window: Window, behind: np.ndarray) -> np.ndarray:
    """Return the largest value of each batch's sources, NaN if no source has one."""
    furthest = np.full(len(window), math.nan)
    np.fmax.at(furthest, window.sources["batch"], behind)
    return furthest


@batch_metric("ms")
def backlog_ms(window: Window) -> Batchwise:
    """The backlog over the rows that the query takes per millisecond: the age of the oldest row that waits.

    For a source without rows, its own delay (Kinesis on Databricks), or the waiting files over the files that it takes
    (Delta on Databricks).
    """
    backlog = backlog_rows(window)
    if isinstance(backlog, np.ndarray):
        return _age(window, backlog, rows_taken(window))
    behind = _behind_by_the_source(window)
    if behind is not None:
        return behind
    files = files_waiting(window)
    aged = _age(window, files, files_taken(window)) if isinstance(files, np.ndarray) else backlog
    return backlog if isinstance(aged, Missing) else aged


def _age(window: Window, waiting: np.ndarray, taken: np.ndarray) -> np.ndarray | Missing:
    """What waits over what the query takes per millisecond."""
    if not any_above_zero(waiting):
        return waiting
    interval = window.batches["interval_ms"]
    passed = total(interval[~np.isnan(taken)])
    pace = total(taken) / passed if passed > 0 else 0.0
    return waiting / pace if pace > 0 else Missing("the pace of the query is not known")


def _behind_by_the_source(window: Window) -> np.ndarray | None:
    """Milliseconds behind by the sources' own metric: the mean of the shards, of the furthest source."""
    furthest = _furthest_source(window, _of_metric(window, _BEHIND))
    return None if np.isnan(furthest).all() else furthest


@window_metric("share", "count", label="the share of batches longer than the interval")
def over_interval_share(window: Window) -> Windowed:
    """Share of the batches that took longer than the trigger interval."""
    interval, trigger = fact_number(window, "trigger_interval_ms"), window.facts.get("trigger")
    if (trigger is not None and trigger.value != "processing_time") or interval == 0:
        no = (
            "no interval is known"
            if trigger is not None and trigger.origin == "inferred"
            else "the trigger has no interval"
        )
        return Missing(f"{no} to overrun, and the sources do not report a backlog")
    if interval is None:
        return Missing("the trigger interval is not known", "trigger_interval_ms")
    if not len(window):
        return Missing("there are no steady batches")
    over = float((window.batches["trigger_execution_ms"] > interval).mean())
    return Estimate.exactly(over)


@window_metric("share", "count", label="the share of late batches")
def falling_behind_share(window: Window) -> Windowed:
    """Share of the batches longer than the trigger interval; 1 where the backlog grows by more than a batch waits."""
    over, slope = over_interval_share(window), backlog_trend_ms_per_minute(window)
    if not isinstance(slope, Estimate):
        none_is_over = isinstance(over, Estimate) and not over.value
        return slope if none_is_over and slope != NO_BACKLOG else over
    if _grows(window, slope):
        return Estimate(1.0, 1.0, 1.0)
    return Estimate(0.0, 0.0, 0.0) if isinstance(over, Missing) else over


def _grows(window: Window, slope: Estimate) -> bool:
    """Whether the backlog's age grew over the window by at least one mean interval."""
    times = known(window.batches["timestamp"])
    minutes = (times[-1] - times[0]) / 60_000
    return bool(slope.low > 0 and slope.safe * minutes >= mean(window.batches["interval_ms"]))


@window_metric("ms", time="latency", label="the wait in the backlog")
def backlog_wait_ms(window: Window) -> Windowed:
    """Median age of the backlog: what a record waits for those before it, and would not if the query kept up."""
    age = backlog_ms(window)
    if not isinstance(age, np.ndarray):
        return age if isinstance(age, Missing) else NO_BACKLOG
    wait = median(age)
    return Estimate.exactly(wait)


@window_metric("ratio", "count", label="batches that the query is behind")
def backlog_batches(window: Window) -> Windowed:
    """The backlog's age over the mean time between two batches: how many of them the query is behind."""
    wait, interval = backlog_wait_ms(window), mean(window.batches["interval_ms"])
    if not isinstance(wait, Estimate):
        return wait
    if not interval > 0:
        return Missing("the time between batches is not known")
    behind = wait.safe / interval
    return Estimate.exactly(behind)


@window_metric("ratio", "count", label="batches of work that wait in the source")
def waiting_batches(window: Window) -> Windowed:
    """How many batches wait in the source: by the backlog, else by the files that wait over those that a batch takes.

    Delta and Auto Loader take 1,000 files a batch where no limit is set.
    """
    behind, files = backlog_batches(window), files_waiting(window)
    if isinstance(behind, Estimate) or not isinstance(files, np.ndarray):
        return behind
    return Estimate.exactly(median(files) / (fact_number(window, "max_files_per_trigger") or DEFAULT_FILES))


@window_metric("ms", time="latency", label="the wait in the source")
def waiting_ms(window: Window) -> Windowed:
    """What a record waits in the source: the backlog's age, else as long as the batches that wait take."""
    age, waiting = backlog_wait_ms(window), waiting_batches(window)
    if isinstance(age, Estimate) or not isinstance(waiting, Estimate):
        return age
    return Estimate.exactly(waiting.safe * median(window.batches["trigger_execution_ms"]))


def left_waiting_share(window: Window) -> Windowed:
    """Return the share of the batches after which rows wait on that were there when the batch was made."""
    backlog = backlog_rows(window)
    found = known(backlog) if isinstance(backlog, np.ndarray) else np.array([])
    if not len(found):
        return backlog if isinstance(backlog, Missing) else NO_BACKLOG
    left = float((found > 0).mean())
    return Estimate.exactly(left)


@window_metric("ms_per_minute", label="the growth of the backlog")
def backlog_trend_ms_per_minute(window: Window) -> Windowed:
    """Growth of the backlog's age: Theil-Sen slope with its 95 % interval; 0 where Kendall's test sees no trend."""
    age = backlog_ms(window)
    if not isinstance(age, np.ndarray):
        return age if isinstance(age, Missing) else Missing("the backlog is not known")
    return trend(passed_ms(window) / 60_000, age)


@window_metric("ms", label="the time until the backlog is gone")
def catch_up_ms(window: Window) -> Windowed:
    """How long until the backlog is gone: the age of what waits now over the pace at which this age shrinks."""
    age, slope = backlog_ms(window), backlog_trend_ms_per_minute(window)
    if isinstance(age, Missing):
        return age
    now = known(age)[-1:] if isinstance(age, np.ndarray) else np.array([])
    if not any_above_zero(now):
        return Missing("nothing waits in the sources")
    if not isinstance(slope, Estimate):
        return Missing(slope.reason if isinstance(slope, Missing) else "no trend can be seen")
    if not slope.safe < 0:
        return Missing("the backlog does not shrink")
    low, value, high = (-60_000 * float(now[0]) / pace if pace < 0 else math.inf for pace in _ends(slope))
    return Estimate(low, value, high)


def _ends(slope: Estimate) -> tuple[float, float, float]:
    return slope.low, slope.safe, slope.high
