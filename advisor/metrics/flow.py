"""How batches follow each other and keep up with their sources: intervals, rates, backlog, event time."""

from __future__ import annotations

import math
import re

import numpy as np

from advisor.metrics.files import files_taken, files_waiting
from advisor.metrics.numbers import any_above_zero, fact_number, known, mean, median, rank_correlation
from advisor.metrics.registry import Batchwise, Estimate, Missing, Windowed, batch_metric, window_metric
from advisor.metrics.slopes import kendall_p_value, theil_sen
from advisor.numbers import middle, total
from advisor.vocabulary import ENDING
from advisor.window import Window

_BEHIND = "metrics:avgMsBehindLatest"
_ROWS_BEHIND = "metrics:maxOffsetsBehindLatest"
_IS_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
NO_BACKLOG = Missing("the sources do not report how far behind they are")
FEWEST_FOR_TREND = 10  # Kendall's test at 1 % then asks for a rank correlation of 0.6
MAY_BE_TREND = 2.0  # rank correlation in standard errors below which Kendall's test at 1 % sees nothing either
AS_LARGE, MOST_BATCHES = 0.98, 0.9  # of the largest batch (a limit is split over partitions), of the batches
SAME_LOAD = 1.1  # loads that differ by less are the same
LEAST_WITHOUT_POLLING_MS = 1000  # by default Spark asks its sources anew every few milliseconds
MOST_POINTS = 200  # a trend is taken over at most this many medians: its cost grows with the square


@batch_metric("ms")
def interval_ms(window: Window) -> Batchwise:
    """From the start of the trigger before to this one's."""
    return window.batches["interval_ms"]


@batch_metric("ms")
def between_batches_ms(window: Window) -> Batchwise:
    """From the end of the batch before to this one's start: progress building, listeners, waiting for the trigger."""
    return window.batches["between_batches_ms"]


@batch_metric("ratio")
def utilisation(window: Window) -> Batchwise:
    """triggerExecution over the time since the batch before: how much of the time the query is busy.

    inputRowsPerSecond alone tells the time since the trigger before, which may have been idle: of a batch whose
    predecessor is not there it tells nothing where it is below a second and half the batch.
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


@window_metric("ms", time="latency")
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


@window_metric("ms")
def least_trigger_delay_ms(window: Window) -> Windowed:
    """The shortest maxTriggerDelay that still means something: the trigger's interval, or a batch."""
    return Estimate.exactly(float(np.ceil(_cycle(window)))) if len(window) else Missing("there are no steady batches")


def _cycle(window: Window) -> float:
    """How often batches start if none is held back: at each trigger, without an interval one after the other."""
    interval, batch = fact_number(window, "trigger_interval_ms"), median(window.batches["trigger_execution_ms"])
    return max(interval or 0.0, batch)


@window_metric("ms")
def held_back_interval_ms(window: Window) -> Windowed:
    """From one batch to the next where rows wait on purpose, the median."""
    apart = median(window.batches["interval_ms"][window.batches["held_back"]])
    return Estimate.exactly(apart) if np.isfinite(apart) else Missing("no batch was held back")


@batch_metric("rows", "count")
def input_rows(window: Window) -> Batchwise:
    """Rows that the batch read (twice as many when the source is read twice)."""
    return window.batches["input_rows"]


@batch_metric("per_second", "count")
def input_rows_per_second(window: Window) -> Batchwise:
    """Rows over the time since the trigger before."""
    return window.batches["input_rows_per_second"]


@batch_metric("per_second", "count")
def processed_rows_per_second(window: Window) -> Batchwise:
    """Rows over the batch's own duration."""
    return window.batches["processed_rows_per_second"]


def of_sources(window: Window, column: str) -> np.ndarray:
    """A number of each source summed per batch; NaN for a batch of which one source does not tell."""
    values, batch = window.sources[column], window.sources["batch"]
    total = np.bincount(batch, values, len(window))  # NaN where one is NaN
    return np.where(np.bincount(batch, minlength=len(window)) > 0, total, np.nan)


@batch_metric("rows", "count")
def backlog_rows(window: Window) -> Batchwise:
    """Rows that waited in the sources after the batch (latestOffset - endOffset), at the trigger's start."""
    backlog = of_sources(window, "backlog_rows")
    backlog = np.where(np.isnan(backlog) & _none_behind(window), 0.0, backlog)
    return NO_BACKLOG if np.isnan(backlog).all() else backlog


def _none_behind(window: Window) -> np.ndarray:
    """Which batches read all that was there, as each of their sources says that counts the rows it is behind."""
    told = window.sources[_ROWS_BEHIND] if _ROWS_BEHIND in window.sources else [None] * len(window.sources["batch"])
    none = np.array([text == "0" for text in told], dtype=float)
    batch = window.sources["batch"]
    count = np.bincount(batch, minlength=len(window))
    caught_up: np.ndarray = (count > 0) & (np.bincount(batch, none, len(window)) == count)
    return caught_up


