"""What a step saves of a batch, and of a record's latency: the latency model as it is, and with shorter batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from advisor.catalogue import Saves, ranking
from advisor.contract import Promise
from advisor.metrics import Estimate, Missing, Quantiles, measure, named, sure
from advisor.metrics.backlog import catches_up, grows
from advisor.metrics.capacity import fewer_rows_ms
from advisor.metrics.interval import advised_after_ms
from advisor.metrics.latency import Mixture, mixture, mixture_medians, mixture_quantiles, record_latency_ms
from advisor.metrics.tasks import slots_are_shared
from advisor.savings.promise import Calibration, promise, shipped
from advisor.savings.shorter import IN_SINK, shorter, waits_follow
from advisor.window import PHASES, Window

OF_RECORDS: Final = Saves.model_construct(
    metric="record_latency_ms", stat="p50", share=(0, None, 1.5), calibrated="record-latency"
)
"""Record latency saved in trials, as a share of the model's saving."""
FETCHES: Final = "kafka_fetch_wait_ms"
INTERVAL: Final = ("interval_wait_ms", "unwanted_interval_wait_ms")
_OF_GROWING: Final = OF_RECORDS.model_copy(update={"calibrated": None})
"""Of a query that falls behind until then: how late its records are depends on how long it ran, in trials too."""


def per_batch(saves: Saves | None, window: Window) -> Promise | Missing | None:
    """Return what the step saves of a batch; None if it saves only waiting, or promises nothing."""
    if saves is None or named(saves.metric).time == "latency":
        return None
    return promised(saves, window)


def saves_in(saves: Saves | None) -> tuple[str, ...]:
    """Return the phases that become shorter, by Spark's names; none if the saving is not of a typical batch."""
    if saves is None or saves.per_batches > 1 or saves.stat not in (None, "typical", "p50"):
        return ()
    return tuple(PHASES[column] for column in named(saves.metric).phases)


def promised(saves: Saves, window: Window) -> Promise | Missing:
    """Return what the step saves of its metric: a batch, or a record's latency.

    Beside another query in the same slots nothing may be relied on: an earlier batch may only wait longer. Python
    starts while a task waits for a fetch, so that part of the wait costs nothing; which part is unknown.
    """
    value = measure(window, saves.metric, saves.stat)
    if isinstance(value, Missing):
        return value
    value = _with_fewer_rows(value, window) if saves.metric in INTERVAL else value
    found = promise(saves, value, _most(saves, window), _whole(saves, window))
    if saves.metric == FETCHES and window.facts.value("runs_python"):
        found = replace(found, expected=None)
    return replace(found, low=0.0, safe=0.0) if slots_are_shared(window) else found


def _with_fewer_rows(waits: Estimate, window: Window) -> Estimate:
    """Return what a shorter interval and smaller batches spare a record; no value if that leaves too much unknown."""
    now, mixed = record_latency_ms(window), mixture(window)
    if isinstance(mixed, Missing) or not isinstance(now, Quantiles) or not waits.safe > 0:
        return waits
    fewer, seen = fewer_rows_ms(window, advised_after_ms(window, 0.0)), 1 - float(np.median(mixed.early))
    low, likely, high = (end + ms * seen for end, ms in zip(waits.ends, fewer.ends, strict=True))
    near = max(ranking()["expected_within"] * (now.p50 - likely), ranking()["expected_within_ms"])
    return Estimate(low, likely if max(high - likely, likely - low) <= near else None, high)


def _own_batch(saves: Saves, window: Window) -> float:
    """Return the median record's wait for its own batch; a step that saves waiting keeps it, another mode does not."""
    mixed = mixture(window)
    if saves.metric == "record_latency_ms" or isinstance(mixed, Missing):
        return 0.0
    return mixture_quantiles(mixed.start - mixed.waited, 0 * mixed.start, mixed.rows, (0.5,))[0]


def of_slow_batches(saves: Saves) -> bool:
    """Return whether the step ends the slow batches of a rhythm and leaves the others unchanged."""
    return saves.metric.startswith("spike_")


def _whole(saves: Saves, window: Window) -> float:
    """Return the batch or latency that the metric is a part of, in ms; infinite if unknown."""
    waiting = named(saves.metric).time == "latency"
    whole = measure(window, "record_latency_ms", "p50") if waiting else _batch("trigger_execution_ms", saves, window)
    return whole.high if isinstance(whole, Estimate) else float("inf")


