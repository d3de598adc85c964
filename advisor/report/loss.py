"""What a query loses first, what else is not well, and where all batch time goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from advisor.batches import lacks
from advisor.catalogue import Rule, ranking
from advisor.catalogue.rule import Phase
from advisor.contract import BestStep, Finding, Loss, LossKind, Part
from advisor.metrics import METRICS, Estimate, label, measure, sure
from advisor.metrics.backlog import NO_BACKLOG
from advisor.metrics.phases import hides_commit_log, summed
from advisor.metrics.slow_batches import Rhythm, rhythm
from advisor.metrics.units import milliseconds, with_article
from advisor.report.judged import Judged
from advisor.statistics import total
from advisor.vocabulary import GRAVE, LEVELS
from advisor.window import PHASES, Window

LEAST_PART = 0.02  # of all batch time: what takes less is left out
_SOONER = "records should arrive sooner than the target asks"


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
    return longest(judged)


def longest(judged: Judged, of_batches: bool = False) -> Loss | None:
    """Return the finding or the phase that takes most time, if asked only of the time of batches."""
    if judged.window.facts.value("trigger") == "real_time":  # a batch lasts as long as its trigger there
        return None
    found = [one for one in _findings(judged) if not of_batches or one.loss.kind != "waiting"]
    best = max([*found, *_phases(judged, found)], key=lambda one: one.counts, default=None)
    return _with_its_cause(best.loss, judged) if best else None


def _with_its_cause(loss: Loss, judged: Judged) -> Loss:
    """Return a loss that only names addBatch in the words of a finding with a cause, where there is one."""
    rules = judged.catalogue.rules
    if loss.kind != "add_batch" or (loss.rule and not rules[loss.rule].general):
        return loss
    for one in judged.judgement.findings:
        least = rules[one.rule].headline_from
        if least and LEVELS.index(one.level) >= LEVELS.index(least):
            return replace(loss, says=one.says, rule=one.rule)
    return loss


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


def wish(judged: Judged, rule: str | None) -> str | None:
    """Return the wish without which this rule's steps are a choice; None where there is none, or somebody said it."""
    found, known = judged.catalogue.rules.get(rule or ""), judged.window.facts.keys()
    choice = found.choice if found else None
    return choice.wish if choice and known.isdisjoint((choice.fact, f"{choice.fact}_at_least")) else None


