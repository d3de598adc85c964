"""The report on one run in one sentence or two."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from advisor.batches import Columns
from advisor.catalogue import ranking
from advisor.contract import Advice, BestStep, Calm, Finding, Loss, Passed
from advisor.facts.trigger import LATE_MS
from advisor.metrics import Estimate, measure, sure
from advisor.metrics.flow import idles, leaves_a_pause
from advisor.metrics.latency import told_by_events
from advisor.metrics.units import milliseconds
from advisor.report.judged import Judged
from advisor.report.loss import explain, of_loss_first, serves, wish
from advisor.report.steps import SOONER, felt, in_short
from advisor.report.unjudged import nothing_to_judge
from advisor.window import Window

MOST_CLOSEST = 2
NOTHING_TO_CHANGE = "This log shows nothing that needs a change."
NOTHING_FOUND = "No rule found anything to change."
MAY_BE_LATE = "If its trigger has an interval, batches overrun it: --set trigger_interval_ms=N shows by how much."
_TORN = "Partial: records of this log were torn or could not be read, and what they show is not known."
_MANY_UNKNOWN = 2  # facts that a sentence can name


def verdict(judged: Judged, best: BestStep | None, loss: Loss | None, calm: Calm | None) -> str:
    """Return the report on this run in one sentence or two; of a run that died first what it died of."""
    if calm is not None:
        offered = best is not None and _offer(judged, best)
        found = loss.says if loss and best is None and judged.judgement.findings else NOTHING_TO_CHANGE
        return f"{calm.says} {offered or ('' if calm.partial else found)}".rstrip()
    error = judged.window.facts.value("terminated_error")
    who = f"{judged.died:,} of {judged.runs:,} runs stopped" if judged.died > 1 else "The query stopped"
    died = f"{who} with an error: {str(error).rstrip('.;')}. " if error is not None else ""
    lost = f"{loss.says} " if loss else ""
    return f"{died}{lost}{_advice(judged, best, loss, bool(died))}".rstrip()


def calm(judged: Judged, loss: Loss | None, unopened: bool) -> Calm | None:
    """Return that the query keeps up, with its numbers; None where a rule found a fault or too little is known.

    A finding against which there is no step is no fault, unless it is high or grave.

    `unopened`: most of a long batch is addBatch, and nothing shows what it does. It is no clean bill where records of
    the log were torn.
    """
    found = _keeps_up(judged, loss, unopened)
    if found is None or not judged.window.facts.value("records_torn"):
        return found
    return Calm(says=f"{found.says} {_TORN}", closest=found.closest, partial=True)


def _keeps_up(judged: Judged, loss: Loss | None, unopened: bool) -> Calm | None:
    judgement, window = judged.judgement, judged.window
    if _found_a_fault(judged, loss) or judgement.suppressed or judged.state in ("dead", "restarting"):
        return None
    if (latency := told_by_events(window)) is not None:
        said = f"Records take {milliseconds(latency.p50)} (p50) and {milliseconds(latency.p99)} (p99) from end to end"
        return Calm(says=f"{said}, as their events say (rtmMetrics).", closest=closest(judgement.passed))
    late, slowest = measure(window, "falling_behind_share"), measure(window, "trigger_execution_ms", "p99")
    interval = window.facts.fixed_interval_ms
    no_rows, outlast = idles(window), _outlast(window.executed, interval and interval - LATE_MS).any()
    on_time = outlast or not window.facts.value("falling_behind")
    in_time = isinstance(late, Estimate) and late.safe <= 0 and on_time
    if not (in_time or no_rows):
        return None
    has_room = no_rows or isinstance(measure(window, "interval_used_share"), Estimate)
    enough = ranking()["fewest_batches"]
    few = len(window) < enough
    if loss is None or ((few or unopened) and not has_room):
        return None
    waits = f" On average a record waits {milliseconds(interval / 2)} for the trigger." if interval else ""
    if few:
        batches = "1 batch" if len(window) == 1 else f"{len(window)} batches"
        return Calm(says=f"No problem in {batches} ({enough} are needed to be sure).{waits}", closest=())
    p99 = f", p99 {milliseconds(slowest.safe)}" if isinstance(slowest, Estimate) else ""
    typical = milliseconds(sure(window, "trigger_execution_ms"))
    told = isinstance(measure(window, "backlog_ms"), Estimate) or not interval
    none = f"none of {len(window):,} {'leaves rows behind' if told else 'outlasts its trigger interval'}"
    if no_rows or _outlast(window.batches, interval).any():
        none = f"behind {int(leaves_a_pause(window).sum()):,} of {len(window):,} it waits for new rows"
    if (left := sure(window, "catch_up_ms")) > 0:
        none = f"what waits in its source is gone in {milliseconds(left)} at this pace"
    says = f"The query keeps up: a typical batch takes {typical}{p99}, and {none}."
    return Calm(says=says + waits, closest=closest(judgement.passed))


def _outlast(batches: Columns, interval: float | None) -> np.ndarray:
    """Return which batches take longer than the trigger's interval; none without one."""
    return batches["trigger_execution_ms"] > (interval or math.inf)


