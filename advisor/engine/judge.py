"""Judge one window by the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from advisor.catalogue import LEVELS, Catalogue, Level, Rule
from advisor.engine.conditions import Verdict, ask, ask_all, missing_because
from advisor.engine.findings import Advice, Finding, Judgement, Silenced, Skipped
from advisor.engine.levels import SURE_BATCHES, confidence, felt_level, felt_share, level_of, part_ms, spans
from advisor.engine.sentences import finding_says
from advisor.engine.steps import advice
from advisor.metrics import METRICS, Estimate, Missing, measure
from advisor.metrics.words import in_words
from advisor.window import Window


def judge(
    window: Window,
    catalogue: Catalogue,
    silenced: Iterable[Silenced] = (),
    levels: Mapping[str, Mapping[Level, float]] | None = None,
) -> Judgement:
    """What every rule says of this window. `levels` replaces a rule's own levels, by rule id."""
    quiet_by_wish = {silence.rule: silence for silence in silenced}
    verdicts = [
        judge_rule(rule, window, (levels or {}).get(rule.id))
        for rule in catalogue.rules.values()
        if rule.id not in quiet_by_wish
    ]
    findings = [verdict for verdict in verdicts if isinstance(verdict, Finding)]
    return Judgement(
        findings=tuple(ranked(folded(findings))),
        skipped=tuple(verdict for verdict in verdicts if isinstance(verdict, Skipped)),
        suppressed=tuple(quiet_by_wish.values()),
    )


def judge_rule(rule: Rule, window: Window, levels: Mapping[Level, float] | None = None) -> Finding | Skipped | None:
    """A finding, or why the rule could not be judged, or None: the rule is quiet."""
    already = [ask(line, window) for line in rule.unless]
    if any(answer.holds for answer in already):
        return None
    asked = ask_all(rule.requires, window)
    if asked.holds is False:
        return None
    evidence = _evidence(rule, window, levels or rule.levels)
    if evidence is None or isinstance(evidence, Skipped):
        return evidence
    if asked.holds is None:
        return Skipped(rule.id, "; ".join(asked.because))
    doubt = any(answer.holds is None for answer in already)
    return _finding(rule, window, evidence, asked, doubt)


def _evidence(
    rule: Rule, window: Window, levels: Mapping[Level, float]
) -> tuple[Level, Estimate | None] | Skipped | None:
    """The level and the value that it stands on."""
    if len(window) < rule.batches:
        few = "there is one" if len(window) == 1 else f"there are {len(window) or 'none'}"
        needs = "a steady batch" if rule.batches == 1 else f"{rule.batches} steady batches"
        return Skipped(rule.id, f"needs {needs}, {few}")
    if rule.measure is None:
        return _seen(rule, window)
    value = measure(window, rule.measure.metric, rule.measure.stat)
    if isinstance(value, Missing):
        return Skipped(rule.id, missing_because(value))
    level = level_of(value.safe, levels)
    if level is None and level_of(value.high, levels) is not None:
        words = in_words(value, METRICS[rule.measure.metric].unit)
        return Skipped(rule.id, f"{rule.measure.metric} is {words} (--set task_slots=... would tell)")
    return None if level is None else (level, value)


def _seen(rule: Rule, window: Window) -> tuple[Level, None] | Skipped | None:
    assert rule.seen is not None
    assert rule.level is not None
    known = window.facts.get(rule.seen.fact)
    if known is None:
        return Skipped(rule.id, f"{rule.seen.fact} is not known")
    return (rule.level, None) if known.value not in (None, False) else None


def _finding(
    rule: Rule, window: Window, evidence: tuple[Level, Estimate | None], asked: Verdict, doubt: bool
) -> Finding:
    level, value = evidence
    steps = advice(rule, window)
    felt = _felt(rule, window, steps)
    wide = value is not None and spans(value, rule.levels)
    return Finding(
        rule=rule.id,
        slug=rule.slug,
        title=rule.title,
        level=felt_level(level, felt),
        confidence=confidence(_weight(rule, window), rule.status == "experimental", wide, doubt),
        says=finding_says(rule, window),
        why=rule.why,
        measure=_measured(rule, value),
        evidence=tuple(_fact(name, window) for name in _facts(rule, asked)),
        explains=rule.explains,
        steps=steps,
        references=rule.references,
        felt=felt,
    )


def _weight(rule: Rule, window: Window) -> int:
    """Batches that stand behind a finding; a fact that was seen needs none."""
    return len(window) if rule.measure is not None else SURE_BATCHES["high"]


def _felt(rule: Rule, window: Window, steps: Iterable[Advice]) -> float | None:
    """The part of a record's wait that the rule speaks of: its own share, else what its best step would save."""
    own = part_ms(rule.measure.metric, rule.measure.stat, window) if rule.measure else None
    if own is not None:
        return felt_share(own, window)
    saved = [promise.high for step in steps if (promise := step.saves or step.saves_latency)]
    return felt_share(max(saved), window) if saved else None


def _measured(rule: Rule, value: Estimate | None) -> dict[str, object] | None:
    if rule.measure is None or value is None:
        return None
    shown: dict[str, object] = {"metric": rule.measure.metric, "stat": rule.measure.stat, "value": _short(value.safe)}
    if value.value is None:
        shown |= {"low": _short(value.low), "high": _short(value.high)}
    return shown


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _facts(rule: Rule, asked: Verdict) -> list[str]:
    names = [rule.seen.fact] if rule.seen else []
    names += [name for answer in asked.answers for name in answer.facts]
    return list(dict.fromkeys(names))


def _fact(name: str, window: Window) -> dict[str, object]:
    known = window.facts.get(name)
    return {"fact": name, "value": known.value if known else None, "from": known.source if known else None}


def folded(findings: list[Finding]) -> list[Finding]:
    """Findings that another one explains carry its id."""
    by = {explained: finding.rule for finding in findings for explained in finding.explains}
    return [replace(f, explained_by=by[f.rule]) if f.rule in by and by[f.rule] != f.rule else f for f in findings]


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Most important first: own findings before explained ones, then level, then what a record feels."""
    return sorted(
        findings,
        key=lambda f: (f.explained_by is not None, -LEVELS.index(f.level), -(f.felt or 0.0), f.rule),
    )
