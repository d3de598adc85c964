"""The steps of a finding: is each meant, would Spark take it, what would it save, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from advisor import contract
from advisor.catalogue import Rule, Step, runs_of
from advisor.contract import Advice, Promise
from advisor.engine.conditions import Verdict, ask_all
from advisor.engine.sentences import change_of, sentence, undo_says
from advisor.metrics import METRICS, Missing, measure
from advisor.savings import per_batch, per_record, saves_in
from advisor.vocabulary import LEGAL, TAKES, Legal, at_once
from advisor.window import Window

_Legality: TypeAlias = tuple[Legal, str, list[str], list[str]]
"""(yes | if | no, why it is not a plain yes, the facts that would settle it, the facts that make it no)."""
NEW_CHECKPOINT = (
    "it takes a new checkpoint: state is lost, startingOffsets decides what is read again, and a sink that remembers "
    "batch ids (files, idempotent foreachBatch) skips the batches it thinks it knows"
)


def advice(rule: Rule, window: Window) -> tuple[Advice, ...]:
    """Return the rule's steps for this query: legal first, then by saving, then proven ones, then by what they take.

    A step that loses the state is left out while it is unknown whether it is meant for this query, and any step whose
    change lacks a number that no fact would give.
    """
    offered = [advised(step, window, *found) for step in rule.steps if (found := _offered(step, window))]
    return tuple(sorted(offered, key=_order))


def may_help(rule: Rule, window: Window) -> bool:
    """Return whether `advice` gives a step that Spark does not refuse; this computes no savings."""
    return any(found[0] != "no" for step in rule.steps if (found := _offered(step, window)))


def _order(step: Advice) -> tuple[int, float, bool, int]:
    saving = step.saves_ms or step.saves_latency_ms
    return LEGAL.index(step.legal), -saving.likely if saving else 0.0, step.experimental, TAKES.index(step.takes)


def _offered(step: Step, window: Window) -> _Legality | None:
    """Return whether Spark would take a step; None for one that is not meant, or is taken already."""
    meant = ask_all(step.when, window)
    already = [ask_all([line], window).holds for line in step.unless]
    if meant.holds is False or True in already or (step.takes == "new_checkpoint" and meant.holds is None):
        return None
    if any(value.fact is None for value in _unfilled(step, window)):
        return None
    return _kept(step, window) or _legality(step, window, meant)


def advised(
    step: Step, window: Window, legal: Legal, because: str, unknown: Iterable[str] = (), against: Iterable[str] = ()
) -> Advice:
    """Return the step with its numbers and its promise for these batches; its legality is given."""
    saves, latency = per_batch(step.saves, window), per_record(step.saves, window)
    return Advice(
        id=step.id,
        do=sentence(step.do, window),
        legal=legal,
        because=because or None,
        unknown=tuple(unknown),
        change=change_of(step.change, window),
        stages=tuple(
            contract.Stage(do=stage.do, change=change_of(stage.change, window), until=stage.until)
            for stage in step.stages
        ),
        takes=step.takes,
        semantics=step.semantics,
        status=step.status,
        saves_ms=saves if isinstance(saves, Promise) else None,
        saves_latency_ms=latency if isinstance(latency, Promise) else None,
        costs=sentence(step.costs, window),
        undo=undo_says(step, window),
        check=sentence(step.check, window),
        saves_in=saves_in(step.saves) if isinstance(saves, Promise) else (),
        saves_of=step.saves.metric if step.saves else None,
        against=tuple(against),
        looks=step.looks,
        stateless=step.takes == "new_checkpoint" and window.facts.value("stateful") is False,
        run_on=tuple(version for version, came in runs_of(step.id).items() if came.get("takes effect")),
    )


def _kept(step: Step, window: Window) -> _Legality | None:
    """Return a no for a step that gives up what the user keeps; None for any other."""
    gives_up = {"keep_checkpoint": step.takes == "new_checkpoint", "keep_exactly_once": step.semantics != "unchanged"}
    against = [fact for fact, given_up in gives_up.items() if given_up and window.facts.value(fact) is True]
    return ("no", "you want to keep what it gives up", [], against) if against else None


def _legality(step: Step, window: Window, meant: Verdict) -> _Legality:
    """Return whether Spark would take a step that `meant` says is for this query, or may be."""
    legal = ask_all(step.legal, window)
    if legal.holds is False:
        return "no", "; ".join(legal.because), [], legal.against
    doubts = (legal.because if legal.holds is None else []) + (meant.because if meant.holds is None else [])
    doubts += [inferred(name, window) for name in legal.inferred + meant.inferred]
    unknown = legal.unknown + meant.unknown + legal.inferred + meant.inferred
    missing = [value for value in _unfilled(step, window) if value.fact not in unknown]
    doubts += [value.reason for value in missing]
    unknown += [value.fact for value in missing if value.fact]
    if step.takes == "new_checkpoint":
        doubts.append(NEW_CHECKPOINT)
    return ("if" if doubts else "yes"), "; ".join(dict.fromkeys(doubts)), list(dict.fromkeys(unknown)), []


def inferred(name: str, window: Window) -> str:
    """Return that a fact was only inferred, and what it may be."""
    value = window.facts.value(name)
    may_be = at_once(window.facts.value("trigger_one_of")) if (name, value) == ("trigger", "unspecified") else value
    return f"{name} was only inferred ({may_be})"


def _unfilled(step: Step, window: Window) -> list[Missing]:
    """Return why numbers that the change needs are missing."""
    named = [name for name in step.change.names if name in METRICS] if step.change else []
    return [value for name in named if isinstance(value := measure(window, name), Missing)]
