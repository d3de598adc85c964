"""What the sink's commit does again: commits that another writer was before, the list of a file sink's files."""

from __future__ import annotations

import numpy as np

from advisor.metrics.addbatch import of_jobs
from advisor.metrics.numbers import known, mean
from advisor.metrics.registry import Estimate, Missing, Windowed, window_metric
from advisor.window import Window


def _known(window: Window, column: str) -> np.ndarray | Missing:
    values = of_jobs(window, column)
    return values if isinstance(values, Missing) else known(values)


@window_metric("share", inside=True, label="the share of batches whose commit was tried again")
def commit_retry_share(window: Window) -> Windowed:
    """Batches whose commit was tried more than once, of those whose commits were seen."""
    retries = _known(window, "commit_retries")
    return retries if isinstance(retries, Missing) else Estimate.exactly(float((retries > 0).mean()))


@window_metric("count", "count", inside=True, label="the most retries of one commit")
def most_commit_retries(window: Window) -> Windowed:
    """The most times that a commit of one batch was tried again."""
    retries = _known(window, "commit_retries")
    return retries if isinstance(retries, Missing) else Estimate.exactly(float(retries.max()))


@window_metric("ms", phases=("add_batch_ms",), inside=True, label="writing the sink's list of files again")
def log_compaction_ms(window: Window) -> Windowed:
    """Writing the list of all files of a file sink again, in the batches that do so; 0 where none does."""
    found = _known(window, "log_compaction_ms")
    if isinstance(found, Missing):
        return found
    return Estimate.exactly(mean(found[found > 0]) if (found > 0).any() else 0.0)


@window_metric(
    "share", phases=("add_batch_ms",), inside=True, label="the share of writing the sink's list of files again"
)
def log_compaction_share(window: Window) -> Windowed:
    """Writing the list of all files of a file sink again over the time of all batches."""
    found = _known(window, "log_compaction_ms")
    if isinstance(found, Missing):
        return found
    return Estimate.exactly(mean(found) / mean(window.batches["trigger_execution_ms"]))
