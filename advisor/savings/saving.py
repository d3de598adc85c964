"""What a step saves of a batch, and of a record's latency: the latency model as it is, and with shorter batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from advisor.catalogue import Saves
from advisor.contract import Promise
from advisor.metrics import Estimate, Missing, Quantiles, measure, named
from advisor.metrics.backlog import keeps_up
from advisor.metrics.latency import Mixture, mixture, mixture_medians, mixture_quantiles, record_latency_ms
from advisor.metrics.phases import summed
from advisor.metrics.tasks import slots_are_shared
from advisor.savings.promise import Calibration, promise, shipped
from advisor.window import PHASES, Window

OF_RECORDS: Final = Saves.model_construct(
    metric="record_latency_ms", stat="p50", share=(0, None, 1.5), calibrated="record-latency"
)
"""Record latency saved in trials, as a share of the model's saving."""
_OF_GROWING: Final = OF_RECORDS.model_copy(update={"calibrated": None})
"""Of a query that falls behind until then: how late its records are depends on how long it ran, in trials too."""
AFTER_SINK: Final = "commit_offsets_ms"
IN_SINK: Final = ("add_batch_ms",)
OF_WAVES: Final = "state_waves_excess_ms"


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

    Beside another query in the same slots nothing may be relied on: an earlier batch may only wait longer.
    """
    value = measure(window, saves.metric, saves.stat)
    if isinstance(value, Missing):
        return value
    found = promise(saves, value, _most(saves, window), _whole(saves, window))
    return replace(found, low=0.0, safe=0.0) if slots_are_shared(window) else found


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


class Cut(NamedTuple):
    """Batches that are shorter by `ms`.

    `follows`: whether the time between triggers shrinks with them. `at_once`: assume that records wait for no trigger.
    """

    ms: float
    follows: bool
    at_once: bool = False


def gains(saves: Saves, window: Window) -> Gains | Missing:
    """Return the model's p50 now less its p50 with batches shortened as promised, in ms."""
    saved, now, before = promised(saves, window), record_latency_ms(window), mixture(window)
    if isinstance(saved, Missing):
        return saved
    if isinstance(before, Missing):
        return before
    assert isinstance(now, Quantiles)
    (surely, possibly), follows = waits_follow(window), _may_follow(window)
    cuts = [Cut(saved.high, follows, at_once=follows), Cut(saved.low, surely), Cut(saved.high, possibly)]
    if saved.expected is not None:
        cuts += [Cut(saved.expected, surely), Cut(saved.expected, possibly)]
    most, low, high, *likely = gained(now.p50, before, cuts, saves, window)
    catches_up = keeps_up(window, saved.high) and not keeps_up(window, 0.0)
    return Gains(Estimate(low, sum(likely) / 2 if likely else None, high), most, now.p50, catches_up)


def gained(now: float, before: Mixture, cuts: Sequence[Cut], saves: Saves, window: Window) -> list[float]:
    """Return by how much each cut lowers the median, which is `now` without any."""
    distinct = list(dict.fromkeys(cuts))
    medians = mixture_medians(*_shorter(before, distinct, saves, window), before.rows)
    left = dict(zip(distinct, medians, strict=True))
    return [max(0.0, now - left[cut]) for cut in cuts]


def waits_follow(window: Window) -> tuple[bool, bool]:
    """Return whether the time between triggers shrinks with the batch: (surely, possibly).

    With the default trigger it does; a trigger interval stays, except for batches that overrun it.
    """
    trigger = window.facts.get("trigger")
    if trigger is None or trigger.origin == "inferred":
        return False, True
    return (trigger.value == "unspecified",) * 2


def _may_follow(window: Window) -> bool:
    """Return whether a record may also wait less: not if every batch ends within a trigger interval that stays."""
    over = measure(window, "over_interval_share")
    return waits_follow(window)[1] or (isinstance(over, Estimate) and over.high > 0)


def _shorter(before: Mixture, cuts: Sequence[Cut], saves: Saves, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Return start and width of the latencies, a row for each cut: results visible earlier, shorter waits, and no
    backlog if limited batches then take all that arrives.

    Rows of the first of several waves are visible early already; rows of later waves gain what these cannot. Fewer
    waves show no row of the first one sooner.
    """
    ms, follows, at_once = (np.array(column)[:, np.newaxis] for column in zip(*cuts, strict=True))
    waves = np.minimum(ms, before.waves) * (saves.metric == OF_WAVES)
    start = before.start - _seen(ms, saves, window, before) + waves
    width = before.width - ms * follows - waves + np.minimum(start, 0.0)
    caught_up = [cut.follows and keeps_up(window, cut.ms) for cut in cuts]
    if any(caught_up):
        start = start - before.waited * np.array(caught_up)[:, np.newaxis]
    return np.maximum(start, 0.0), np.where(at_once, 0.0, np.maximum(width, 0.0))


def _seen(ms: np.ndarray, saves: Saves, window: Window, before: Mixture) -> np.ndarray:
    """Return how much earlier results are visible; savings in the commit log come after them, others in part."""
    phases = named(saves.metric).phases
    if phases == IN_SINK:
        return ms * (1 - before.early)
    if AFTER_SINK not in phases or set(phases) == set(PHASES):
        return ms
    after, whole = (summed(window, columns)[before.known] for columns in ((AFTER_SINK,), phases))
    earlier = np.clip(whole - after, 0.0, None)
    return np.minimum(ms * earlier / np.maximum(whole, 1e-9), earlier)
