"""What a batch waits in Kafka's consumers for records that do not come."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from advisor.metrics.flow import backlog_rows, reread_factor, rows_taken
from advisor.metrics.inside import of_jobs
from advisor.metrics.numbers import fact_number, zero_filled
from advisor.metrics.phases import share_of
from advisor.metrics.registry import Batchwise, Bounds, Missing, batch_metric, remembered
from advisor.metrics.state import slots
from advisor.window import Window

DEFAULT_WAIT_MS = 500.0
"""Kafka's own default of fetch.max.wait.ms."""


@remembered
def partitions_read(window: Window) -> np.ndarray:
    """Partitions of Kafka from which each batch read rows, which is also the number of its read tasks; NaN unknown."""
    counts = np.full(len(window), np.nan)
    for batch, start, end in zip(
        window.sources["batch"], window.sources["start_offset"], window.sources["end_offset"], strict=True
    ):
        read = _moved(start, end)
        counts[batch] = read + (0 if math.isnan(counts[batch]) else counts[batch])
    return counts


@remembered
def rows_per_partition(window: Window) -> np.ndarray:
    """Of each batch the records of Kafka's largest partition over the mean of the others; NaN where none tells.

    Partitions without new records are not counted: no task reads them.
    """
    ratio = np.full(len(window), np.nan)
    for batch, start, end in zip(
        window.sources["batch"], window.sources["start_offset"], window.sources["end_offset"], strict=True
    ):
        before, after = _partitions(start), _partitions(end)
        if before is not None and after is not None:
            ratio[batch] = np.fmax(ratio[batch], _largest_over_others(before, after))
    return ratio


def _largest_over_others(before: dict[tuple[str, str], object], after: dict[tuple[str, str], object]) -> float:
    pairs = ((before.get(place), offset) for place, offset in after.items())
    moved = sorted(new - old for old, new in pairs if isinstance(old, int) and isinstance(new, int) and new > old)
    return moved[-1] / (sum(moved[:-1]) / len(moved[:-1])) if len(moved) > 1 else math.nan


def _moved(start: str | None, end: str | None) -> float:
    before, after = _partitions(start), _partitions(end)
    if before is None or after is None:
        return math.nan
    return float(sum(offset != before.get(place) for place, offset in after.items()))


def _partitions(text: str | None) -> dict[tuple[str, str], object] | None:
    """Offset by topic and partition; None where the text is no offset of Kafka's."""
    try:
        topics = msgspec.json.decode(text or "")
    except msgspec.DecodeError:
        return None
    if not isinstance(topics, dict) or not all(isinstance(one, dict) for one in topics.values()):
        return None
    return {(topic, number): at for topic, numbers in topics.items() for number, at in numbers.items()}


@batch_metric("ms", phases=("add_batch_ms",))
def kafka_fetch_wait_ms(window: Window) -> Batchwise:
    """What the read tasks of a batch wait for a fetch that Kafka holds back until a record comes.

    A consumer that has read its partition to the end has the next fetch under way, and the broker answers Spark's next
    question on the same connection only after it: after the time to the partition's next record, at most
    fetch.max.wait.ms (500 by default). Per task min(limit, interval x partitions / rows), times the waves of tasks,
    times the reads of the source, at most addBatch; 0 for a batch that left rows behind, since its consumers had more
    to read. Slots unknown: from one wave to as many as the slots that were seen leave, else one by one. A batch of one
    partition follows its records: at least what is left of the time to the next one after all but addBatch.
    Where the consumers' own lines are there, no more than they polled.
    """
    if window.facts.value("source") != "kafka":
        return Missing("the query does not read Kafka")
    tasks = partitions_read(window)
    if np.isnan(tasks).all():
        return Missing("the offsets do not tell the partitions that were read")
    with np.errstate(divide="ignore", invalid="ignore"):
        until_next = window.batches["interval_ms"] * tasks / rows_taken(window)
    each = np.minimum(until_next, _limit(window)) * _reads(window) * _at_end(window)
    free, most = slots(window), window.batches["add_batch_ms"]
    waves = np.ceil(tasks / (free or fact_number(window, "task_slots_at_least") or 1.0))
    most = np.fmin(most, _polled(window))
    at_most: np.ndarray = np.minimum(each * waves, most)
    at_least = at_most if free is not None else np.minimum(each, most)
    outside = window.batches["trigger_execution_ms"] - window.batches["add_batch_ms"]
    left = np.clip(until_next - outside, 0.0, None)
    at_least = np.where(tasks == 1, np.fmin(at_least, left), at_least)
    return at_most if np.array_equal(at_least, at_most, equal_nan=True) else Bounds(at_least, at_most)


@batch_metric("ms", phases=("add_batch_ms",))
def kafka_polled_ms(window: Window) -> Batchwise:
    """What Kafka's consumers polled, by their own lines, as wall time: their share of the reading tasks' time."""
    polled, read = of_jobs(window, "kafka_poll_ms"), of_jobs(window, "source_read_ms")
    if isinstance(polled, Missing) or isinstance(read, Missing):
        return polled if isinstance(polled, Missing) else read
    reads = window.stages["kind"].astype(str) == "source_read"
    tasks = np.bincount(window.stages["batch"][reads], zero_filled(window.stages["task_ms"][reads]), len(window))
    with np.errstate(divide="ignore", invalid="ignore"):
        wall: np.ndarray = read * np.fmin(np.where(tasks > 0, polled / tasks, np.nan), 1.0)
    return wall


def _polled(window: Window) -> np.ndarray:
    """The same; NaN where no line tells."""
    told = kafka_polled_ms(window)
    return told if isinstance(told, np.ndarray) else np.full(len(window), np.nan)


def _limit(window: Window) -> float:
    known = fact_number(window, "kafka_fetch_max_wait_ms")
    return DEFAULT_WAIT_MS if known is None else known


def _reads(window: Window) -> np.ndarray:
    """How often each batch reads its source; once where nothing tells."""
    factor = reread_factor(window)
    return np.fmax(np.round(factor), 1.0) if isinstance(factor, np.ndarray) else np.ones(len(window))


def _at_end(window: Window) -> np.ndarray:
    """1 for a batch that read to the end of its topics, 0 for one that left rows behind."""
    left = backlog_rows(window)
    return np.where(left > 0, 0.0, 1.0) if isinstance(left, np.ndarray) else np.ones(len(window))


kafka_fetch_wait_share = share_of(
    kafka_fetch_wait_ms,
    "kafka_fetch_wait_share",
    "what read tasks wait for fetches that Kafka holds back / triggerExecution",
)
