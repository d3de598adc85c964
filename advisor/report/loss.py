"""What a query loses first, and what else is not well: findings, ranked by what their rules say they lose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from advisor.catalogue import Rule
from advisor.contract import BestStep, Finding, Loss, LossKind, Part
from advisor.metrics import METRICS, Estimate, label, measure, sure
from advisor.metrics.units import milliseconds, with_article
from advisor.report.judged import Judged
from advisor.report.phases import LEAST_PART, phase_of, typical_parts
from advisor.vocabulary import GRAVE
from advisor.window import Window

IN_GENERAL = 0.5
"""What counts of a loss that names a phase only: nobody can take all of addBatch away."""


class _Candidate(NamedTuple):
    """A finding or a phase that takes time; `counts`: the milliseconds by which it is ranked."""

    loss: Loss
    counts: float


def largest_loss(judged: Judged) -> Loss | None:
    """Return the gravest finding, else the finding or the phase that takes most time; None without a steady batch."""
    if not len(judged.window):
        return None
    rules = judged.catalogue.rules
    if gravest := next(iter(grave(judged.judgement.findings, rules)), None):
        rule = rules[gravest.rule]
        lost = lost_ms(rule, judged.window)
        ms = round(lost.safe, 1) if lost else None
        return Loss(kind=rule.grave or "pace", says=gravest.says, rule=rule.id, ms=ms)
    if judged.window.facts.value("trigger") == "real_time":  # a batch lasts as long as its trigger there
        return None
    found = list(_findings(judged))
    best = max([*found, *_phases(judged, found)], key=lambda one: one.counts, default=None)
    return best.loss if best else None


def grave(findings: Sequence[Finding], rules: Mapping[str, Rule]) -> list[Finding]:
    """Return the findings of a level above low whose rules are grave, the gravest first.

    Of two that explain each other the cause counts; where that one is only general, both do, and it comes later.
    """
    found = []
    for one in findings:
        rule, cause = rules.get(one.rule), rules.get(one.explained_by or "")
        if rule and rule.grave and one.level != "low" and not (cause and cause.grave and not cause.general):
            found.append((GRAVE.index(rule.grave), rule.general, one))
    return [one for *_, one in sorted(found, key=lambda ranked: ranked[:2])]


def troubles(judged: Judged, loss: Loss | None, best: BestStep | None) -> list[str]:
    """Return the sentences of the other findings: why to take the best step, what explains the loss, what is grave.

    The others follow as they are ranked. Beside a loss those that name a phase only say nothing new.
    """
    findings, rules = judged.judgement.findings, judged.catalogue.rules
    own = [one for one in findings if one.explained_by is None]
    if not len(judged.window) and judged.window.facts.value("terminated_error") is not None:
        own = own[1:]  # the verdict has the error, and what is gravest of it
    if loss is not None:
        asks = [one for one in findings if best and best.rule in (one.rule, _by_general(one, rules))]
        others = [*asks, *explain(loss.rule, findings), *grave(findings, rules), *own]
        own = [one for one in others if one.rule != loss.rule and not rules[one.rule].general]
    return list(dict.fromkeys(one.says for one in own))


def _by_general(finding: Finding, rules: Mapping[str, Rule]) -> str | None:
    """Return the general rule that explains this finding, whose own sentence says less; None where there is none."""
    cause = rules.get(finding.explained_by or "")
    return cause.id if cause and cause.general else None


def explain(rule: str | None, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that explain that of this rule: the first cause first."""
    by, chain = {one.rule: one for one in findings}, list[Finding]()
    found = by.get(rule or "")
    while found and found.explained_by and (found := by.get(found.explained_by)) and found not in chain:
        chain.append(found)
    return chain[::-1]


def lost_ms(rule: Rule, window: Window) -> Estimate | None:
    """Return the milliseconds of a batch or record that a finding of this rule takes; None if unknown."""
    if (name := rule.lost) is None:
        return None
    stat = rule.measure.stat if rule.measure and not rule.loses else None
    per_window = METRICS[name].per == "window"
    found = measure(window, name, None if per_window else "mean" if stat == "total" else stat)
    return found if isinstance(found, Estimate) and found.safe > 0 else None


