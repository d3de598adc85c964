"""Judge one window by the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from advisor.catalogue import Catalogue, Rule
from advisor.contract import Advice, Evidence, Finding, Measured, Passed, Silenced, Skipped
from advisor.engine.conditions import Verdict, ask, ask_all, missing_because, would_decide
from advisor.engine.levels import SURE_BATCHES, confidence, felt_level, felt_share, level_of, part_ms, spans
from advisor.engine.quiet import NotApplicable, excluded, passed, shared, unmet
from advisor.engine.sentences import finding_says, sentence
from advisor.engine.steps import advice, inferred
from advisor.errors import fault
from advisor.facts import FACTS
from advisor.metrics import METRICS, Estimate, Missing, label, measure
from advisor.metrics.measure import untold
from advisor.metrics.units import in_words
from advisor.progress import FROM_UI
from advisor.vocabulary import LEVELS, Level
from advisor.window import Window

Said: TypeAlias = Passed | NotApplicable | Skipped
Outcome: TypeAlias = Finding | Said
MOST_KINDS: Final = 256
"""How many kinds of runs to keep answers for; a fleet has mostly few."""
_KEY: Final = msgspec.msgpack.Encoder(enc_hook=repr)


@dataclass(frozen=True)
class Judgement:
    """The verdicts of the catalogue on one window; findings with the most important first."""

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    suppressed: tuple[Silenced, ...] = ()
    passed: tuple[Passed, ...] = ()
    not_applicable: tuple[Skipped, ...] = ()


def judge(
    window: Window,
    catalogue: Catalogue,
    silenced: Iterable[Silenced] = (),
    levels: Mapping[str, Mapping[Level, float]] | None = None,
) -> Judgement:
    """Judge the window by every rule. `levels` replaces a rule's own levels, by rule id."""
    quiet_by_wish = {silence.rule: silence for silence in silenced}
    already, own_levels = _decided(window, catalogue), levels or {}
    verdicts: dict[type, list[Any]] = {kind: [] for kind in (Finding, Skipped, Passed, NotApplicable)}
    for rule in catalogue.rules.values():
        if rule.id not in quiet_by_wish:
            verdict = already.get(rule.id) or _guarded(rule, window, own_levels.get(rule.id))
            verdicts[type(verdict)].append(verdict)
    return Judgement(
        findings=tuple(ranked(folded(verdicts[Finding], catalogue))),
        skipped=tuple(verdicts[Skipped]),
        suppressed=tuple(quiet_by_wish.values()),
        passed=tuple(verdicts[Passed]),
        not_applicable=tuple(verdict.because for verdict in verdicts[NotApplicable]),
    )


def _decided(window: Window, catalogue: Catalogue) -> Mapping[str, Said]:
    """Return the verdicts, by rule id, that facts alone decide or that no batch of the run can decide.

    Runs with the same facts and the same visible parts share them, so each kind of run is judged once. Empty if a rule
    has a fault: then each run is judged.
    """
    try:
        facts = window.facts.each(catalogue.facts)
        batches = [min(len(part), catalogue.most_batches) for part in (window, window.cold or ())]
        kind, known = _KEY.encode((facts, batches, window.opened)), catalogue.memo  # all that such a rule asks of a run
        if kind not in known:
            if len(known) >= MOST_KINDS:
                known.clear()
            rules = [rule for rule in catalogue.rules.values() if _needs_no_number(rule, window)]
            said = {rule.id: _guarded(rule, window, None) for rule in rules}
            known[kind] = {rule: one for rule, one in said.items() if isinstance(one, Said)}
    except Exception:
        return {}
    found: Mapping[str, Said] = known[kind]
    return found


def _guarded(rule: Rule, window: Window, levels: Mapping[Level, float] | None) -> Outcome:
    """Return the rule's answer; a fault in the rule costs this rule, never the report."""
    try:
        verdict = judge_rule(rule, window, levels)
        return shared(verdict) if isinstance(verdict, Skipped | Passed) else verdict
    except Exception as error:
        return Skipped(rule.id, f"a fault in the advisor: {fault(error)}")


