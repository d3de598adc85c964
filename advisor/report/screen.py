"""What is shown first of a query."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from advisor.catalogue import ranking
from advisor.contract import (
    After,
    AlsoStep,
    BestStep,
    Brief,
    Calm,
    Capacity,
    Finding,
    Interval,
    Loss,
    Promise,
    Question,
    Refused,
    Screen,
    Target,
)
from advisor.engine.steps import may_help
from advisor.facts import FACTS
from advisor.metrics import Estimate, Missing, Quantiles, measure, measured, sure
from advisor.metrics.capacity import asked_load, load_factor, outage_minutes, outlasts
from advisor.metrics.flow import rows_taken
from advisor.metrics.latency import Mixture, latency_with_spikes, mixture, mixture_quantiles
from advisor.report.judged import Judged
from advisor.report.loss import goes_to, of_loss_first, serves, troubles, within_add_batch
from advisor.report.steps import felt, leaves_the_loss, on_the_way
from advisor.report.verdict import closest, may_be_late, not_judged_yet
from advisor.savings import sets
from advisor.savings.after import WAITING
from advisor.statistics import median
from advisor.window import Window

MOST_REFUSED = 2
_LEFT_OVER = ("limited_share", "waiting_batches")
"""Metrics of what a batch leaves in its source, where nobody counts how long it waits."""
_ASKED_FIRST = {"trigger_interval_ms": "trigger"}
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z(])")


def screen(
    judged: Judged, best: BestStep | None, loss: Loss | None, calm: Calm | None, aim: Target | None = None
) -> Screen:
    """Return the first screen of a run, from what was judged of it."""
    window, findings, phases = judged.window, judged.judgement.findings, judged.catalogue.phases.phases
    first, last = window.span
    return Screen(
        loss=loss,
        calm=calm,
        goes_to=tuple(goes_to(window, phases)),
        within_add_batch=tuple(within_add_batch(judged)),
        after=_after(window, best) if best else None,
        headroom=_headroom(window),
        span_ms=round((last - first).total_seconds() * 1000) if first and last else None,
        backlog_untold=_backlog_untold(window, loss, findings),
        unopened=is_unopened(window),
        may_be_late=may_be_late(window),
        troubles=tuple(troubles(judged, None if calm and best is None else loss, best)),
        closest=() if calm or findings else closest(judged.judgement.passed),
        not_judged_yet=None if calm or best else not_judged_yet(judged),
        loss_stays=not on_the_way(findings, aim, loss) and leaves_the_loss(judged, loss, best),
        do=Brief(
            risk=first_sentence(best.advice.costs),
            undo=first_sentence(best.advice.undo),
            check=first_sentence(best.advice.check),
        )
        if best
        else None,
        wish=serves(judged, best) if best else None,
        also=tuple(_also(findings, best, loss)),
        refused=tuple(_refused(findings, window)),
        unsure=_question(judged, best),
        capacity=capacity(window),
        target=aim,
    )


def _headroom(window: Window) -> float | None:
    used = measure(window, "interval_used_share")
    fixed = window.facts.value("trigger") == "processing_time"
    return round(max(0.0, 1 - used.safe), 3) if fixed and isinstance(used, Estimate) else None


def _backlog_untold(window: Window, loss: Loss | None, findings: Sequence[Finding]) -> bool:
    """Whether rows or files wait, or may wait, by what was found, and nothing shows how long."""
    if isinstance(measure(window, "backlog_ms"), Estimate):
        return False
    if sure(window, "furthest_behind_rows") >= median(rows_taken(window)) or (loss is not None and loss.kind == "pace"):
        return True
    limited = bool(sure(window, "files_of_each_batch"))  # a limit that nothing names may leave more
    return limited or any(finding.measure and finding.measure.metric in _LEFT_OVER for finding in findings)


def is_unopened(window: Window) -> bool:
    """Whether a typical addBatch is long and most of its batch, and no jobs of it were seen."""
    if window.facts.value("trigger") == "real_time":
        return False  # its tasks run for the whole interval
    limits = ranking()
    long = sure(window, "add_batch_ms") >= limits["unopened_ms"]
    most = sure(window, "add_batch_share") >= limits["unopened_share"]
    return long and most and ("jobs" not in window.batches or bool(np.isnan(window.batches["jobs"]).all()))


def _after(window: Window, best: BestStep) -> After | None:
    """The record latency after the best step; None where it promises nothing of it."""
    now, promise = measured(window, "record_latency_ms"), best.advice.saves_latency_ms
    if not isinstance(now, Quantiles):
        return None
    if best.advice.ends_slow_batches and best.advice.saves_ms is not None:
        return _with_fewer_spikes(window, now, best.advice.saves_ms)
    if promise is None or promise.high < ranking()["least_gain_ms"]:
        return None
    if best.advice.saves_of in WAITING and isinstance(mixed := mixture(window), Mixture):
        (left,) = mixture_quantiles(mixed.start - mixed.waited, mixed.width, mixed.rows, (0.5,))
        return After(p50=round(left, 1))
    left = now.p50 - promise.told
    if left < ranking()["least_left"] * now.p50:
        return None
    return After(p50=round(left, 1), at_best=promise.expected is None)


def _with_fewer_spikes(window: Window, now: Quantiles, promise: Promise) -> After | None:
    """The latency with as few slow batches as the promise leaves; None where that does not show in p99.

    A step that makes them ten times as seldom leaves a tenth, and one batch in a hundred may still make the p99.
    """
    excess = sure(window, "spike_excess_ms")
    if not excess:
        return None
    most, least = (latency_with_spikes(window, max(0.0, 1 - ms / excess)) for ms in (promise.high, promise.low))
    if not (isinstance(most, Quantiles) and isinstance(least, Quantiles)):
        return None
    if most.p99 > (1 - ranking()["least_of_p99"]) * now.p99:
        return None
    return After(
        p50=round(most.p50, 1),
        p99=round(most.p99, 1),
        p99_high=round(least.p99, 1),
        at_best=promise.expected is None,
        without_spikes=True,
    )


def first_sentence(words: str) -> str:
    """The first sentence."""
    return _SENTENCE.split(" ".join(words.split()), maxsplit=1)[0].rstrip(".")


def _also(findings: Sequence[Finding], best: BestStep | None, loss: Loss | None) -> Iterator[AlsoStep]:
    """Other steps that Spark takes and that are expected to help: cheap ones, then what helps most first.

    Without a best step the first that needs a new checkpoint is named in its place, one for the loss before others.
    """
    ordered = of_loss_first(loss, findings)
    steps = [step for finding in ordered for step in finding.steps if step.legal != "no" and not step.untold_kinds]
    first = best.step if best else next((step.id for step in steps if step.takes == "new_checkpoint"), None)
    good = ranking()["good_part"] * loss.ms if loss is not None and loss.ms else float("inf")
    least, found = ranking()["least_gain_ms"], {}
    for finding in reversed(findings):
        for step in finding.steps:
            promise = felt(step)
            if promise is None or min(promise.high, promise.told) < least:
                continue
            if step.legal == "no" or step.id == first or (best and sets(step) & sets(best.advice)):
                continue
            cheap = step.takes in ("nothing", "restart") and promise.likely >= good
            found[step.id] = AlsoStep(rule=finding.rule, step=step.id, cheap=cheap), step, promise.likely
    ranked = sorted(found.values(), key=lambda one: (not one[0].cheap, one[1].legal != "yes", -one[2]))
    yield from (also for also, *_ in ranked)


def _refused(findings: Iterable[Finding], window: Window) -> Iterator[Refused]:
    """Steps that people would try, and that are not for this query; those of another platform are no news."""
    taken = {step.id for finding in findings for step in finding.steps if step.legal != "no"}
    told: dict[str, Refused] = {}
    for finding in findings:
        for step in finding.steps:
            elsewhere = "platform" in step.against and window.facts.value("platform") != "databricks"
            if step.legal == "no" and step.id not in taken and not elsewhere and step.because:
                why = first_sentence(step.because.partition("; ")[0])
                told.setdefault(step.id, Refused(rule=finding.rule, step=step.id, do=step.do, because=why))
    yield from list(told.values())[:MOST_REFUSED]


def _question(judged: Judged, best: BestStep | None) -> Question | None:
    """The fact that the most rules and steps wait for, and that a person can give; a wish comes after all others.

    Rules without a step for this query ask for wishes only. Without a best step first what a step is made for: a
    platform, a kind of source.
    """
    findings, window, catalogue = judged.judgement.findings, judged.window, judged.catalogue.rules
    skipped, wishes = judged.judgement.skipped, {name for name, fact in FACTS.items() if not fact.origins}
    waiting = [catalogue[one.rule] for one in skipped if one.unknown]
    helps = {rule.id for rule in waiting if may_help(rule, window)}
    rules = [(fact, one.rule) for one in skipped for fact in one.unknown if one.rule in helps or fact in wishes]
    steps = [
        (fact, step.id) for finding in findings for step in finding.steps if step.legal == "if" for fact in step.unknown
    ]
    if window.facts.value("trigger") is None:  # what interval it has is asked of a trigger
        rules, steps = ([(_ASKED_FIRST.get(fact, fact), name) for fact, name in pairs] for pairs in (rules, steps))
    weight = Counter(name for name, _ in {*rules, *steps} if (of := FACTS.get(name)) and of.settable and of.asks)
    if not weight:
        return None
    held = set() if best else {fact for finding in findings for step in finding.steps for fact in step.untold_kinds}
    fact = min(
        weight, key=lambda name: (name not in held, not FACTS[name].origins, -weight[name], list(FACTS).index(name))
    )
    return Question(
        fact=fact,
        asks=FACTS[fact].asks,
        give=f"{fact}={FACTS[fact].usual or '|'.join(FACTS[fact].choices) or 'N'}",
        rules=tuple(dict.fromkeys(rule for name, rule in rules if name == fact)),
        steps=tuple(dict.fromkeys(step for name, step in steps if name == fact)),
    )


def capacity(window: Window) -> Capacity | None:
    """Return the rows a second that the query holds; None if that is unknown and nobody asked."""
    held, facts = measure(window, "capacity_per_second"), window.facts
    if isinstance(held, Missing):
        asked = facts.get("load_factor") or facts.get("outage_minutes")
        return Capacity(missing=held.reason) if asked else None
    drain, batch = measure(window, "outage_drain_ms"), measure(window, "batch_at_load_ms")
    factor = load_factor(window)
    return Capacity(
        low=_rounded(held.low),
        value=None if held.value is None else _rounded(held.value),
        high=_rounded(held.high) if math.isfinite(held.high) else None,
        outlasts=outlasts(window),
        coming=_rounded(sure(window, "rows_coming_per_second")),
        outage_minutes=outage_minutes(window),
        drain_ms=_drained(drain),
        load_factor=factor,
        asked=_rounded(asked_load(window)) if factor != 1 else None,
        asked_batch_ms=_rounded(batch.safe) if factor != 1 and isinstance(batch, Estimate) else None,
    )


def _drained(drain: Estimate | Missing) -> Interval | None:
    if isinstance(drain, Missing) or not math.isfinite(drain.high):
        return None
    return Interval(low=_rounded(drain.low), value=drain.value and _rounded(drain.value), high=_rounded(drain.high))


def _rounded(number: float) -> float:
    """Return three significant figures: more would be noise."""
    return float(f"{number:.3g}")
