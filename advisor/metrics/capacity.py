"""How many rows a second the query can take, and how long what waits after an outage takes to be worked off."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from advisor.batches import Columns
from advisor.metrics.addbatch import of_jobs
from advisor.metrics.backlog import DEFAULT_FILES, arriving, full_batches_share
from advisor.metrics.flow import files_read, files_taken, full_of_files_share, rows_taken, since_batch_ms
from advisor.metrics.interval import FEWEST_FOR_FIT, ROWS_FOLLOW_BATCH, ROWS_MUST_VARY, sample
from advisor.metrics.measure import sure_part
from advisor.metrics.metric import Estimate, remembered, window_metric
from advisor.metrics.missing import Missing, MissingError, needed
from advisor.metrics.slopes import theil_sen
from advisor.statistics import above_zero, median, middle, quantile, rank_correlation, rounded_up, total
from advisor.vocabulary import ENDING
from advisor.window import Window

USUAL_OUTAGE_MINUTES = 30.0
FEWEST = 20  # warm batches for a line, whose interval tells whether they were enough
GROUPS = 12  # of batches with alike loads, between whose medians a line is drawn
FARTHEST = 10.0  # times the rows of the largest batch: a line is not drawn further
WIDEST = 3.0  # high end over low end: a wider interval is told as its low end
SHIFTED = 0.15  # of a batch: so far from the run's line, the latest regime has a cost of its own
OFF = 0.10  # widens each end: a chosen number, with which six of six queries held a load within the interval
LOST_WIDER = 1.0  # times its upper half, which is added to it where noise hides the cost of a row
ROOM = 0.8  # of the rows that fit an interval, for a limit: batches differ
WORTH_TELLING = 1.5  # times what comes: a lower low end alone says little
PILED_UP = 2.0  # times the rows of any later batch: the first one works off what piled up
COLD = 3.0  # times as much as planning: 124 recorded starts without a backlog made addBatch longer by 2.3 times at most
DRAINS = 2.0  # times what comes: what an outage left is worked off in the time of the outage
FULL = 0.9  # share of the batches
_MOST_BATCHES = 10_000
_WORK = ("source_read_ms", "shuffle_ms", "state_update_ms", "sink_write_ms")  # of addBatch, that may grow with its rows
_WOULD_TELL = (
    "a limit of rows per batch for ten minutes, lower than what comes, would tell, or a trial that reads from an "
    "earlier offset on a throw-away checkpoint"
)


_LOST = Missing(f"batches with about as many rows differ by more than their rows cost; {_WOULD_TELL}")


class Line(NamedTuple):
    """What a batch takes by its rows: `fixed` + `per_row` x rows, in ms."""

    fixed: float
    per_row: float

    def ms(self, rows: float) -> float:
        """Return what a batch of so many rows takes."""
        return self.fixed + self.per_row * rows

    def settled_ms(self, load: float) -> float:
        """Return what batches without a pause come to at so many rows per ms; infinity if they grow without end."""
        return self.fixed / (1 - load * self.per_row) if load * self.per_row < 1 else math.inf


def lines(window: Window) -> tuple[Line, Line, Line] | Missing:
    """Return the line through the run's warm batches: with the dearest, the likely and the cheapest row."""
    drawn = lines_at_most(window)
    return _LOST if not isinstance(drawn, Missing) and not drawn[2].per_row > 0 else drawn


@remembered
def lines_at_most(window: Window) -> tuple[Line, Line, Line] | Missing:
    """Return these lines, the cheapest row for nothing where noise hides its cost: then only the dearest one tells.

    With a trigger interval through single batches; without one, where rows follow the length of the batch before,
    through the medians of groups of alike loads (rows over the time in which they came), which batches do not make.
    """
    trigger = window.facts.value("trigger")
    if trigger is None:
        return Missing("the trigger is not known", "trigger")
    if trigger not in ("processing_time", "unspecified"):
        return Missing("only a trigger with an interval and the default one start a batch for what has come")
    found = _warm(window)
    if len(found) < FEWEST:
        return Missing(f"{FEWEST} warm batches are needed, there are {len(found)}")
    rows, took, since = found.T
    load = rows / since
    by_load = trigger == "unspecified" or rank_correlation(rows, since) > ROWS_FOLLOW_BATCH
    varies = load if by_load else rows
    if not quantile(varies, 0.9) >= ROWS_MUST_VARY * max(quantile(varies, 0.1), 1e-9):
        alike = "the load does not vary by itself" if by_load else "the row counts do not vary"
        return Missing(f"{alike}; {_WOULD_TELL}")
    if by_load:
        groups = np.array_split(found[load.argsort()], GROUPS)
        rows, took = np.array([[middle(column) for column in group.T[:2]] for group in groups]).T
    else:
        took, rows = _thinned(found)
    cheap, likely, dear = theil_sen(took, rows).ends if np.ptp(rows) > 0 else (0.0, 0.0, 0.0)
    drifts = by_load or abs(rank_correlation(found[:, 0], np.arange(len(found)))) > ROWS_FOLLOW_BATCH
    if not cheap > 0:
        if drifts or not dear > 0:  # a machine that gets quicker hides what rows cost
            return _LOST
        cheap, likely, dear = 0.0, max(0.0, likely), dear + LOST_WIDER * (dear - likely)
    at = [Line(float(np.median(took - slope * rows)), slope) for slope in (dear, likely, cheap)]
    return at[0], at[1], at[2]