def of_loss_first(loss: Loss | None, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, the one of the loss before all others."""
    return sorted(findings, key=lambda one: loss is None or one.rule != loss.rule)


def serves(judged: Judged, best: BestStep) -> str | None:
    """Return the wish that the best step serves: its rule's, or quicker records than the target, at a price."""
    excess, step = measure(judged.window, "latency_target_excess_ms"), best.advice
    reached = excess == NO_BACKLOG or (isinstance(excess, Estimate) and excess.safe <= 0)
    gives_up = step.takes == "new_checkpoint" or step.semantics != "unchanged"
    sooner = _SOONER if reached and gives_up and step.saves_latency_ms else None
    return wish(judged, best.rule) or sooner


def troubles(judged: Judged, loss: Loss | None, best: BestStep | None) -> list[str]:
    """Return the sentences of the other findings: why to take the best step, what explains the loss, what is grave.

    The others follow as they are ranked. Beside a loss those that name a phase only say nothing new,
    unless it takes longer than the loss, or much of the batch where rows or results are lost.
    """
    findings, rules = judged.judgement.findings, judged.catalogue.rules
    much = ranking()["little"] * sure(judged.window, "trigger_execution_ms")

    def is_larger(phase: Finding) -> bool:
        lost = lost_ms(rules[phase.rule], judged.window)
        return bool(loss and lost and lost.safe > (loss.ms or much) and phase.explained_by is None)

    own = [one for one in findings if one.explained_by is None]
    if not len(judged.window) and judged.window.facts.value("terminated_error") is not None:
        own = own[1:]  # the verdict has the error, and what is gravest of it
    if loss is not None:
        general = bool(best and rules[best.rule].general)  # whose own sentence says less than those it explains
        asks = [one for one in findings if best and best.rule in (one.rule, general and one.explained_by)]
        others = [*asks, *explain(loss.rule, findings), *grave(findings, rules), *own]
        own = [one for one in others if one.rule != loss.rule and (not rules[one.rule].general or is_larger(one))]
    told, again = dict[str, None](), set(rules[loss.rule].overlaps if loss and loss.rule else ())
    for one in sorted(own, key=lambda one: not rules[one.rule].is_asked_for):
        if one.rule not in again or (best and best.rule == one.rule):
            told[one.says] = None
            again.update(rules[one.rule].overlaps)
    return list(told)


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
    """Return what findings name of a typical addBatch, the largest first, with its share of addBatch.

    A part that does not fit beside the larger ones is in one of them: the commits of later waves are in the waves, too.
    """
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
            ms_told, name = round(min(ms.safe, whole), 3), _named(metric)
            part = Part(kind="add_batch", ms=ms_told, share=share, share_at_most=at_most, name=name, rule=rule.id)
            found.setdefault(name, part)
    parts, left = [], whole
    for part in sorted(found.values(), key=lambda part: -part.ms):
        if part.ms <= left:
            parts.append(part)
            left -= part.ms
    return parts


def _named(metric: str) -> str:
    """Return what to call the time that this metric measures, without how far the number may be relied on."""
    return label(metric).partition(",")[0]


def _findings(judged: Judged) -> Iterator[_Candidate]:
    """Yield what each finding takes, if it is worth a word; one that another explains counts for that one."""
    rules, window, findings = judged.catalogue.rules, judged.window, judged.judgement.findings
    takes = {one.rule: ms.safe for one in findings if (ms := lost_ms(rules[one.rule], window))}
    lost = {rule: ms for rule, ms in takes.items() if ms >= LEAST_PART * sure(window, "trigger_execution_ms")}
    general = ranking()["in_general"]
    counts = {rule: ms * (general if rules[rule].general else 1.0) for rule, ms in lost.items()}
    measured = [one for one in findings if one.rule in lost]
    for rule in lost:
        top = next((cause.rule for cause in explain(rule, measured)), rule)
        if top != rule:
            counts[top] = max(counts[top], counts.pop(rule))
    for one in measured:
        if one.rule in counts:
            yield _candidate(one, rules[one.rule], lost[one.rule], counts[one.rule], judged)


def _candidate(finding: Finding, rule: Rule, ms: float, counts: float, judged: Judged) -> _Candidate:
    phases = METRICS[rule.lost or ""].phases
    kind = phase_of(phases, judged.catalogue.phases.phases) if phases else "waiting"
    name = _named(rule.lost or "") if kind == "add_batch" and not rule.general else None
    share = min(1.0, ms / _cycle_ms(judged.window))
    loss = Loss(kind=kind, says=finding.says, ms=round(ms, 1), share=round(share, 3), name=name, rule=finding.rule)
    return _Candidate(loss, counts)


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
        ms, whole = milliseconds(part.ms), with_article(milliseconds(batch))
        words = phase.says.format(part=ms, whole=whole, share=f"{100 * part.share:.0f} %")
        if phase.adds and (does := window.facts.value("batch_does")):
            words += " " + phase.adds.format(batch_does=does)
        share = round(min(1.0, part.ms / _cycle_ms(window)), 3)
        loss = Loss(kind=part.kind, says=words, ms=part.ms, share=share)
        yield _Candidate(loss, part.ms * (ranking()["in_general"] if phase.general else 1.0))


def _cycle_ms(window: Window) -> float:
    """Return the time from one batch to the next: the batch, or what its trigger or held-back rows make of it."""
    held = sure(window, "held_back_interval_ms") if sure(window, "held_back_wait_ms") else 0.0
    return max(sure(window, "trigger_execution_ms"), held, window.facts.fixed_interval_ms or 0.0, 1.0)


def goes_to(window: Window, phases: Sequence[Phase]) -> list[Part]:
    """Return all batch time by where it goes: batches that are slow in a rhythm, and the phases of the others.

    Nothing of real-time mode, whose batches last as long as their trigger.
    """
    if not len(window) or window.facts.value("trigger") == "real_time":
        return []
    found, duration = rhythm(window), window.batches["trigger_execution_ms"]
    if isinstance(found, Rhythm):
        others, counted, count = ~found.slow, ~np.isnan(duration), len(window)
    else:
        others = counted = ~np.isnan(duration) & window.middle
        count = max(1, int(others.sum()))
    parts = {kind: total(ms[others]) for kind, ms in _by_phase(window, phases).items()}
    parts = _with_the_rest(parts, window, _in_no_phase(window, others))
    if isinstance(found, Rhythm):
        parts["batches"] = total(duration[found.slow])
    return _largest({kind: ms / count for kind, ms in parts.items()}, total(duration[counted]) / count)


def typical_parts(window: Window, phases: Sequence[Phase]) -> list[Part]:
    """Return the phases of a typical batch, the longest first."""
    inside = window.middle
    found = _by_phase(window, phases).items() if inside.any() else ()
    parts = {kind: float(ms[inside].mean()) for kind, ms in found}
    parts = _with_the_rest(parts, window, sure(window, "unaccounted_ms"))
    return _largest(parts, sure(window, "trigger_execution_ms"))


def phase_of(columns: Iterable[str], phases: Sequence[Phase]) -> LossKind:
    """Return the phase that shares most columns with these; `batches` where they are all phases of a batch."""
    there = set(columns)
    if there >= PHASES.keys():
        return "batches"
    return max(phases, key=lambda phase: len(there & set(phase.columns))).kind


def _by_phase(window: Window, phases: Sequence[Phase]) -> dict[LossKind, np.ndarray]:
    """Return the milliseconds of each phase in each batch; what only this Spark has is one of the others."""
    found: dict[LossKind, np.ndarray] = {one.kind: summed(window, one.columns) for one in phases if one.columns}
    found["other"] = found["other"] + np.nan_to_num(window.batches["other_phases_ms"])
    return found


def _in_no_phase(window: Window, counted: np.ndarray) -> float:
    """Return the time of these batches in no phase; nothing of those whose records leave phases out."""
    whole = counted & ~lacks(window.batches, "durationMs")
    named = summed(window, tuple(PHASES)) + window.batches["other_phases_ms"]
    return max(0.0, total((window.batches["trigger_execution_ms"] - named)[whole]))


def _with_the_rest(parts: Mapping[LossKind, float], window: Window, ms: float) -> dict[LossKind, float]:
    """Return the parts with the time in no phase, before Spark 3.4 mostly the commit log's."""
    rest: LossKind = "logs" if hides_commit_log(window) else "unaccounted"
    return {**parts, rest: parts.get(rest, 0.0) + ms}


def _largest(parts: Mapping[LossKind, float], whole: float) -> list[Part]:
    if not whole > 0:
        return []
    found = [Part(kind=kind, ms=round(ms, 1), share=round(ms / whole, 4)) for kind, ms in parts.items()]
    return sorted((part for part in found if part.share >= LEAST_PART), key=lambda part: -part.ms)
