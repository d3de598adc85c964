"""Judge rules that facts alone decide once for all runs with the same facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from advisor.catalogue import Catalogue, Rule
from advisor.contract import Passed, Skipped
from advisor.engine.conditions import ask_all
from advisor.engine.quiet import NotApplicable
from advisor.metrics import METRICS
from advisor.metrics.measure import untold
from advisor.window import Window

Said: TypeAlias = Passed | NotApplicable | Skipped
MOST_KINDS: Final = 256
"""How many kinds of runs to keep answers for; a fleet has mostly few."""
_KEY: Final = msgspec.msgpack.Encoder(enc_hook=repr)


def decided(window: Window, catalogue: Catalogue, judge_rule: Callable[[Rule], object]) -> Mapping[str, Said]:
    """Return the verdicts, by rule id, that facts alone decide or that no batch of the run can decide.

    Runs with the same facts and the same visible parts share them, so each kind of run is judged once.
    """
    facts = window.facts.each(catalogue.facts)
    batches = [min(len(part), catalogue.most_batches) for part in (window, window.cold or ())]
    kind, known = _KEY.encode((facts, batches, window.opened)), catalogue.memo  # all that such a rule asks of a run
    found: Mapping[str, Said] | None = known.get(kind)
    if found is None:
        if len(known) >= MOST_KINDS:
            known.clear()
        rules = [rule for rule in catalogue.rules.values() if _needs_no_number(rule, window)]
        found = known[kind] = {rule.id: said for rule in rules if isinstance(said := judge_rule(rule), Said)}
    return found


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
