"""Where addBatch's own milliseconds go, as the jobs of a batch show it."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from advisor.metrics.metric import Batchwise, Bounds, batch_metric, bounded_metric, window_metric
from advisor.metrics.missing import NOT_SEEN, NOT_TOLD, Missing, needed
from advisor.statistics import above_zero
from advisor.window import Window

BY_SECONDS = Missing("the log's clock has seconds only")
DRIVER = ("driver_before_ms", "driver_between_ms", "driver_after_ms", "driver_ms")
_STATIC = ("shuffle_ms", "sink_write_ms", "scheduling_ms")
_MOST_OF = 0.5
OWN_CODE = ("foreach_batch", "foreach")
"""Sinks in which a function of the query's own runs."""


def of_jobs(window: Window, name: str) -> np.ndarray | Missing:
    """Return a column from the jobs of the batches: 0 if only other batches have it, NaN if no job was seen."""
    if "jobs" not in window.batches:
        return NOT_SEEN
    seen = ~np.isnan(window.batches["jobs"])
    if not seen.any():
        return NOT_SEEN
    if name not in window.batches:
        return NOT_TOLD
    values = window.batches[name]
    return NOT_TOLD if np.isnan(values).all() else np.where(np.isnan(values) & seen, 0.0, values)


def holds(window: Window, shown: np.ndarray, name: str) -> tuple[str, ...]:
    """The parts whose time this one holds in most of the batches."""
    pairs = Counter(pair for text in window.batches["together"][shown] for pair in names_in(text))
    most = _MOST_OF * int(shown.sum())
    held = [pair.split("+")[1:] for pair, times in pairs.items() if pair.split("+")[0] == name and times > most]
    return tuple(dict.fromkeys(part for parts in held for part in parts))


def names_in(text: str | None) -> list[str]:
    """Return the names that a column of lists holds between commas."""
    return text.split(", ") if text else []


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="Python workers", share=True)
def python_wall_ms(window: Window) -> np.ndarray | Missing:
    """Python workers, as wall time inside addBatch."""
    if window.facts.value("sink") == "foreach":
        return Missing("how much of it a ForeachWriter takes is not known")
    return of_jobs(window, "python_ms")


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="results to the driver")
def results_to_driver_ms(window: Window) -> np.ndarray | Missing:
    """Tasks that give their result to the driver (a memory or console sink, collect), inside addBatch."""
    return of_jobs(window, "result_ms")


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="reading a static table", share=True)
def static_side_ms(window: Window) -> np.ndarray | Missing:
    """Jobs that read no stream (a static side, say), inside addBatch."""
    return of_jobs(window, "other_ms")


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="computing static tables, at most")
def static_view_ms(window: Window) -> np.ndarray:
    """Jobs that read no stream, with all that may belong to them: stages behind shuffles, the driver and scheduling."""
    read = needed(of_jobs(window, "other_ms"))
    parts = [of_jobs(window, name) for name in (*_STATIC, "driver_between_ms", "driver_ms")]
    known = [part for part in parts if isinstance(part, np.ndarray)]
    return np.where(read > 0, np.sum([read, *known], axis=0), read)


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="the driver between jobs", share=True)
def driver_between_ms(window: Window) -> np.ndarray | Missing:
    """What the driver does between the jobs of a batch, inside addBatch."""
    return of_jobs(window, "driver_between_ms")


@batch_metric("count", "count", inside=True, label="files that a batch writes")
def files_per_batch(window: Window) -> np.ndarray | Missing:
    """Files that the sink wrote, by its own log."""
    return of_jobs(window, "files_written")


@batch_metric("ms", inside=True, label="Python workers per row")
def python_per_row_ms(window: Window) -> np.ndarray:
    """Python workers, as wall time, over the rows that the batch read."""
    return needed(of_jobs(window, "python_ms")) / above_zero(window.batches["input_rows"])


@batch_metric("ms", phases=("add_batch_ms", "query_planning_ms"), inside=True, label="generating code", share=True)
def code_generated_ms(window: Window) -> np.ndarray | Missing:
    """Generating and compiling code in the batch, on the driver and in tasks; at most addBatch and queryPlanning."""
    if "delta_command" in window.facts:
        return Missing("Delta's own commands need new code in every batch, whatever the query does")
    found = needed(of_jobs(window, "code_generated_ms"))
    most = np.fmin(found, window.batches["add_batch_ms"] + window.batches["query_planning_ms"])
    return np.where(np.isnan(found), np.nan, most)


