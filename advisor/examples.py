"""Run a rule's own examples: a few numbers become progress as Spark writes it, and the engine judges it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa

from advisor.batches import Inside, RunBatches, build
from advisor.catalogue import Example, Rule
from advisor.catalogue.example import Every, SourceShort
from advisor.catalogue.traces import done_besides
from advisor.contract import Passed
from advisor.engine import Finding, Skipped, judge_rule
from advisor.engine.conditions import ask, ask_all
from advisor.engine.judge import Outcome
from advisor.facts import Facts, settle
from advisor.facts.inspection import computed
from advisor.metrics import METRICS, Missing, measure
from advisor.metrics.operators import CACHE_COUNTERS
from advisor.metrics.units import in_words
from advisor.metrics.units import number as in_unit
from advisor.progress import Broken, decode
from advisor.stages import BATCH_PARTS, STAGES
from advisor.window import Window, run_window

START = datetime(2026, 1, 5, 3, tzinfo=timezone.utc)
PAUSE_MS = 5  # from the end of a batch to the next start, where the example gives no interval
JITTER = 0.02  # durations vary by this much either way, so that statistics have something to do
ROWS = 100
_SIZES = ("stateOnCurrentVersionSizeBytes", "rocksdbTotalBytesRead")
_QUERY, _RUN = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"


def run(rule: Rule) -> list[str]:
    """What the engine answers otherwise than the rule's examples expect, one line each; empty when all is well."""
    return [f"{rule.id}, {example.name}: {wrong}" for example in rule.examples for wrong in failures(rule, example)]


def failures(rule: Rule, example: Example) -> list[str]:
    """The same for one example."""
    try:
        judged = window(example)
    except (ArithmeticError, LookupError, TypeError, ValueError, Broken) as error:
        return [f"no batches can be made of it: {' '.join(str(error).split())}; does Spark write such numbers?"]
    return list(_differences(rule, example, judged, judge_rule(rule, judged)))


def window(example: Example) -> Window:
    """The example's steady batches, its facts taken as given by the user."""
    judged, short = _window(example), example.batches
    if not short.before:
        return judged
    before = short.model_copy(update={"row": short.row | short.before})
    return replace(judged, earlier=_window(example.model_copy(update={"batches": before})))


def _window(example: Example) -> Window:
    events = progress(example)
    decoded = [decode(json.dumps(event).encode()) for event in events]
    table = build(decoded, range(len(events)), "example", "example")
    batches = RunBatches(table, inside(example, table["batch_id"].to_pylist()))[_RUN] if events else table
    judged = run_window(batches, _without(settle([], {}, computed(batches), user=example.facts), example.unknown))
    return judged.with_facts(judged.facts.having(**done_besides(judged)))


def _without(facts: Facts, unknown: Iterable[str]) -> Facts:
    """The facts without these, and without what narrows them down."""
    hidden = {f"{name}{part}" for name in unknown for part in ("", "_one_of", "_at_least", "_below")}
    return Facts({name: known for name, known in facts.items() if name not in hidden}, facts.conflicts)


def inside(example: Example, batch_ids: Iterable[int]) -> Inside:
    """What the example shows of the jobs of these batches."""
    short, key = example.batches, {"id": _QUERY, "run_id": _RUN}
    parts, stages = [], []
    for number in batch_ids if short.parts or short.stages else ():
        other, batch = _other(example, number - short.batch_id), {**key, "batch_id": number}
        shown = other.stages if other and other.stages else short.stages
        jobs = {stage.get("job", at) for at, stage in enumerate(shown)}
        tasks = {"tasks": short.tasks_growth * (number - short.batch_id) + 1} if short.tasks_growth else {}
        parts.append({**batch, "jobs": max(1, len(jobs))} | short.parts | tasks | (other.parts if other else {}))
        stages += [{**batch, "job": at, "stage": at, "attempt": 0, **stage} for at, stage in enumerate(shown)]
    return Inside(pa.Table.from_pylist(parts, BATCH_PARTS), pa.Table.from_pylist(stages, STAGES))


def _other(example: Example, number: int) -> Every | None:
    """What this batch shows instead, if it is one of the nth."""
    every = example.batches.every
    return every if every and number % every.nth == every.nth - 1 else None


