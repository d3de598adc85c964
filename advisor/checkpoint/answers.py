"""Answer whether a query starts from a checkpoint and what may be changed, by the cases of rules/checkpoint.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any, Final

import msgspec

from advisor import contract
from advisor.catalogue import Condition, Step, rules_directory, rules_to_judge_by
from advisor.catalogue import Stage as Part
from advisor.catalogue.condition import Model, Text
from advisor.catalogue.load import CHECKPOINT
from advisor.catalogue.plain import read_plain
from advisor.catalogue.step import Change, StepId
from advisor.checkpoint.facts import scheme
from advisor.checkpoint.record import Answer, Says
from advisor.contract import Stage
from advisor.engine.conditions import Verdict, ask_all
from advisor.engine.sentences import change_of, sentence, setting
from advisor.errors import UsageError, did_you_mean
from advisor.facts import Known, version_numbers
from advisor.window import Window

_FOLDER: Final = "<checkpoint>"
"""What stands in a step's code for the checkpoint's folder."""
_ADVISED: Final = {"advised_state_partitions"}
"""Numbers that a step would advise, and that the question gives here."""
ASKED: Final = "asked:"
"""Prefix of the facts that the question itself gives."""


class Case(Model):
    """An answer and when it is the one: `when` holds, and so does what the step `use` asks."""

    when: tuple[Condition, ...] = ()
    answer: Says
    says: Text
    use: StepId | None = None
    stages: tuple[Part, ...] = ()


class Wish(Model):
    """A change that may be asked for. `value`: what it takes; `conf`: the setting that it means."""

    wish: str
    value: Text | None = None
    takes: tuple[str, ...] = ()
    conf: str | None = None
    as_fact: str | None = None
    starts: bool = False
    cases: tuple[Case, ...]


class Cases(Model):
    """All of rules/checkpoint.yaml."""

    versions: tuple[str, ...]
    starts: tuple[Case, ...]
    may: tuple[Wish, ...]


@cache
def cases() -> Cases:
    """Return the cases of the project."""
    content, _ = read_plain(rules_directory() / CHECKPOINT)
    return Cases.model_validate(content)


@cache
def _steps() -> Mapping[str, Step]:
    return rules_to_judge_by([]).steps


def starts(window: Window) -> tuple[Answer, ...]:
    """Return whether the query starts: one answer for each range of versions, or for the one that is known."""
    if window.facts.get("spark_version"):
        return (_first("start", cases().starts, window),)
    of_version = [(one, _start_on(one, window)) for one in cases().versions]
    return tuple(_together(several) for _, several in groupby(of_version, key=lambda pair: pair[1]))


def _start_on(version: str, window: Window) -> Answer:
    return _first("start", cases().starts, _with(window, spark_version=version))


def _together(several: Iterable[tuple[str, Answer]]) -> Answer:
    found = list(several)
    first = found[0][1]
    return Answer(
        asked=first.asked, answer=first.answer, says=first.says, versions=tuple(version for version, _ in found),
        stages=first.stages, step=first.step, unknown=first.unknown,
    )  # fmt: skip


def may(asked: str, pinned: Mapping[str, str], window: Window) -> Answer:
    """Answer one question as `--before` takes it; UsageError for one that is not understood."""
    name, _, value = asked.partition("=")
    wish = next((one for one in cases().may if one.wish == name), None)
    if wish is None and name.startswith("spark."):
        wish = next((one for one in cases().may if one.conf == name), _setting())
    if wish is None:
        known = [one.wish for one in cases().may]
        raise UsageError(f"--before {asked}", "is no change that can be asked", did_you_mean(name, known, _all()))
    if name == wish.wish:
        _refuse(wish, asked, value)
    given: dict[str, Any] = {f"{ASKED}value": value, f"{ASKED}setting": wish.conf or name}
    if (kept := pinned.get(wish.conf or name)) is not None:
        given |= {f"{ASKED}is_pinned": True, f"{ASKED}kept": kept, f"{ASKED}is_same": _same(kept, value)}
    else:
        given[f"{ASKED}is_pinned"] = False
    if wish.as_fact:
        given[wish.as_fact] = scheme(value) if wish.as_fact == f"{ASKED}scheme" else value
    return _first(asked, (*cases().starts, *wish.cases) if wish.starts else wish.cases, _with(window, **given))


def _setting() -> Wish:
    return next(one for one in cases().may if one.wish == "KEY")


def _all() -> str:
    return "ask " + ", ".join(f"{one.wish}={one.value}" if one.value else one.wish for one in cases().may)


def _refuse(wish: Wish, asked: str, value: str) -> None:
    """UsageError for a value of another kind."""
    if bool(value) != bool(wish.value):
        raise UsageError(f"--before {asked}", "needs a value" if wish.value else "takes no value",
                         f"write {wish.wish}={wish.value}" if wish.value else f"write {wish.wish}")  # fmt: skip
    if wish.takes and value not in wish.takes:
        raise UsageError(f"--before {asked}", f"{value} is not known", f"write one of {', '.join(wish.takes)}")
    wrong = {"N": not value.isdecimal(), "VERSION": not version_numbers(value)}
    if wrong.get(wish.value or ""):
        raise UsageError(f"--before {asked}", f"{value} is no {(wish.value or '').lower()}",
                         f"write {wish.wish}=16" if wish.value == "N" else f"write {wish.wish}=4.3.0")  # fmt: skip


def _same(kept: str, value: str) -> bool:
    """Whether a value is the one that the checkpoint keeps; a class may be called by its last word."""
    return kept.lower() == value.lower() or kept.rpartition(".")[2].lower().startswith(value.lower())


def _with(window: Window, **given: Any) -> Window:
    return window.with_facts(window.facts.having(**{name: Known(value, "user") for name, value in given.items()}))


def _first(asked: str, found: Iterable[Case], window: Window) -> Answer:
    """Return the first case whose conditions hold; one that may hold is "if"."""
    refused: list[str] = []
    for case in found:
        step = _steps()[case.use] if case.use else None
        meant, legal = ask_all(case.when, window), ask_all(step.legal if step else (), window)
        if meant.holds is False:
            continue
        if legal.holds is False:
            refused += legal.because
            continue
        return _answer(asked, case, step, window, meant, legal, refused)
    return Answer(asked=asked, answer="no", says="; ".join(refused))


def _answer(
    asked: str, case: Case, step: Step | None, window: Window, meant: Verdict, legal: Verdict, refused: list[str]
) -> Answer:
    open_ones = [one for one in (meant, legal) if one.holds is None]
    doubts = [because for one in open_ones for because in one.because]
    says = sentence(case.says, window) + (f" Otherwise: {'; '.join(refused)}." if refused else "")
    return Answer(
        asked=asked,
        answer="if" if open_ones else case.answer,
        says=f"{says} Not known: {'; '.join(doubts)}" if doubts else says,
        stages=tuple(_stages(case, step, window)),
        step=case.use,
        unknown=tuple(dict.fromkeys(name for one in open_ones for name in one.unknown)),
    )


def _stages(case: Case, step: Step | None, window: Window) -> Iterator[Stage]:
    """Yield what a person does: the step's own stages, or the change that it is; then those of the case."""
    for stage in step.stages if step else ():
        yield Stage(do=stage.do, change=_change(stage.change, window), until=stage.until)
    if step and step.change:
        yield Stage(
            do=sentence(step.do, window), change=_change(step.change, window), until=sentence(step.check, window)
        )
    for one in case.stages:
        yield Stage(
            do=sentence(one.do or "", window), change=_change(one.change, window), until=sentence(one.until, window)
        )


def _change(change: Change | None, window: Window) -> contract.Change:
    """Return a change with this checkpoint's folder, and the number that was asked for in place of an advised one."""
    filled = change_of(change, window)
    if change is None or change.code is None:
        return filled
    code = change.code.replace(_FOLDER, str(window.facts.value("checkpoint_path")))
    for name in change.names & _ADVISED:
        code = code.replace(f"{{{name}}}", str(window.facts.value(f"{ASKED}value")))
    return msgspec.structs.replace(filled, code=setting(code, window))
