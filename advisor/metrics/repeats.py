"""What a batch reads and computes several times, as foreachBatch does with each action on its batch."""

from __future__ import annotations

import numpy as np

from advisor.metrics.addbatch import driver_gaps_ms, of_jobs
from advisor.metrics.event_time import late_rows_over_read
from advisor.metrics.flow import files_scanned, sum_of_sources
from advisor.metrics.metric import batch_metric, remembered, stage_metric
from advisor.metrics.missing import Missing, needed
from advisor.metrics.operators import joins, partitions
from advisor.metrics.tasks import most, of_kind, per_batch, spread
from advisor.statistics import above_zero, zero_filled
from advisor.window import Window


@batch_metric("ratio", "count", label="how often a batch is computed")
def computations(window: Window) -> np.ndarray | Missing:
    """How many times a batch is computed: rows that it counted over rows between its offsets.

    And as often at least as its late rows show: one computation drops no more rows than were read.
    """
    reads, late = reread_factor(window), late_rows_over_read(window)
    least = np.ones(len(window)) if isinstance(late, Missing) else np.maximum(np.ceil(late), 1.0)
    if isinstance(reads, Missing):
        return least if (least > 1).any() else reads
    return np.where(least > 1, np.fmax(reads, least), reads)


@remembered
def reread_factor(window: Window) -> np.ndarray | Missing:
    """Return rows that each batch counted over rows between its offsets: 2 when the source was read twice.

    Of a file source how often its files are read, if a driver log shows that; no job reads a file twice.
    """
    delta = sum_of_sources(window, window.sources["offset_rows"])
    if not np.isnan(delta).all():
        return window.batches["input_rows"] / above_zero(delta)
    taken, scanned, jobs = of_jobs(window, "files_read"), files_scanned(window), of_jobs(window, "jobs")
    if isinstance(taken, Missing) or isinstance(scanned, Missing) or isinstance(jobs, Missing):
        return Missing("the sources' offsets do not show how many rows lie between them")
    times = scanned / above_zero(taken)
    return np.where(times <= jobs, times, np.nan)


@stage_metric("ms", label="computing the batch again", share=True, of_reads=True)
def repeated_ms(window: Window) -> np.ndarray:
    """What stages that read the source or work on state take in all jobs of a batch but the longest of each kind.

    A job on some partitions of the state only counts for nothing: `show()` and `take(n)` run one job after the other,
    each on the next partitions. Nor does a batch whose state was opened once: of a batch that was persisted the stages
    name the state's operators, too, but read the cache (4.3.0: as many stores as partitions; without it twice as many).
    """
    tasks, state = window.stages["tasks"], of_kind(window, "state")
    largest = most(window, np.where(state, tasks, np.nan), 0.0)[window.stages["batch"]]
    both = _repeated(window, of_kind(window, "source_read")) + _repeated(window, state & (tasks >= largest))
    return np.where(_state_opened_once(window), 0.0 * both, np.minimum(both, window.batches["add_batch_ms"]))


@stage_metric("ms", label="sorting all rows, at most")
def sorted_ms(window: Window) -> np.ndarray:
    """Computing the batch again for a sample, and the stages behind the shuffle into ranges; at most addBatch."""
    behind = per_batch(window, spread(window).wall, of_kind(window, "shuffle", "result"))
    return np.minimum(needed(repeated_ms(window)) + needed(behind), window.batches["add_batch_ms"])


@stage_metric("count", "count", label="jobs that compute the batch", of_reads=True)
def computing_jobs(window: Window) -> np.ndarray:
    """Jobs of a batch that read the source or work on its state."""
    return _jobs(window, of_kind(window, "source_read", "state"))


@batch_metric("count", "count", label="computations that no job shows")
def unseen_computations(window: Window) -> np.ndarray:
    """How many times more its rows say that a batch is computed than its jobs show; 0 where either is not known."""
    times, jobs = computations(window), computing_jobs(window)
    if isinstance(times, Missing) or isinstance(jobs, Missing):
        return np.zeros(len(window))
    return np.maximum(0.0, zero_filled(np.round(times) - jobs))


@stage_metric("count", "count", label="jobs that write")
def writing_jobs(window: Window) -> np.ndarray | Missing:
    """Jobs of a batch whose tasks write rows; where the log counts no rows, writes whose end its lines show."""
    written = window.stages["output_rows"]
    return of_jobs(window, "writes") if np.isnan(written).all() else _jobs(window, written > 0)