def progress(example: Example) -> list[dict[str, Any]]:
    """Progress events as Spark writes them; the same ones every time."""
    short, chance = example.batches, random.Random(example.name)
    events, at, gap = [], 0.0, _interval(example, short.row)
    for number in range(short.count + len(short.missing_ids)):
        row = _longer(short.row, short.growth, number)
        if other := _other(example, number):
            row |= other.row
        row |= short.first if not number else {}
        scale = 1.0 if short.count == 1 or (short.first and not number) else 1 + chance.uniform(-JITTER, JITTER)
        if short.batch_id + number not in short.missing_ids:
            events.append(_event(example, number, row, scale) | _timing(example, row, at, gap))
        gap = _interval(example, row, scale) + chance.choice((-1, 0, 1))
        gap = max(gap, short.first.get("triggerExecution", 0) if not number else 0)
        at += gap
    return events


def _longer(row: Mapping[str, float], growth: Mapping[str, float], number: int) -> dict[str, float]:
    """The row after so many batches that each were longer than the one before."""
    phases = sum(ms for name, ms in growth.items() if name != "numInputRows")
    grown = {**growth, "triggerExecution": phases} if phases else growth
    return {**row, **{name: row.get(name, 0) + number * by for name, by in grown.items()}}


def _interval(example: Example, row: Mapping[str, float], scale: float = 1.0) -> float:
    return example.batches.interval_ms or round(row.get("triggerExecution", 0) * scale) + PAUSE_MS


def _event(example: Example, number: int, row: Mapping[str, float], scale: float) -> dict[str, Any]:
    short = example.batches
    event: dict[str, Any] = {
        "id": _QUERY,
        "runId": _RUN,
        "name": "example",
        "batchId": short.batch_id + number,
        "durationMs": {name: round(ms * scale) for name, ms in row.items() if name != "numInputRows"},
        "stateOperators": [
            _told("", operator, scale, number)
            | _grown(operator, short.state_growth * number, short.state_bytes_growth * number)
            for operator in short.operators
        ],
        "sources": list(_sources(example, number, round(row.get("numInputRows", ROWS)))),
    }
    if short.event_time:
        later = timedelta(milliseconds=short.event_time_growth_ms * number)
        event["eventTime"] = dict(short.event_time)
        if later:
            newest = datetime.strptime(short.event_time["max"], "%Y-%m-%dT%H:%M:%S.%fZ")
            event["eventTime"]["max"] = _written(newest + later)
    return event | ({"sink": {"description": short.sink, "numOutputRows": -1}} if short.sink else {})


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _timing(example: Example, row: Mapping[str, float], at: float, gap: float) -> dict[str, Any]:
    """When the batch starts and its rates: inputRowsPerSecond is rows over the time since the start before."""
    rows = round(row.get("numInputRows", ROWS))
    if example.batches.rows_follow_batch:
        rows = round(rows * gap / _interval(example, example.batches.row))
    return {
        "timestamp": _written(START + timedelta(milliseconds=at)),
        "numInputRows": rows,
        "inputRowsPerSecond": rows / gap * 1000,
        "processedRowsPerSecond": rows / max(row.get("triggerExecution", 1), 1) * 1000,
    }


def _grown(operator: dict[str, Any], rows: int, size: int) -> dict[str, Any]:
    more = {"numRowsTotal": operator["numRowsTotal"] + rows} if rows else {}
    if rows and (removals := operator.get("allRemovalsTimeMs")):
        more["allRemovalsTimeMs"] = round(removals * (1 + rows / max(1, operator["numRowsTotal"])))
    told = operator.get("customMetrics", {})
    larger = {name: told[name] + size for name in _SIZES if name in told}
    return more | ({"customMetrics": told | larger} if size else {})


def _told(name: str, value: Any, scale: float, number: int) -> Any:
    """An operator, or a part of it, its times scaled as the batch's own; counts of the state's cache grow by batch."""
    if isinstance(value, dict):
        return {inner: _told(inner, of, scale, number) for inner, of in value.items()}
    if f"custom:{name}" in CACHE_COUNTERS:
        return value * number
    return round(value * scale) if name.endswith(("Ms", "Latency")) else value