@bounded_metric("ms", phases=("add_batch_ms",), inside=True, label="the sink's commit", share=True)
def sink_commit_ms(window: Window) -> Batchwise | Missing:
    """The sink's commit, by its own lines; else the driver's time after the last job, if no user code runs there.

    Where a log's clock has seconds only, between nothing and all that the driver does outside jobs.
    """
    found, after = of_jobs(window, "sink_commit_ms"), of_jobs(window, "driver_after_ms")
    if not isinstance(found, Missing) or found is NOT_SEEN:
        return found
    if "sink" not in window.facts:
        return Missing("the sink is not known", "sink")
    if window.facts.value("sink") in OWN_CODE:
        return Missing("the query's own code runs after the last job, too")
    if not isinstance(after, Missing):
        return after
    return Bounds(np.zeros(len(window)), needed(of_jobs(window, "driver_ms")))


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="the driver working alone", share=True)
def driver_gaps_ms(window: Window) -> np.ndarray | Missing:
    """What the driver does in addBatch outside of jobs: the query's own code in foreachBatch, mostly."""
    parts = [of_jobs(window, name) for name in DRIVER]
    known = [part for part in parts if isinstance(part, np.ndarray)]
    return np.sum(known, axis=0) if known else NOT_SEEN


@bounded_metric("ms", phases=("add_batch_ms",), inside=True, label="the driver after the last job", share=True)
def driver_after_ms(window: Window) -> Batchwise | Missing:
    """What the driver does in addBatch after its last job: code behind the last action, or the commit of a write.

    A clock of seconds cuts up to a second off both its ends: within two standard errors of the mean of half of the
    batches, or a second where a trigger's interval may cut off as much each time.
    """
    found, since = of_jobs(window, "driver_after_ms"), of_jobs(window, "since_last_stage_ms")
    if found is not NOT_TOLD or isinstance(since, Missing) or window.facts.value("slots_shared"):
        return BY_SECONDS if found is NOT_TOLD else found
    error = 1000.0 if window.facts.fixed_interval_ms else min(1000.0, 2 * 1000 / math.sqrt(6 * len(window) / 2))
    most, whole = needed(driver_gaps_ms(window)), window.batches["add_batch_ms"]
    return Bounds(np.clip(since - error, 0, most), np.minimum(since + error, whole))


@bounded_metric("share", "count", inside=True, label="the part of the driver's own time that comes after the last job")
def driver_after_of_gaps(window: Window) -> Batchwise:
    """What the driver does after the last job, over all that it does outside of jobs."""
    after, gaps = needed(driver_after_ms(window)), above_zero(needed(driver_gaps_ms(window)))
    return Bounds(after.low / gaps, np.minimum(after.high / gaps, 1)) if isinstance(after, Bounds) else after / gaps


@batch_metric("share", "count", inside=True, label="the part of the driver's own time that comes before the first job")
def driver_before_of_gaps(window: Window) -> np.ndarray:
    """What the driver does before the first job, over all that it does outside of jobs."""
    return needed(of_jobs(window, "driver_before_ms")) / above_zero(needed(driver_gaps_ms(window)))


@bounded_metric("ms", phases=("query_planning_ms", "add_batch_ms"), label="planning, up to the first job", share=True)
def plan_to_job_ms(window: Window) -> Batchwise:
    """queryPlanning and, in addBatch, the driver before the first job; up to all of its own time where a log has
    seconds only, and queryPlanning alone where no job was seen.
    """
    planning, before = window.batches["query_planning_ms"], of_jobs(window, "driver_before_ms")
    if not isinstance(before, Missing):
        return planning + before
    gaps = driver_gaps_ms(window)
    return planning if isinstance(gaps, Missing) else Bounds(planning, planning + gaps)


@window_metric("count", "count", inside=True, label="generated methods that the JVM does not compile")
def methods_too_long(window: Window) -> float | Missing:
    """Generated methods that are too long for the just-in-time compiler, in all batches of the run, cold ones too.

    Compiled code is kept, so that later batches run it without a further line.
    """
    found = window.executed["code_too_long"] if "code_too_long" in window.executed else np.full(1, np.nan)
    if np.isnan(found).all():
        return NOT_TOLD if "jobs" in window.batches else NOT_SEEN
    return float(np.nansum(found))


@window_metric("share", inside=True, label="the share of batches that throw generated code away")
def code_refused_share(window: Window) -> float:
    """Batches in which Spark made code that it could not use, of those whose jobs were seen."""
    return float(np.nanmean(needed(of_jobs(window, "code_refused")) > 0))


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="generating code that is thrown away")
def code_refused_ms(window: Window) -> np.ndarray | Missing:
    """The driver before the first job, planning included, where Spark makes code that it cannot use; else 0."""
    refused, before = needed(of_jobs(window, "code_refused")), of_jobs(window, "driver_before_ms")
    return BY_SECONDS if before is NOT_TOLD else np.where(refused > 0, needed(before), 0.0)


@batch_metric("bytes", "bytes", inside=True, label="bytes per written file")
def bytes_per_file(window: Window) -> np.ndarray:
    """Bytes that the sink wrote over its files, by its own log."""
    files = needed(of_jobs(window, "files_written"))
    return needed(of_jobs(window, "bytes_written")) / above_zero(files)
