"""How batches follow each other, and what they take from their sources: intervals, waits, rows, files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote

import numpy as np

from advisor.batches import whole_seconds
from advisor.metrics.addbatch import of_jobs
from advisor.metrics.metric import batch_metric, remembered, window_metric
from advisor.metrics.missing import NO_BATCHES, NO_INTERVAL, Missing, MissingError, needed
from advisor.redaction import redact
from advisor.statistics import above_zero, known, median, since_last
from advisor.vocabulary import ENDING
from advisor.window import Window

SAME_LOAD = 1.1  # loads that differ by less are the same
LEAST_WITHOUT_POLLING_MS = 1000  # by default Spark asks its sources anew every few milliseconds
MOST_POLL_MS = 100.0  # so soon, on a busy machine
_WAIT = "metrics:numFilesOutstanding"
_UNTOLD = Missing("the sources do not report files that wait")
_UNCOUNTED = Missing("how many files a batch takes stands in lines of FileStreamSource, and in event logs' scans")
_OF_SOURCE = re.compile(r"\[([^]*?[{]{1,2000})(?:/|(?=]|$))")  # up to where a pattern of names begins
_PARTS, _SCHEME = re.compile(r"[\s,]"), re.compile(r"^file:/+")
_LETTERS = 200  # of a path
_TRACE = re.compile(r"(?:^|, )([^\s,]{1,80}) (\d{1,30}(?:\.\d{1,30})?(?:e[+-]\d{1,3})?)(?: ([^\s,]{1,200}))?(?=, |$)")
_FEWEST_ALIKE, _ALIKE = 10, 0.95
_AT_ONCE_MS, _AT_ONCE = 60.0, 0.15
"""The longest pause between batches that start at once: milliseconds, or its share of the batch before."""


@batch_metric("ms", label="the time from one trigger to the next")
def interval_ms(window: Window) -> np.ndarray:
    """From the start of the trigger before to this one's."""
    return window.batches["interval_ms"]


@batch_metric("ratio", label="the batch over the time from one trigger to the next")
def utilisation(window: Window) -> np.ndarray | Missing:
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
    follows, since_batch = (since_last(batches[name]) for name in ("batch_id", "timestamp"))
    polled = since_trigger < np.minimum(duration / 2, LEAST_WITHOUT_POLLING_MS)
    since = np.where(follows == 1, np.fmax(since_trigger, since_batch), np.where(polled, np.nan, since_trigger))
    return duration / above_zero(since)


def since_batch_ms(window: Window) -> np.ndarray:
    """Return ms since the batch before that took rows, where no record between is missing, else since the last trigger.

    Triggers that find nothing lie between: how many depends on the interval, and not on the load.
    """
    took = np.flatnonzero(window.executed["input_rows"] != 0)
    numbers, starts = (window.executed[name][took] for name in ("batch_id", "timestamp"))
    passed = np.where(since_last(took) == since_last(numbers), since_last(starts), np.nan)
    by_number = dict(zip(numbers.tolist(), passed.tolist(), strict=True))
    passed = np.array([by_number.get(number, np.nan) for number in window.batches["batch_id"].tolist()])
    return above_zero(passed if (passed > 0).any() else window.batches["interval_ms"])


@window_metric("ms", time="latency", label="the wait for more rows")
def held_back_wait_ms(window: Window) -> float | Missing:
    """What a record waits on average because triggers that found rows ran no batch.

    Half of what the time from batch to batch is longer than a trigger's interval, or than a batch where it has none.
    """
    held, apart = window.batches["held_back"], window.batches["interval_ms"]
    if not len(window):
        return NO_BATCHES
    if not held.any():
        return 0.0
    longer = known(np.where(held, np.maximum(apart - _cycle(window), 0.0), 0.0 * apart))
    return float(longer.mean()) / 2


@window_metric("ms", label="the shortest maxTriggerDelay")
def least_trigger_delay_ms(window: Window) -> float | Missing:
    """The shortest maxTriggerDelay that still means something: the trigger's interval, or a batch."""
    return float(np.ceil(_cycle(window))) if len(window) else NO_BATCHES


