"""Batches that a limit of the source fills, and the limit to advise."""

from __future__ import annotations

import math

import numpy as np

from advisor.metrics.backlog import NO_BACKLOG, backlog_batches, backlog_rows, left_waiting_share
from advisor.metrics.files import full_of_files_share
from advisor.metrics.flow import rows_taken
from advisor.metrics.numbers import fact_number, known, mean, median
from advisor.metrics.registry import Estimate, Missing, Windowed, window_metric
from advisor.numbers import total
from advisor.window import Window

AS_LARGE, MOST_BATCHES = 0.98, 0.9  # of the largest batch (a limit is split over partitions), of the batches


@window_metric("rows", "count", label="rows that a batch takes")
def rows_taken_per_batch(window: Window) -> Windowed:
    """Rows that a batch takes from its sources (median)."""
    taken = median(rows_taken(window))
    return Estimate.exactly(taken) if np.isfinite(taken) else Missing("the rows of a batch are not known")


@window_metric("rows", "count", label="twice the rows of a batch")
def doubled_rows_per_batch(window: Window) -> Windowed:
    """Twice the rows that a batch takes, two digits, rounded up."""
    taken = median(rows_taken(window))
    if not taken > 0:
        return Missing("the rows of a batch are not known")
    doubled = _rounded_up(2 * taken)
    return Estimate.exactly(doubled)


def _rounded_up(rows: float) -> float:
    """The number with two digits, rounded up."""
    digit = 10 ** max(0, math.floor(math.log10(rows)) - 1)
    return float(math.ceil(rows / digit) * digit)


@window_metric("share", "count", label="the share of batches filled to the source's limit")
def full_batches_share(window: Window) -> Windowed:
    """Share of the batches as large as the largest after which rows wait on: a limit of the source holds them."""
    rows, backlog = rows_taken(window), backlog_rows(window)
    if not len(known(rows)):
        return NO_BACKLOG
    alike = rows >= AS_LARGE * known(rows).max()
    if alike.mean() < MOST_BATCHES:
        return Estimate(0.0, 0.0, 0.0)
    if not isinstance(backlog, np.ndarray):
        return NO_BACKLOG
    full = float((alike & (backlog > 0)).mean())
    return Estimate.exactly(full)


@window_metric("share", "count", label="the share of batches as full as the limit allows")
def met_limit_share(window: Window) -> Windowed:
    """Share of the batches that take as many rows as maxOffsetsPerTrigger allows, if no source reports what waits."""
    limit = fact_number(window, "max_offsets_per_trigger")
    if isinstance(backlog_rows(window), np.ndarray):
        return Estimate.exactly(0.0)
    if not limit:
        return Missing("no limit of rows per batch is known", "max_offsets_per_trigger")
    rows = known(rows_taken(window))
    if not len(rows):
        return Missing("the rows of a batch are not known")
    return Estimate.exactly(float(((rows >= AS_LARGE * limit) & (rows <= limit)).mean()))


@window_metric("share", "count", label="the share of batches that a limit of the source fills")
def limited_share(window: Window) -> Windowed:
    """Share of the batches that a limit of the source fills: rows wait on, or all that is allowed is taken."""
    if window.facts.value("source") == "file":
        return full_of_files_share(window)
    return left_waiting_share(window) if isinstance(backlog_rows(window), np.ndarray) else met_limit_share(window)


@window_metric("ratio", "count", label="batches that wait behind a limit")
def limited_batches(window: Window) -> Windowed:
    """How many batches wait behind the limit, by the backlog; one at least where nothing shows how much waits."""
    return backlog_batches(window) if isinstance(backlog_rows(window), np.ndarray) else Estimate.exactly(1.0)


@window_metric("rows", "count", label="the advised rows per batch")
def advised_rows_per_batch(window: Window) -> Windowed:
    """Twice the rows that arrive between two triggers (taken + growth of the backlog), two digits, rounded up."""
    arriving = _arriving(window)
    if arriving is None:
        return NO_BACKLOG if len(window) > 1 else Missing("one batch does not show how many rows arrive")
    if not arriving > 0:
        return Missing("the rows that arrive between two triggers are not known")
    advised = _rounded_up(2 * arriving)
    return Estimate.exactly(advised)


def _arriving(window: Window) -> float | None:
    """Rows that arrive between two triggers; None where the backlog is not known."""
    rows, backlog = rows_taken(window), backlog_rows(window)
    if not isinstance(backlog, np.ndarray) or len(rows) < 2:
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
