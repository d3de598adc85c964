"""Where a batch's own milliseconds go: the phases of the micro-batch, on the driver's clock."""

from __future__ import annotations

import functools

import numpy as np

from advisor.batches import PHASES as COLUMNS
from advisor.batches import lacks
from advisor.batches.arrays import ALWAYS
from advisor.facts import is_older
from advisor.metrics.measure import measure, sure_part
from advisor.metrics.metric import (
    BatchMetric,
    Batchwise,
    Bounds,
    Metric,
    batch_metric,
    bounded_metric,
    remembered,
    window_metric,
)
from advisor.metrics.missing import Missing, needed
from advisor.statistics import above_zero, middle, zero_filled
from advisor.window import PHASES, Window

DISCOVERY = ("latest_offset_ms", "get_offset_ms", "get_end_offset_ms", "set_offset_range_ms")
OFFSET_LOG = ("wal_commit_ms", "commit_offsets_ms")
LACKING = "lacking"
"""The time of phases that the records lack, in a budget."""
_MEANING = {column.name: column.meaning for column in COLUMNS}


def summed(window: Window, columns: tuple[str, ...]) -> np.ndarray:
    """The sum of these phases per batch; a phase that Spark does not name is 0."""
    filled = _filled(window)
    return sum((filled[column] for column in columns[1:]), start=filled[columns[0]])


@remembered
def _filled(window: Window) -> dict[str, np.ndarray]:
    """Each phase by its column, filled as `summed` has it."""
    filled = zero_filled(np.array([window.batches[column] for column in PHASES]))
    return dict(zip(PHASES, filled, strict=True))


def _phase(column: str, label: str) -> Metric[np.ndarray]:
    """Return the metric of one phase, which means what its column does."""
    compute = functools.partial(_took, column=column)
    return Metric(column, "ms", "wall", _MEANING[column], compute, phases=(column,), label=label)


def _took(window: Window, column: str) -> np.ndarray | Missing:
    """What a phase took; not known of one that each batch has, where somebody left it out of all."""
    if column in ALWAYS and len(window) and np.isnan(window.batches[column]).all():
        return Missing("no batch reports it")
    return summed(window, (column,))


@batch_metric("ms", phases=tuple(PHASES), label="batch")
def trigger_execution_ms(window: Window) -> np.ndarray:
    """Everything inside one trigger: finding the batch, running it, both logs."""
    return window.batches["trigger_execution_ms"]


@batch_metric("ms", phases=DISCOVERY, label="finding new data in the source", share=True)
def source_discovery_ms(window: Window) -> np.ndarray:
    """Asking the sources for new data (latestOffset; getOffset, getEndOffset and setOffsetRange in old versions)."""
    return summed(window, DISCOVERY)


@window_metric("count", "count", label="sources that are asked for new data")
def sources_asked(window: Window) -> float | Missing:
    """Sources of the query, each of which the driver asks for new data before a batch."""
    per_batch = np.bincount(window.sources["batch"].astype(int), minlength=len(window)) if len(window) else np.zeros(0)
    present = per_batch[per_batch > 0]
    return middle(present) if len(present) else Missing("the sources are not known")


@batch_metric("ms", phases=DISCOVERY, label="asking further sources")
def other_sources_discovery_ms(window: Window) -> np.ndarray:
    """What asking all sources but one takes, if each takes as long: latestOffset x (1 - 1 / sources)."""
    return summed(window, DISCOVERY) * (1 - 1 / needed(sources_asked(window)).safe)


get_batch_ms = _phase("get_batch_ms", "getBatch")
query_planning_ms = _phase("query_planning_ms", "planning")
add_batch_ms = _phase("add_batch_ms", "addBatch")
wal_commit_ms = _phase("wal_commit_ms", "walCommit")
commit_offsets_ms = _phase("commit_offsets_ms", "commitOffsets")