def _most(saves: Saves, window: Window) -> float:
    """Return the most that can be saved: the batch, or addBatch alone; of waiting, the rest of the record's wait."""
    if named(saves.metric).time == "latency":
        return _whole(saves, window) - _own_batch(saves, window)
    if named(saves.metric).phases != IN_SINK:
        return _whole(saves, window)
    part = _batch("add_batch_ms", saves, window)
    return part.high if isinstance(part, Estimate) else float("inf")


def _batch(part: str, saves: Saves, window: Window) -> Estimate | Missing:
    return measure(window, part, "mean" if of_slow_batches(saves) else saves.stat or "typical")


def per_record(saves: Saves | None, window: Window) -> Promise | Missing | None:
    """Return what the step saves of the median record's latency; None or Missing if that latency is unknown.

    None for a step that only ends slow batches: the median record is in none of them. A record always waits for its own
    batch, and for a trigger whose interval stays; the rest bounds the promise.
    """
    if saves is None or of_slow_batches(saves):
        return None
    if named(saves.metric).time == "latency":
        return promised(saves, window)
    found = gains(saves, window)
    if isinstance(found, Missing):
        return found
    share = _OF_GROWING if found.catches_up else of_records(saves.calibrated or "")
    return promise(share, found.estimated, found.most, found.now)


def of_records(step: str, by: Calibration | None = None) -> Saves:
    """Return the promise of a record's latency: by this calibrated step's trials if they are enough, else by all."""
    own = f"{step}, {OF_RECORDS.calibrated}"
    return OF_RECORDS.model_copy(update={"calibrated": own}) if own in (by or shipped()).steps else OF_RECORDS


class Gains(NamedTuple):
    """What the median record gains by the model, the most that it can, and its latency now, in ms.

    `catches_up`: whether part of it is a backlog that shrinks only then.
    """

    estimated: Estimate
    most: float
    now: float
    catches_up: bool


def gains(saves: Saves, window: Window) -> Gains | Missing:
    """Return the model's p50 now less its p50 with batches shortened as promised, in ms."""
    saved, now, before = promised(saves, window), record_latency_ms(window), mixture(window)
    if isinstance(saved, Missing):
        return saved
    if isinstance(before, Missing):
        return before
    if isinstance(now, Missing):
        return now
    (surely, possibly), waits = waits_follow(window), not _may_follow(window)
    per_ms = sure(window, "rows_coming_per_second") / 1000
    idle = possibly and (sure(window, "trigger_execution_ms") - saved.high) * per_ms < 1  # the next record comes later
    cuts = [(saved.high, not waits, waits), (saved.low, surely, True), (saved.high, possibly, not idle)]
    if saved.expected is not None:
        cuts += [(saved.expected, surely, True), (saved.expected, possibly, True)]
    most, low, high, *likely = gained(now.p50, before, cuts, saves, window)
    expected = sum(likely) / 2 if likely else None
    return Gains(Estimate(low, expected, high), most, now.p50, catches_up(window, saved.high))


def gained(
    now: float, before: Mixture, cuts: Sequence[tuple[float, bool, bool]], saves: Saves, window: Window
) -> list[float]:
    """Return by how much each cut lowers the median, which is `now` without any.

    A cut: by how many ms batches are shorter, whether the time between triggers shrinks with them, and whether records
    wait for a trigger at all. Limited batches that take all that arrives once they are shorter leave no backlog; one
    that does not grow is worked off in as much less time as the batches are shorter.
    """
    ms, follows, waits = np.array(cuts, float).T[..., np.newaxis]
    sooner = np.array([[follows and worked_off(window, ms)] for ms, follows, _ in cuts])
    mixed = before._replace(start=before.start - before.waited * sooner)
    start, width = shorter(window, mixed, ms, follows, window.facts.fixed_interval_ms, [(saves.metric, ms)])
    return [max(0.0, now - median) for median in mixture_medians(start, width * waits, before.rows)]


def worked_off(window: Window, ms: float) -> float:
    """Return the share of the wait in the backlog that is spared by batches which are shorter by so many milliseconds.

    None of one that still grows: how late its records are depends on how long it grows on.
    """
    batch = sure(window, "trigger_execution_ms")
    if catches_up(window, ms) or grows(window) or not batch > 0:
        return float(catches_up(window, ms))
    return min(1.0, ms / batch)


def _may_follow(window: Window) -> bool:
    """Return whether a record may also wait less: not if every batch ends within a trigger interval that stays."""
    over = measure(window, "over_interval_share")
    return waits_follow(window)[1] or (isinstance(over, Estimate) and over.high > 0)
