"""The page about rules and steps."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.catalogue.condition import Condition
from advisor.catalogue.load import Catalogue, runs_of
from advisor.catalogue.rule import FAMILIES, Rule
from advisor.catalogue.step import Step
from advisor.facts import value_in_words
from advisor.metrics import METRICS
from advisor.vocabulary import TAKES_IN_WORDS

_HEAD = """<!-- Generated from the rule files by `make rules`; do not edit. -->
# The rules

One file per rule, one folder per family, steps that several rules share in `steps/`. Editors check a rule file against
`schema.json`. `latency-advisor rules show ID` prints one rule; `latency-advisor rules check [DIR]` runs the rules' own
examples.
"""


def reference(catalogue: Catalogue) -> str:
    """The page: a table of all rules, then each rule, then each step."""
    parts = [_HEAD, _table(catalogue.rules.values())]
    parts += [_rule(rule) for rule in catalogue.rules.values()]
    parts += ["## Steps\n", *(_step(step) for step in catalogue.steps.values())]
    return "\n".join(parts)


def _table(rules: Iterable[Rule]) -> str:
    rows = (
        f"| [{r.id}](#{r.id.lower()}-{r.slug}) | {FAMILIES.get(r.id[:2], 'own')} | {r.title} | {r.status} |"
        for r in rules
    )
    return "\n".join(["| rule | family | what it finds | status |", "|---|---|---|---|", *rows, ""])


def _rule(rule: Rule) -> str:
    lines = [f"## {rule.id} {rule.slug}\n", f"**{rule.title}.** {rule.why}\n", f"- Says: “{rule.says}”"]
    lines.append(f"- Stands on: {_evidence(rule)}")
    lines += _lines("Needs", rule.requires) + _lines("Quiet when", rule.unless)
    if rule.batches != 1:
        lines.append(f"- Steady batches: {rule.batches or 'none needed'}")
    if lost := rule.lost:
        lines.append(f"- Loses: `{lost}`{', a phase without a cause' if rule.general else ''}")
    if rule.grave:
        lines.append(f"- Grave: {rule.grave}")
    if rule.explains:
        lines.append(f"- Explains: {', '.join(rule.explains)}")
    if rule.overlaps:
        lines.append(f"- Tells of the same time as: {', '.join(rule.overlaps)}")
    lines.append(f"- Steps: {', '.join(f'[{s.id}](#{s.id})' for s in rule.steps) or 'none that helps'}")
    lines.append(f"- References: {'; '.join(rule.references)}")
    return "\n".join(lines) + "\n"


def _evidence(rule: Rule) -> str:
    if rule.seen:
        return f"the fact `{rule.seen.fact}` (level {rule.level})"
    assert rule.measure is not None
    metric = METRICS[rule.measure.metric]
    stat = f", {rule.measure.stat}" if rule.measure.stat else ""
    levels = ", ".join(f"{level} {'below' if rule.falling else 'from'} {value}" for level, value in rule.levels.items())
    return f"`{metric.name}` ({metric.unit}{stat}): {levels}"


def _step(step: Step) -> str:
    lines = [f"### {step.id}\n", f"{step.does} ({TAKES_IN_WORDS[step.takes]}).\n"]
    lines += _lines("Meant when", step.when) + _lines("Not meant when", step.unless) + _legal(step)
    lines.append(f"- Stands on: {_runs(step)}")
    lines.append(f"- Saves: {_promise(step)}")
    undo = step.undo if isinstance(step.undo, str) else f"[{step.undo.id}](#{step.undo.id})"
    lines += [f"- Costs: {step.costs}", f"- Undo: {undo}", f"- Check: {step.check}"]
    return "\n".join(lines) + "\n"


def _legal(step: Step) -> list[str]:
    if not step.legal:
        return ["- Legal: always"]
    return ["- Legal when", *(f"  - {_condition(line)}. Otherwise: {line.else_}" for line in step.legal)]


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


def _lines(label: str, conditions: Iterable[Condition]) -> list[str]:
    said = [_condition(line) for line in conditions]
    return [f"- {label}: {'; '.join(said)}"] if said else []


def _condition(line: Condition) -> str:
    operand = line.operand
    value = ", ".join(map(value_in_words, operand)) if isinstance(operand, tuple) else value_in_words(operand)
    operator = {"at_least": "at least"}.get(line.operator, line.operator)
    stat = f" ({line.stat})" if line.stat else ""
    limits = [f"Spark {line.spark}"] if line.spark else []
    limits += [" or ".join(line.platform)] if line.platform else []
    on = f" (asked on {', '.join(limits)})" if limits else ""
    return f"`{line.subject}`{stat} {operator} {value}{on}"
