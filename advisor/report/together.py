"""Which steps of a report can be taken together, and what they save in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from advisor.contract import Advice, Finding, StepName, Together
from advisor.savings import exclude, in_common


def together(findings: Sequence[Finding], budget: Mapping[str, float]) -> Together | None:
    """The steps that Spark takes beside each other, and their common saving per batch.

    None where fewer than two save something. `budget`: milliseconds of a typical batch by phase.
    """
    chosen = _beside_each_other(_offers(findings))
    if len(chosen) < 2:
        return None
    names = tuple(StepName(rule=finding.rule, step=step.id) for finding, step in chosen)
    return Together(steps=names, saves_ms=in_common([step for _, step in chosen], budget).rounded())


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
    """None that excludes one that saves more."""
    chosen: list[tuple[Finding, Advice]] = []
    for finding, step in offers:
        if not any(exclude(step, taken) for _, taken in chosen):
            chosen.append((finding, step))
    return chosen