def within_add_batch(judged: Judged) -> list[Part]:
    """Return what findings name of a typical addBatch, the largest first, with its share of addBatch."""
    window, whole = judged.window, sure(judged.window, "add_batch_ms")
    found: dict[str, Part] = {}
    for finding in judged.judgement.findings if whole else ():
        rule = judged.catalogue.rules[finding.rule]
        metric, ms = rule.lost or "add_batch_ms", lost_ms(rule, window)
        if metric == "add_batch_ms" or set(METRICS[metric].phases) != {"add_batch_ms"} or ms is None:
            continue
        share, most = (round(min(1.0, value / whole), 3) for value in (ms.safe, ms.high))
        if ms.safe >= LEAST_PART * whole:
            at_most = most if ms.value is None and most > share else None
            ms_told, name = round(min(ms.safe, whole), 3), label(metric)
            part = Part(kind="add_batch", ms=ms_told, share=share, share_at_most=at_most, name=name, rule=rule.id)
            found.setdefault(name, part)
    return sorted(found.values(), key=lambda part: -part.ms)


def _findings(judged: Judged) -> Iterator[_Candidate]:
    """Yield what each finding takes; one that another explains counts for that one."""
    rules, window = judged.catalogue.rules, judged.window
    lost = {one.rule: ms.safe for one in judged.judgement.findings if (ms := lost_ms(rules[one.rule], window))}
    counts = dict(lost)
    for one in judged.judgement.findings:
        if one.rule in lost and one.explained_by in lost:
            counts[one.explained_by] = max(counts[one.explained_by], counts.pop(one.rule))
    for one in judged.judgement.findings:
        if one.rule in counts:
            yield _candidate(one, rules[one.rule], lost[one.rule], counts[one.rule], judged)


def _candidate(finding: Finding, rule: Rule, ms: float, counts: float, judged: Judged) -> _Candidate:
    kind = _kind(rule.lost or "", judged)
    name = label(rule.lost or "") if kind == "add_batch" and not rule.general else None
    share = min(1.0, ms / _cycle_ms(judged.window))
    loss = Loss(kind=kind, says=finding.says, ms=round(ms, 1), share=round(share, 3), name=name, rule=finding.rule)
    return _Candidate(loss, counts * (IN_GENERAL if rule.general else 1.0))


def _kind(metric: str, judged: Judged) -> LossKind:
    """Return the phase in which a metric lies; `batches` where it lies in all, `waiting` where in none."""
    phases = METRICS[metric].phases
    return phase_of(phases, judged.catalogue.phases.phases) if phases else "waiting"


def _phases(judged: Judged, found: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Yield the phases of a typical batch for which no finding speaks."""
    window, phases = judged.window, judged.catalogue.phases
    batch = sure(window, "trigger_execution_ms")
    said = {one.kind: one for one in phases.phases}
    for part in typical_parts(window, phases.phases):
        named = max((one.counts for one in found if one.loss.kind == part.kind), default=0.0)
        if named >= phases.claimed_from * part.ms:
            continue
        phase = said[part.kind]  # type: ignore[index]
        words = phase.says.format(
            part=milliseconds(part.ms), whole=with_article(milliseconds(batch)), share=f"{100 * part.share:.0f} %"
        )
        share = round(min(1.0, part.ms / _cycle_ms(window)), 3)
        loss = Loss(kind=part.kind, says=words, ms=part.ms, share=share)
        yield _Candidate(loss, part.ms * (IN_GENERAL if phase.general else 1.0))


def _cycle_ms(window: Window) -> float:
    """Return the time from one batch to the next: the batch, or what its trigger or held-back rows make of it."""
    held = sure(window, "held_back_interval_ms") if sure(window, "held_back_wait_ms") else 0.0
    return max(sure(window, "trigger_execution_ms"), held, window.facts.fixed_interval_ms or 0.0, 1.0)