def _sources(example: Example, number: int, rows: int) -> Iterator[dict[str, Any]]:
    for source in example.batches.sources:
        step = rows if source.offsets is None else source.offsets
        start, end = ({"events": _split(step * (number + more), source)} for more in (0, 1))
        made: dict[str, Any] = {"description": source.description, "numInputRows": rows}
        if source.description.startswith("Kafka"):
            made |= {"startOffset": start, "endOffset": end}
        if source.backlog is not None:
            waiting = source.backlog + number * source.backlog_growth
            made["latestOffset"] = {"events": _split(step * (number + 1) + waiting, source)}
        if source.files_waiting is not None:
            made["metrics"] = {"numFilesOutstanding": str(source.files_waiting)}
        yield made


def _split(total: int, source: SourceShort) -> dict[str, int]:
    """Offsets of the partitions, that many records in turn."""
    of_one, many = int(total * source.in_one), source.partitions
    return {str(n): of_one * (n == 0) + (total - of_one + many - 1 - n) // many for n in range(many)}


def _differences(rule: Rule, example: Example, judged: Window, answer: Outcome) -> Iterator[str]:
    expected = example.expect
    verdict = "fires" if isinstance(answer, Finding) else "skipped" if isinstance(answer, Skipped) else "quiet"
    if verdict != expected.verdict:
        yield f"expected {expected.verdict}, got {verdict}, because {_decided(rule, judged, answer)}"
    elif isinstance(answer, Skipped) and (expected.because or "") not in answer.reason:
        yield f"skipped because '{answer.reason}', which does not name '{expected.because}'"
    elif isinstance(answer, Finding):
        yield from _in_finding(rule, example, judged, answer)


def _decided(rule: Rule, judged: Window, answer: Outcome) -> str:
    """What the answer hangs on: the reason, the condition that keeps the rule quiet, or the number it fires by."""
    if isinstance(answer, Skipped):
        return answer.reason + _too_long(judged)
    if not isinstance(answer, Finding):
        return answer.margin if isinstance(answer, Passed) else answer.because.reason
    return f"{_number(rule, judged)}, and nothing that it requires is unknown or fails"


def _too_long(judged: Window) -> str:
    """That the example's phases are longer than its batch, so that no batch counts; else empty."""
    if len(judged) or not judged.executed["impossible"].any():
        return ""
    return ": the phases of `row` together are longer than its triggerExecution"


def _number(rule: Rule, judged: Window) -> str:
    """The number that the rule stands on, beside its levels."""
    if rule.measure is None:
        return f"{rule.seen.fact if rule.seen else 'it'} was seen"
    value, unit = measure(judged, rule.measure.metric, rule.measure.stat), METRICS[rule.measure.metric].unit
    said = value.reason if isinstance(value, Missing) else in_words(value, unit)
    word = "below" if rule.falling else "from"
    levels = ", ".join(f"{level} {word} {in_unit(limit, unit)}" for level, limit in rule.levels.items())
    return f"{rule.measure.metric} is {said} ({levels})"


def _in_finding(rule: Rule, example: Example, judged: Window, finding: Finding) -> Iterator[str]:
    expected = example.expect
    if expected.level not in (None, finding.level):
        felt = "" if finding.felt_share is None else f"; it takes {finding.felt_share:.0%} of what a record waits"
        yield f"expected level {expected.level}, got {finding.level}, because {_number(rule, judged)}{felt}"
    if expected.confidence not in (None, finding.confidence):
        because = f"{len(judged)} steady batches, the rule is {rule.status}"
        yield f"expected confidence {expected.confidence}, got {finding.confidence}, because: {because}"
    legal = {step.id: step for step in finding.steps}
    for step, answer in expected.steps.items():
        if step not in legal:
            yield f"expected the step {step} ({answer}), it is not shown, because {_hidden(rule, step, judged)}"
        elif legal[step].legal != answer:
            because = legal[step].because or "all that it asks holds"
            yield f"expected {answer} for the step {step}, got {legal[step].legal}, because {because}"
    yield from (f"the step {step} is shown, all of its 'when' may hold" for step in expected.not_steps if step in legal)


def _hidden(rule: Rule, step_id: str, judged: Window) -> str:
    """The condition by which a step is not meant for the query."""
    step = next(step for step in rule.steps if step.id == step_id)
    held = [f"unless: {line.subject} {line.operator} {line.operand}" for line in step.unless if ask(line, judged).holds]
    return "; ".join([*held, *ask_all(step.when, judged).because]) or "another step is"
