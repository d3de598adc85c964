"""The other lines of a step: its stages, what else helps, what does not, and what is asked."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.contract import Advice, QueryEntry, Question, Refused
from advisor.facts.names import FACTS
from advisor.views import text
from advisor.views.in_short.gains import gain_in_short, promised, takes_in_short


def stages(step: Advice) -> str:
    """How many stages the step has, and how it begins."""
    first = step.stages[0].do
    begins = f" First {first}." if first else ""
    return f"In {text.plural(len(step.stages), 'stage')}, their code with --all.{begins}"


def also(step: Advice) -> str:
    """Another step that helps: what to do, how much it saves, what it takes."""
    sure = f", if {step.unknown[0]} allows it" if step.legal == "if" and step.unknown else ""
    return f"{step.do}: {gain_in_short(step)} ({takes_in_short(step)}){sure}"


def together(query: QueryEntry) -> str:
    """What the steps save that can be taken beside each other; empty where fewer than two can."""
    if query.together is None:
        return ""
    does = {step.id: step.do for finding in query.findings for step in finding.steps}
    steps = "; ".join(does[named.step] for named in query.together.steps)
    return f"{promised(query.together.saves_ms, 'batch')}: {steps}"


def refused(one: Refused) -> str:
    """A step that is not for this query, and why not."""
    return f"{one.do}: {one.because}"


def question(asked: Question) -> str:
    """The question that would settle most, how to answer it, and what waits for the answer."""
    counts = [(asked.rules, "rule"), (asked.steps, "step")]
    waiting = " and ".join(text.plural(len(names), words) for names, words in counts if names)
    verb = "waits" if len(asked.rules) + len(asked.steps) == 1 else "wait"
    with_interval = "; with an interval: --set trigger_interval_ms=N" if asked.fact == "trigger" else ""
    return f"{asked.asks} --set {asked.give}{with_interval} ({waiting} {verb} for it)"


def once_known(facts: Sequence[str]) -> str:
    """How to tell the facts that a step waits for."""
    if len(facts) > 1:
        return f"Not known: {', '.join(facts[:-1])} and {facts[-1]}; --set NAME=... gives each"
    (fact,) = facts
    known = FACTS.get(fact)
    if known is None:
        return f"{fact} is not known: --set {fact}=..."
    if known.kind == "bool":
        return f"It is not known whether {known.meaning}: --set {fact}=true|false"
    return f"Not known: {known.meaning}; --set {fact}=..."
