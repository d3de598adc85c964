"""What the steps of a report save when they are taken together: never more than the phases that they shorten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from advisor.contract import Advice, Change, Finding, Promise, StepName, Together

_SHARED = "addBatch"
"""The phase that has parts: several steps may each shorten one of its own. Of another phase one step saves."""


def together(findings: Sequence[Finding], budget: Mapping[str, float]) -> Together | None:
    """The steps that Spark takes beside each other, and their common saving per batch.

    None where fewer than two save something. `budget`: milliseconds of a typical batch by phase.
    """
    chosen = _beside_each_other(_offers(findings))
    if len(chosen) < 2:
        return None
    names = tuple(StepName(rule=finding.rule, step=step.id) for finding, step in chosen)
    return Together(steps=names, saves_ms=_common([step for _, step in chosen], budget).rounded())


def _offers(findings: Sequence[Finding]) -> list[tuple[Finding, Advice]]:
    """Steps that are legal for sure, keep the checkpoint and save something, the largest saving first."""
    offers = [
        (finding, step)
        for finding in findings
        if finding.explained_by is None
        for step in finding.steps
        if step.legal == "yes" and step.takes != "new_checkpoint" and step.saves_in and _saves(step) >= 1
    ]
    return sorted(offers, key=lambda offer: -_saves(offer[1]))


def _saves(step: Advice) -> float:
    return step.saves_ms.likely if step.saves_ms else 0.0


def _beside_each_other(offers: list[tuple[Finding, Advice]]) -> list[tuple[Finding, Advice]]:
    """None that saves the same time as another, sets what it sets, or shortens the same phase without parts."""
    chosen: list[tuple[Finding, Advice]] = []
    for finding, step in offers:
        if not any(_exclude(step, taken) for _, taken in chosen):
            chosen.append((finding, step))
    return chosen


def _exclude(step: Advice, other: Advice) -> bool:
    same = step.saves_of == other.saves_of or bool(_sets(step.change) & _sets(other.change))
    return same or bool((set(step.saves_in) & set(other.saves_in)) - {_SHARED})


def _sets(change: Change) -> set[str]:
    return {*change.writer_option, *change.reader_option, *change.conf, *(["trigger"] if change.trigger else [])}


def _common(steps: Sequence[Advice], budget: Mapping[str, float]) -> Promise:
    """What is saved in a phase is not there to be saved again; different phases add up."""
    within = [step for step in steps if _SHARED in step.saves_in]
    apart = [step for step in steps if _SHARED not in step.saves_in]
    whole = budget.get(_SHARED, 0.0)
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