def fewer_rows_ms(window: Window, interval: float) -> Estimate:
    """Return by how much a batch of this interval is shorter, as it has fewer rows; below 0 for a longer interval.

    By the cost of a row where batches show it; else from nothing to all work on rows (addBatch where no job was seen).
    """
    less = 1 - interval / median(above_zero(window.batches["interval_ms"]))
    if not isinstance(drawn := lines(window), Missing):
        dear, likely, cheap = (less * line.per_row * median(window.batches["input_rows"]) for line in drawn)
        return Estimate(cheap, likely, dear)
    work = [ms for name in _WORK if not isinstance(ms := of_jobs(window, name), Missing)]
    most = less * median(np.sum(work, axis=0) if work else window.batches["add_batch_ms"])
    return Estimate(0.0, most / 2, most)


def _warm(window: Window) -> np.ndarray:
    """Return (rows, ms, ms since the trigger before) of the run's warm batches; since the last change of cost only."""
    ran = window.executed
    keep = ~ran["cold"] & ~ran["impossible"] & (ran["input_rows"] > 0)
    whole, latest = _known(ran.where(keep)), _known(window.batches)
    if len(latest) == len(whole) or len(latest) < FEWEST_FOR_FIT or not np.ptp(whole[:, 0]) > 0:
        return whole
    slope = theil_sen(*_thinned(whole)).safe
    off = np.median(latest[:, 1] - slope * latest[:, 0]) - np.median(whole[:, 1] - slope * whole[:, 0])
    return latest if abs(off) > SHIFTED * np.median(latest[:, 1]) else whole


