"""One run of a query as the report tells it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from advisor.batches import instant, lacks
from advisor.catalogue import ranking
from advisor.contract import (
    Advice,
    BestStep,
    FactEntry,
    QueryEntry,
    Screen,
    Terminated,
    WindowEntry,
    WorstBatch,
    moment,
)
from advisor.facts import CONF, FACTS, Facts
from advisor.facts.evidence import Run
from advisor.facts.versions import MINORS, is_untried
from advisor.metrics import ALL, measured, statistics, sure
from advisor.metrics.latency import operators, waits_for_watermark, watermark_behind
from advisor.metrics.phases import budget
from advisor.metrics.units import milliseconds
from advisor.progress import FROM_UI, INPUT_RATE, PARTS
from advisor.redaction import hide
from advisor.report.addbatch import inside, slow_inside
from advisor.report.change import change, trends
from advisor.report.judged import Judged
from advisor.report.loss import largest_loss
from advisor.report.screen import is_unopened, screen
from advisor.report.steps import best_step, on_the_way, together, treated
from advisor.report.target import target
from advisor.report.unjudged import first_batch
from advisor.report.verdict import calm, is_worth, verdict
from advisor.statistics import row_quantiles
from advisor.vocabulary import State, at_once
from advisor.window import PHASES, Window, span

_UNKNOWN = FactEntry(value=None, origin=None)
_BRIEFLY = ("interval_ms", "trigger_execution_ms", "backlog_rows")
"""The metrics of a brief entry."""
WORST = 5
LEAST_EXCESS = 0.02  # of the batch: a phase above its median by less is no reason
RESTARTING = 3  # runs of a query that died: it is being started again and again


def query(judged: Judged, brief: bool = False) -> QueryEntry:
    """The entry of a run in the report; numbers as they are printed. A brief one tells what a fleet's report needs."""
    window, facts = judged.window, judged.window.facts
    findings = judged.judgement.findings
    first, last = span(window.executed) if judged.fault is None else (judged.run.first, judged.run.last)
    changed = change(judged.before, window, judged.since) if judged.before is not None else None
    loss = largest_loss(judged)
    aim = target(window, findings)
    batch_ms = sure(window, "trigger_execution_ms") or math.inf
    best = on_the_way(findings, aim, loss) or best_step(
        findings, treated(judged, loss), judged.catalogue.rules, batch_ms
    )
    quiet = calm(judged, loss, is_unopened(window))
    best = best if best and (quiet is None or aim or is_worth(window, best.advice)) else None
    nothing: dict[str, Any] = {"budget": {}, "worst": (), "limits": (), "screen": Screen(loss=loss)}
    return QueryEntry(
        id=judged.run.id,
        run_id=judged.run.run_id,
        name=judged.run.name,
        spark_version=facts.value("spark_version"),
        state=judged.state,
        terminated=Terminated(error=facts.value("terminated_error")) if facts.get("terminated_error") else None,
        runs=judged.runs,
        batches=len(window.executed),
        first=moment(first),
        last=moment(last),
        window=WindowEntry(
            first=moment(window.span[0]),
            last=moment(window.span[1]),
            batches=len(window),
            because=window.because + _left_out(window),
        ),
        verdict=verdict(judged, best, loss, quiet),
        best_step=msgspec.structs.replace(best, advice=best.advice.rounded()) if best else None,
        changed=changed,
        trend=trends(window),
        facts=facts_told(facts),
        conflicts=tuple(facts.conflicts),
        metrics=statistics(window, _BRIEFLY if brief else ALL),
        findings=tuple(finding.rounded() for finding in findings),
        suppressed=judged.judgement.suppressed,
        skipped=judged.judgement.skipped,
        passed=judged.judgement.passed,
        not_applicable=judged.judgement.not_applicable,
        file=hide(max(judged.run.ends, key=lambda name: judged.run.ends[name], default="")) or None,
        **(nothing if brief else _whole(judged, best, screen(judged, best, loss, quiet, aim))),
    )


