"""Why a rule is quiet: it passed, and by how much, or it does not apply to this query."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar

from advisor.catalogue import Condition, Rule
from advisor.contract import Passed, Skipped
from advisor.engine.conditions import VERSIONS, ask, ask_all, known_bounds
from advisor.facts import value_in_words
from advisor.metrics import METRICS, Estimate, label, measure
from advisor.metrics.units import in_words, number
from advisor.vocabulary import Level
from advisor.window import Window

Quiet = TypeVar("Quiet", Passed, Skipped)


class NotApplicable(NamedTuple):
    """A rule that a fact of the query excludes, and which fact."""

    because: Skipped


@lru_cache(maxsize=4096)
def shared(quiet: Quiet) -> Quiet:
    """Return the same; all runs with this verdict share one object."""
    return quiet


def _not_applicable(rule: Rule, reason: str) -> NotApplicable:
    return NotApplicable(shared(Skipped(rule.id, reason)))


def excluded(rule: Rule, line: Condition, window: Window) -> Passed | NotApplicable:
    """Return that a line of `unless` holds: a fact excludes the rule, or a number shows another cause."""
    if line.metric is not None:
        found = measure(window, line.subject, line.stat)
        if not isinstance(found, Estimate):
            return Passed(rule.id, f"{label(line.subject)} excludes it")
        return Passed(rule.id, f"excluded by {label(line.subject)}: {in_words(found, METRICS[line.subject].unit)}")
    value = window.facts.value(line.subject)
    if value is None and line.subject in VERSIONS:
        value = known_bounds(window, line.subject)
    said = "not known" if value is None else value_in_words(value)
    return _not_applicable(rule, f"{line.subject} is {said}")


def unmet(rule: Rule, window: Window, levels: Mapping[Level, float]) -> Passed | NotApplicable:
    """Return that what the rule requires is not so: by a fact, else by a number."""
    answers = [(ask_all([line], window) if line.limited else ask(line, window)).holds for line in rule.requires]
    failing = [line for line, holds in zip(rule.requires, answers, strict=True) if holds is False]
    facts = [line for line in failing if line.fact is not None]
    if facts:
        return _not_applicable(rule, "; ".join(ask_all(facts, window).because))
    if not failing:
        return passed(rule, window, levels)
    line = failing[0]
    if line.operator == "known":  # another rule judges it
        return _not_applicable(rule, f"{label(line.subject)}: known")
    return _passed(rule, window, line.subject, line.stat, line.operand, line.operator == "below")


def passed(rule: Rule, window: Window, levels: Mapping[Level, float]) -> Passed:
    """Return that the rule looked and found less than its lowest level."""
    if rule.measure is None:
        return Passed(rule.id, "nothing was seen")
    return _passed(rule, window, rule.measure.metric, rule.measure.stat, next(iter(levels.values())), rule.falling)


def _passed(rule: Rule, window: Window, metric: str, stat: str | None, limit: object, below: bool = False) -> Passed:
    """Return that the rule passed: its number beside the limit from which it would fire."""
    value, unit = measure(window, metric, stat), METRICS[metric].unit
    if not isinstance(value, Estimate) or isinstance(limit, bool) or not isinstance(limit, int | float):
        return Passed(rule.id, f"{label(metric)}: as it should be")
    asked = f"fires below {number(limit, unit)}" if below else f"fires from {number(limit, unit)}"
    left = (value.safe - limit if below else limit - value.high) / limit if limit else math.inf
    facts = ask_all([line for line in rule.requires if line.fact is not None], window)
    near = 0 <= left < math.inf and None not in [answer.holds for answer in facts.answers]
    told = round(left, 3) if near else None  # no distance where an interval crosses the limit or a fact is unknown
    return Passed(rule.id, f"{label(metric)}: {in_words(value, unit)} ({asked})", told)
