"""The trigger: which kinds the batches leave possible, and which one is inferred from how their starts align."""

from __future__ import annotations

from typing import Final

import numpy as np

from advisor.batches import Columns, whole_seconds
from advisor.facts.fact import Known
from advisor.facts.intervals import AT_ONCE_MS, LATE_MS, PAUSE_MS, USUAL_MS, Millis, by_rates, every
from advisor.numbers import middle, sorted_quantile

_WAITS: Final = 10
"""Starts after a wait that are needed before their alignment says something."""
_ALIGNED_SHARE: Final = 0.9
_TRIGGERS: Final = ("unspecified", "processing_time", "once", "available_now", "real_time")
"""All but continuous processing, which reports no progress at all."""
_SHORTEST_REAL_TIME_MS: Final = 5000
"""Spark refuses a shorter interval of real-time mode, and each of its batches lasts that long."""
_ALIKE, _ALIKE_SHARE = 3, 0.1
"""Batches that must last as long, and by how much of it they may differ: a checkpoint interval and its end."""
_PAUSES: Final = 2
_AT_A_BLOW: Final = ("rate", "rate_micro_batch")
"""Sources that give all that AvailableNow asks for in one batch (tried on Spark 4.3.0)."""


def possible_triggers(executed: Columns, sources: Columns, source: str) -> tuple[str, ...]:
    """The kinds of trigger that could have run these batches of one run; `source` is the kind of what they read.

    Once runs one batch, AvailableNow what was there at the start, without a pause; real-time mode's batches last at
    least five seconds. `sources`: one row per batch and source.
    """
    data = executed["input_rows"] > 0
    numbers = executed["batch_id"][data]
    batches = len(set(numbers[~np.isnan(numbers)].tolist())) + bool(np.isnan(numbers).any())
    at_once = 2 if source in _AT_A_BLOW else np.inf  # a batch that was not finished before the start comes first
    excluded = {
        "once": batches > 1 or (executed["input_rows_per_second"] > 0).any(),
        "available_now": batches > at_once or (source == "kafka" and _grows(sources)) or _pauses(executed),
        "real_time": (executed["trigger_execution_ms"][data] < _SHORTEST_REAL_TIME_MS).any(),
    }
    return tuple(kind for kind in _TRIGGERS if not excluded.get(kind))


def real_time(executed: Columns, sources: Columns) -> bool:
    """Whether these are batches of real-time mode: Kafka is not asked for its latest offset, and all last as long.

    Spark 3.4 and later name the latest offset of Kafka in every other batch. A single record may have been shortened.
    """
    durations, kafka = (
        executed["trigger_execution_ms"],
        [(text or "").startswith("Kafka") for text in sources["description"]],
    )
    asked = any(offset is not None for offset in sources["latest_offset"])
    if len(durations) < _ALIKE or asked or not kafka or not all(kafka) or np.isnan(executed["commit_offsets_ms"]).any():
        return False
    shortest, longest = durations.min(), durations.max()
    return bool(shortest >= _SHORTEST_REAL_TIME_MS and longest <= (1 + _ALIKE_SHARE) * shortest)


def _grows(sources: Columns) -> bool:
    """Whether Kafka holds more at a later batch; AvailableNow names what was there at its start (4.3.0)."""
    newest: dict[str, set[str]] = {}
    for description, offset in zip(sources["description"], sources["latest_offset"], strict=True):
        if offset is not None:
            newest.setdefault(description or "", set()).add(offset)
    return any(len(offsets) > 1 for offsets in newest.values())


def _pauses(executed: Columns) -> bool:
    """Whether the query waited between batches, and more than once."""
    waited = np.diff(executed["timestamp"]) - executed["trigger_execution_ms"][:-1]
    return bool((waited > PAUSE_MS).sum() >= _PAUSES)


def infer_trigger(executed: Columns) -> dict[str, Known]:
    """`trigger` and `trigger_interval_ms` where the starts of a run's executed batches show them, else nothing.

    With an interval Spark starts batches at whole multiples of it since 1970, or at once when the batch before took
    longer; without one, a batch starts at once after the other. Starts that fit neither say nothing. An interval that
    no batch keeps looks like none, and so does a run that only works off what is there: a log's word counts for more.
    """
    known = ~np.isnan(executed["trigger_execution_ms"]) & ~np.isnan(executed["timestamp"])
    durations = executed["trigger_execution_ms"][known].astype(np.int64)
    starts = executed["timestamp"][known].astype(np.int64)
    pauses = np.diff(starts) - durations[:-1]
    interval = _interval(starts, pauses)
    if interval is not None:
        return every(interval)
    if _at_once(durations, pauses):
        return {"trigger": Known("unspecified", "inferred")}
    return by_rates(executed)


def _interval(starts: Millis, pauses: Millis) -> int | None:
    """The longest interval at whose multiples nearly all starts after a wait lie."""
    waited = pauses > LATE_MS
    if waited.sum() < _WAITS:
        return None
    after = starts[1:][waited]
    steps = np.diff(starts)[waited]
    shortest = middle(steps) if whole_seconds(starts) else 0  # where seconds were cut, all lie at multiples of one
    candidates = sorted((each for each in _candidates(steps) if each >= shortest), reverse=True)
    return next((each for each in candidates if _aligned(after, each) and _reached(pauses, starts, each)), None)


def _candidates(steps: Millis) -> set[int]:
    """Usual intervals, and the usual step between starts rounded to what a person writes."""
    usual = int(middle(steps))
    rounded = {round(usual / unit) * unit for unit in (10, 50, 100, 500, 1000)}
    return {each for each in rounded | set(USUAL_MS) if each >= 5 * LATE_MS}


def _aligned(starts: Millis, interval: int) -> bool:
    return bool((starts % interval < LATE_MS).mean() >= _ALIGNED_SHARE)


def _reached(pauses: Millis, starts: Millis, interval: int) -> bool:
    """Whether batches wait for the next multiple only: a batch that is done waits less than one interval, mostly."""
    waits = pauses[pauses > LATE_MS]
    return bool((waits <= interval).mean() >= 0.5) and len(starts) > _WAITS


def _at_once(durations: Millis, pauses: Millis) -> bool:
    """Whether every batch started as soon as the one before was done, and not before: that clock stands."""
    if len(pauses) < 2 * _WAITS:
        return False
    allowed = max(AT_ONCE_MS, 0.15 * middle(durations))
    ordered = np.sort(pauses)
    soonest, latest = sorted_quantile(ordered, 0.1), sorted_quantile(ordered, 0.9)
    return bool(-allowed <= soonest and latest <= allowed)
