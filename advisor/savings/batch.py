"""What a step saves of a batch."""

from __future__ import annotations

from advisor.catalogue import Saves
from advisor.contract import Promise
from advisor.metrics import Estimate, Missing, measure, named
from advisor.savings.promise import promise
from advisor.window import PHASES, Window


def per_batch(saves: Saves | None, window: Window) -> Promise | Missing | None:
    """What the step saves of a batch; None where it saves only waiting, or promises nothing."""
    if saves is None or named(saves.metric).time == "latency":
        return None
    return promised(saves, window)


def saves_in(saves: Saves | None) -> tuple[str, ...]:
    """The phases that become shorter, by Spark's names; none where the saving is not that of a typical batch."""
    if saves is None or saves.per_batches > 1 or saves.stat not in (None, "typical", "p50"):
        return ()
    return tuple(PHASES[column] for column in named(saves.metric).phases)


def promised(saves: Saves, window: Window) -> Promise | Missing:
    """What the step saves of what its metric measures: a batch, or a record's latency."""
    value = measure(window, saves.metric, saves.stat)
    return value if isinstance(value, Missing) else promise(saves, value, _whole(saves, window))


def of_slow_batches(saves: Saves) -> bool:
    """Whether the step ends the slow batches of a rhythm, and leaves the others as they are."""
    return saves.metric.startswith("spike_")


def _whole(saves: Saves, window: Window) -> float:
    """What there is to save: the batch; of waiting, the median record's latency, where that is known."""
    if named(saves.metric).time == "latency":
        latency = measure(window, "record_latency_ms", "p50")
        return latency.high if isinstance(latency, Estimate) else float("inf")
    whole = measure(window, "trigger_execution_ms", "mean" if of_slow_batches(saves) else saves.stat or "typical")
    return whole.high if isinstance(whole, Estimate) else float("inf")
