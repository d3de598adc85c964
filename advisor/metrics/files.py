"""Files that a source has not taken yet, as Databricks' Delta source and Auto Loader tell it."""

from __future__ import annotations

import json

import numpy as np

from advisor.metrics.registry import Batchwise, Missing, batch_metric
from advisor.window import Window

_WAIT = "metrics:numFilesOutstanding"
_UNTOLD = Missing("the sources do not tell of files that wait")


@batch_metric("count", "count")
def files_waiting(window: Window) -> Batchwise:
    """Files that the sources have seen and not taken, after the batch."""
    if _WAIT not in window.sources:
        return _UNTOLD
    told = np.array([float(text) if text and text.isdigit() else np.nan for text in window.sources[_WAIT]])
    batch, known = window.sources["batch"], ~np.isnan(told)
    count = np.full(len(window), np.nan)
    count[batch[known]] = 0.0
    np.add.at(count, batch[known], told[known])
    return _UNTOLD if np.isnan(count).all() else count


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
        told = json.loads(offset or "null")
    except ValueError:
        return None
    if not isinstance(told, dict) or type(told.get("index")) is not int:
        return None
    return (told.get("reservoirId"), told.get("reservoirVersion")), told["index"]