@batch_metric("ms")
def backlog_ms(window: Window) -> Batchwise:
    """The backlog over the rows that the query takes per millisecond: the age of the oldest row that waits.

    Of a source that tells no rows, the delay that it tells itself (Kinesis on Databricks), or the files that wait over
    those that it takes (Delta on Databricks).
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
    """Milliseconds that the sources say they are behind, the mean of their shards, of the furthest source."""
    if _BEHIND not in window.sources:
        return None
    told = [float(text) if text and _IS_NUMBER.fullmatch(text) else np.nan for text in window.sources[_BEHIND]]
    furthest = np.full(len(window), np.nan)
    np.fmax.at(furthest, window.sources["batch"], told)
    return None if np.isnan(furthest).all() else furthest


@batch_metric("ratio", "count")
def reread_factor(window: Window) -> Batchwise:
    """Rows that the batch counted over the rows between its offsets: 2 when the source was read twice."""
    delta = of_sources(window, "offset_rows")
    if np.isnan(delta).all():
        return Missing("the sources' offsets do not tell how many rows lie between them")
    return window.batches["input_rows"] / np.where(delta > 0, delta, np.nan)


@batch_metric("ms")
def add_batch_per_row_ms(window: Window) -> Batchwise:
    """addBatch over the rows of the batch."""
    rows = window.batches["input_rows"]
    return window.batches["add_batch_ms"] / np.where(rows > 0, rows, np.nan)


@window_metric("share", "count")
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


@window_metric("share", "count")
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


@window_metric("ms", time="latency")
def backlog_wait_ms(window: Window) -> Windowed:
    """Median age of the backlog: what a record waits for those before it, and would not if the query kept up."""
    age = backlog_ms(window)
    if not isinstance(age, np.ndarray):
        return age if isinstance(age, Missing) else NO_BACKLOG
    wait = median(age)
    return Estimate.exactly(wait)


@window_metric("ratio", "count")
def backlog_batches(window: Window) -> Windowed:
    """The backlog's age over the mean time between two batches: how many of them the query is behind."""
    wait, interval = backlog_wait_ms(window), mean(window.batches["interval_ms"])
    if not isinstance(wait, Estimate):
        return wait
    if not interval > 0:
        return Missing("the time between batches is not known")
    behind = wait.safe / interval
    return Estimate.exactly(behind)


@window_metric("share", "count")
def left_waiting_share(window: Window) -> Windowed:
    """Share of the batches after which rows wait on that were there when the batch was made: a limit left them."""
    backlog = backlog_rows(window)
    told = known(backlog) if isinstance(backlog, np.ndarray) else np.array([])
    if not len(told):
        return NO_BACKLOG
    left = float((told > 0).mean())
    return Estimate.exactly(left)


@window_metric("rows", "count")
def rows_taken_per_batch(window: Window) -> Windowed:
    """Rows that a batch takes from its sources (median)."""
    taken = median(rows_taken(window))
    return Estimate.exactly(taken) if np.isfinite(taken) else Missing("the rows of a batch are not known")


@window_metric("rows", "count")
def doubled_rows_per_batch(window: Window) -> Windowed:
    """Twice the rows that a batch takes, two digits, rounded up."""
    taken = median(rows_taken(window))
    if not taken > 0:
        return Missing("the rows of a batch are not known")
    doubled = _rounded_up(2 * taken)
    return Estimate.exactly(doubled)


def _rounded_up(rows: float) -> float:
    """The number with two digits, rounded up."""
    digit = 10 ** max(0, math.floor(math.log10(rows)) - 1)
    return float(math.ceil(rows / digit) * digit)


@window_metric("share", "count")
def full_batches_share(window: Window) -> Windowed:
    """Share of the batches as large as the largest after which rows wait on: a limit of the source holds them."""
    rows, backlog = rows_taken(window), backlog_rows(window)
    if not len(known(rows)):
        return NO_BACKLOG
    alike = rows >= AS_LARGE * known(rows).max()
    if alike.mean() < MOST_BATCHES:
        return Estimate(0.0, 0.0, 0.0)
    if not isinstance(backlog, np.ndarray):
        return NO_BACKLOG
    full = float((alike & (backlog > 0)).mean())
    return Estimate.exactly(full)