def _cycle(window: Window) -> float:
    """How often batches start if none is held back: at each trigger, without an interval one after the other."""
    interval = window.facts.number("trigger_interval_ms")
    if interval is None and window.facts.value("trigger") in (None, "processing_time"):
        raise MissingError(NO_INTERVAL)
    return max(interval or 0.0, median(window.batches["trigger_execution_ms"]))


@window_metric("ms", label="the time from batch to batch while rows wait")
def held_back_interval_ms(window: Window) -> float | Missing:
    """From one batch to the next where rows wait on purpose, the median."""
    apart = median(window.batches["interval_ms"][window.batches["held_back"]])
    return apart if np.isfinite(apart) else Missing("no batch was held back")


@batch_metric("rows", "count", label="rows a batch")
def input_rows(window: Window) -> np.ndarray:
    """Rows that the batch read (twice as many when the source is read twice)."""
    return window.batches["input_rows"]


@batch_metric("per_second", "count", label="rows a second")
def input_rows_per_second(window: Window) -> np.ndarray:
    """Rows over the time since the trigger before."""
    return window.batches["input_rows_per_second"]


@batch_metric("per_second", "count", label="rows a second that a batch processes")
def processed_rows_per_second(window: Window) -> np.ndarray:
    """Rows over the batch's own duration."""
    return window.batches["processed_rows_per_second"]


@batch_metric("ms", label="addBatch per row")
def add_batch_per_row_ms(window: Window) -> np.ndarray:
    """addBatch over the rows of the batch."""
    return window.batches["add_batch_ms"] / above_zero(window.batches["input_rows"])


def sum_of_sources(window: Window, values: np.ndarray) -> np.ndarray:
    """The sum per batch of a number of each source; NaN for a batch of which one source has none."""
    batch = window.sources["batch"]
    total = np.bincount(batch, values, len(window))  # NaN where one is NaN
    return np.where(np.bincount(batch, minlength=len(window)) > 0, total, np.nan)


@remembered
def rows_taken(window: Window) -> np.ndarray:
    """Return the rows between a batch's offsets, else the rows that it counted."""
    between = sum_of_sources(window, window.sources["offset_rows"])
    return np.where(np.isnan(between), window.batches["input_rows"], between)


def passed_ms(window: Window) -> np.ndarray:
    """Milliseconds from the start of the first batch whose start is known."""
    times = window.batches["timestamp"]
    begun = known(times)[:1]
    return times - begun if len(begun) else times


@batch_metric("count", "count", label="files that wait in the source")
def files_waiting(window: Window) -> np.ndarray | Missing:
    """Files that the sources have seen and not taken, after the batch."""
    if _WAIT not in window.sources:
        return _UNTOLD
    found = np.array([float(text) if text and text.isdecimal() else np.nan for text in window.sources[_WAIT]])
    batch, present = window.sources["batch"], ~np.isnan(found)
    count = np.full(len(window), np.nan)
    count[batch[present]] = 0.0
    np.add.at(count, batch[present], found[present])
    return _UNTOLD if np.isnan(count).all() else count


@batch_metric("count", "count", label="files that a batch takes")
def files_read(window: Window) -> np.ndarray | Missing:
    """Files that the batch takes from a file source, by its log; one if a batch may take no more."""
    found = of_jobs(window, "files_read")
    if isinstance(found, np.ndarray):
        return found
    if window.facts.number("max_files_per_trigger") == 1:
        return np.where(window.batches["input_rows"] > 0, 1.0, np.nan)
    return files_scanned(window)


def files_scanned(window: Window) -> np.ndarray | Missing:
    """Return the files of its file sources that each batch's scans read, each as often as it is read.

    By an event log's plans, or a driver log with the lines of its tasks.
    """
    folders, scanned = folders_of(window.sources["description"], "FileStreamSource"), np.full(len(window), np.nan)
    for at, traces in enumerate(batch_traces(window)):
        own = (float(files) for name, files, path in traces or () if name == "reads_files" and lies_in(path, folders))
        scanned[at] = sum(own) or np.nan
    return _UNCOUNTED if np.isnan(scanned).all() else scanned


