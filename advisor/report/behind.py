"""That a query does not keep up with its rows, or leaves some of them waiting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from advisor.contract import Loss
from advisor.metrics import Estimate, measure, sure
from advisor.metrics.files import files_waiting
from advisor.metrics.flow import passed_ms, rows_taken
from advisor.metrics.numbers import fixed_interval_ms, known, median
from advisor.metrics.slopes import trend
from advisor.metrics.words import milliseconds, number
from advisor.window import Window

OUTPACED = 2.0  # times as long as its rows took to come: a batch that leaves more to the next one
LEAST_OUTPACED = 1000.0  # ms: of a shorter batch it is not said that rows come faster
MOSTLY_BEHIND = 0.5  # of the batches outlast the interval: that is the loss, whatever they spend their time on
BY_BATCH = ("rate_micro_batch",)  # sources that give each batch as many rows, whatever time has passed
LEAST_WAIT = 1000.0  # ms for which rows wait in the source: less is no backlog to speak of


def behind(window: Window) -> Iterator[Loss]:
    """That the query does not keep up."""
    yield from _late(window)
    yield from _backlog_grows(window)
    yield from _more_files_wait(window)
    yield from _outpaced(window)
    yield from _rows_wait(window)


def _late(window: Window) -> Iterator[Loss]:
    """That most batches outlast the trigger's interval."""
    over, interval = sure(window, "over_interval_share"), fixed_interval_ms(window)
    if over >= MOSTLY_BEHIND and interval:
        batch = milliseconds(sure(window, "trigger_execution_ms"))
        yield _falling(
            f"A batch takes {batch}, the trigger allows {milliseconds(interval)}{_so_many(window, over)}."
            f"{_nothing_waits(window)}"
        )


def _backlog_grows(window: Window) -> Iterator[Loss]:
    """That records wait longer and longer."""
    slope = sure(window, "backlog_trend_ms_per_minute")
    if sure(window, "falling_behind_share") >= MOSTLY_BEHIND and slope > 0:
        yield _falling(f"The backlog grows: every minute records wait {milliseconds(slope)} longer.")


def _outpaced(window: Window) -> Iterator[Loss]:
    """That rows come faster than they are processed."""
    batch, busy = sure(window, "trigger_execution_ms"), sure(window, "utilisation")
    if busy >= OUTPACED and batch >= LEAST_OUTPACED and window.facts.value("source") not in BY_BATCH:
        yield _falling(
            f"Rows arrive {busy:.1f} times as fast as they are processed: a batch takes {milliseconds(batch)}, its "
            f"rows arrived in {milliseconds(batch / busy)}{_of_a_row(window)}."
        )


def _rows_wait(window: Window) -> Iterator[Loss]:
    """That what waits in the source is as much work as a batch, or more."""
    wait = sure(window, "backlog_wait_ms")
    if wait < sure(window, "trigger_execution_ms") or wait < LEAST_WAIT:
        return
    if files := sure(window, "files_waiting"):
        yield _falling(f"{files:,.0f} files wait in the source, {milliseconds(wait)} of work at the current pace.")
    else:
        takes = f"a batch takes {number(median(rows_taken(window)), 'rows')}{_by_a_limit(window)}."
        yield _backlog(window, wait, takes)


def _backlog(window: Window, wait: float, takes: str) -> Loss:
    """The rows that wait; `takes`: how many of them a batch takes."""
    left = measure(window, "catch_up_ms")
    if not isinstance(measure(window, "backlog_rows"), Estimate):
        return _falling(f"The source says that it is {milliseconds(wait)} behind; {takes}")
    if isinstance(left, Estimate):
        return _worked_off(window, takes, left)
    rows = number(sure(window, "backlog_rows"), "rows")
    if not _waits_at_end(window):
        says = f"{rows} waited in the source in the middle of the run, and none after its last batch; {takes}"
        return Loss(kind="backlog", says=says)
    return _falling(f"{rows} wait in the source, {milliseconds(wait)} of work at the current pace; {takes}")


def _of_a_row(window: Window) -> str:
    """What addBatch takes for each row, where it is known."""
    each = measure(window, "add_batch_per_row_ms")
    if not isinstance(each, Estimate):
        return ""
    one_by_one = ", where a ForeachWriter gets them one by one," if window.facts.value("sink") == "foreach" else ""
    return f"; addBatch{one_by_one} takes {milliseconds(each.safe)} per row"


def _so_many(window: Window, late: float) -> str:
    """How many of the batches are late; of a single one it says nothing more."""
    return f": {100 * late:.0f} % of the batches are late" if len(window) > 1 else ""


def _more_files_wait(window: Window) -> Iterator[Loss]:
    """That the source's files that wait become more, by Kendall's test."""
    waiting = files_waiting(window)
    if not isinstance(waiting, np.ndarray):
        return
    more, told = trend(passed_ms(window) / 60_000, waiting), known(waiting)
    if isinstance(more, Estimate) and more.low > 0:
        rise = f"{told[0]:,.0f} after the first batch, {told[-1]:,.0f} after the last"
        yield _falling(f"More and more files wait in the source: {rise}, about {more.safe:,.0f} more a minute.")


def _worked_off(window: Window, takes: str, left: Estimate) -> Loss:
    """A backlog that shrinks: what waits at the end, and for how long it will."""
    says = f"{number(_waits_at_end(window), 'rows')} still wait in the source; {takes} They will be gone in about "
    return Loss(kind="backlog", says=f"{says}{milliseconds(left.safe)}, if no more come than came until now.")


def _waits_at_end(window: Window) -> float:
    """The rows that wait after the last batch."""
    return float(window.sources["backlog_rows"][window.sources["batch"] == len(window) - 1].sum())


def _by_a_limit(window: Window) -> str:
    """That a limit holds the batches, where the source takes all that is there but for one."""
    return ", as a limit of the source has it" if window.facts.value("source") == "kafka" else ""


def nothing_waits(window: Window) -> bool:
    """Whether the sources say that no batch left rows behind."""
    waits = measure(window, "backlog_rows", "p99")
    return isinstance(waits, Estimate) and waits.high == 0


def _nothing_waits(window: Window) -> str:
    """That late batches leave no rows behind, where the sources say so."""
    return " No rows pile up in the source." if nothing_waits(window) else ""


def _falling(says: str) -> Loss:
    return Loss(kind="falling_behind", says=says)


def files_left(window: Window) -> int:
    """The files that a source says it has not taken yet; 0 where none says so."""
    waiting = files_waiting(window)
    return int(known(waiting)[-1]) if isinstance(waiting, np.ndarray) else 0
