"""What the catalogue says of every run of which the same is known: of rules that no number of a batch decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from advisor.catalogue import Catalogue, Condition, Rule
from advisor.contract import Passed, Skipped
from advisor.engine.conditions import ask_all
from advisor.engine.quiet import NotApplicable
from advisor.metrics import METRICS
from advisor.metrics.measure import untold
from advisor.window import Window

Said: TypeAlias = Passed | NotApplicable | Skipped
MOST_KINDS: Final = 256
"""Kinds of runs whose answers are kept; those of a fleet are mostly of a few."""
_KEY: Final = msgspec.msgpack.Encoder(enc_hook=repr)


def decided(window: Window, catalogue: Catalogue, judge_rule: Callable[[Rule], object]) -> Mapping[str, Said]:
    """What is said of the rules that facts decide, or that no batch of the run can tell anything of, by rule.

    That is the same of all runs with the same facts that show the same parts: it is asked once of each kind of runs.
    """
    kind, known = _kind(window, catalogue), catalogue.memo
    found: Mapping[str, Said] | None = known.get(kind)
    if found is None:
        if len(known) >= MOST_KINDS:
            known.clear()
        rules = [rule for rule in catalogue.rules.values() if _needs_no_number(rule, window)]
        found = known[kind] = {rule.id: said for rule in rules if isinstance(said := judge_rule(rule), Said)}
    return found


def judged_window(rule: Rule, window: Window) -> Window:
    """The batches that a rule looks at: a structural rule at cold ones where there are no others."""
    return window.cold if rule.structural and window.cold is not None and len(window.cold) else window


def _kind(window: Window, catalogue: Catalogue) -> bytes:
    """All of a run that such a rule can ask: facts, how few batches there are, whether something shows their jobs."""
    facts = window.facts.each(catalogue.facts)
    batches = [min(len(part), catalogue.most_batches) for part in (window, window.cold or ())]
    return _KEY.encode((facts, batches, window.opened))


def _needs_no_number(rule: Rule, window: Window) -> bool:
    """Whether facts exclude the rule, or none of the metrics that it asks has a value."""
    window = judged_window(rule, window)
    asked = [line.metric for line in (*rule.unless, *rule.requires) if line.metric is not None]
    if rule.measure is not None and len(window) >= rule.batches:
        asked.append(rule.measure.metric)
    return _excluded(rule, window) or all(untold(window, METRICS[name]) for name in asked)


def _excluded(rule: Rule, window: Window) -> bool:
    """Whether facts that it requires exclude the rule, and nothing else is looked at before."""
    facts: list[Condition] = [line for line in rule.requires if line.fact is not None]
    return all(line.fact is not None for line in rule.unless) and ask_all(facts, window).holds is False
