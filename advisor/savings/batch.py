"""How much a step saves of a batch."""

from __future__ import annotations

from msgspec.structs import replace

from advisor.catalogue import Saves
from advisor.contract import Promise
from advisor.metrics import Estimate, Missing, measure, named
from advisor.metrics.latency import mixture, mixture_quantiles
from advisor.metrics.slots import slots_are_shared
from advisor.savings.promise import promise
from advisor.window import PHASES, Window


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
    if named(saves.metric).phases != ("add_batch_ms",):
        return _whole(saves, window)
    part = _batch("add_batch_ms", saves, window)
    return part.high if isinstance(part, Estimate) else float("inf")


def _batch(part: str, saves: Saves, window: Window) -> Estimate | Missing:
    return measure(window, part, "mean" if of_slow_batches(saves) else saves.stat or "typical")