def _found_a_fault(judged: Judged, loss: Loss | None) -> bool:
    """Whether a rule found a fault: a loss that is a choice is none, nor what is less than a wait, unless it is grave.

    Nor is a wish of a general rule. Nor is what no step would mend, or by too little for a restart, and is not high, if
    the query waits for its interval or for rows, and nobody named a latency target.
    """
    rules, facts = judged.catalogue.rules, judged.window.facts
    chosen = loss if loss and wish(judged, loss.rule) else None
    wished = [one.rule for one in judged.judgement.findings if rules[one.rule].general and wish(judged, one.rule)]
    wished += [chosen.rule] if chosen and chosen.rule else []
    found = [one for one in judged.judgement.findings if one.rule not in wished]
    is_a_choice = chosen is not None and chosen.kind == "waiting"
    waits = facts.fixed_interval_ms is not None or idles(judged.window)
    in_time = waits and "latency_target_ms" not in facts
    stays = in_time and not any(
        one.level == "high" or is_worth(judged.window, step) for one in found for step in one.steps
    )
    return bool(found) and (not (is_a_choice or stays) or any(rules[one.rule].grave for one in found))


def is_worth(window: Window, step: Advice) -> bool:
    """Whether Spark accepts a step that saves enough of a record's latency for a restart, or nobody knows how much.

    A look is not worth it for a query that uses little of its interval.
    """
    latency, saves = measure(window, "record_latency_ms"), step.saves_latency_ms or step.saves_ms
    used = measure(window, "interval_used_share")
    if step.looks and isinstance(used, Estimate) and used.safe <= ranking()["little_used"]:
        return False
    if step.legal == "no" or saves is None or not isinstance(latency, Estimate):
        return step.legal != "no"
    return saves.told >= ranking()["worth_a_restart"] * latency.safe


def not_judged_yet(judged: Judged) -> str | None:
    """Return how many batches the rules need that wait for some more; None where none does, or there is no batch."""
    rules, present = judged.catalogue.rules, len(judged.window)
    needed = [rules[entry.rule].batches for entry in judged.judgement.skipped if entry.rule in rules]
    waiting = sorted(count for count in needed if count > present)
    if not waiting or not 0 < present < ranking()["fewest_batches"]:
        return None
    there = "there is 1" if present == 1 else f"there are {present}"
    wait = waiting.count(waiting[0])
    few = f"{waiting[0]} steady batches are needed, {there}"
    return f"{few} ({wait} {'rule waits' if wait == 1 else 'rules wait'} for that)"


def closest(passed: Sequence[Passed]) -> tuple[Passed, ...]:
    """Return the rules that passed with the smallest margin, the smallest first."""
    measured = [entry for entry in passed if entry.left is not None]
    return tuple(sorted(measured, key=lambda entry: entry.left or 0.0)[:MOST_CLOSEST])


