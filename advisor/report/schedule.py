"""Short runs, as a scheduler starts them: how far apart, how long, and whether they grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from advisor.batches import Columns
from advisor.catalogue import ranking
from advisor.metrics.flow import SAME_LOAD
from advisor.metrics.phases import DISCOVERY
from advisor.metrics.units import milliseconds, number
from advisor.statistics import total

_MINUTE_MS = 60_000


class ShortRun(NamedTuple):
    """A run that took what was there and ended: its batches, when it began (ms since 1970), how long it took, its rows.

    `took` and `discovery` in ms; `first` and `last` are batch numbers.
    """

    first: float
    last: float
    began: float
    took: float
    rows: float
    discovery: float


def short_run(executed: Columns, *, one_shot: bool) -> ShortRun | None:
    """The run as one of a schedule: it has one batch with rows, or its trigger is known to end it; else None."""
    with_rows = np.flatnonzero(executed["input_rows"] > 0)
    if not len(with_rows) or with_rows[0] != 0 or not executed["cold"][0]:
        return None
    if not one_shot and (len(with_rows) != 1 or len(executed) > 2):
        return None
    last, began = int(with_rows[-1]), float(executed["timestamp"][0])
    one = ShortRun(
        first=float(executed["batch_id"][0]),
        last=float(executed["batch_id"][last]),
        began=began,
        took=float(executed["timestamp"][last] + executed["trigger_execution_ms"][last]) - began,
        rows=float(executed["input_rows"][: last + 1].sum()),
        discovery=total(np.array([executed[name][: last + 1] for name in DISCOVERY])),
    )
    return one if all(map(math.isfinite, one)) else None


def scheduled(runs: Sequence[ShortRun], *, one_shot: bool) -> str | None:
    """What these runs of a query show together, in a few sentences; None where they are no schedule."""
    apart = [later.began - one.began for one, later in pairwise(runs)]
    follow = all(0 < later.first - one.last <= 2 for one, later in pairwise(runs))
    if not apart or not follow or any(gap <= one.took for gap, one in zip(apart, runs, strict=False)):
        return None
    usual, took = median(apart), median(one.took for one in runs)
    even = all(abs(gap - usual) <= ranking()["schedule_even"] * usual for gap in apart)
    by_chance = min(apart[0] % _MINUTE_MS, -apart[0] % _MINUTE_MS) > ranking()["whole_minutes_ms"]
    if len(apart) == 1 and by_chance and not one_shot:
        return None
    waits = sum(gap * gap for gap in apart) / (2 * sum(apart))  # a long gap has more of the rows
    between = f"{milliseconds(min(apart))} to {milliseconds(max(apart))} apart"
    every = f"every {milliseconds(usual)}" if even else between
    found = median(one.discovery for one in runs)
    finds = f" ({milliseconds(found)} of it finds new data)" if found >= ranking()["discovery_worth"] * took else ""
    return (
        f"Each of {len(runs)} runs ran {_batches(runs)}, and they start {every}, as a scheduler starts them: rows wait "
        f"{milliseconds(waits)} for the next start on average. Then {_takes(runs, milliseconds(took))}{finds}."
        f"{_grown(runs)}"
    )


def _batches(runs: Sequence[ShortRun]) -> str:
    fewest, most = (int(pick(one.last - one.first for one in runs)) + 1 for pick in (min, max))
    if most == 1:
        return "one batch"
    return f"{fewest:,} batches" if fewest == most else f"{fewest:,} to {most:,} batches"


def _takes(runs: Sequence[ShortRun], took: str) -> str:
    """How long a run takes, and what of it is cold."""
    rows = number(median(one.rows for one in runs), "rows")
    if all(one.first == one.last for one in runs):
        return f"a batch takes {took} for {rows}, and it is always the first after a start, so cold"
    return f"a run takes {took} for {rows}, and its first batch is always cold"


def _grown(runs: Sequence[ShortRun]) -> str:
    """That the batches take longer from run to run, and whether their rows do."""
    first, last = runs[0], runs[-1]
    rises = sum(later.took > one.took for one, later in pairwise(runs))
    limits = ranking()
    if len(runs) < 4 or last.took < limits["run_grown"] * first.took or rises < limits["run_rises"] * (len(runs) - 1):
        return ""
    same = max(one.rows for one in runs) <= SAME_LOAD * min(one.rows for one in runs)
    why = "at equal rows" if same else f"with {number(first.rows, 'rows')} and {number(last.rows, 'rows')}"
    return f" It took {milliseconds(first.took)} in the first run, {milliseconds(last.took)} in the last, {why}."
