"""Files that a batch takes and files that wait: of file sources, Delta on Databricks and Auto Loader."""

from __future__ import annotations

import json

import numpy as np

from advisor.metrics.addbatch import of_jobs
from advisor.metrics.numbers import fact_number, fixed_interval_ms, median
from advisor.metrics.registry import Batchwise, Estimate, Missing, Windowed, batch_metric, window_metric
from advisor.window import Window

_WAIT = "metrics:numFilesOutstanding"
_UNTOLD = Missing("the sources do not report files that wait")
_UNCOUNTED = Missing("how many files a batch takes stands in the driver's log only, in lines of FileStreamSource")
_AT_ONCE_MS, _AT_ONCE = 60.0, 0.15
"""The longest pause between batches that start at once: milliseconds, or its share of the batch before."""


@batch_metric("count", "count", label="files that wait in the source")
def files_waiting(window: Window) -> Batchwise:
    """Files that the sources have seen and not taken, after the batch."""
    if _WAIT not in window.sources:
        return _UNTOLD
    found = np.array([float(text) if text and text.isdigit() else np.nan for text in window.sources[_WAIT]])
    batch, known = window.sources["batch"], ~np.isnan(found)
    count = np.full(len(window), np.nan)
    count[batch[known]] = 0.0
    np.add.at(count, batch[known], found[known])
    return _UNTOLD if np.isnan(count).all() else count


@batch_metric("count", "count", label="files that a batch takes")
def files_read(window: Window) -> Batchwise:
    """Files that the batch takes from a file source, by its log; one if a batch may take no more."""
    found = of_jobs(window, "files_read")
    if isinstance(found, np.ndarray):
        return found
    if fact_number(window, "max_files_per_trigger") == 1:
        return np.where(window.batches["input_rows"] > 0, 1.0, np.nan)
    return _UNCOUNTED


@window_metric("count", "count", label="twice the files of a batch")
def doubled_files_per_batch(window: Window) -> Windowed:
    """Twice the files that a batch takes (median)."""
    files = files_read(window)
    taken = median(files) if isinstance(files, np.ndarray) else np.nan
    return Estimate.exactly(2 * taken) if taken > 0 else _UNCOUNTED


@window_metric("share", "count", label="the share of batches with as many files as the limit allows")
def full_of_files_share(window: Window) -> Windowed:
    """Share of the batches that take as many files as maxFilesPerTrigger allows, and start as soon as they may.

    Where triggers without a file lie before a batch, nothing waited.
    """
    limit, files = fact_number(window, "max_files_per_trigger"), files_read(window)
    if not limit:
        return Missing("no limit of files per batch is known", "max_files_per_trigger")
    if not isinstance(files, np.ndarray):
        return _UNCOUNTED
    pause, before = window.batches["between_batches_ms"], np.roll(window.batches["trigger_execution_ms"], 1)
    interval = fixed_interval_ms(window) or 0.0
    at_once = pause <= np.maximum(interval - before, _AT_ONCE * before) + _AT_ONCE_MS
    known = ~np.isnan(files[1:])
    if not known.any():
        return Missing("one batch does not show whether it waited")
    return Estimate.exactly(float(((files == limit) & at_once)[1:][known].mean()))


def files_taken(window: Window) -> np.ndarray:
    """Files of each batch, by the offsets of a Delta source within one version of its table; NaN elsewhere."""
    taken = np.full(len(window), np.nan)
    ends = zip(*(window.sources[name] for name in ("batch", "start_offset", "end_offset")), strict=True)
    for batch, start, end in ends:
        before, after = _place(start), _place(end)
        if before and after and before[0] == after[0] and after[1] > before[1]:
            taken[batch] = after[1] - before[1]
    return taken


def _place(offset: str | None) -> tuple[tuple[object, object], int] | None:
    """((table, version), the last file of it) of a Delta source's offset; None of any other."""
    try:
        found = json.loads(offset or "null")
    except ValueError:
        return None
    if not isinstance(found, dict) or type(found.get("index")) is not int:
        return None
    return (found.get("reservoirId"), found.get("reservoirVersion")), found["index"]