def _advice(judged: Judged, best: BestStep | None, loss: Loss | None, died: bool) -> str:
    findings = of_loss_first(loss, (one for one in judged.judgement.findings if one.explained_by is None))
    window = judged.window
    if judged.fault is not None:
        return f"This run could not be judged, because of a fault in the advisor: {judged.fault}."
    if not findings:
        return "" if died else _nothing_found(judged)
    if best is None and not len(window):
        return nothing_to_judge(judged)
    if best is None:
        return f"{'' if loss and loss.rule else findings[0].title + '. '}{_without_a_step(judged, findings)}"
    if not len(window):
        problem = findings[0].says if died else f"{findings[0].title}."
        return f"{problem} {best.advice.do}{_condition(best.advice)}."
    rule = loss.rule if loss else None
    said = {rule, *(one.rule for one in explain(rule, judged.judgement.findings))}  # by the sentence of the loss
    told = _saving(best.advice, len(window)) or best.rule in said
    problem = "" if told else f"{best.title}. "  # a step without a number says too little by itself
    return f"{problem}{_offer(judged, best)}"


def _offer(judged: Judged, best: BestStep) -> str:
    """Return what to do and what it saves, if a wish stands before it."""
    wished, step = serves(judged, best), best.advice
    condition = f"If {wished}: " if wished else ""
    return f"{condition}{step.do}{_saving(step, len(judged.window))}{_condition(step)}."


def _saving(step: Advice, batches: int) -> str:
    promise = felt(step.rounded())
    if promise is None or promise.told < 1:
        return ""
    said = f": {in_short(promise, SOONER if step.saves_latency_ms else '{} less per batch')}"
    if batches >= ranking()["fewest_batches"]:
        return said
    return f"{said} (judged by {batches} steady {'batch' if batches == 1 else 'batches'} only)"


def _without_a_step(judged: Judged, findings: Sequence[Finding]) -> str:
    steps = [step for finding in findings for step in finding.steps if step.legal != "no"]
    if held := sorted({fact for step in steps for fact in step.untold_kinds}):
        return f"Which step helps depends on {' and '.join(held)}, not known for sure."
    sure = [step for finding in findings for step in finding.steps if step in steps and not finding.is_rash(step)]
    if sure:
        saving = _saving(sure[0], len(judged.window))
        known = f"{sure[0].do}{saving}{_condition(sure[0])}."
        return known if saving else "The steps that may help need a new checkpoint, and their gain is not known."
    if steps:
        return f"{steps[0].do} may help, but the batches that were read are too few to lose a state for."
    few = not_judged_yet(judged)
    return f"Not judged yet: {few}." if few else "No rule knows a step for this that Spark accepts."


def _condition(step: Advice) -> str:
    if step.legal == "yes":
        return ""
    if len(step.unknown) > _MANY_UNKNOWN:
        return ", once more is known of the query"
    if step.unknown:
        return f", once {' and '.join(step.unknown)} {'is' if len(step.unknown) == 1 else 'are'} known for sure"
    if step.takes == "new_checkpoint":
        return ", at the price of a new checkpoint"
    return f"; whether it fits is not known: {step.because}"


def may_be_late(window: Window) -> bool:
    """Whether long batches follow each other without a pause: an interval that they all overrun looks like none."""
    trigger = window.facts.get("trigger")
    inferred = trigger is not None and (trigger.value, trigger.origin) == ("unspecified", "inferred")
    return inferred and sure(window, "trigger_execution_ms") >= ranking()["likely_interval_ms"]


def _nothing_found(judged: Judged) -> str:
    window = judged.window
    if not len(window):
        return nothing_to_judge(judged)
    if window.facts.value("trigger") == "real_time":
        return f"{NOTHING_FOUND} In real-time mode a batch lasts as long as its trigger."
    silenced = ", ".join(entry.rule for entry in judged.judgement.suppressed)
    if not silenced and (few := not_judged_yet(judged)):
        return f"Not judged yet: {few}."
    late = f" {MAY_BE_LATE}" * may_be_late(window)
    return f"{NOTHING_FOUND}{late}{f' Silenced: {silenced}.' * bool(silenced)}"
