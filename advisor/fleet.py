"""Rank queries and changes over many runs, and say what could not be judged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from advisor.contract import (
    SCHEMA_VERSION,
    Advice,
    Finding,
    Fleet,
    FleetChange,
    FleetFinding,
    FleetQuery,
    FleetStep,
    Found,
    Input,
    NotJudged,
    Promise,
    QueryEntry,
    RunEntry,
    StepName,
    Wins,
)
from advisor.facts.versions import version_in_words
from advisor.vocabulary import LEVELS

HOUR_MS = 3_600_000


def summary(entry: QueryEntry) -> FleetQuery:
    """What the fleet's report needs of a run's entry, a brief one even; small, and made where the run is judged."""
    per_hour = batches_per_hour(entry)
    best = entry.best_step
    same = {name: getattr(entry, name) for name in RunEntry.__struct_fields__}
    same["spark_version"] = (
        entry.spark_version
        or entry.value("databricks_runtime")
        or version_in_words(entry.value("spark_version_at_least"), entry.value("spark_version_below"))
    )
    return FleetQuery(
        **same,
        platform=entry.value("platform"),
        batches_per_hour=per_hour,
        trigger_execution_ms=entry.metric("trigger_execution_ms").p50,
        best_step=StepName(rule=best.rule, step=best.step) if best else None,
        recoverable=_recoverable(best.advice.saves_ms, per_hour) if best else None,
        findings=tuple(_finding(finding, per_hour) for finding in entry.findings),
        judged=bool(entry.window.batches or entry.findings),
        skipped=entry.skipped,
        application=entry.value("application"),
        backlog_rows=entry.metric("backlog_rows").typical,
        behind=_is_behind(entry),
        stall=entry.stall.word if entry.stall else None,
    )


def _is_behind(entry: QueryEntry) -> bool:
    """Whether the query loses pace; or Spark logged a late batch, and the typical one is not known to be in time."""
    if entry.screen.loss is not None and entry.screen.loss.kind == "pace":
        return True
    batch, interval = entry.metric("trigger_execution_ms").p50, entry.value("trigger_interval_ms")
    return bool(entry.value("falling_behind")) and (batch is None or not interval or batch > interval)


def batches_per_hour(entry: QueryEntry) -> float | None:
    """How often the query runs a batch, from the typical interval of its judged batches; None when it is not known."""
    interval = entry.metric("interval_ms").typical
    return round(HOUR_MS / interval, 1) if interval and interval > 0 else None


def report(summaries: Iterable[FleetQuery], read: Input, *, version: str) -> Fleet:
    """The fleet's report, from `summary` of each run and the `input` of the whole reading.

    `queries`: the latest run of each query, those behind first, then the most recoverable. `recoverable`: what the step
    that saves most of each query would win. `changes`: steps, by what they would win over all queries. Milliseconds per
    hour are savings per batch times batches per hour; what is only bounded counts apart.
    """
    runs = list(summaries)
    queries = sorted(sorted(latest(runs), key=_age, reverse=True), key=_most_first)
    return Fleet(
        schema_version=SCHEMA_VERSION,
        advisor_version=version,
        input=read,
        runs=len(runs),
        recoverable=_sum(map(_most, queries)),
        queries=tuple(queries),
        changes=tuple(changes(queries)),
        not_judged=tuple(not_judged(queries)),
    )


def latest(runs: Iterable[FleetQuery]) -> list[FleetQuery]:
    """The newest run of each query; a run of which no query is known stands for itself."""
    newest: dict[str, FleetQuery] = {}
    for run in runs:
        key = run.id or run.run_id
        if key not in newest or _age(newest[key]) <= _age(run):
            newest[key] = run
    return list(newest.values())


def changes(queries: Iterable[FleetQuery]) -> list[FleetChange]:
    """Each step that would help, with how many queries and how much per hour over all of them, the most first.

    A step whose text differs by query, as an error's cure does, is another change.
    """
    offers: dict[tuple[str, str], list[tuple[FleetQuery, FleetStep]]] = defaultdict(list)
    for query in queries:
        for step in _offered(query):
            offers[step.step, step.do].append((query, step))
    found = [_change(step, members) for (step, _), members in offers.items()]
    return sorted(found, key=lambda change: (-change.recoverable.expected, -change.queries, change.step))


def not_judged(queries: Iterable[FleetQuery]) -> list[NotJudged]:
    """Why queries could not be judged at all, with how many and some of them, the most frequent first."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for query in queries:
        if not query.judged:
            reasons[query.verdict].append(query.label)
    ordered = sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
    return [NotJudged(reason=why, queries=len(names), examples=tuple(sorted(names)[:3])) for why, names in ordered]


def _finding(finding: Finding, per_hour: float | None) -> FleetFinding:
    same = {name: getattr(finding, name) for name in Found.__struct_fields__}
    return FleetFinding(
        **same, steps=tuple(_step(step, per_hour) for step in finding.steps if not finding.is_rash(step))
    )


def _step(step: Advice, per_hour: float | None) -> FleetStep:
    return FleetStep(
        step=step.id,
        do=step.do,
        legal=step.legal,
        takes=step.takes,
        change=step.change,
        recoverable=_recoverable(step.saves_ms, per_hour),
    )


def _recoverable(saves: Promise | None, per_hour: float | None) -> Wins | None:
    """Milliseconds per hour that a saving per batch comes to."""
    if saves is None or per_hour is None:
        return None
    return Wins(expected=round((saves.expected or 0.0) * per_hour, 1), at_most=round(saves.high * per_hour, 1))


def _offered(query: FleetQuery) -> list[FleetStep]:
    """Each step that Spark takes or may take for the query, once."""
    steps = [step for finding in query.findings for step in finding.steps if step.legal != "no"]
    return list({step.step: step for step in reversed(steps)}.values())


def _most(query: FleetQuery) -> Wins | None:
    """What the step that saves the query most wins; the best step may be another one, which mends a graver loss."""
    wins = [query.recoverable, *(step.recoverable for step in _offered(query))]
    return max(filter(None, wins), key=lambda each: (each.expected, each.at_most), default=None)


def _change(name: str, members: list[tuple[FleetQuery, FleetStep]]) -> FleetChange:
    step = members[0][1]
    ordered = sorted(members, key=lambda member: -(wins.expected if (wins := member[1].recoverable) else 0.0))
    return FleetChange(
        step=name,
        do=step.do,
        takes=step.takes,
        change=step.change,
        queries=len(members),
        legal=dict(Counter(member.legal for _, member in members)),
        recoverable=_sum(member.recoverable for _, member in members),
        most_for=tuple(query.label for query, _ in ordered[:3]),
    )


def _sum(parts: Iterable[Wins | None]) -> Wins:
    known = [part for part in parts if part]
    expected, most = sum(part.expected for part in known), sum(part.at_most for part in known)
    return Wins(expected=round(expected, 1), at_most=round(most, 1))


def _most_first(query: FleetQuery) -> tuple[bool, float, float, int, str, int]:
    wins = query.recoverable or Wins(expected=0.0, at_most=0.0)
    dead = 0 if query.state in ("dead", "restarting") else 1
    worst = max((LEVELS.index(finding.level) for finding in query.findings), default=-1)
    return not query.behind, -wins.expected, -wins.at_most, dead, query.label, -worst


def _age(run: FleetQuery) -> tuple[bool, str]:
    """For order in time: a run that died before its first batch is the newest of its query."""
    return run.last is None, run.last or ""
