"""The trigger, inferred from how the starts of batches align."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from advisor.facts.names import Known

_BATCHES: Final = 2000
_WAITS: Final = 10
"""Starts after a wait that are needed before their alignment says something."""
_ALIGNED_SHARE: Final = 0.9
_LATE_MS: Final = 20
"""How late after its time a batch may start and still count as aligned."""
_AT_ONCE_MS: Final = 60
"""The longest pause between batches that start at once: progress is reported in between."""
_USUAL_MS: Final = (
    100,
    200,
    250,
    500,
    1000,
    2000,
    3000,
    5000,
    10000,
    15000,
    20000,
    30000,
    60000,
    120000,
    300000,
    600000,
)

Millis = npt.NDArray[np.int64]


def infer_trigger(executed: pd.DataFrame) -> dict[str, Known]:
    """`trigger` and `trigger_interval_ms` where the starts of a run's executed batches show them, else nothing.

    With an interval Spark starts batches at whole multiples of it since 1970, or at once when the batch before took
    longer; without one, a batch starts at once after the other. Starts that fit neither say nothing. An interval that
    no batch keeps looks like none, and so does a run that only works off what is there: a log's word counts for more.
    """
    frame = executed.dropna(subset=["trigger_execution_ms"]).sort_values("timestamp", kind="stable").tail(_BATCHES)
    starts = frame["timestamp"].dt.as_unit("ms").astype("int64").to_numpy()
    pauses = np.diff(starts) - frame["trigger_execution_ms"].to_numpy(dtype="int64")[:-1]
    interval = _interval(starts, pauses)
    if interval is not None:
        return {"trigger": Known("processing_time", "inferred"), "trigger_interval_ms": Known(interval, "inferred")}
    if _at_once(frame["trigger_execution_ms"].to_numpy(dtype="int64"), pauses):
        return {"trigger": Known("unspecified", "inferred")}
    return {}


def _interval(starts: Millis, pauses: Millis) -> int | None:
    """The longest interval at whose multiples nearly all starts after a wait lie."""
    waited = pauses > _LATE_MS
    if waited.sum() < _WAITS:
        return None
    after = starts[1:][waited]
    steps = np.diff(starts)[waited]
    candidates = sorted(_candidates(steps), reverse=True)
    return next((each for each in candidates if _aligned(after, each) and _reached(pauses, starts, each)), None)


def _candidates(steps: Millis) -> set[int]:
    """Usual intervals, and the usual step between starts rounded to what a person writes."""
    usual = int(np.median(steps))
    rounded = {round(usual / unit) * unit for unit in (10, 50, 100, 500, 1000)}
    return {each for each in rounded | set(_USUAL_MS) if each >= 5 * _LATE_MS}


def _aligned(starts: Millis, interval: int) -> bool:
    return bool((starts % interval < _LATE_MS).mean() >= _ALIGNED_SHARE)


def _reached(pauses: Millis, starts: Millis, interval: int) -> bool:
    """Whether batches wait for the next multiple only: a batch that is done waits less than one interval, mostly."""
    waits = pauses[pauses > _LATE_MS]
    return bool((waits <= interval).mean() >= 0.5) and len(starts) > _WAITS


def _at_once(durations: Millis, pauses: Millis) -> bool:
    """Whether every batch started as soon as the one before was done."""
    if len(pauses) < 2 * _WAITS:
        return False
    allowed = max(_AT_ONCE_MS, 0.15 * float(np.median(durations)))
    return bool(np.quantile(pauses, 0.9) <= allowed)