def _thinned(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    chosen = found[sample(len(found))]
    return chosen[:, 1], chosen[:, 0]


def _known(batches: Columns) -> np.ndarray:
    columns = np.array([batches[name] for name in ("input_rows", "trigger_execution_ms", "interval_ms")])
    return columns[:, ~np.isnan(columns).any(axis=0) & (columns[2] > 0)].T


@window_metric("per_second", "count", label="rows that come a second")
def rows_coming_per_second(window: Window) -> float | Missing:
    """Rows that came per second of the judged batches, with those that the backlog grew by."""
    since, rows = since_batch_ms(window), window.batches["input_rows"]
    present = ~np.isnan(since) & ~np.isnan(rows)
    passed = total(since[present])
    if not passed > 0:
        return Missing("the time between batches is not known")
    came = arriving(window)
    if came is not None and sure_part(full_batches_share(window)) >= FULL:
        return 1000 * came / (passed / present.sum())
    return 1000 * total(rows[present]) / passed


def limit_of_rows(window: Window) -> float | None:
    """Return the most rows that a batch takes by a limit of the source; None if none is set.

    Raises MissingError if one is set and its rows are unknown.
    """
    rows = window.facts.number("max_offsets_per_trigger")
    if rows:
        return rows
    full = sure_part(full_batches_share(window)) >= FULL or sure_part(full_of_files_share(window)) >= FULL
    if full:
        return median(rows_taken(window))
    files = window.facts.number("max_files_per_trigger")
    if files or window.facts.value("source") in ("delta", "auto_loader"):
        return (files or DEFAULT_FILES) * rows_of_a_file(window)
    return None


def rows_of_a_file(window: Window) -> float:
    """Return the rows of a typical file; raises MissingError where no file was counted."""
    read = files_read(window)
    files = read if isinstance(read, np.ndarray) else files_taken(window)
    found = median(rows_taken(window) / above_zero(files))
    if not (np.isfinite(found) and found > 0):
        raise MissingError(Missing("how many rows a file holds is not known"))
    return found


def rows_that_fit(line: Line, ms: float) -> float:
    """Return how many rows a batch of this length takes."""
    return max(0.0, ms - line.fixed) / line.per_row if line.per_row else math.inf


@window_metric("per_second", "count", label="rows that the query holds a second")
def capacity_per_second(window: Window) -> Estimate | Missing:
    """Rows a second up to which batches keep the interval; without one, up to which they stop growing.

    The end of the line through the run's batches, no further than ten times the largest of them, and no more than a
    limit of the source lets in. `value` is unknown where only its low end is.
    """
    if window.facts.value("trigger") == "processing_time" and not window.facts.fixed_interval_ms:
        return Missing("the interval of the trigger is not known", "trigger_interval_ms")
    return needed(_capacity(window))[0]


def outlasts(window: Window) -> bool:
    """Whether batches at the load that is held outlast the interval: they start late, but no rows pile up."""
    found = _capacity(window)
    return not isinstance(found, Missing) and found[1]


@remembered
def _capacity(window: Window) -> tuple[Estimate, bool] | Missing:
    """Return what is held within the interval or, where that is unknown or nothing, in batches that outlast it."""
    drawn, limit = needed(lines_at_most(window)), limit_of_rows(window)
    is_sure = drawn[2].per_row > 0
    set_one, most = window.facts.fixed_interval_ms, 1000 * FARTHEST * float(np.nanmax(window.executed["input_rows"]))
    for interval in dict.fromkeys((set_one, None)):
        low, value, high = (_held(line, interval, limit) for line in drawn)
        seen = most / (interval or median(window.batches["trigger_execution_ms"]))
        low, high = min((1 - OFF) * low, seen), (1 + OFF) * high
        if is_sure and 0 < value <= seen and high <= WIDEST * low:
            return Estimate(low, value, high), interval != set_one
        if low >= WORTH_TELLING * needed(rows_coming_per_second(window)).safe:
            return Estimate(low, None, math.inf), interval != set_one
    return Missing(f"the cost of a row is not known well enough; {_WOULD_TELL}")


def _held(line: Line, interval: float | None, limit: float | None) -> float:
    """Return the rows a second that are held along this line."""
    if interval is None:
        return 1000 * (limit / line.ms(limit) if limit else 1 / line.per_row if line.per_row else math.inf)
    return 1000 * min(rows_that_fit(line, interval), limit or math.inf) / interval


@window_metric("ms", time="latency", label="the time until an outage is worked off")
def outage_drain_ms(window: Window) -> Estimate | Missing:
    """How long until what waits after an outage (`outage_minutes`, else half an hour) is worked off, at this load."""
    outage = 60_000 * outage_minutes(window)
    load = asked_load(window) / 1000
    interval, limit = window.facts.fixed_interval_ms or 0.0, limit_of_rows(window)
    drawn = needed(lines_at_most(window))
    found = [drained_ms(line, load, interval, limit, outage) for line in drawn]
    if not math.isfinite(found[1]):
        return Missing("at this load what waits does not become less")
    high, value, low = found
    low, high = (1 - OFF) * low, (1 + OFF) * high
    return Estimate(low, value, high) if drawn[2].per_row and high <= WIDEST * low else Estimate(0.0, None, high)


def outage_minutes(window: Window) -> float:
    """Return how long the outage lasts that is asked about."""
    return window.facts.number("outage_minutes") or USUAL_OUTAGE_MINUTES


def load_factor(window: Window) -> float:
    """Return how many times today's load is asked about."""
    return window.facts.number("load_factor") or 1.0


def asked_load(window: Window) -> float:
    """Return the rows a second that are asked for: those that come, times `load_factor`."""
    return needed(rows_coming_per_second(window)).safe * load_factor(window)


def drained_ms(line: Line, load: float, interval: float, limit: float | None, outage: float) -> float:
    """Return how long it takes until batches are as long as usual again; infinity if never. `load`: rows per ms.

    Without a limit the first batch takes all that waits, and each further one what came during the one before.
    """
    waiting, passed = load * outage, 0.0
    if limit:
        pace = limit / max(interval, line.ms(limit))
        return waiting / (pace - load) if pace > load else math.inf
    usual = max(interval, line.settled_ms(load) * 1.1, 1.0)
    if not math.isfinite(usual):
        return math.inf
    for _ in range(_MOST_BATCHES):
        took = max(line.ms(waiting), interval)
        passed += took
        if took <= usual:
            return passed
        waiting = load * took
    return math.inf


@window_metric("ms", label="a batch at the load that is asked for")
def batch_at_load_ms(window: Window) -> Estimate | Missing:
    """What a batch takes at the load that is asked for (`load_factor`), at this interval."""
    load, interval = asked_load(window) / 1000, 0.0 if outlasts(window) else window.facts.fixed_interval_ms or 0.0
    found = [line.ms(load * interval) if interval else line.settled_ms(load) for line in needed(lines_at_most(window))]
    if not math.isfinite(found[1]):
        return Missing("at this load batches never stop growing")
    return Estimate(min(found), found[1], max(found))


@window_metric("ms", label="the first batch")
def first_batch_ms(window: Window) -> float:
    """How long the first batch after the start took."""
    return _of_the_first(window, "trigger_execution_ms")


@window_metric("rows", "count", label="rows that the first batch took")
def first_batch_rows(window: Window) -> float:
    """Rows of the first batch after the start."""
    return _of_the_first(window, "input_rows")


def _of_the_first(window: Window, column: str) -> float:
    ran = window.executed
    if not len(ran) or not ran["cold"][0] or not ran[column][0] * ran["input_rows"][0] > 0:
        raise MissingError(Missing("the first batch after the start is not there in full, or read no rows"))
    return float(ran[column][0])


@window_metric("ratio", label="intervals that the run's first batch took")
def first_batch_intervals(window: Window) -> float | Missing:
    """How many intervals the first batch after a start took, which works off what piled up. Without an interval, how
    many batches of the usual length. 0 where its rows do not explain it: it had hardly more than others, a later batch
    shows that they take less than half of it, or the start made planning, which works on no rows, about as much longer.
    """
    took, rows, worked, planned = (
        _of_the_first(window, name)
        for name in ("trigger_execution_ms", "input_rows", "add_batch_ms", "query_planning_ms")
    )
    if not len(window) or window.facts.value("trigger") in ENDING:
        return Missing("no later batch shows what is usual")
    usual_ms, usual_work, usual_planning = (
        median(window.batches[name]) for name in ("trigger_execution_ms", "add_batch_ms", "query_planning_ms")
    )
    piled_up = rows > PILED_UP * np.nanmax(window.batches["input_rows"])
    cold = worked * usual_planning <= COLD * usual_work * planned
    if not piled_up or cold or 2 * rows * _dearest_row_ms(window, since=1) < took:
        return 0.0
    usual = window.facts.fixed_interval_ms or usual_ms
    return took / usual if usual > 0 else Missing("the usual batch is not known")


def _dearest_row_ms(window: Window, since: int = 0) -> float:
    """Return what a row takes at most: by the line through the batches, or as if one did nothing but work on rows."""
    batches, drawn = window.executed.part(since, len(window.executed)), lines_at_most(window)
    least = quantile(above_zero(batches["add_batch_ms"]) / above_zero(batches["input_rows"]), 0)
    return least if isinstance(drawn, Missing) else min(least, drawn[0].per_row)


@window_metric("rows", "count", label="the limit of rows for the next restart")
def rows_within_interval(window: Window) -> float | Missing:
    """Rows that a batch takes within the interval with a fifth to spare, two digits; twice those that come in it where
    these are more, so that what waits is worked off. By the line through the run's batches; without one as many as fit
    on top of a usual batch if a row is as dear as it can be.
    """
    usual_ms, usual_rows = (median(window.batches[name]) for name in ("trigger_execution_ms", "input_rows"))
    usual = window.facts.fixed_interval_ms or 2 * usual_ms
    drawn = lines(window)
    if isinstance(drawn, Missing):
        fits = usual_rows + (usual - usual_ms) / _dearest_row_ms(window)
    else:
        fits = rows_that_fit(drawn[1], usual)
    least = DRAINS * needed(rows_coming_per_second(window)).safe * usual / 1000
    return rounded_up(max(ROOM * fits, least)) if math.isfinite(fits) else Missing("the cost of a row is not known")


@window_metric("count", "count", label="the limit of files for the next restart")
def files_within_interval(window: Window) -> float:
    """The same limit in files."""
    return math.ceil(needed(rows_within_interval(window)).safe / rows_of_a_file(window))
