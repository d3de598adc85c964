"""What steps save that are made at once: never more than the phases that they shorten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Final

from msgspec.structs import replace

from advisor.contract import Advice, Promise

HAS_PARTS: Final = "addBatch"
"""The phase that has parts: several steps may each shorten one of its own. Of another phase one step saves."""


def made_at_once(steps: Sequence[Advice], budget: Mapping[str, float]) -> list[Advice]:
    """The same steps, those that save something as one with what they save of a batch in common.

    Unchanged where fewer than two save something, or where what they save in common cannot be told. `budget`:
    milliseconds of a typical batch by phase.
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
    """Whether both save the same time, set the same thing, or shorten the same phase that has no parts."""
    same = step.saves_of == other.saves_of or bool(sets(step) & sets(other))
    return same or bool((set(step.saves_in) & set(other.saves_in)) - {HAS_PARTS})


def sets(step: Advice) -> set[str]:
    """Everything that the step sets, in whichever stage: options, settings, `trigger`."""
    changes = [step.change, *(stage.change for stage in step.stages)]
    options = {key for one in changes for key in (*one.writer_option, *one.reader_option, *one.conf)}
    return options | {"trigger" for one in changes if one.trigger}


def in_common(steps: Sequence[Advice], budget: Mapping[str, float]) -> Promise:
    """What is saved in a phase is not there to be saved again; different phases add up."""
    within = [step for step in steps if HAS_PARTS in step.saves_in]
    apart = [step for step in steps if HAS_PARTS not in step.saves_in]
    whole = budget.get(HAS_PARTS, 0.0)
    shared = _in_one_phase([step.saves_ms for step in within if step.saves_ms], whole)
    every = [shared, *(step.saves_ms for step in apart if step.saves_ms)]
    return Promise(
        sum(one.low for one in every),
        sum(one.likely for one in every),
        min(sum(one.high for one in every), sum(budget.values())),
        sum(one.safe for one in every),
    )


def _in_one_phase(promises: Sequence[Promise], whole: float) -> Promise:
    """Each step saves its share of what the others leave of the phase; at least what the best of them saves alone."""
    if not promises or whole <= 0:
        return Promise(0.0, 0.0, 0.0)
    left = prod(1 - min(one.likely / whole, 1.0) for one in promises)
    low, safe = max(one.low for one in promises), max(one.safe for one in promises)
    high = min(sum(one.high for one in promises), whole)
    return Promise(low, min(max(whole * (1 - left), low), high), high, safe)
