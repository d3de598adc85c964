"""The trigger: which kinds the batches leave possible, and which one their starts and rates show."""

from __future__ import annotations

from typing import Final

import numpy as np

from advisor.batches import Columns
from advisor.facts.fact import Known
from advisor.facts.rates import by_rates
from advisor.facts.starts import PAUSE_MS, each_at_once, every, interval_of

_TRIGGERS: Final = ("unspecified", "processing_time", "once", "available_now", "real_time")
"""All but continuous processing, which reports no progress at all."""
SHORTEST_REAL_TIME_MS: Final = 5000.0
"""Spark refuses a shorter interval of real-time mode, and each of its batches lasts that long."""
_ALIKE, _ALIKE_SHARE = 3, 0.1
"""Batches that must last as long, and by how much of it they may differ: a checkpoint interval and its end."""
_PAUSES: Final = 2
"""AvailableNow starts each batch as soon as the one before is done."""
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
        "real_time": (executed["trigger_execution_ms"][data] < SHORTEST_REAL_TIME_MS).any()
        or _latest_is_asked(sources),
    }
    return tuple(kind for kind in _TRIGGERS if not excluded.get(kind))


def real_time(executed: Columns, sources: Columns) -> bool:
    """Whether these are batches of real-time mode: Kafka is not asked for its latest offset, and all last as long.

    Spark 3.4 and later name the latest offset of Kafka in every other batch. A single record may have been shortened.
    """
    durations = executed["trigger_execution_ms"]
    kafka = [(text or "").startswith("Kafka") for text in sources["description"]]
    if len(durations) < _ALIKE or not kafka or not all(kafka) or _latest_is_asked(sources):
        return False
    if np.isnan(executed["commit_offsets_ms"]).any():
        return False
    shortest, longest = durations.min(), durations.max()
    return bool(shortest >= SHORTEST_REAL_TIME_MS and longest <= (1 + _ALIKE_SHARE) * shortest)


def _latest_is_asked(sources: Columns) -> bool:
    """Whether a batch asked a source for its latest offset, which real-time mode never does."""
    return any(offset is not None for offset in sources["latest_offset"])


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
    interval = interval_of(starts, pauses)
    if interval is not None:
        return every(interval)
    if each_at_once(durations, pauses):
        return {"trigger": Known("unspecified", "inferred")}
    return by_rates(executed)
