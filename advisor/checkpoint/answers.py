"""Answer whether a query starts from a checkpoint and what may be changed, by the cases of rules/checkpoint.yaml."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
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
from advisor.checkpoint.facts import written_by
from advisor.checkpoint.folder import number_of
from advisor.checkpoint.record import Answer, Says
from advisor.contract import Stage
from advisor.engine.conditions import Verdict, ask_all
from advisor.engine.sentences import change_of, sentence
from advisor.errors import UsageError, did_you_mean
from advisor.facts import Known, may_be_spark, version_at_least
from advisor.facts.confs import NEARLY, PREFIXES, SPARKS_OWN, STATE_STORE_CLASS, unknown_settings
from advisor.redaction import redact_setting
from advisor.window import Window

ASKED: Final = "asked:"
"""Prefix of the facts that the question itself gives."""
_ADVISED: Final = "{advised_state_partitions}"
"""A number in a step's change: here it is the one that was asked for."""


class Case(Model):
    """An answer and when it is the one: `when` holds, and so does what the step `use` asks."""

    when: tuple[Condition, ...] = ()
    answer: Says
    says: Text
    use: StepId | None = None
    stages: tuple[Part, ...] = ()


class Wish(Model):
    """A change that may be asked for. `value`: what it takes; `conf`: the setting that it means.

    `adds`: what is said besides, whatever the answer.
    """

    wish: str
    value: Text | None = None
    takes: tuple[str, ...] = ()
    conf: str | None = None
    as_fact: str | None = None
    starts: bool = False
    adds: tuple[Case, ...] = ()
    cases: tuple[Case, ...]

    @property
    def form(self) -> str:
        """How it is asked."""
        return f"{self.wish}={self.value}" if self.value else self.wish


class Cases(Model):
    """All of rules/checkpoint.yaml. `taken`: what counts of settings that a checkpoint does not keep."""

    versions: tuple[str, ...]
    taken: dict[str, str]
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
    on = [(one, _first("start", cases().starts, _with(window, spark_version=one))) for one in cases().versions]
    alike = [(answer, tuple(one for one, _ in several)) for answer, several in groupby(on, key=lambda pair: pair[1])]
    return tuple(msgspec.structs.replace(answer, versions=versions) for answer, versions in alike)


def may(asked: str, pinned: Mapping[str, str], window: Window) -> Answer:
    """Answer one question as `--before` takes it; UsageError for one that is not understood."""
    name, equals, value = asked.partition("=")
    value = redact_setting(name, value)
    asked = f"{name}{equals}{value}"
    wish = _wish(asked, name, value)
    value = value.lower() if wish.conf and value.lower() in wish.takes else value  # Spark takes TRUE, too
    setting = wish.conf or name
    kept = pinned.get(setting, cases().taken.get(setting))
    given: dict[str, Any] = {f"{ASKED}value": value, f"{ASKED}setting": setting, f"{ASKED}is_pinned": setting in pinned}
    given |= {f"{ASKED}is_taken": kept is not None, f"{ASKED}word": shlex.quote(value)}  # word: of a command
    if kept is not None:
        given |= {f"{ASKED}kept": kept, f"{ASKED}is_same": kept.lower() == value.lower()}
    given |= _spelling(setting, pinned, window)
    wrote = window.facts.value("checkpoint:is_continuous") or window.facts.value("trigger") == "continuous"
    given[f"{ASKED}was_continuous"] = wrote
    if wish.as_fact:
        least = window.facts.value("spark_version") or window.facts.value("spark_version_at_least")
        given |= {wish.as_fact: value, f"{ASKED}written_by": written_by(window)}
        given[f"{ASKED}is_older"] = bool(least) and not version_at_least(value, str(least))
    window = _with(window, **given)
    found = _first(asked, (*cases().starts, *wish.cases) if wish.starts else wish.cases, window)
    more = [case for case in wish.adds if ask_all(case.when, window).holds]
    if found.answer == "no" or not more:
        return found
    says = " ".join([found.says, *(sentence(case.says, window) for case in more)])
    doubted = found.answer == "yes" and any(case.answer == "if" for case in more)
    return msgspec.structs.replace(found, says=says, answer="if" if doubted else found.answer)


def _spelling(key: str, pinned: Mapping[str, str], window: Window) -> dict[str, Any]:
    """Return whether no Spark knows a setting, or the checkpoint keeps one that is spelt nearly so."""
    version, store = window.facts.value("spark_version"), window.facts.value(f"conf:{STATE_STORE_CLASS}")
    own_store = not str(store or SPARKS_OWN).startswith(SPARKS_OWN)
    is_judged = key.startswith(PREFIXES) and key not in pinned and window.facts.value("platform") != "databricks"
    unknown = unknown_settings([key] if is_judged else [], str(version) if version else None, own_store)
    any_case = {one.lower(): one for one in pinned}
    near = [] if key in pinned else get_close_matches(key.lower(), any_case, 1, NEARLY)
    return {
        f"{ASKED}unknown": unknown,
        f"{ASKED}is_unknown": unknown is not None,
        f"{ASKED}nearest": any_case[near[0]] if near else None,
        f"{ASKED}is_misspelt": bool(near) and not key.startswith(PREFIXES),
    }


def _wish(asked: str, name: str, value: str) -> Wish:
    """Return the change that is meant; UsageError for none, and for a value that it does not take."""
    known = {one.wish: one for one in cases().may}
    is_setting = name.startswith("spark.")
    wish = next((one for one in known.values() if one.conf == name), known["KEY"]) if is_setting else known.get(name)
    if wish is None:
        every = "ask " + ", ".join(one.form for one in known.values())
        raise UsageError(f"--before {asked}", "is no change that can be asked", did_you_mean(name, known, every))
    form = f"{name}={wish.value or 'VALUE'}" if is_setting else wish.form
    takes = wish.takes
    if is_setting:  # Spark knows no short words
        takes = ("true", "false") if "true" in takes else ()
    fits = {
        "N": 0 < (number_of(value) or 0) < 1 << 31,  # as a Java int holds it
        "VERSION": may_be_spark(value),
        "ADDRESS": bool(value) and not value.startswith("-"),  # which a command takes for an option
        None: bool(value) is is_setting,
    }
    if not fits.get(wish.value, bool(value)) or (takes and (value.lower() if is_setting else value) not in takes):
        one_of = f" ({', '.join(takes)})" if takes else ""
        raise UsageError(f"--before {asked}", "is not understood", f"write {form}{one_of}")
    return wish


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
    doubts = dict.fromkeys(because for one in open_ones for because in one.because)
    says = sentence(case.says, window) + (f" Ruled out: {'; '.join(refused)}." if refused else "")
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
    parts = [(one.do, one.change, one.until) for one in step.stages] if step else []
    parts += [(step.do, step.change, "the query runs")] if step and step.change else []
    parts += [(one.do, one.change, one.until) for one in case.stages]
    for do, change, until in parts:
        yield Stage(do=sentence(do or "", window), change=_change(change, window), until=sentence(until, window))


def _change(change: Change | None, window: Window) -> contract.Change:
    """Return a change with this checkpoint's folder, and the number that was asked for in place of an advised one."""
    if change is None:
        return contract.Change()
    text = change.model_dump_json(exclude_defaults=True)
    return change_of(Change.model_validate_json(text.replace(_ADVISED, f"{{{ASKED}value}}")), window)
