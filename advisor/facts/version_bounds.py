"""Between which versions of Spark a run lies, by what its progress names and what it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from advisor.batches import Columns, lacks
from advisor.facts.versions import version_at_least, version_numbers

_FIRST_PHASES: Final = {"commit_offsets_ms": "3.4", "latest_offset_ms": "3.0", "get_end_offset_ms": "2.4"}
"""Phases and the first version of open-source Spark that times them."""
_FIRST_METRICS: Final = {
    "numRowsIncrementallyRemoved": "4.3",
    "forceSnapshotCount": "4.2",
    "rocksdbForceSnapshotCount": "4.2",
    "rocksdbLoadLatencyMs": "4.1",
    "rocksdbNumExternalColumnFamilies": "4.0",
    "rocksdbTotalBytesWrittenByFlush": "3.5",
    "rocksdbCommitFlushLatency": "3.2",
}
"""State metrics and the first version of open-source Spark that reports them."""
_FIRST_OPERATORS: Final = {"transformWithState": "4.0", "dedupeWithinWatermark": "3.5"}
"""How the names of state operators begin, and the first version of open-source Spark that has them."""
_LIMITED_SINCE_3: Final = frozenset(("kafka", "file"))
"""Sources that since 3.0 are asked with a limit, timed as latestOffset; before as getOffset or getEndOffset."""
COMMIT_OFFSETS_ON_DATABRICKS: Final = ("3.3", "11.0")
"""The first Spark, and Databricks Runtime, that times commitOffsets on Databricks."""


def version_bounds(
    shown: Columns, operators: Columns, keys: Iterable[str], sources: frozenset[str]
) -> dict[str, str | None]:
    """`spark_version_at_least`, `spark_version_below` and `databricks_runtime_below`, as far as batches show it.

    `shown`: batches of one run, or its idle events where none ran; `operators`: one row per batch and operator of
    these; `keys`: names of their state metrics; `sources`: the kinds of what they read.
    What is there bounds from below on open-source Spark only: Databricks brings phases to older versions, so what is
    missing bounds from above everywhere.
    """
    executed = shown.where(~shown["idle"])
    whole = ~lacks(executed, "durationMs")
    least = max(_present(shown, operators, set(keys)), key=version_numbers, default=None)
    headed = whole & ~np.isnan(executed["timestamp"]) & ~lacks(executed, "id")  # others are cut off
    # few phases of an idle event do not show whether it lacks some
    full = bool((headed if len(executed) else shown["whole"]).any())
    before_commits = _lacks(executed, whole, "commit_offsets_ms")
    lacking = ["3.4"] * before_commits + [*_older(shown, sources), *_missing(executed, operators, headed, full)]
    below = min(lacking, key=version_numbers, default=None)
    if least and below and version_at_least(least, below):
        least = None
    return {
        "spark_version_at_least": least,
        "spark_version_below": below,
        "databricks_runtime_below": COMMIT_OFFSETS_ON_DATABRICKS[1] if before_commits else None,
    }


def _present(shown: Columns, operators: Columns, keys: set[str]) -> Iterator[str]:
    yield from (version for key, version in _FIRST_METRICS.items() if key in keys)
    yield from (version for phase, version in _FIRST_PHASES.items() if not np.isnan(shown[phase]).all())
    names = [str(name) for name in operators["name"] if name]
    yield from (since for mark, since in _FIRST_OPERATORS.items() if any(name.startswith(mark) for name in names))
    if not np.isnan(operators["commit_ms"]).all() or any(operators["name"]):
        yield "3.2"
    if not np.isnan(operators["rows_dropped_by_watermark"]).all():
        yield "3.1"


def _older(shown: Columns, sources: frozenset[str]) -> Iterator[str]:
    """What only old versions write, in idle events, too."""
    newer = ~np.isnan([shown["latest_offset_ms"], shown["commit_offsets_ms"]])
    if not newer.any() and sources and sources <= _LIMITED_SINCE_3 and not np.isnan(shown["get_offset_ms"]).all():
        yield "3.0"
    if not np.isnan(shown["get_end_offset_ms"]).all():
        yield "3.0"
    old = ~np.isnan(shown["get_offset_ms"] + shown["timestamp"]) & np.isnan(shown["batch_id"])
    if old.any():
        yield "2.2" if (shown["run_id"][old] == shown["id"][old]).all() else "2.3"


def _missing(executed: Columns, operators: Columns, headed: np.ndarray, full: bool) -> Iterator[str]:
    if _lacks(executed, headed, "batch_duration_ms"):
        yield "4.0"
    if full and not lacks(executed, "stateOperators").any() and _without_times(operators):
        yield "3.2"


def _without_times(operators: Columns) -> bool:
    """Return whether operators have rows but neither times nor names, which came together."""
    if np.isnan(operators["rows_total"]).all():
        return False
    return not any(operators["name"]) and bool(np.isnan(operators["commit_ms"]).all())


def _lacks(executed: Columns, whole: np.ndarray, column: str) -> bool:
    """Whether there are whole events, and none of them has a value there."""
    return bool(whole.any() and np.isnan(executed[column][whole]).all())
