"""A saving as a promise: an interval around the expected saving, calibrated by trials, and the certain part.

What several steps save together is never more than the phases that they shorten.

`python -m tests.promises.calibrate` makes the file of calibrated shares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Final

import msgspec
from msgspec.structs import replace

from advisor.catalogue import Saves
from advisor.contract import Advice, Promise
from advisor.metrics import Estimate

FILE: Final = files("advisor.savings") / "calibrated.json"
"""Beside this module, which may lie in a zip file that was sent to a worker."""
OF_WHOLE: Final = 1 / 3
"""How far off a saving is grows with the metric up to this share of the batch or latency, and then no more."""
HAS_PARTS: Final = "addBatch"
"""The phase with parts: several steps may each shorten another part. In any other phase one step saves."""


class Calibrated(msgspec.Struct, frozen=True):
    """Trials of one step on several workloads, as shares of the metric of its promise.

    `expected`: the median share that was saved. `error`: how far off the expected saving was in nine of ten trials of
    left-out workloads, as a share of `uncertain_of`; None if there are too few.
    """

    metric: str
    expected: float
    error: float | None
    cases: int
    workloads: int


class Calibration(msgspec.Struct, frozen=True):
    """The result of the trials for each step; the file also holds where, when and on which Sparks they ran."""

    steps: dict[str, Calibrated]


@cache
def shipped() -> Calibration:
    """The calibration that comes with the package."""
    return msgspec.json.decode(FILE.read_bytes(), type=Calibration)


def uncertain_of(metric_ms: float, whole_ms: float) -> float:
    """Return what the error is a share of, in ms: the metric, or a third of the batch or latency if that is less."""
    return min(metric_ms, whole_ms * OF_WHOLE)


def promise(
    saves: Saves, value: Estimate, most: float, whole: float = float("inf"), by: Calibration | None = None
) -> Promise:
    """Return the promised saving of a metric of this value, at most `most` ms; `by` the shipped calibration or another.

    `whole`: the batch or latency, in ms. What is uncertain of the metric and of the share adds up as independent errors
    do: the root of the sum of their squares. If the metric is an interval, what is certain is the low share of its low
    end.
    """

    def cut(ms: float) -> float:
        return max(0.0, min(ms / saves.per_batches, most))

    low, likely, high = _saved(saves, value, whole, by or shipped())
    certain = cut(saves.share[0] * value.low)
    least, greatest = max(certain, cut(low)), max(certain, cut(high))
    return Promise(least, None if likely is None else min(max(cut(likely), least), greatest), greatest, certain)


def _saved(saves: Saves, value: Estimate, whole: float, by: Calibration) -> tuple[float, float | None, float]:
    """Return what is saved of the metric at least, as expected and at most, in ms: calibrated, else as in the rule."""
    known = by.steps.get(saves.calibrated or "")
    low, expected, high = saves.share
    if known is None or known.metric != saves.metric:
        return low * value.low, _of(expected, value), high * value.high
    share = min(known.expected, high)
    if known.error is None:
        return 0.0, _of(share, value), high * value.high
    middle = share * value.safe
    below, above = (
        math.hypot(share * end - middle, known.error * uncertain_of(end, whole)) for end in (value.low, value.high)
    )
    return middle - below, _of(share, value), min(middle + above, high * value.high)


def _of(share: float | None, value: Estimate) -> float | None:
    return None if share is None or value.value is None else share * value.value


def made_at_once(steps: Sequence[Advice], budget: Mapping[str, float]) -> list[Advice]:
    """Return the steps with their joint saving of a batch.

    Unchanged if fewer than two save something, or if their joint saving is unknown. `budget`: milliseconds of a
    typical batch by phase.
    """
    saving = [step for step in steps if step.saves_ms or step.saves_latency_ms]
    alike = any(exclude(one, other) for one, other in combinations(saving, 2))
    if len(saving) < 2 or alike or not all(step.saves_ms and step.saves_in for step in saving):
        return list(steps)
    one = replace(
        saving[0],
        id=" + ".join(step.id for step in saving),
        do="; ".join(step.do for step in saving),
        saves_ms=in_common(saving, budget),
        saves_latency_ms=None,
    )
    return [one, *(step for step in steps if step not in saving)]


def exclude(step: Advice, other: Advice) -> bool:
    """Return whether both save the same time, set the same thing, or shorten the same phase without parts."""
    same = step.saves_of == other.saves_of or bool(sets(step) & sets(other))
    return same or bool((set(step.saves_in) & set(other.saves_in)) - {HAS_PARTS})


def sets(step: Advice) -> set[str]:
    """Return everything that the step sets in any stage: options, settings, `trigger`."""
    changes = [step.change, *(stage.change for stage in step.stages)]
    options = {key for one in changes for key in (*one.writer_option, *one.reader_option, *one.conf)}
    return options | {"trigger" for one in changes if one.trigger}


def in_common(steps: Sequence[Advice], budget: Mapping[str, float]) -> Promise:
    """Return the joint saving: time saved in a phase cannot be saved again; different phases add up.

    Nothing is expected where one of the steps has not been measured: its low end is no expected value.
    """
    within = [step for step in steps if HAS_PARTS in step.saves_in]
    apart = [step for step in steps if HAS_PARTS not in step.saves_in]
    whole = budget.get(HAS_PARTS, 0.0)
    shared = _in_one_phase([step.saves_ms for step in within if step.saves_ms], whole)
    every = [shared, *(step.saves_ms for step in apart if step.saves_ms)]
    return Promise(
        sum(one.low for one in every),
        None if any(one.expected is None for one in every) else sum(one.likely for one in every),
        min(sum(one.high for one in every), sum(budget.values())),
        sum(one.safe for one in every),
    )


def _in_one_phase(promises: Sequence[Promise], whole: float) -> Promise:
    """Return what steps save of one phase: each its share of what the others leave, at least the best one's saving."""
    if not promises or whole <= 0:
        return Promise(0.0, 0.0, 0.0)
    left = math.prod(1 - min(one.likely / whole, 1.0) for one in promises)
    low, safe = max(one.low for one in promises), max(one.safe for one in promises)
    high = min(sum(one.high for one in promises), whole)
    measured = all(one.expected is not None for one in promises)
    return Promise(low, min(max(whole * (1 - left), low), high) if measured else None, high, safe)
