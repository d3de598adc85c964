"""What a batch waits in Kafka's consumers for records that do not come."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from advisor.batches import kafka_offsets
from advisor.facts.trigger import AT_ONCE_MS
from advisor.metrics.addbatch import of_jobs
from advisor.metrics.backlog import backlog_rows
from advisor.metrics.flow import rows_taken
from advisor.metrics.metric import Batchwise, Bounds, batch_metric, bounded_metric, remembered
from advisor.metrics.missing import Missing, needed
from advisor.metrics.phases import share_of
from advisor.metrics.repeats import reread_factor
from advisor.metrics.tasks import of_kind, slots
from advisor.statistics import above_zero, since_last, zero_filled
from advisor.window import Window

DEFAULT_WAIT_MS = 500.0
"""Kafka's own default of fetch.max.wait.ms."""
FEWEST_BATCHES = 10  # needed to see how many records come at once
_SURE_SHARE = 0.1  # of the time since the batch before, in which no record must have come to be seen in its rate
BY_CHANCE = 2.0  # up to so many records at once, each may still come by itself

Place: TypeAlias = tuple[str, str]
"""A topic and the number of its partition."""


@remembered
def partitions_read(window: Window) -> np.ndarray:
    """Partitions of Kafka from which each batch read rows, which is also the number of its read tasks; NaN unknown."""
    counts = np.full(len(window), np.nan)
    for batch, read in _rows_read(window):
        counts[batch] = len(read) + (0 if math.isnan(counts[batch]) else counts[batch])
    return counts


@batch_metric("ratio", "count", label="records of the largest Kafka partition over the others' mean")
def rows_per_partition(window: Window) -> np.ndarray:
    """The records of Kafka's largest partition over the mean of the others, by batch; NaN if unknown.

    Partitions without new records are not counted: no task reads them.
    """
    ratio = np.full(len(window), np.nan)
    for batch, read in _rows_read(window):
        *others, largest = sorted(rows for rows in read.values() if rows > 0) or [math.nan]
        ratio[batch] = np.fmax(ratio[batch], largest / (sum(others) / len(others)) if others else math.nan)
    return ratio


@batch_metric("share", "count", label="the share of a batch's records in its largest Kafka partition")
def largest_partition_share(window: Window) -> np.ndarray:
    """The records of Kafka's largest partition over those of all that the batch reads; NaN if unknown."""
    rows = np.zeros((2, len(window)))
    for batch, read in _rows_read(window):
        rows[0, batch] = max(rows[0, batch], *read.values(), 0.0)
        rows[1, batch] += sum(read.values())
    return rows[0] / above_zero(rows[1])


@remembered
def rows_at_once(window: Window) -> float:
    """How many records a partition gets at a time: Pearson's chi-square of rows by batch and partition over its degrees
    of freedom; 1 if each comes by itself, or if too few batches show it.

    A producer without keys fills one partition after the other, so each is without records while others get theirs.
    """
    read = [rows for _, rows in _rows_read(window)]
    places = sorted({place for rows in read for place in rows})
    counts = np.array([[max(0.0, rows.get(place, 0.0)) for place in places] for rows in read])
    if len(counts) < FEWEST_BATCHES or len(places) < 2 or not counts.sum() > 0:
        return 1.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    present = expected > 0
    off = ((counts - expected)[present] ** 2 / expected[present]).sum()
    return max(1.0, float(off) / ((len(counts) - 1) * (len(places) - 1)))


@remembered
def _rows_read(window: Window) -> list[tuple[int, dict[Place, float]]]:
    """Of each batch and source of Kafka's the rows by partition read, NaN where one offset is no number."""
    sources = window.sources
    found = zip(sources["batch"], sources["start_offset"], sources["end_offset"], strict=True)
    return [(batch, read) for batch, start, end in found if (read := _moved(start, end)) is not None]


def _moved(start: str | None, end: str | None) -> dict[Place, float] | None:
    before, after = kafka_offsets(start), kafka_offsets(end)
    if before is None or after is None:
        return None
    pairs = {place: (before.get(place), offset) for place, offset in after.items()}
    return {place: _between(*pair) for place, pair in pairs.items() if pair[0] != pair[1]}


def _between(old: object, new: object) -> float:
    return float(new - old) if isinstance(old, int) and isinstance(new, int) else math.nan


