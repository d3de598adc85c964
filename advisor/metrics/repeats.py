"""What a batch reads and computes several times, as foreachBatch does with each action on its batch."""

from __future__ import annotations

import numpy as np

from advisor.metrics.event_time import late_rows_share
from advisor.metrics.flow import of_sources
from advisor.metrics.phases import share_of
from advisor.metrics.registry import NOT_SEEN, Batchwise, Missing, batch_metric
from advisor.metrics.tasks import of_kind
from advisor.numbers import zero_filled
from advisor.window import Window


@batch_metric("ratio", "count", label="how often a batch is computed")
def computations(window: Window) -> Batchwise:
    """How many times a batch is computed: rows that it counted over rows between its offsets.

    And as often at least as its late rows show: one computation drops no more rows than were read.
    """
    reads, least = reread_factor(window), _least_computations(window)
    if isinstance(reads, np.ndarray):
        more: np.ndarray = np.where(least > 1, np.fmax(reads, least), reads)
        return more
    return least if (least > 1).any() else reads


def reread_factor(window: Window) -> np.ndarray | Missing:
    """Return rows that each batch counted over rows between its offsets: 2 when the source was read twice."""
    delta = of_sources(window, "offset_rows")
    if np.isnan(delta).all():
        return Missing("the sources' offsets do not show how many rows lie between them")
    factor: np.ndarray = window.batches["input_rows"] / np.where(delta > 0, delta, np.nan)
    return factor


def _least_computations(window: Window) -> np.ndarray:
    share = late_rows_share(window)
    return np.maximum(np.ceil(share), 1.0) if isinstance(share, np.ndarray) else np.ones(len(window))


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="computing the batch again")
def repeated_ms(window: Window) -> Batchwise:
    """What stages that read the source or work on state take in all jobs of a batch but the longest of each kind.

    A job on some partitions of the state only counts for nothing: `show()` and `take(n)` run one job after the other,
    each on the next partitions.
    """
    read, state = _repeated(window, "source_read"), _repeated(window, "state", whole=True)
    if isinstance(read, Missing) or isinstance(state, Missing):
        return NOT_SEEN
    both: np.ndarray = np.minimum(read + state, window.batches["add_batch_ms"])
    return both


def _repeated(window: Window, kind: str, whole: bool = False) -> np.ndarray | Missing:
    if not len(window.stages):
        return NOT_SEEN
    stages, again = window.stages, of_kind(window, kind)
    if whole:
        again &= stages["tasks"] >= _most_tasks(window, again)
    batch, wall = stages["batch"][again], zero_filled(stages["wall_ms"][again])
    jobs, at = np.unique(np.stack([batch, stages["job"][again]]), axis=1, return_inverse=True)
    of_job = np.bincount(at.ravel(), wall, jobs.shape[1])
    total, longest = np.zeros(len(window)), np.zeros(len(window))
    np.add.at(total, jobs[0].astype(int), of_job)
    np.maximum.at(longest, jobs[0].astype(int), of_job)
    seen = np.bincount(stages["batch"], minlength=len(window)) > 0
    return np.where(seen, np.minimum(total - longest, window.batches["add_batch_ms"]), np.nan)


def _most_tasks(window: Window, chosen: np.ndarray) -> np.ndarray:
    """Of each stage the most tasks that one of the chosen stages has in its batch."""
    stages, most = window.stages, np.zeros(len(window))
    np.fmax.at(most, stages["batch"][chosen].astype(int), stages["tasks"][chosen])
    found: np.ndarray = most[stages["batch"].astype(int)]
    return found


@batch_metric("ms", phases=("add_batch_ms",), label="computing the batch again, at most")
def recomputed_ms(window: Window) -> Batchwise:
    """What computing a batch again takes, as its jobs show it; else addBatch x (1 - 1 / computations), at most."""
    shown = repeated_ms(window) if window.opened else NOT_SEEN
    if isinstance(shown, np.ndarray):
        return shown
    times = computations(window)
    if not isinstance(times, np.ndarray):
        return times
    return window.batches["add_batch_ms"] * (1 - 1 / np.maximum(times, 1))


repeated_share = share_of(repeated_ms)
