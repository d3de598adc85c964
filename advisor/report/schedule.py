"""Runs of one batch each, as a scheduler starts them: how far apart, how long, and whether they grow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from advisor.batches import Columns
from advisor.metrics.flow import SAME_LOAD
from advisor.metrics.phases import DISCOVERY
from advisor.metrics.words import milliseconds, number

_EVEN = 0.1  # of the usual time between two starts: so far they may differ, and still are a schedule
_ON_THE_MINUTE_MS, _MINUTE_MS = 2000, 60_000  # two starts that lie whole minutes apart are no chance
_GROWN, _RISES = 1.1, 0.8  # times the first batch, of the steps from run to run
_WORTH = 0.1  # of the batch: discovery that is worth a word


class OneBatch(NamedTuple):
    """The only batch of a run: its number, when it began (ms since 1970), how long it took, its rows."""

    number: float
    began: float
    took: float
    rows: float
    discovery: float


def only_batch(executed: Columns) -> OneBatch | None:
    """The batch of a run that has one with rows, and at most one without rows after it; else None."""
    with_rows = np.flatnonzero(executed["input_rows"] > 0)
    if len(with_rows) != 1 or with_rows[0] != 0 or len(executed) > 2 or not executed["cold"][0]:
        return None
    one = OneBatch(
        number=float(executed["batch_id"][0]),
        began=float(executed["timestamp"][0]),
        took=float(executed["trigger_execution_ms"][0]),
        rows=float(executed["input_rows"][0]),
        discovery=float(np.nansum([executed[name][0] for name in DISCOVERY])),
    )
    return one if np.isfinite(one).all() else None


def scheduled(runs: Sequence[OneBatch]) -> str | None:
    """What these runs of a query show together, in a few sentences; None where they are no schedule."""
    apart = [later.began - one.began for one, later in pairwise(runs)]
    follow = all(0 < later.number - one.number <= 2 for one, later in pairwise(runs))
    if not apart or not follow or any(gap <= one.took for gap, one in zip(apart, runs, strict=False)):
        return None
    usual, took = median(apart), median(one.took for one in runs)
    even = all(abs(gap - usual) <= _EVEN * usual for gap in apart)
    if len(apart) == 1 and min(apart[0] % _MINUTE_MS, -apart[0] % _MINUTE_MS) > _ON_THE_MINUTE_MS:
        return None
    every = (
        f"every {milliseconds(usual)}" if even else f"{milliseconds(min(apart))} to {milliseconds(max(apart))} apart"
    )
    rows = number(median(one.rows for one in runs), "rows")
    return (
        f"Each of {len(runs)} runs ran one batch, and they start {every}, as a scheduler starts them: rows wait "
        f"{milliseconds(usual / 2)} for the next start on average. Then a batch takes {milliseconds(took)} for "
        f"{rows}, and it is always the first after a start, so cold{_discovery(runs, took)}.{_grown(runs)}"
    )


def _discovery(runs: Sequence[OneBatch], took: float) -> str:
    found = median(one.discovery for one in runs)
    return f" ({milliseconds(found)} of it finds new data)" if found >= _WORTH * took else ""


def _grown(runs: Sequence[OneBatch]) -> str:
    """That the batches take longer from run to run, and whether their rows do."""
    first, last = runs[0], runs[-1]
    rises = sum(later.took > one.took for one, later in pairwise(runs))
    if len(runs) < 4 or last.took < _GROWN * first.took or rises < _RISES * (len(runs) - 1):
        return ""
    same = max(one.rows for one in runs) <= SAME_LOAD * min(one.rows for one in runs)
    why = "at equal rows" if same else f"with {number(first.rows, 'rows')} and {number(last.rows, 'rows')}"
    return f" It took {milliseconds(first.took)} in the first run, {milliseconds(last.took)} in the last, {why}."