@bounded_metric("ms", phases=("add_batch_ms",), label="waits for Kafka's empty fetches")
def kafka_fetch_wait_ms(window: Window) -> Batchwise | Missing:
    """What the read tasks of a batch wait for a fetch that Kafka holds back until a record comes.

    A consumer that has read its partition to the end has the next fetch under way, and the broker answers Spark's next
    question on the same connection only after it: after the time to the partition's next record, at most
    fetch.max.wait.ms (500 by default). Per task min(limit, interval x partitions / rows), times the waves of tasks,
    times the reads of the source, at most addBatch; 0 for a batch that left rows behind, since its consumers had more
    to read. Slots unknown: from one wave to as many as the slots that were seen leave, else one by one. A batch of one
    partition follows its records: at least what is left of the time to the next one after all but addBatch. Where
    records come to a partition in groups, the time to the next group at most. Where triggers found nothing before the
    next batch, no record came until then: a batch between two such pauses waits for that long. Of several batches in a
    row the first may have read the rows of the next ones, too: it waits at least for what it took longer than the
    second, though that has as many rows. Never more than reading and Python took where jobs were seen, and than the
    consumers polled by their own lines.
    """
    if window.facts.value("source") != "kafka":
        return Missing("the query does not read Kafka")
    tasks = partitions_read(window)
    if np.isnan(tasks).all():
        return Missing("the offsets do not show which partitions were read")
    outside = window.batches["trigger_execution_ms"] - window.batches["add_batch_ms"]
    after_idle, empty = _pauses(window)
    with np.errstate(divide="ignore", invalid="ignore"):
        until_next = window.batches["interval_ms"] * tasks / rows_taken(window)
    until_next = np.where(after_idle, np.fmax(until_next, empty - outside), until_next)
    limit, reads, at_once = window.facts.number("kafka_fetch_max_wait_ms"), _reads(window), rows_at_once(window)
    limit = DEFAULT_WAIT_MS if limit is None else limit
    each, longest = (np.minimum(time, limit) * reads for time in (until_next, until_next * at_once))
    free, polled = slots(window), kafka_polled_ms(window)
    waves = np.ceil(tasks / (free or window.facts.number("task_slots_at_least") or 1.0))
    most = np.fmin(window.batches["add_batch_ms"], np.nan if isinstance(polled, Missing) else polled)
    if isinstance(read := of_jobs(window, "source_read_ms"), np.ndarray):
        python = of_jobs(window, "python_ms")
        read = read + (zero_filled(python) if isinstance(python, np.ndarray) else 0.0)
        most = np.fmin(most, above_zero(read))
    at_most = np.minimum((longest if at_once >= BY_CHANCE else each) * waves, most)
    at_least = np.minimum(each * waves if free is not None else each, most)
    left = np.clip(until_next - outside, 0.0, None)
    at_least = np.where(tasks == 1, np.fmin(at_least, left), at_least)
    unsure, longer = after_idle == np.isnan(empty), np.fmin(_longer_than_next(window), limit * reads)
    at_least = np.where(unsure & after_idle, np.minimum(longer, most), at_least)
    left = limit * reads - np.append(0.0, longer)[:-1]  # of a row of batches one waits for the end of the burst
    at_most = np.where(unsure, np.fmax(at_least, np.minimum(left * waves, most)), at_most)
    return at_most if np.array_equal(at_least, at_most, equal_nan=True) else Bounds(at_least, at_most)


def _pauses(window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Which batches follow a trigger that found nothing, and for how long after each batch's start no record came.

    NaN where the next batch follows no such trigger, or is not there.
    """
    follows, since = (since_last(window.batches[name]) for name in ("batch_id", "timestamp"))
    empty = since - window.batches["interval_ms"]
    after_idle = (follows == 1) & (empty > np.maximum(AT_ONCE_MS, _SURE_SHARE * since))
    return after_idle, np.append(np.where(after_idle, empty, np.nan)[1:], np.nan)[: len(empty)]


def _longer_than_next(window: Window) -> np.ndarray:
    """How much longer each batch's addBatch is than the next one's, which has at least as many rows; else 0."""
    rows, add_batch = rows_taken(window), window.batches["add_batch_ms"]
    longer = np.append(np.where(rows[1:] >= rows[:-1], add_batch[:-1] - add_batch[1:], 0.0), 0.0)
    return zero_filled(np.clip(longer[: len(rows)], 0.0, None))


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="polls of Kafka's consumers")
def kafka_polled_ms(window: Window) -> np.ndarray:
    """Polling by Kafka's consumers, from their own lines, as wall time: their share of the reading tasks' time."""
    polled, read = needed(of_jobs(window, "kafka_poll_ms")), needed(of_jobs(window, "source_read_ms"))
    reads = of_kind(window, "source_read")
    tasks = np.bincount(window.stages["batch"][reads], zero_filled(window.stages["task_ms"][reads]), len(window))
    with np.errstate(divide="ignore", invalid="ignore"):
        return read * np.fmin(np.where(tasks > 0, polled / tasks, np.nan), 1.0)


def _reads(window: Window) -> np.ndarray:
    """Return how often each batch reads its source to the end; once if unknown, 0 for one that left rows behind."""
    factor, left = reread_factor(window), backlog_rows(window)
    reads = np.fmax(np.round(factor), 1.0) if isinstance(factor, np.ndarray) else np.ones(len(window))
    return np.where(left > 0, 0.0, reads) if isinstance(left, np.ndarray) else reads


kafka_fetch_wait_share = share_of(kafka_fetch_wait_ms, label="the share of waiting for Kafka's empty fetches")