def judged_window(rule: Rule, window: Window) -> Window:
    """Return the batches that a rule looks at: a structural rule takes cold ones if there are no others."""
    return window.cold if rule.structural and window.cold is not None and len(window.cold) else window


def _needs_no_number(rule: Rule, window: Window) -> bool:
    """Return whether facts exclude the rule, or it needs more batches, or none of its metrics has a value."""
    window = judged_window(rule, window)
    if len(window) < rule.batches:
        return True
    asked = [line.metric for line in (*rule.unless, *rule.requires) if line.metric is not None]
    if rule.measure is not None:
        asked.append(rule.measure.metric)
    facts = [line for line in rule.requires if line.fact is not None]  # looked at before anything else
    excluded = all(line.fact is not None for line in rule.unless) and ask_all(facts, window).holds is False
    return excluded or all(untold(window, METRICS[name]) for name in asked)


def judge_rule(rule: Rule, window: Window, levels: Mapping[Level, float] | None = None) -> Outcome:
    """Return a finding, why the rule could not be judged, or why it is quiet: it passed, or it does not apply.

    A structural rule is judged by cold batches if there are no others; its steps then promise no milliseconds. Of
    fewer batches than the rule needs no number is asked: only facts can exclude it then.
    """
    judged, window, levels = window, judged_window(rule, window), levels or rule.levels
    few = len(window) < rule.batches
    unless, requires = (
        tuple(line for line in lines if line.fact is not None) if few else lines
        for lines in (rule.unless, rule.requires)
    )
    already = [ask(line, window).holds for line in unless]
    if True in already:
        return excluded(rule, unless[already.index(True)], window)
    asked = ask_all(requires, window)
    if asked.holds is False:
        return _only_inferred(rule, asked, window) or unmet(rule, window, levels)
    evidence = _too_few(rule, window) if few else _evidence(rule, window, levels)
    if evidence is None:
        return passed(rule, window, levels)
    if isinstance(evidence, Skipped):
        return evidence
    if asked.holds is None:
        return Skipped(rule.id, "; ".join(asked.because), tuple(asked.unknown))
    return _finding(rule, window, evidence, asked, None in already or bool(asked.inferred), advice(rule, judged))


def _too_few(rule: Rule, window: Window) -> Skipped:
    there = "there is one" if len(window) == 1 else f"there are {len(window) or 'none'}"
    needs = "a steady batch" if rule.batches == 1 else f"{rule.batches} steady batches"
    return Skipped(rule.id, f"needs {needs}, {there}")


def _only_inferred(rule: Rule, asked: Verdict, window: Window) -> Skipped | None:
    """Return that only inferred facts exclude a rule; else None. An interval that is overrun looks like none."""
    against = [answer for answer in asked.answers if answer.holds is False]
    if not all(answer.inferred for answer in against):
        return None
    names = list(dict.fromkeys(name for answer in against for name in answer.facts))
    return Skipped(rule.id, "; ".join(inferred(name, window) for name in names))


def _evidence(
    rule: Rule, window: Window, levels: Mapping[Level, float]
) -> tuple[Level, Estimate | None] | Skipped | None:
    """Return the level and the value behind it."""
    if rule.measure is None:
        return _seen(rule, window)
    value = measure(window, rule.measure.metric, rule.measure.stat)
    unknown = (value.fact,) if value.fact else ()  # would give this number, or narrow it
    if isinstance(value, Missing):
        return Skipped(rule.id, missing_because(value), unknown)
    level = level_of(value.safe, levels)
    if level is None and level_of(value.high, levels) is not None:
        words = in_words(value, METRICS[rule.measure.metric].unit)
        says = f"{label(rule.measure.metric)}: {words}{would_decide(value) or ': too wide to decide'}"
        return Skipped(rule.id, says, unknown)
    return None if level is None else (level, value)