def _whole(judged: Judged, best: BestStep | None, shown: Screen) -> dict[str, Any]:
    """What a whole entry has besides a brief one: what the metrics come to, and what is shown first."""
    parts = budget(judged.window)
    return {
        "budget": parts,
        "saved": saved(parts, best.advice) if best else {},
        "together": together(judged.judgement.findings, parts),
        "worst": worst(judged.window),
        "inside": inside(judged.window),
        "limits": tuple(limits(judged)),
        "screen": shown,
    }


def saved(parts: Mapping[str, float], step: Advice) -> dict[str, float]:
    """Milliseconds of these phases that the step takes away, shared out by their length; never more than it."""
    touched = {name: parts[name] for name in step.saves_in if name in parts}
    whole = sum(touched.values())
    if step.legal == "no" or step.saves_ms is None or not whole:
        return {}
    share = min(1.0, step.saves_ms.likely / whole)
    return {name: round(share * ms, 1) for name, ms in touched.items() if share * ms >= 0.05}


def worst(window: Window) -> tuple[WorstBatch, ...]:
    """The five longest steady batches, each with the phase that was most above its own median.

    Where none was above it, as in a run of few batches, that is the phase that took longest.
    """
    if not len(window):
        return ()
    duration = window.batches["trigger_execution_ms"]
    longest = np.argsort(-duration, kind="stable")[:WORST]  # NaN comes last
    longest = longest[~np.isnan(duration[longest])]
    phases = {name: window.batches[column] for column, name in PHASES.items()}
    rest = measured(window, "unaccounted_ms")
    if isinstance(rest, np.ndarray):
        phases["unaccounted"] = rest
    rows = np.array(list(phases.values()))
    took, usual = rows[:, longest], row_quantiles(rows, (0.5,)).T
    took, above = (np.where(np.isnan(took), -np.inf, ms) for ms in (took, took - usual))
    most = np.where(above.max(axis=0) < LEAST_EXCESS * duration[longest], took.argmax(axis=0), above.argmax(axis=0))
    named = [*phases]
    return tuple(
        _worst(window, at, named[phase], float(took[phase, nth]))
        for nth, (at, phase) in enumerate(zip(longest, most, strict=True))
    )


def _worst(window: Window, at: int, phase: str, ms: float) -> WorstBatch:
    number, when, rows, duration = (
        float(window.batches[name][at]) for name in ("batch_id", "timestamp", "input_rows", "trigger_execution_ms")
    )
    known = math.isfinite(ms)
    return WorstBatch(
        batch_id=None if math.isnan(number) else int(number),
        timestamp=moment(instant(when)),
        trigger_execution_ms=duration,
        input_rows=None if math.isnan(rows) else int(rows),
        phase=phase if known else "triggerExecution",
        phase_ms=ms if known else duration,
        inside=slow_inside(window, at) if known and phase == "addBatch" else (),
    )


def _left_out(window: Window) -> str:
    """Why executed batches were not judged: `; left out: 2 cold after a start, 23 without rows`."""
    cold, wrong = window.executed["cold"], window.executed["impossible"]
    empty = ~cold & (window.executed["input_rows"] == 0)
    last = window.executed["trigger_execution_ms"][cold][1:][-1:]  # the first always takes long
    overlong = (last > (window.facts.fixed_interval_ms or math.inf)).any()
    of_last = f" (the last took {milliseconds(last[0])}, longer than the interval)" if overlong else ""
    reasons = {
        f"cold after a start{of_last}": int(cold.sum()),
        "without rows": int(empty.sum()),
        "with impossible times": int((wrong & ~cold & ~empty).sum()),
    }
    rest = len(window.executed) - len(window) - sum(reasons.values())
    reasons["with damaged numbers"] = min(rest, int(window.executed["implausible"].sum()))
    reasons["earlier"] = rest - reasons["with damaged numbers"]
    said = ", ".join(f"{count:,} {why}" for why, count in reasons.items() if count > 0)
    return f"; left out: {said}" if said and len(window) else ""