def batch_traces(window: Window) -> list[list[tuple[str, str, str]] | None]:
    """Return (name, number, folder) of all that each batch does besides its own work; None where nothing shows it."""
    texts = window.batches["traces"] if "traces" in window.batches else [None] * len(window)
    return [None if text is None else _TRACE.findall(str(text)) for text in texts]


@lru_cache(maxsize=4096)
def folder(path: str) -> str:
    """Return the folder of a table, one of whose partitions may be given, as one word."""
    parts = _SCHEME.sub("/", path).split("/")
    while len(parts) > 2 and "=" in parts[-1]:
        parts.pop()
    return _PARTS.sub(lambda found: quote(found[0]), redact("/".join(parts)))[:_LETTERS]


def folders_of(descriptions: Iterable[str | None], kind: str = "") -> list[str]:
    """Return the folders that sources or sinks name whose description begins so, as `folder` has them."""
    described = {text for text in descriptions if text and text.startswith(kind)}
    return [folder(path) for text in described for path in _OF_SOURCE.findall(text)]


def lies_in(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these folders, or lies below one."""
    return any(f"{path}/".startswith(f"{each.rstrip('/')}/") for each in folders)


@window_metric("count", "count", label="files that each batch takes at once")
def files_of_each_batch(window: Window) -> float | Missing:
    """Files of each batch, if nearly all batches take as many and begin behind the one before; else 0."""
    files = needed(files_read(window))
    if window.facts.fixed_interval_ms or known(files).size < _FEWEST_ALIKE:
        return 0.0
    return median(files) if _full_share(window, files, median(files)) >= _ALIKE else 0.0


@window_metric("count", "count", label="twice the files of a batch")
def doubled_files_per_batch(window: Window) -> float | Missing:
    """Twice the files that a batch takes (median)."""
    taken = median(needed(files_read(window)))
    return 2 * taken if taken > 0 else _UNCOUNTED


@window_metric("share", "count", label="the share of batches with as many files as the limit allows")
def full_of_files_share(window: Window) -> float | Missing:
    """Share of the batches that take as many files as maxFilesPerTrigger allows, and start as soon as they may.

    Where triggers without a file lie before a batch, nothing waited.
    """
    limit = window.facts.number("max_files_per_trigger")
    if not limit:
        return Missing("no limit of files per batch is known", "max_files_per_trigger")
    share = _full_share(window, needed(files_read(window)), limit)
    return Missing("one batch does not show whether it waited") if np.isnan(share) else share


def _full_share(window: Window, files: np.ndarray, limit: float) -> float:
    """Return the share of the batches behind the first that take so many files and start as soon as they may."""
    pause = window.batches["between_batches_ms"]
    before, interval = np.roll(window.batches["trigger_execution_ms"], 1), window.facts.fixed_interval_ms or 0.0
    at_once = pause <= np.maximum(interval - before, _AT_ONCE * before) + _AT_ONCE_MS
    present = ~np.isnan(files[1:])
    return float(((files == limit) & at_once)[1:][present].mean()) if present.any() else np.nan


def leaves_a_pause(window: Window) -> np.ndarray:
    """Return behind which batches the next one surely began later than at once."""
    took, starts = (window.batches[name] for name in ("trigger_execution_ms", "timestamp"))
    follows, since = since_last(window.batches["batch_id"]), since_last(starts)
    pause = np.append(np.where(follows == 1, since, np.nan)[1:] - took[:-1], np.nan)
    return pause > _AT_ONCE * took + _AT_ONCE_MS + (1000 if whole_seconds(starts) else 0)


@remembered
def idles(window: Window) -> bool:
    """Whether a query without an interval waits behind most batches, while its triggers find nothing."""
    if window.facts.value("trigger") != "unspecified" or not len(window):
        return False
    polled = window.batches["interval_ms"] < MOST_POLL_MS
    return bool((polled & leaves_a_pause(window)).mean() >= 0.5)


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
