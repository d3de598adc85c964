"""Batches that a limit of the source fills, and the limit to advise."""

from __future__ import annotations

import numpy as np

from advisor.metrics.backlog import NO_BACKLOG, backlog_batches, backlog_rows
from advisor.metrics.flow import full_of_files_share, rows_taken
from advisor.metrics.metric import Estimate, window_metric
from advisor.metrics.missing import Missing
from advisor.statistics import known, mean, median, rounded_up, total
from advisor.window import Window

NO_ROWS = Missing("the rows of a batch are not known")
AS_LARGE, MOST_BATCHES = 0.98, 0.9  # of the largest batch (a limit is split over partitions), of the batches


@window_metric("rows", "count", label="rows that a batch takes")
def rows_taken_per_batch(window: Window) -> float | Missing:
    """Rows that a batch takes from its sources (median)."""
    taken = median(rows_taken(window))
    return taken if np.isfinite(taken) else NO_ROWS


@window_metric("rows", "count", label="twice the rows of a batch")
def doubled_rows_per_batch(window: Window) -> float | Missing:
    """Twice the rows that a batch takes, two digits, rounded up."""
    taken = median(rows_taken(window))
    return rounded_up(2 * taken) if taken > 0 else NO_ROWS


@window_metric("share", "count", label="the share of batches filled to the source's limit")
def full_batches_share(window: Window) -> float | Missing:
    """Share of the batches as large as the largest after which rows wait on: a limit of the source holds them."""
    rows = rows_taken(window)
    if not len(known(rows)):
        return NO_BACKLOG
    alike = rows >= AS_LARGE * known(rows).max()
    if alike.mean() < MOST_BATCHES:
        return 0.0
    backlog = backlog_rows(window)
    return NO_BACKLOG if isinstance(backlog, Missing) else float((alike & (backlog > 0)).mean())


@window_metric("share", "count", label="the share of batches as full as the limit allows")
def met_limit_share(window: Window) -> float | Missing:
    """Share of the batches that take as many rows as maxOffsetsPerTrigger allows, if no source reports what waits."""
    limit = window.facts.number("max_offsets_per_trigger")
    if isinstance(backlog_rows(window), np.ndarray):
        return 0.0
    if not limit:
        return Missing("no limit of rows per batch is known", "max_offsets_per_trigger")
    rows = known(rows_taken(window))
    return float(((rows >= AS_LARGE * limit) & (rows <= limit)).mean()) if len(rows) else NO_ROWS


@window_metric("share", "count", label="the share of batches that a limit of the source fills")
def limited_share(window: Window) -> float | Estimate | Missing:
    """Share of the batches that a limit of the source fills: rows wait on, or all that is allowed is taken."""
    if window.facts.value("source") == "file":
        return full_of_files_share(window)
    backlog = backlog_rows(window)
    return met_limit_share(window) if isinstance(backlog, Missing) else float((known(backlog) > 0).mean())


@window_metric("ratio", "count", label="batches that wait behind a limit")
def limited_batches(window: Window) -> float | Estimate | Missing:
    """How many batches wait behind the limit, by the backlog; one at least where nothing shows how much waits."""
    return backlog_batches(window) if isinstance(backlog_rows(window), np.ndarray) else 1.0


@window_metric("rows", "count", label="the advised rows per batch")
def advised_rows_per_batch(window: Window) -> float | Missing:
    """Twice the rows that arrive between two triggers (taken + growth of the backlog), two digits, rounded up."""
    arriving = _arriving(window)
    if arriving is None:
        return NO_BACKLOG if len(window) > 1 else Missing("one batch does not show how many rows arrive")
    if not arriving > 0:
        return Missing("the rows that arrive between two triggers are not known")
    return rounded_up(2 * arriving)


def _arriving(window: Window) -> float | None:
    """Rows that arrive between two triggers; None where the backlog is not known."""
    rows, backlog = rows_taken(window), backlog_rows(window)
    if isinstance(backlog, Missing) or len(rows) < 2:
        return None
    return float((total(rows[1:]) + backlog[-1] - backlog[0]) / (len(rows) - 1))


def keeps_up(window: Window, ms: float) -> bool:
    """Whether batches that a limit fills would take all that arrives if each started `ms` sooner."""
    full = full_batches_share(window)
    if not isinstance(full, Estimate) or full.safe < MOST_BATCHES:
        return False
    arriving, interval = _arriving(window), mean(window.batches["interval_ms"])
    if arriving is None or interval <= ms:
        return False
    return bool(arriving / interval < mean(rows_taken(window)) / (interval - ms))
