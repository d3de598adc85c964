"""What several steps save together: never more than the phases that they shorten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Final

from msgspec.structs import replace

from advisor.contract import Advice, Promise

HAS_PARTS: Final = "addBatch"
"""The phase with parts: several steps may each shorten another part. In any other phase one step saves."""


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
    left = prod(1 - min(one.likely / whole, 1.0) for one in promises)
    low, safe = max(one.low for one in promises), max(one.safe for one in promises)
    high = min(sum(one.high for one in promises), whole)
    measured = all(one.expected is not None for one in promises)
    return Promise(low, min(max(whole * (1 - left), low), high) if measured else None, high, safe)
