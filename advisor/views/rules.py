"""The page about rules and steps."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.catalogue import Condition, Rule, Step, runs_of
from advisor.catalogue.rule import FAMILIES
from advisor.facts import value_in_words
from advisor.metrics import METRICS
from advisor.views.templating import environment


def reference(rules: Iterable[Rule], steps: Iterable[Step], *, whole: bool = False) -> str:
    """Return these rules and steps as Markdown, each with a heading; a `whole` page begins with a table."""
    words = {"said": _said, "condition": _condition, "evidence": _evidence, "runs": _runs, "promise": _promise}
    shown = {"rules": list(rules), "steps": list(steps), "whole": whole, "families": FAMILIES}
    return environment("markdown").get_template("rules.md.j2").render(words | shown).removesuffix("\n")


def _evidence(rule: Rule) -> str:
    if rule.seen:
        return f"the fact `{rule.seen.fact}` (level {rule.level})"
    assert rule.measure is not None
    metric = METRICS[rule.measure.metric]
    stat = f", {rule.measure.stat}" if rule.measure.stat else ""
    levels = ", ".join(f"{level} {'below' if rule.falling else 'from'} {value}" for level, value in rule.levels.items())
    return f"`{metric.name}` ({metric.unit}{stat}): {levels}"


def _runs(step: Step) -> str:
    """Return on which Sparks queries were run with the step, and how many ended how."""
    said = []
    for version, told in runs_of(step.id).items():
        counts = ", ".join(f"{number} x {outcome}" for outcome, number in told.items() if outcome != "date")
        said.append(f"run on Spark {version} ({counts}; {told['date']})")
    return "; ".join(said) or "not among the steps that were run on each Spark"


def _promise(step: Step) -> str:
    if step.saves is None:
        return "not known"
    low, expected, high = step.saves.share
    metric = f"`{step.saves.metric}`" + (f" ({step.saves.stat})" if step.saves.stat else "")
    if step.saves.calibrated:
        return f"as trials of `{step.saves.calibrated}` came out, at most {high:g} x {metric}"
    return f"{low:g} to {high:g} x {metric}" + ("" if expected is None else f", expected {expected:g}")


def _said(conditions: Iterable[Condition]) -> str:
    return "; ".join(map(_condition, conditions))


def _condition(line: Condition) -> str:
    operand = line.operand
    value = ", ".join(map(value_in_words, operand)) if isinstance(operand, tuple) else value_in_words(operand)
    operator = {"at_least": "at least"}.get(line.operator, line.operator)
    stat = f" ({line.stat})" if line.stat else ""
    limits = [f"Spark {line.spark}"] if line.spark else []
    limits += [" or ".join(line.platform)] if line.platform else []
    on = f" (asked on {', '.join(limits)})" if limits else ""
    return f"`{line.subject}`{stat} {operator} {value}{on}"