@window_metric("share", "count")
def met_limit_share(window: Window) -> Windowed:
    """Share of the batches that take as many rows as maxOffsetsPerTrigger allows, where no source tells what waits."""
    limit = fact_number(window, "max_offsets_per_trigger")
    if isinstance(backlog_rows(window), np.ndarray):
        return Estimate.exactly(0.0)
    if not limit:
        return Missing("no limit of rows per batch is known", "max_offsets_per_trigger")
    rows = known(rows_taken(window))
    if not len(rows):
        return Missing("the rows of a batch are not known")
    return Estimate.exactly(float(((rows >= AS_LARGE * limit) & (rows <= limit)).mean()))


@window_metric("rows", "count")
def advised_rows_per_batch(window: Window) -> Windowed:
    """Twice the rows that arrive between two triggers (taken + growth of the backlog), two digits, rounded up."""
    arriving = _arriving(window)
    if arriving is None:
        return NO_BACKLOG if len(window) > 1 else Missing("one batch does not tell how many rows arrive")
    if not arriving > 0:
        return Missing("the rows that arrive between two triggers are not known")
    advised = _rounded_up(2 * arriving)
    return Estimate.exactly(advised)


def _arriving(window: Window) -> float | None:
    """Rows that arrive between two triggers; None where the backlog is not known."""
    rows, backlog = rows_taken(window), backlog_rows(window)
    if not isinstance(backlog, np.ndarray) or len(rows) < 2:
        return None
    return float((total(rows[1:]) + backlog[-1] - backlog[0]) / (len(rows) - 1))


def keeps_up(window: Window, ms: float) -> bool:
    """Whether batches that a limit fills would take all that arrives if each started `ms` sooner."""
    full, arriving, interval = full_batches_share(window), _arriving(window), mean(window.batches["interval_ms"])
    if not isinstance(full, Estimate) or full.safe < MOST_BATCHES or arriving is None or interval <= ms:
        return False
    return bool(arriving / interval < mean(rows_taken(window)) / (interval - ms))


def rows_taken(window: Window) -> np.ndarray:
    """Rows between a batch's offsets; rows that it counted, where offsets do not tell."""
    between = of_sources(window, "offset_rows")
    return np.where(np.isnan(between), window.batches["input_rows"], between)


@window_metric("ms_per_minute")
def backlog_trend_ms_per_minute(window: Window) -> Windowed:
    """Growth of the backlog's age: Theil-Sen slope with its 95 % interval; 0 where Kendall's test sees no trend."""
    age = backlog_ms(window)
    if not isinstance(age, np.ndarray):
        return age if isinstance(age, Missing) else Missing("the backlog is not known")
    return trend(passed_ms(window) / 60_000, age)


@window_metric("ms")
def catch_up_ms(window: Window) -> Windowed:
    """How long until the backlog is gone: the age of what waits now over the pace at which this age shrinks."""
    age, slope = backlog_ms(window), backlog_trend_ms_per_minute(window)
    if isinstance(age, Missing):
        return age
    now = known(age)[-1:] if isinstance(age, np.ndarray) else np.array([])
    if not any_above_zero(now):
        return Missing("nothing waits in the sources")
    if not isinstance(slope, Estimate):
        return Missing(slope.reason if isinstance(slope, Missing) else "no trend can be told")
    if not slope.safe < 0:
        return Missing("the backlog does not shrink")
    low, value, high = (-60_000 * float(now[0]) / pace if pace < 0 else math.inf for pace in _ends(slope))
    return Estimate(low, value, high)


def _ends(slope: Estimate) -> tuple[float, float, float]:
    return slope.low, slope.safe, slope.high


def passed_ms(window: Window) -> np.ndarray:
    """Milliseconds from the start of the first batch whose start is known."""
    times = window.batches["timestamp"]
    begun = known(times)[:1]
    return times - begun if len(begun) else times


def trend(at: np.ndarray, values: np.ndarray) -> Estimate | Missing:
    """Change of `values` per unit of `at` with its 95 % interval, over at most 200 medians of neighbours."""
    told = np.isfinite(at) & np.isfinite(values)
    at, values = at[told], values[told]
    if len(at) < FEWEST_FOR_TREND:
        return Missing(f"a trend needs {FEWEST_FOR_TREND} batches, there are {len(at)}")
    x, y = _thinned(at), _thinned(values)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(0.0, 0.0, 0.0)
    if abs(rank_correlation(x, y)) * math.sqrt(len(x) - 1) < MAY_BE_TREND:
        return Estimate(0.0, 0.0, 0.0)
    return theil_sen(y, x) if kendall_p_value(x, y) < 0.01 else Estimate(0.0, 0.0, 0.0)


def _thinned(values: np.ndarray) -> np.ndarray:
    """The values, or the medians of MOST_POINTS groups of neighbours."""
    if len(values) <= MOST_POINTS:
        return values
    return np.array([middle(group) for group in np.array_split(values, MOST_POINTS)])