@stage_metric("count", "count", label="whether the last job of a batch writes")
def last_job_writes(window: Window) -> np.ndarray | Missing:
    """1 where the last job of a batch, but those on a table's log, writes rows.

    `writing_jobs` where the log counts no rows.
    """
    stages, written = window.stages, window.stages["output_rows"]
    if np.isnan(written).all():
        return writing_jobs(window)
    jobs = np.where(of_kind(window, "table_log"), -1, stages["job"]).astype(float)
    own = jobs >= most(window, jobs)[stages["batch"]]
    return (np.bincount(stages["batch"], own * zero_filled(written), len(window)) > 0).astype(float)


@stage_metric("count", "count", label="jobs in which no write is seen")
def jobs_without_writing(window: Window) -> np.ndarray:
    """Jobs of a batch in which no row is seen to be written, and that read no table's log: foreachPartition's, too."""
    log = _jobs(window, of_kind(window, "table_log"))
    return np.maximum(needed(of_jobs(window, "jobs")) - needed(writing_jobs(window)) - log, 0.0)


def _jobs(window: Window, which: np.ndarray) -> np.ndarray:
    stages = window.stages
    jobs = np.unique(np.stack([stages["batch"], stages["job"]])[:, which], axis=1)[0].astype(int)
    return np.bincount(jobs, minlength=len(window)).astype(float)


@batch_metric("ms", phases=("add_batch_ms",), inside=True, label="all writes but one, at most")
def other_writes_ms(window: Window) -> np.ndarray:
    """What the jobs of a batch take but the longest, with the driver; where no clock shows it, all writes but one."""
    writes, later = needed(writing_jobs(window)), later_jobs_ms(window)
    shares = window.batches["add_batch_ms"] * (1 - 1 / np.maximum(writes, 1.0))
    return shares if isinstance(later, Missing) else np.where(np.isnan(later), shares, later)


@stage_metric("ms", label="writing one after the other", share=True)
def later_jobs_ms(window: Window) -> np.ndarray:
    """What the jobs of a batch take but the longest, and the driver between jobs; at most addBatch."""
    others = zero_filled(_repeated(window, np.ones(len(window.stages), bool)))
    return np.minimum(others + needed(of_jobs(window, "driver_between_ms")), window.batches["add_batch_ms"])


def _state_opened_once(window: Window) -> np.ndarray:
    """Which batches opened no more stores than their operators have partitions; of a join, which has four, unknown."""
    operators = window.operators
    told = ~joins(window)
    once = told & (operators["store_instances"] <= partitions(window))
    opened, again = (np.bincount(operators["batch"][which], minlength=len(window)) for which in (once, told & ~once))
    return (opened > 0) & (again == 0)


def _repeated(window: Window, again: np.ndarray) -> np.ndarray:
    """What these stages take in all jobs of a batch but the longest; NaN where no stage was seen."""
    stages = window.stages
    batch, wall = stages["batch"][again], zero_filled(stages["wall_ms"][again])
    jobs, at = np.unique(np.stack([batch, stages["job"][again]]), axis=1, return_inverse=True)
    of_job = np.bincount(at.ravel(), wall, jobs.shape[1])
    total, longest = np.zeros(len(window)), np.zeros(len(window))
    np.add.at(total, jobs[0].astype(int), of_job)
    np.maximum.at(longest, jobs[0].astype(int), of_job)
    seen = np.bincount(stages["batch"], minlength=len(window)) > 0
    return np.where(seen, np.minimum(total - longest, window.batches["add_batch_ms"]), np.nan)


@batch_metric("ms", phases=("add_batch_ms",), label="computing the batch again, at most")
def recomputed_ms(window: Window) -> np.ndarray | Missing:
    """What computing a batch again takes, as all its jobs show it; else at most addBatch x (1 - 1 / computations).

    Of addBatch without what the driver does outside of jobs, where that is known: no job computes then.
    """
    shown, times, gaps = repeated_ms(window), computations(window), driver_gaps_ms(window)
    if isinstance(times, Missing):
        return shown if isinstance(shown, np.ndarray) else times
    alone = 0.0 if isinstance(gaps, Missing) else zero_filled(gaps)
    at_most = np.maximum(window.batches["add_batch_ms"] - alone, 0.0) * (1 - 1 / np.maximum(times, 1))
    if isinstance(shown, Missing):
        return at_most
    return np.where(np.isnan(shown) | (needed(unseen_computations(window)) > 0), at_most, shown)


@stage_metric("ms", label="reading the source again, at most", of_reads=True)
def read_again_ms(window: Window) -> np.ndarray:
    """What a query that names its source several times takes for all but one reading, with what the stages compute."""
    again = 1 - 1 / np.maximum(needed(reread_factor(window)), 1)
    return again * needed(per_batch(window, spread(window).wall, of_kind(window, "source_read")))
