"""Batches that take longer though the load stays the same: from one to the next, or than before a change."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from advisor.batches import Columns
from advisor.metrics.addbatch import of_jobs
from advisor.metrics.flow import SAME_LOAD, rows_taken
from advisor.metrics.metric import Estimate, Metric, Unit, remembered, window_metric
from advisor.metrics.missing import Missing, needed
from advisor.metrics.phases import DISCOVERY, OFFSET_LOG
from advisor.metrics.slopes import trend
from advisor.regime import FEWEST_FOR_HALVES, outer_thirds, slope_by_thirds, steady_rise
from advisor.statistics import known, median, zero_filled
from advisor.window import PHASES, Window

LEAST_GROWTH: Final = 0.2  # of a batch of today: less is within what a busy machine does to a run
LEAST_OF_FEW: Final = 0.3  # of fewer than ten batches, which may rise by chance
LEAST_GROWTH_MS: Final = 50.0
SLOPE_OF_LOAD: Final = SAME_LOAD - 1  # of the rows of a batch, from the first batch to the last
NOTHING_BEFORE = Missing("there are no batches before these to compare with")
LEAST_LOG_MS: Final = 10.0  # of the offset and commit logs: less may double by chance
SLOWED: Final = Missing(
    "the offset and commit logs, which do as much for each batch, take longer in the same batches, too: "
    "the machine, the driver or the storage got slower"
)
GROWING: Final = {
    "add_batch": ("add_batch_ms",),
    "query_planning": ("query_planning_ms",),
    "source_discovery": DISCOVERY,
}
"""What may grow: the columns of each."""


class Growth(NamedTuple):
    """By how much a phase grew over the run in ms, by how much from batch to batch, and its share of a batch of now."""

    ms: float
    per_batch_ms: float
    share: float


@remembered
def growths(window: Window) -> dict[str, Growth | Missing]:
    """The phases that grow from the run's first steady batches to its last at the same load; mostly none.

    All steady batches of the run count, whichever of them are judged. A rise must go on all along, be a fifth of
    today's batch, and, of ten batches or more, be one by Kendall's test; fewer must rise from each to the next.
    It is missing where the offset and commit logs grow, too, by so much that at least half of it may be theirs.
    """
    ran = window.executed
    placed = ~(np.isnan(ran["timestamp"]) & np.isnan(ran["batch_id"]))  # else nobody knows that one followed the other
    batches = ran.where(
        placed & ~np.isnan(ran["trigger_execution_ms"]) & (ran["input_rows"] > 0) & ~ran["impossible"] & ~ran["cold"]
    )
    duration, rows = batches["trigger_execution_ms"], batches["input_rows"]
    if not steady_rise(duration) or slope_by_thirds(rows) * (len(rows) - 1) > SLOPE_OF_LOAD * median(rows):
        return {}
    now, numbers = median(duration[-max(1, len(duration) // 3) :]), known(batches["batch_id"])
    apart = max(len(duration), float(np.ptp(numbers)) + 1 if len(numbers) else 0.0) - 1
    least = LEAST_GROWTH if len(batches) >= FEWEST_FOR_HALVES else LEAST_OF_FEW
    logs_before, logs_now = outer_thirds(_sum(batches, OFFSET_LOG))
    slower = logs_now / max(logs_before, LEAST_LOG_MS) - 1
    found: dict[str, Growth | Missing] = {}
    for phase, columns in GROWING.items():
        took = _sum(batches, columns)
        if (rise := steady_rise(took)) < max(least * now, LEAST_GROWTH_MS):
            continue
        slope = trend(np.arange(len(took), dtype=float), took)
        if len(took) < FEWEST_FOR_HALVES or (isinstance(slope, Estimate) and slope.low > 0):
            first, last = outer_thirds(took)
            own = 2 * slower * first < last - first
            found[phase] = Growth(rise, rise / apart, min(1.0, rise / now)) if own else SLOWED
    return found


def _sum(batches: Columns, columns: tuple[str, ...]) -> np.ndarray:
    """The sum of some columns, with 0 for what is not known."""
    return sum((zero_filled(batches[column]) for column in columns), start=np.zeros(len(batches)))


def _metric(phase: str, field: str) -> Metric[Estimate]:
    """Return the metric of one number of a phase's growth; 0 where it does not grow."""

    def compute(window: Window) -> Estimate | Missing:
        growth = growths(window).get(phase)
        if isinstance(growth, Missing):
            return growth
        return Estimate.exactly(0.0 if growth is None else getattr(growth, field))

    meaning, label = (text.format(phase=_CALLED[phase]) for text in _NUMBERS[field])
    unit: Unit = "share" if field == "share" else "ms"
    name, phases = f"{phase}_growth_{field}", GROWING[phase]
    return Metric(name, unit, "wall", meaning, compute, per="window", phases=phases, label=label)


_CALLED: Final = {"add_batch": "addBatch", "query_planning": "planning", "source_discovery": "finding new data"}
_NUMBERS: Final = {
    "ms": (
        "What {phase} takes longer from the first batches of the run to the last, where it rises all along at the same "
        "load; else 0.",
        "the growth of {phase}",
    ),
    "per_batch_ms": ("The same, from one batch to the next.", "the growth of {phase} from batch to batch"),
    "share": ("The same over a batch of now.", "the share by which {phase} has grown"),
}
"""The meaning and the label of each number of a growth."""
GROWTHS: Final = tuple(_metric(phase, field) for phase in GROWING for field in Growth._fields)


@window_metric("count", "count", inside=True, label="tasks that each batch has more than the one before")
def more_tasks_per_batch(window: Window) -> float:
    """Tasks by which the batches grow from one to the next, all along at the same load; else 0."""
    tasks, rows = needed(of_jobs(window, "tasks")), window.batches["input_rows"]
    present = ~np.isnan(tasks) & ~np.isnan(rows)
    tasks, rows = tasks[present], rows[present]
    if len(rows) < 2 or slope_by_thirds(rows) * (len(rows) - 1) > SLOPE_OF_LOAD * median(rows):
        return 0.0
    return steady_rise(tasks) / (len(tasks) - 1)


@window_metric("ms", phases=tuple(PHASES))
def slower_than_before_ms(window: Window) -> float | Missing:
    """How much longer the median batch takes than before the restart or change, at the same load; 0 otherwise."""
    if window.earlier is None or not len(window.earlier) or not len(window):
        return NOTHING_BEFORE
    old, new = (median(one.batches["trigger_execution_ms"]) for one in (window.earlier, window))
    rows = [max(1.0, median(rows_taken(one))) for one in (window.earlier, window)]
    if np.isnan([old, new, *rows]).any():
        return NOTHING_BEFORE
    return max(0.0, new - old) if max(rows) <= SAME_LOAD * min(rows) else 0.0


@window_metric("share", label="the share by which batches got slower")
def slower_than_before_share(window: Window) -> float | Estimate:
    """That difference over the median batch of now."""
    longer, now = needed(slower_than_before_ms(window)), median(window.batches["trigger_execution_ms"])
    return longer.safe / now if now > 0 else longer


@window_metric("ms", label="the median batch before")
def batch_before_ms(window: Window) -> float | Missing:
    """The median batch before the restart or change."""
    earlier = window.earlier
    return NOTHING_BEFORE if earlier is None else median(earlier.batches["trigger_execution_ms"])


@window_metric("count", "count", label="judged batches")
def steady_batches(window: Window) -> float:
    """How many batches are judged."""
    return float(len(window))
