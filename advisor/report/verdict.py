"""The report on one run in one sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from advisor.contract import Advice, BestStep, Calm, Finding, Loss
from advisor.metrics.numbers import any_above_zero, fact_number
from advisor.metrics.words import milliseconds
from advisor.report.first_step import felt
from advisor.report.judged import Judged
from advisor.report.pace import NOT_TOLD, pace, undivided
from advisor.report.unjudged import first_batch, idle, ran_batch, without_rows
from advisor.window import Window

FEWEST_BATCHES = 10  # for a number in the verdict to stand without its count
NOTHING_TO_CHANGE = "This log shows nothing that needs a change."
_FIRST_BATCH_RUNS = "Spark reports a batch once it has ended: the first one may still have run when this was written."
_MANY_UNKNOWN = 2  # facts that a sentence can name


def verdict(
    judged: Judged, best: BestStep | None, loss: Loss | None, others: Sequence[str], calm: Calm | None = None
) -> str:
    """The report on this run in one sentence or two; of a run that died first what it died of.

    `others`: what is not well besides the loss.
    """
    if calm is not None:
        return f"{calm.says} {NOTHING_TO_CHANGE}"
    error = judged.window.facts.value("terminated_error")
    who = f"{judged.died:,} of {judged.runs:,} runs stopped" if judged.died > 1 else "The query stopped"
    died = f"{who} with an error: {str(error).rstrip('.;')}. " if error is not None else ""
    lost = f"{loss.says} " if loss else ""
    return f"{died}{lost}{_advice(judged, best, loss, others, bool(died))}".rstrip()


def _advice(judged: Judged, best: BestStep | None, loss: Loss | None, others: Sequence[str], died: bool) -> str:
    findings = [finding for finding in judged.judgement.findings if finding.explained_by is None]
    if judged.fault is not None:
        return f"This run could not be judged, because of a fault in the advisor: {judged.fault}."
    if not findings:
        return "" if died else _nothing_found(judged, others)
    if best is None and not len(judged.window):
        return _nothing_to_judge(judged)
    if best is None:
        return f"{findings[0].title}. {_without_a_step(findings)}"
    step = best.advice
    if not len(judged.window):
        problem = findings[0].says if died else f"{findings[0].title}."
        return f"{problem} {step.do}{_condition(step)}."
    saving = _saving(step, len(judged.window))
    told = saving or _told_by(loss, best, judged.judgement.findings)
    problem = "" if told else f"{best.title}. "  # a step without a number says too little by itself
    return f"{problem}{step.do}{saving}{_condition(step)}."


def _told_by(loss: Loss | None, best: BestStep, findings: Sequence[Finding]) -> bool:
    """Whether the sentence of the loss already says what the step's rule found."""
    if loss is None:
        return False
    explains = {finding.explained_by for finding in findings if loss.rule and finding.rule == loss.rule}
    of_spikes = loss.kind in ("spikes", "slow_batches") and best.advice.ends_slow_batches
    return of_spikes or loss.rule == best.rule or best.rule in explains


def _saving(step: Advice, batches: int) -> str:
    promise = felt(step.rounded())
    if promise is None or promise.likely < 1:
        return ""
    per = "record" if step.saves_latency_ms else "batch"
    few = f" (judged by {batches} steady {'batch' if batches == 1 else 'batches'} only)"
    return f": about {milliseconds(promise.likely)} less per {per}{few if batches < FEWEST_BATCHES else ''}"


def _without_a_step(findings: Sequence[Finding]) -> str:
    steps = [step for finding in findings for step in finding.steps if step.legal != "no"]
    if held := sorted({fact for step in steps for fact in step.untold_kinds}):
        return f"Which step helps depends on {' and '.join(held)}, not known for sure."
    if steps:
        return "The steps that may help need a new checkpoint, and their gain is not known."
    return "No rule knows a step for this that Spark accepts."


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


def _nothing_found(judged: Judged, others: Sequence[str]) -> str:
    if not len(judged.window):
        return _nothing_to_judge(judged)
    if judged.window.facts.value("trigger") == "real_time":
        return "No rule knows a change that would help. In real-time mode a batch lasts as long as its trigger."
    if undivided(judged.window):
        return f"{' '.join(others) or pace(judged.window)}{f' {NOT_TOLD}' * bool(others)}"
    if others:
        silenced = ", ".join(entry.rule for entry in judged.judgement.suppressed)
        hidden = f" (silenced: {silenced})" if silenced else ""
        return f"{' '.join(others)} No rule knows a step for this{hidden}."
    return f"No rule knows a change that would help{_of_the_interval(judged.window)}."


def _of_the_interval(window: Window) -> str:
    interval = fact_number(window, "trigger_interval_ms")
    return f" within the {milliseconds(interval)} between two triggers" if interval else ""


def _nothing_to_judge(judged: Judged) -> str:
    executed = judged.window.executed
    if judged.window.facts.value("trigger") == "continuous":
        return "No data: continuous processing writes no progress events."
    if not len(executed) and judged.since == "asked" and judged.run.batches:
        return "Nothing to judge: no batch in the time asked for."
    if not len(executed):
        if not judged.run.batches or judged.idle is None or not len(judged.idle):
            return f"Nothing to judge: no progress event. {_FIRST_BATCH_RUNS}"
        quiet = "" if ran_batch(judged.idle.rows).any() else "idle, "
        return f"Nothing to judge: {quiet}no whole record of a batch. {idle(judged.idle)}"
    return _cold_or_without_rows(judged)


def _cold_or_without_rows(judged: Judged) -> str:
    """The first batch after a start, taken apart, and one without rows where nothing else came behind it."""
    executed = judged.window.executed
    if executed["cold"].all():
        quiet = f" {idle(judged.idle)}" if judged.idle is not None and len(judged.idle) else ""
        return f"{first_batch(judged.window)}{quiet}"
    later = executed["input_rows"][~executed["cold"]]
    if executed["cold"].any() and not executed["impossible"].any() and (later == 0).all():
        return f"{first_batch(judged.window)} {without_rows(judged.window)}"
    return f"Nothing to judge: {_why_none_is_steady(judged.window)}"


def _why_none_is_steady(window: Window) -> str:
    executed, none = window.executed, "no batch with rows after the start."
    if executed["impossible"].any():
        return "the times of these batches contradict each other, so they cannot be right."
    if any_above_zero(executed["input_rows"]) or np.isnan(executed["trigger_execution_ms"][-1]):
        return none
    return f"{none} {without_rows(window)}"