@bounded_metric("ms", phases=OFFSET_LOG, label="offset and commit logs")
def offset_log_ms(window: Window) -> Batchwise:
    """walCommit + commitOffsets: what the batch waits for its two logs.

    Before Spark 3.4 the commit log has no phase, and most of the time in no phase is its: then between walCommit alone
    and both.
    """
    needed(_took(window, "wal_commit_ms"))
    logs = summed(window, OFFSET_LOG)
    return Bounds(logs, logs + zero_filled(needed(unaccounted_ms(window)))) if hides_commit_log(window) else logs


def hides_commit_log(window: Window) -> bool:
    """Whether this Spark writes a commit log without timing it as commitOffsets: any before 3.4."""
    if not len(window) or not np.isnan(window.batches["commit_offsets_ms"]).all():
        return False
    return is_older(window.facts.value("spark_version"), window.facts.value("spark_version_below"), "3.4")


@batch_metric("ms", label="time in no phase")
def unaccounted_ms(window: Window) -> np.ndarray:
    """triggerExecution less all its phases, named here or not; at least 0. Not known where somebody left phases out."""
    rest = window.batches["trigger_execution_ms"] - summed(window, tuple(PHASES)) - window.batches["other_phases_ms"]
    return np.where(lacks(window.batches, "durationMs"), np.nan, rest.clip(min=0))


@remembered
def _lengths(window: Window) -> np.ndarray:
    """Return how long each batch took; NaN where that is no length to divide by."""
    return above_zero(needed(trigger_execution_ms(window)))


def share_of(part: BatchMetric, name: str = "", label: str = "", meaning: str = "") -> Metric[Batchwise]:
    """Return the metric `part` over triggerExecution, batch by batch, which is called after it if nothing is given."""

    def compute(window: Window) -> Batchwise:
        values, whole = needed(part(window)), _lengths(window)
        if isinstance(values, Bounds):
            return Bounds(values.low / whole, values.high / whole, values.fact)
        return values / whole

    return Metric(
        name or f"{part.name.removesuffix('_ms').removesuffix('_wall')}_share",
        "share",
        part.basis,
        meaning or f"{part.label} / triggerExecution",
        compute,
        phases=part.phases,
        part=part,
        whole=trigger_execution_ms,
        inside=part.inside,
        label=label or f"the share of {part.label}",
    )


offset_log_share = share_of(
    offset_log_ms,
    label="the share of the offset and commit logs",
    meaning="(walCommit + commitOffsets) / triggerExecution",
)
wal_commit_share = share_of(wal_commit_ms, label="walCommit's share of the batch")
get_batch_share = share_of(get_batch_ms)
other_sources_discovery_share = share_of(
    other_sources_discovery_ms, meaning="latestOffset x (1 - 1 / sources) / triggerExecution"
)
query_planning_share = share_of(query_planning_ms)
add_batch_share = share_of(add_batch_ms, label="addBatch's share of the batch")


@remembered
def budget(window: Window) -> dict[str, float]:
    """Milliseconds per phase, by Spark's names; they add up to the typical triggerExecution.

    The time in no phase is `unaccounted`; before Spark 3.4, where it is mostly the commit log's, `commitLog`; `lacking`
    where records do not have all phases. Empty where they have none.
    """
    if not len(window):
        return {}
    inside = window.middle
    columns = np.array([window.batches[column][inside] for column in (*PHASES, "other_phases_ms")])
    means = np.nansum(columns, axis=1) / max(1, int(inside.sum()))
    parts = dict(zip((*PHASES.values(), "other"), means.tolist(), strict=True))
    rest, whole = (sure_part(measure(window, metric)) for metric in (unaccounted_ms, trigger_execution_ms))
    parts["commitLog" if hides_commit_log(window) else "unaccounted"] = rest
    if any(parts.values()) and lacks(window.batches, "durationMs")[inside].any():
        parts[LACKING] = whole - sum(parts.values())
    return {name: round(ms, 1) for name, ms in parts.items() if ms >= 0.05}
