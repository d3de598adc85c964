"""One run of a query as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from advisor.engine import Advice, Finding, Judgement
from advisor.facts import CONF, FACTS, Facts, Run
from advisor.metrics import METRICS, statistics
from advisor.metrics.words import milliseconds
from advisor.report.budget import budget, moment, worst
from advisor.report.change import change, trends
from advisor.window import Window

RESTARTING = 3  # runs of a query that died: it is being started again and again


@dataclass(frozen=True)
class Judged:
    """One run with everything that was found out about it; `before`: what the window is compared with."""

    run: Run
    runs: int
    window: Window
    before: Window | None
    since: str
    state: str
    judgement: Judgement
    notes: tuple[str, ...] = ()


def query(judged: Judged, metrics: Iterable[str] = METRICS) -> dict[str, Any]:
    """The entry of a run in the report (see the contract in README: `queries[]`), with these metrics."""
    window, facts = judged.window, judged.window.facts
    findings = judged.judgement.findings
    executed = window.executed
    return {
        "id": judged.run.id,
        "run_id": judged.run.run_id,
        "name": judged.run.name,
        "spark_version": facts.value("spark_version"),
        "state": judged.state,
        "terminated": {"error": facts.value("terminated_error")} if facts.get("terminated_error") else None,
        "runs": judged.runs,
        "batches": len(executed),
        "first": moment(executed["timestamp"].iloc[0]) if len(executed) else None,
        "last": moment(executed["timestamp"].iloc[-1]) if len(executed) else None,
        "window": _window(window),
        "verdict": verdict(judged),
        "best_step": best_step(findings),
        "changed": change(judged.before, window, judged.since) if judged.before is not None else None,
        "trend": trends(window),
        "facts": facts_told(facts),
        "conflicts": facts.conflicts,
        "metrics": {name: _clean(statistics(window, name)) for name in metrics},
        "budget": budget(window),
        "findings": [finding.to_dict() for finding in findings],
        "suppressed": [vars(silenced) for silenced in judged.judgement.suppressed],
        "skipped": [vars(skipped) for skipped in judged.judgement.skipped],
        "worst": worst(window),
        "limits": limits(judged),
    }


def _window(window: Window) -> dict[str, Any]:
    batches = window.batches
    return {
        "first": moment(batches["timestamp"].iloc[0]) if len(batches) else None,
        "last": moment(batches["timestamp"].iloc[-1]) if len(batches) else None,
        "batches": len(batches),
        "because": window.because,
    }


def facts_told(facts: Facts) -> dict[str, dict[str, Any]]:
    """Every fact that has a name, unknown ones too, and the configuration values that were seen."""
    seen = [name for name in facts if name.startswith(CONF)]
    told = {}
    for name in (*FACTS, *sorted(seen)):
        known = facts.get(name)
        told[name] = {"value": known.value if known else None, "from": known.source if known else None}
    return told


def _clean(numbers: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in numbers.items()}


def best_step(findings: Sequence[Finding]) -> dict[str, str] | None:
    """Of all steps that Spark takes, what saves a record most; a new checkpoint only where nothing else helps."""
    offers = [(finding, step) for finding in findings for step in finding.steps if step.legal != "no"]
    if not offers:
        return None
    finding, step = min(offers, key=lambda offer: _preference(offer[1]))
    return {"rule": finding.rule, "step": step.id}


def _preference(step: Advice) -> tuple[int, bool, bool, float, float]:
    """What saves something, then a new checkpoint, then what promises nothing; a plain yes before an if."""
    promise = step.saves_latency or step.saves
    if promise is None or promise.high < 1:
        return 2, step.legal != "yes", step.experimental, 0.0, 0.0
    tier = int(step.takes == "new_checkpoint")
    return tier, step.legal != "yes", step.experimental, -promise.likely, -promise.high


def verdict(judged: Judged) -> str:
    """The report on this run in one sentence; of a run that died first what it died of."""
    error = judged.window.facts.value("terminated_error")
    died = f"The query stopped with an error: {str(error).rstrip('.')}. " if error is not None else ""
    return f"{died}{_advice(judged, bool(died))}".rstrip()


def _advice(judged: Judged, died: bool) -> str:
    findings = [finding for finding in judged.judgement.findings if finding.explained_by is None]
    if not findings:
        return "" if died else _nothing_to_do(judged)
    best = best_step(judged.judgement.findings)
    if best is None:
        return f"{findings[0].title}. No setting that Spark takes helps this query."
    step = next(s for f in judged.judgement.findings if f.rule == best["rule"] for s in f.steps if s.id == best["step"])
    if not len(judged.window):
        return f"{findings[0].title}. {step.do}{_condition(step)}."
    promise = step.saves_latency or step.saves
    per = "record" if step.saves_latency else "batch"
    saving = f": about {milliseconds(promise.likely)} less per {per}" if promise and promise.likely >= 1 else ""
    return f"{step.do}{saving}{_condition(step)}."


def _nothing_to_do(judged: Judged) -> str:
    if not len(judged.window):
        return _nothing_to_judge(judged)
    if judged.window.facts.value("trigger") == "real_time":
        return (
            "Nothing to do: in real-time mode a batch lasts as long as its trigger, and no rule finds anything to gain."
        )
    return f"Nothing to do: {_largest_part(judged.window)}."


def _condition(step: Advice) -> str:
    if step.legal == "yes":
        return ""
    if step.unknown:
        return f", once {' and '.join(step.unknown)} {'is' if len(step.unknown) == 1 else 'are'} known for sure"
    return ", at the price of a new checkpoint" if step.takes == "new_checkpoint" else f", if {step.because}"


def _largest_part(window: Window) -> str:
    parts = budget(window)
    if not parts:
        return "no batch says where its time goes"
    phase = max(parts, key=lambda name: parts[name])
    whole = sum(parts.values())
    return (
        f"a typical batch takes {milliseconds(whole)}, "
        f"{parts[phase] / whole:.0%} of it in {phase}, and no rule finds anything to gain"
    )


def _nothing_to_judge(judged: Judged) -> str:
    executed = judged.window.executed
    if judged.window.facts.value("trigger") == "continuous":
        return "No data: continuous processing writes no progress events."
    if not len(executed):
        idle = judged.run.batches
        return f"Nothing to judge: {'idle, no batch yet' if idle else 'no progress event'}."
    if bool(executed["cold"].all()):
        return "Nothing to judge: only cold batches right after a start."
    return "Nothing to judge: no batch with rows after the start."


def limits(judged: Judged) -> list[str]:
    """What this report cannot know."""
    window, facts = judged.window, judged.window.facts
    said = []
    if len(window) == 1:
        said.append("One batch was judged: no statistic, no trend, and it may be an outlier.")
    if not window.operators.empty and facts.get("task_slots") is None:
        said.append("Task slots are not known, so wall times of state are intervals: --set task_slots=N.")
    if facts.value("slots_shared"):
        said.append("Other queries ran in the same application: task slots are an upper bound.")
    if facts.value("watermarked") and facts.value("output_mode") in (None, "append"):
        said.append("In append mode a result waits for its window and watermark; no setting named here changes that.")
    if facts.value("trigger") == "real_time":
        said.append("In real-time mode a trigger lasts as long as its interval: neither is a latency.")
    trigger = facts.get("trigger")
    if trigger is not None and trigger.source == "inferred":
        said.append(f"The trigger ({trigger.value}) was inferred from the batches' timestamps: --set trigger=...")
    return [*said, *judged.notes]


def state(run: Run, facts: Facts, later_runs: int, died: int) -> str:
    """running, stopped, restarting, dead or no_data, as far as the input tells."""
    if facts.get("terminated_error") is not None:
        return "restarting" if later_runs or died >= RESTARTING else "dead"
    if not run.batches:
        return "no_data"
    return "stopped" if later_runs or facts.value("conf:terminated") else "running"


def last_of(frame: pd.DataFrame) -> Any:
    """The newest timestamp of a table of batches."""
    return frame["timestamp"].max() if len(frame) else None
