"""The step that a query should take first, and the steps that can be taken together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from advisor.catalogue import Rule, ranking
from advisor.contract import Advice, BestStep, Finding, Loss, Promise, StepName, Target, Together
from advisor.metrics import sure
from advisor.metrics.backlog import catches_up
from advisor.metrics.units import milliseconds
from advisor.report.judged import Judged
from advisor.report.loss import explain, grave, longest
from advisor.savings import exclude, in_common
from advisor.savings.after import WAITING
from advisor.vocabulary import GRAVE, LEVELS
from advisor.window import PHASES

_NO_STEP_BESIDE = ("rows", "results", "state")
"""Losses that no millisecond makes good: only what helps against them is advised."""
NO_RULES: Mapping[str, Rule] = MappingProxyType({})
SOONER = "each record arrives {} sooner"
_Offer: TypeAlias = tuple[Finding, Advice]


def best_step(
    findings: Sequence[Finding],
    loss: Loss | None = None,
    rules: Mapping[str, Rule] = NO_RULES,
    batch_ms: float = math.inf,
) -> BestStep | None:
    """Return the loss's own best step if it saves anything, else of all steps the one that saves a record most.

    Where that one saves little beside the loss, or the loss's own step does at most, a look at the loss goes first. The
    most that an unmeasured step may save counts against late batches, and of a graver finding than the loss. A new
    checkpoint comes only where nothing else helps, and only with a number. Never first is a step made for a platform
    or source that may be another. What waits in the source is no measure of a step: a good part of the batch,
    `batch_ms`, is.
    """
    asked = _asked(findings, loss, rules)
    least = ranking()["worth_the_state"] * (batch_ms if math.isfinite(batch_ms) else 0.0)
    offers = [(finding, step) for finding in findings for step in finding.steps if _may_be_first(finding, step, least)]
    offers = [offer for offer in offers if not _treats_a_symptom(offer, findings, loss)]
    own = [offer for offer in offers if offer[0].rule in asked]
    if loss is None or loss.kind in _NO_STEP_BESIDE:
        offers = own or [offer for offer in offers if not asked or offer[0].level == "high"]
    chosen = _first(own, offers, loss, min(batch_ms, loss.ms or math.inf) if loss else batch_ms)
    if chosen is None:
        return None
    finding, step = chosen
    return BestStep(rule=finding.rule, step=step.id, title=finding.title, advice=step)


def treated(judged: Judged, loss: Loss | None) -> Loss | None:
    """Return the loss to find a step for: of late batches what takes most of them, if a finding that names it has one.

    It stays the lateness where a limit can be raised, if batches without that part would still not take all that comes.
    """
    window, found = judged.window, judged.judgement.findings
    steps = {one.rule: [step for step in one.steps if step.legal != "no"] for one in found}
    if loss is None or loss.kind != "pace":
        return loss
    in_time = window.facts.fixed_interval_ms is not None and not sure(window, "over_interval_share") > 0
    most = None if in_time else longest(judged, of_batches=True)
    rule = most and most.rule
    if any(step.saves_of in WAITING for step in steps[loss.rule or ""]) and not (
        most and catches_up(window, most.ms or 0.0)
    ):
        return loss
    return most if rule and steps[rule] and not judged.catalogue.rules[rule].general else loss


def on_the_way(findings: Sequence[Finding], target: Target | None, loss: Loss | None) -> BestStep | None:
    """Return the first step on the way to a latency target, if it surely is one; None also beside lost rows."""
    if target is None or not target.steps or (loss is not None and loss.kind in _NO_STEP_BESIDE):
        return None
    first = target.steps[0]
    if target.verdict != "reached with steps" and first.legal != "yes":
        return None
    offers = [(one, step) for one in findings for step in one.steps if (one.rule, step.id) == (first.rule, first.step)]
    return next((BestStep(rule=one.rule, step=step.id, title=one.title, advice=step) for one, step in offers), None)


def leaves_the_loss(judged: Judged, loss: Loss | None, best: BestStep | None) -> bool:
    """Whether the best step shortens nothing of the loss, or may leave batches longer than their interval."""
    if loss is None or best is None:
        return False
    if loss.kind == "pace" and best.advice.saves_ms is not None:
        interval, batch = judged.window.facts.fixed_interval_ms, sure(judged.window, "trigger_execution_ms")
        saves = best.advice.saves_ms
        return interval is not None and batch - (saves.high if saves.expected is None else saves.low) > interval
    if loss.kind in ("batches", *GRAVE):
        return False
    findings = judged.judgement.findings
    if best.rule in _asked(findings, loss, judged.catalogue.rules):
        return False
    if loss.rule and any(one.rule == best.rule and one.explained_by == loss.rule for one in findings):
        return False  # the same loss, less exactly
    columns = next((one.columns for one in judged.catalogue.phases.phases if one.kind == loss.kind), ())
    shortened = set(best.advice.saves_in)
    known = shortened or loss.kind != "add_batch"  # what a step does that promises nothing is mostly in addBatch
    return bool(known) and not shortened & {PHASES[column] for column in columns}


def felt(step: Advice) -> Promise | None:
    """Return what the step promises of a record's latency, else of the batch."""
    return step.saves_latency_ms or step.saves_ms


