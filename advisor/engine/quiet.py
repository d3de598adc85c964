"""Why a rule is quiet: it passed, and by how much, or it does not apply to this query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from advisor.catalogue import Condition, Rule
from advisor.contract import Level, Passed
from advisor.engine.conditions import ask, ask_all
from advisor.metrics import METRICS, Estimate, measure
from advisor.metrics.labels import label
from advisor.metrics.words import in_words, number
from advisor.window import Window


class NotApplicable(NamedTuple):
    """A rule that a fact of the query excludes, and which."""

    rule: str
    reason: str


def why_quiet(rule: Rule, window: Window, levels: Mapping[Level, float]) -> Passed | NotApplicable:
    """Of a rule that is quiet: Passed with its margin, or NotApplicable with the fact by which it does not apply."""
    if rule.structural and window.cold is not None and len(window.cold):
        window = window.cold
    excluded = [line for line in rule.unless if ask(line, window).holds]
    if excluded:
        return _excluded(rule, excluded[0], window)
    failing = [line for line in rule.requires if ask_all([line], window).holds is False]
    facts = [line for line in failing if line.fact is not None]
    if facts:
        return NotApplicable(rule.id, "; ".join(ask_all(facts, window).because))
    if failing:
        line = failing[0]
        return Passed(rule.id, _margin(window, line.subject, line.stat, line.operand, line.operator == "below"))
    if rule.measure is None:
        return Passed(rule.id, "nothing was seen")
    return Passed(
        rule.id, _margin(window, rule.measure.metric, rule.measure.stat, next(iter(levels.values())), rule.falling)
    )


def _excluded(rule: Rule, line: Condition, window: Window) -> Passed | NotApplicable:
    if line.metric is not None:
        return Passed(rule.id, _margin(window, line.metric, line.stat, line.operand))
    value = window.facts.value(line.subject)
    said = str(value).lower() if isinstance(value, bool) else value
    return NotApplicable(rule.id, f"{line.subject} is {said}")


def _margin(window: Window, metric: str, stat: str | None, limit: object, below: bool = False) -> str:
    value, unit = measure(window, metric, stat), METRICS[metric].unit
    if not isinstance(value, Estimate) or isinstance(limit, bool) or not isinstance(limit, int | float):
        return f"{label(metric)}: as it should be"
    asked = f"fires below {number(limit, unit)}" if below else f"fires from {number(limit, unit)}"
    return f"{label(metric)}: {in_words(value, unit)} ({asked})"