def facts_told(facts: Facts) -> dict[str, FactEntry]:
    """Every fact that has a name, unknown ones too, and the configuration values that were seen."""
    names = [*FACTS, *sorted(name for name in facts if name.startswith(CONF))]
    known = zip(names, facts.each(names), strict=True)
    return {name: FactEntry(value=one.value, origin=one.origin) if one else _UNKNOWN for name, one in known}


def limits(judged: Judged) -> list[str]:
    """What this report cannot know."""
    window, facts = judged.window, judged.window.facts
    said = []
    if judged.judgement.findings and window.cold is not None and len(window.cold):
        said.append(first_batch(window))
    lacking = ", ".join(words for part, words in PARTS.items() if window.partial and part in window.lacks)
    if FROM_UI in window.lacks:
        said.append(f"Spark's UI does not show all of: {lacking}. The event log does (spark.eventLog.enabled=true).")
    elif lacking:
        said.append(f"Partial record: {lacking} missing or cut short; what is missing is not taken for none.")
    if len(window) == 1:
        said.append("One batch was judged: no statistic, no trend, and it may be an outlier.")
    if len(window) and len(window) < ranking()["fewest_batches"] and lacks(window.executed, INPUT_RATE)[0]:
        which = "This" if len(window) == 1 else "The first of these"
        said.append(f"{which} may be the first batch after a start, and cold: its record lacks {INPUT_RATE}.")
    if len(window.operators) and facts.get("task_slots") is None:
        said.append("Task slots are not known, so wall times of state are intervals: --set task_slots=N.")
    if facts.value("slots_shared"):
        said.append("Other queries ran in the same application: task slots are an upper bound.")
    if sure(window, "spikes_seen") == 2:
        said.append("Two slow batches show the rhythm, and two are few: a longer log makes sure of it.")
    said += _held_back(window)
    if sure(window, "backlog_wait_ms") > 0:
        said.append("Rows wait in the sources: the record latency is that of records that come now, not of those that "
                    "become visible now.")  # fmt: skip
    if facts.value("trigger") == "real_time":
        said.append("In real-time mode a trigger lasts as long as its interval: neither is a latency.")
    said += _inferred_trigger(facts)
    if is_untried(version := facts.value("spark_version")):
        said.append(f"Spark {version} is newer than {MINORS[-1]}, the last that was tried: its answers may be others.")
    return [*said, *judged.notes]


def _inferred_trigger(facts: Facts) -> list[str]:
    """What a trigger is inferred from that nothing names, and how to say which it is."""
    trigger, interval = facts.get("trigger"), facts.get("trigger_interval_ms")
    if trigger is None or trigger.origin != "inferred":
        return []
    if trigger.value == "unspecified":
        kinds = at_once(facts.value("trigger_one_of"))
        return [f"Each batch starts as soon as the one before ends: {kinds}. To say which: --set trigger=..."]
    if interval is None or interval.origin != "inferred":
        return []
    every = milliseconds(float(interval.value))
    return [f"A trigger every {every} is inferred from the time between batches. Another one: --set trigger=..."]


def _held_back(window: Window) -> list[str]:
    if waits_for_watermark(window):
        behind = watermark_behind(window)
        return [
            f"In append mode a window's result waits until the watermark{behind} has passed the window's end. "
            "A shorter batch brings it sooner; most of the wait is window and watermark."
        ]
    if window.facts.value("watermarked") and "symmetricHashJoin" in operators(window):
        return ["Of an outer join unmatched rows wait for the watermark; the latency here is that of matched rows."]
    return []


def state(run: Run, facts: Facts, later_runs: int, died: int, live: bool) -> State:
    """running, log_ends, stopped, restarting, dead or no_data; only a live source can tell that a query runs."""
    if facts.get("terminated_error") is not None:
        return "restarting" if later_runs or died >= RESTARTING else "dead"
    if not run.batches:
        return "no_data"
    if later_runs or facts.value("stopped"):
        return "stopped"
    told = facts.get("spark_version")
    answers = told is not None and told.origin == "ui"  # its driver's list would show its end
    return "running" if live or answers else "log_ends"