def in_short(promise: Promise, of: str) -> str:
    """Return what a promise says in a sentence, by a form for what it is of: `up to about 5.1 s less per batch`."""
    return of.format(f"{'up to about' if promise.expected is None else 'about'} {milliseconds(promise.told)}")


def _asked(findings: Sequence[Finding], loss: Loss | None, rules: Mapping[str, Rule]) -> set[str]:
    """Return the rules that speak of the loss: its own and those that explain it.

    Of a run without steady batches those that are grave.
    """
    if loss is None:
        return {one.rule for one in grave(findings, rules)}
    return {one.rule for one in explain(loss.rule, findings)} | ({loss.rule} if loss.rule else set())


def _first(own: Sequence[_Offer], offers: Sequence[_Offer], loss: Loss | None, lost_ms: float) -> _Offer | None:
    best, mine = _best(offers), _best(own)
    if best is None or mine is None or loss is None:
        return mine or best
    most = felt(mine[1])
    if most and loss.kind == "add_batch" and most.high < ranking()["little"] * (loss.ms or 0.0):
        own = [offer for offer in own if not _promises(offer[1])] or own
        mine = _best(own) or mine
    elsewhere = best[1].takes != "new_checkpoint" and _promises(best[1])
    if _promises(mine[1]) and not (mine[1].takes == "new_checkpoint" and elsewhere):
        return mine
    promise = felt(best[1])
    if promise is not None and loss.ms is not None:  # whatever shortens a batch helps against a backlog
        may = loss.kind == "pace" or LEVELS.index(best[0].level) > LEVELS.index(mine[0].level)
        told = promise.told if may and promise.expected is None else _worth(best[1], promise)
        promise = promise if told >= ranking()["little"] * lost_ms else None
    looks = [offer for offer in own if offer[1].takes != "new_checkpoint"]
    return best if promise is not None else _best(looks) or best


def _best(offers: Sequence[_Offer]) -> _Offer | None:
    return min(offers, key=_preference, default=None)


def _may_be_first(finding: Finding, step: Advice, least_ms: float) -> bool:
    """Whether the step may stand first; one that loses the state only if it is expected to save `least_ms` a batch."""
    saves = step.takes != "new_checkpoint" or (
        _promises(step) and (step.stateless or not step.saves_ms or step.saves_ms.likely >= least_ms)
    )
    return step.legal != "no" and not step.untold_kinds and saves and not finding.is_rash(step)


def _treats_a_symptom(offer: _Offer, findings: Sequence[Finding], loss: Loss | None) -> bool:
    """Whether the step is for what the loss explains and promises nothing, where few batches hold back the cure."""
    finding, step = offer
    if loss is None or loss.rule is None or finding.explained_by != loss.rule or felt(step):
        return False
    own = ((one, each) for one in findings if one.rule == loss.rule for each in one.steps)
    return any(one.is_rash(each) and each.legal != "no" for one, each in own)


def _promises(step: Advice) -> bool:
    promise = felt(step)
    return promise is not None and (promise.likely >= 1 if step.takes == "new_checkpoint" else promise.high >= 1)


def _preference(offer: _Offer) -> tuple[int, bool, float, float, bool]:
    """Rank what saves something, then a new checkpoint, then what promises nothing, a look last; a yes before an if.

    Of what promises nothing, the steps of a finding that is high come first.
    """
    finding, step = offer
    promise = felt(step)
    if promise is None or promise.high < 1:
        return 2, finding.level != "high", float(step.legal != "yes"), float(step.experimental), step.looks
    tier = int(step.takes == "new_checkpoint")
    return tier, step.legal != "yes", -_worth(step, promise), -promise.high, step.experimental


def _worth(step: Advice, promise: Promise) -> float:
    """Return what the step is expected to save, less where it weakens a guarantee."""
    return promise.likely * (1.0 if step.semantics == "unchanged" else ranking()["weaker"])


def together(findings: Sequence[Finding], budget: Mapping[str, float]) -> Together | None:
    """Return the steps that Spark takes beside each other, and their common saving per batch.

    None where fewer than two save something. `budget`: milliseconds of a typical batch by phase.
    """
    chosen, own = list[_Offer](), [one for one in findings if one.explained_by is None]
    steps = [(one, step) for one in own for step in one.steps if step.legal == "yes" and step.saves_in]
    sure = [offer for offer in steps if offer[1].takes != "new_checkpoint" and _saves(offer[1]) >= 1]
    for finding, step in sorted(sure, key=lambda offer: -_saves(offer[1])):
        if not any(exclude(step, taken) for _, taken in chosen):
            chosen.append((finding, step))
    if len(chosen) < 2:
        return None
    names = tuple(StepName(rule=finding.rule, step=step.id) for finding, step in chosen)
    return Together(steps=names, saves_ms=in_common([step for _, step in chosen], budget).rounded())


def _saves(step: Advice) -> float:
    return (step.saves_ms and step.saves_ms.expected) or 0.0