def _seen(rule: Rule, window: Window) -> tuple[Level, None] | Skipped | None:
    assert rule.seen is not None
    assert rule.level is not None
    known = window.facts.get(rule.seen.fact)
    if known is None:
        of = FACTS[rule.seen.fact].meaning.partition(";")[0] if rule.seen.fact in FACTS else ""
        shown = f"nothing shows whether there is {of}" if of.startswith("a ") else "nothing that was read would show it"
        return Skipped(rule.id, shown)
    return (rule.level, None) if known.value not in (None, False) else None


def _finding(
    rule: Rule,
    window: Window,
    evidence: tuple[Level, Estimate | None],
    asked: Verdict,
    doubt: bool,
    steps: tuple[Advice, ...],
) -> Finding:
    level, value = evidence
    felt = _felt(rule, window, steps)
    wide = value is not None and spans(value, rule.levels)
    added = [sentence(one.says, window, rule) for one in rule.adds if ask_all(one.when, window).holds]
    return Finding(
        rule=rule.id,
        slug=rule.slug,
        title=rule.title,
        level=felt_level(level, felt),
        confidence=confidence(_weight(rule, window), rule.status == "experimental", wide, doubt),
        says=" ".join([finding_says(rule, window) if steps else _without_steps(rule, window), *added]),
        why=rule.why,
        measure=_measured(rule, value),
        evidence=tuple(_evidence_of(rule, asked, window)),
        explained_by=None,
        steps=steps,
        references=rule.references,
        felt_share=felt,
    )


def _without_steps(rule: Rule, window: Window) -> str:
    """Return the sentence for a query that no step concerns, where the rule has one; else its usual one."""
    fitting = (one.says for one in rule.without_steps if ask_all(one.when, window).holds)
    return sentence(says, window, rule) if (says := next(fitting, None)) else finding_says(rule, window)


def _weight(rule: Rule, window: Window) -> int:
    """Return how many batches a finding stands on; a seen fact needs none, partial records count as one.

    Those of a driver's pages lack the same parts by design, and are whole in what they show.
    """
    if rule.measure is None:
        return SURE_BATCHES["high"]
    return min(len(window), 1) if window.partial and FROM_UI not in window.lacks else len(window)


def _felt(rule: Rule, window: Window, steps: Iterable[Advice]) -> float | None:
    """Return the share of a record's wait that the finding takes: its own share, else what its best step would save."""
    own = part_ms(rule.measure.metric, rule.measure.stat, window) if rule.measure else None
    if own is not None:
        return felt_share(own.safe, window)
    saved = [promise.high for step in steps if (promise := step.saves_ms or step.saves_latency_ms)]
    return felt_share(max(saved), window) if saved else None


def _measured(rule: Rule, value: Estimate | None) -> Measured | None:
    if rule.measure is None or value is None:
        return None
    low, high = (_short(value.low), _short(value.high)) if value.value is None else (None, None)
    return Measured(metric=rule.measure.metric, stat=rule.measure.stat, value=_short(value.safe), low=low, high=high)


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _evidence_of(rule: Rule, asked: Verdict, window: Window) -> Iterator[Evidence]:
    names = [rule.seen.fact] if rule.seen else []
    names += [name for answer in asked.answers for name in answer.facts]
    for name in dict.fromkeys(names):
        known = window.facts.get(name)
        yield Evidence(fact=name, value=known.value if known else None, origin=known.origin if known else None)


def folded(findings: list[Finding], catalogue: Catalogue) -> list[Finding]:
    """Return the findings, each with the id of the one that explains it: of several of one with a cause, the first."""
    rules = catalogue.rules
    last_first = sorted(ranked(findings), key=lambda found: rules[found.rule].general)[::-1]
    by = {explained: found.rule for found in last_first for explained in rules[found.rule].explains}
    return [replace(f, explained_by=by[f.rule]) if f.rule in by and by[f.rule] != f.rule else f for f in findings]


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Return the most important first: own findings before explained ones, then by level and what a record feels."""
    return sorted(
        findings, key=lambda f: (f.explained_by is not None, -LEVELS.index(f.level), -(f.felt_share or 0.0), f.rule)
    )
