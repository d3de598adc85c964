"""State that only ever grows."""

from __future__ import annotations

import numpy as np

from advisor.metrics.event_time import watermark_stands_still_ms
from advisor.metrics.flow import passed_ms
from advisor.metrics.numbers import known
from advisor.metrics.registry import Estimate, Missing, Windowed, window_metric
from advisor.metrics.slopes import trend
from advisor.metrics.state import state_rows, state_rows_updated
from advisor.window import Window

DAY_MS = 86_400_000.0
NONE = Estimate.exactly(0.0)
MAY_REMOVE = Missing("there is a watermark, which may still remove rows of the state")
ALL_KEPT = 0.98
"""Of the rows that were added: a row that is added and changed within one batch counts once."""
SLOWS_DOWN = Missing("the growth of the state slows down, as where there are only so many keys")
STILL_GROWS = 0.8
"""Of its pace in the first half: a set of keys that fills up grows ever more slowly."""


@window_metric("rows", "count", label="the growth of the state in a day")
def state_growth_per_day(window: Window) -> Windowed:
    """Rows by which the state grows in a day where nothing removes any: Theil-Sen slope with its 95 % interval.

    0 if the state ever shrinks from one batch to the next, or shows no trend (Kendall's test); missing if its growth
    slows down. With a watermark it is known if the watermark stands still while event times advance, and for
    dropDuplicates, whose updates are all new rows.
    """
    rows = state_rows(window)
    if not isinstance(rows, np.ndarray) or not len(known(rows)):
        return Missing("the rows of the state are not known")
    if (np.diff(known(rows)) < 0).any():
        return NONE
    watermarked = window.facts.value("watermarked")
    if watermarked is None:
        return Missing("whether there is a watermark is not known", "watermarked")
    if watermarked and not (_never_comes(window) or _kept_in_spite_of_the_watermark(window, rows)):
        return MAY_REMOVE
    return SLOWS_DOWN if _slows_down(passed_ms(window), rows) else trend(passed_ms(window) / DAY_MS, rows)


def _slows_down(when: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the second half of the batches adds rows more slowly than the first."""
    present = ~np.isnan(when) & ~np.isnan(rows)
    when, rows = when[present], rows[present]
    half = len(rows) // 2
    if half < 2:
        return False
    early, late = (rows[half] - rows[0]) * (when[-1] - when[half]), (rows[-1] - rows[half]) * (when[half] - when[0])
    return bool(late < STILL_GROWS * early)


def _never_comes(window: Window) -> bool:
    """Whether the watermark rests while event times move on: it never comes to remove a row."""
    rests = watermark_stands_still_ms(window)
    return isinstance(rests, Estimate) and rests.safe > 0


def _kept_in_spite_of_the_watermark(window: Window, rows: np.ndarray) -> bool:
    """Whether dropDuplicates kept all its rows although the watermark has passed those of the first batch."""
    watermark, newest, updated = (
        window.batches["watermark"],
        window.batches["event_time_max"],
        state_rows_updated(window),
    )
    if set(window.operators["name"]) != {"dedupe"} or not isinstance(updated, np.ndarray):
        return False
    added = float(np.nansum(updated[1:]))
    return bool(watermark[-1] > newest[0] and added > 0 and rows[-1] - rows[0] >= ALL_KEPT * added)
