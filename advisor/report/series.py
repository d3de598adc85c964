"""The batches of a run as columns for a chart, thinned out so that no peak is lost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from advisor.batches import instant
from advisor.contract import Series, moment
from advisor.metrics import Missing, measure, measured
from advisor.metrics.latency import typical_by_batch
from advisor.report.addbatch import part_columns
from advisor.statistics import median
from advisor.vocabulary import Since
from advisor.window import PHASES, Window

MOST_POINTS = 2000
SPIKE = 2.0
"""A batch is marked as a spike from so many times the median of the judged batches on."""
_COLUMNS = ("trigger_execution_ms", "input_rows", "input_rows_per_second", "processed_rows_per_second")
_METRICS = {
    "backlog_rows": "backlog_rows",
    "state_rows": "state_rows",
    "state_memory_bytes": "state_memory_bytes",
    "state_commit_ms": "state_commit_per_task_ms",
}
"""Column -> the metric that it shows; of state operators all are summed, a commit is that of one task."""


def series(run: Window, judged: Window, since: Since) -> Series | None:
    """Every executed batch of a run; `run` holds them all, `judged` those of the report. None without a batch.

    `since`: why the judged ones begin where they do.
    """
    if not len(run):
        return None
    duration = run.batches["trigger_execution_ms"]
    at = thinned(duration, MOST_POINTS)
    column = {name: _numbers(run.batches[name], at) for name in _COLUMNS}
    shown = {name: _numbers(measured(run, metric), at) for name, metric in _METRICS.items()}
    phases = {name: run.batches[column] for column, name in PHASES.items()}
    known = not isinstance(measure(judged, "record_latency_ms"), Missing)  # else it is of no batch
    return Series(
        batches=len(run),
        timestamp=tuple(moment(instant(ms)) for ms in run.batches["timestamp"][at]),
        batch_id=tuple(None if np.isnan(one) else int(one) for one in run.batches["batch_id"][at]),
        phases_ms={name: _numbers(values, at) for name, values in phases.items() if np.nansum(values) > 0},
        parts_ms={name.removesuffix("_ms"): _numbers(values, at) for name, values in part_columns(run).items()},
        record_latency_ms=_numbers(typical_by_batch(run) if known else None, at),
        cold=tuple(run.executed["cold"][at].tolist()),
        judged=tuple(_among(run, judged)[at].tolist()),
        spike=tuple((duration >= SPIKE * median(judged.batches["trigger_execution_ms"]))[at].tolist()),
        changed_at=moment(judged.span[0]) if since == "change_point" else None,
        **column,
        **shown,
    )


def thinned(values: np.ndarray, most: int) -> np.ndarray:
    """Positions of at most so many values, in order: of each stretch the first and the largest, and the last of all."""
    count = len(values)
    if count <= most:
        return np.arange(count)
    ends = np.linspace(0, count, (most - 1) // 2 + 1).astype(int)
    known = np.where(np.isnan(values), -np.inf, values)
    peaks = [start + int(np.argmax(known[start:end])) for start, end in pairwise(ends)]
    return np.unique(np.concatenate([ends[:-1], peaks, [count - 1]]))


def fewer(series: Series, most: int) -> Series:
    """The same with at most so many values a column, thinned out in the same way."""
    known = np.array([np.nan if one is None else one for one in series.trigger_execution_ms])
    at = thinned(known, most)
    columns = {name: getattr(series, name) for name in series.__struct_fields__}
    short: dict[str, Any] = {name: _at(values, at) for name, values in columns.items() if isinstance(values, tuple)}
    dicts = {name: of for name, of in columns.items() if isinstance(of, dict)}
    short |= {name: {key: _at(values, at) for key, values in of.items()} for name, of in dicts.items()}
    return msgspec.structs.replace(series, **short)


def _at(values: tuple[Any, ...], at: np.ndarray) -> tuple[Any, ...]:
    return tuple(values[one] for one in at if one < len(values))


def _numbers(values: object, at: np.ndarray) -> tuple[float | None, ...]:
    """Return the values at these places; None for one that is unknown, and for each where they are no array."""
    if not isinstance(values, np.ndarray):
        return (None,) * len(at)
    return tuple(None if np.isnan(one) else float(f"{one:.6g}") for one in values[at])


def _among(run: Window, judged: Window) -> np.ndarray:
    there = set(zip(judged.batches["batch_id"], judged.batches["timestamp"], strict=True))
    both = zip(run.batches["batch_id"], run.batches["timestamp"], strict=True)
    return np.array([one in there for one in both], dtype=bool)
