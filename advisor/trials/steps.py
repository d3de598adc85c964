"""From steps as the user names them to the settings of the candidate, with what each of them promises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from advisor.catalogue import Catalogue, Step
from advisor.contract import Advice, OnTrial
from advisor.engine.sentences import change_of
from advisor.engine.steps import advised
from advisor.errors import UsageError, did_you_mean, short
from advisor.metrics.units import interval
from advisor.window import Window

Given = str | Mapping[str, Any]

_INTERVAL: Final = re.compile(
    r"(interval )?(\+? ?(\d+(\.\d*)?|\.\d+) (week|day|hour|minute|(milli|micro)?second)s?( |$))+", re.IGNORECASE
)
_KINDS: Final = ("writer_option", "reader_option", "conf", "trigger")
_PLACES: Final = frozenset(("checkpointlocation", "dbtable", "path", "queryname", "table", "topic", "url"))
"""Options of a writer, in small letters, that would lead a trial out of its throw-away place."""
_UNFILLED: Final = re.compile(r"<[^<>]+>")


@dataclass(frozen=True)
class Candidate:
    """What is on trial: the settings, and the catalogue's steps among them."""

    variant: OnTrial
    steps: tuple[Step, ...]

    def packages(self, window: Window) -> list[str]:
        """What the session must have been started with."""
        packages = (change_of(step.change, window).package for step in self.steps)
        return [package for package in packages if package]

    def advised(self, window: Window) -> list[Advice]:
        """The catalogue's steps with what they promise of these batches."""
        return [advised(step, window, "if", "Spark itself answers in a trial") for step in self.steps]


def known(given: Sequence[Given], catalogue: Catalogue) -> None:
    """Return if every step can be on trial; UsageError otherwise. Needs no Spark."""
    if not given:
        raise UsageError("trial", "no step was given", "give one, such as async-progress")
    for one in given:
        _check_change(one) if isinstance(one, Mapping) else _check_step(one, catalogue)


def candidate(given: Iterable[Given], catalogue: Catalogue, window: Window) -> Candidate:
    """All steps as one candidate; numbers that a step needs come from the baseline's `window`."""
    variant, steps = OnTrial(), []
    for one in given:
        if isinstance(one, Mapping):
            variant = _and(variant, one)
            continue
        step = catalogue.steps[one]
        steps.append(step)
        change = change_of(step.change, window)
        variant = _and(variant, {kind: getattr(change, kind) for kind in _KINDS}, one)
        variant = replace(variant, code=tuple(sorted({*variant.code, one}))) if change.code else variant
    return Candidate(variant, tuple(steps))


def _and(variant: OnTrial, change: Mapping[str, Any], step: str = "") -> OnTrial:
    found = {kind: {key: str(value) for key, value in (change.get(kind) or {}).items()} for kind in _KINDS}
    for key, value in (pair for options in found.values() for pair in options.items()):
        if _UNFILLED.search(value):
            raise UsageError(
                step, f"the baseline's batches do not say what {key} is", "give the setting with its value"
            )
    return replace(variant, **{kind: {**getattr(variant, kind), **options} for kind, options in found.items()})


def _check_change(change: Mapping[str, Any]) -> None:
    wrong = sorted(change.keys() - set(_KINDS))
    if wrong or not change:
        raise UsageError("trial", f"a change cannot set {', '.join(wrong) or 'nothing'}", f"use {', '.join(_KINDS)}")
    for name in filter(lambda name: name.lower() in _PLACES, change.get("writer_option") or ()):
        raise UsageError("trial", f"{name} says where a query writes", "set it in the function, below setup.path()")
    trigger = change.get("trigger")
    _check_trigger("trial", trigger)
    if trigger and not _INTERVAL.fullmatch(text := " ".join(interval(trigger["processing_time"]).split())):
        raise UsageError("trial", f"{short(text)} is no interval of a trigger", "write it as '2 seconds'")


def _check_step(id: str, catalogue: Catalogue) -> None:
    step = catalogue.steps.get(id)
    if step is None:
        raise UsageError(
            "trial", f"no step {id!r}", did_you_mean(id, catalogue.steps, "`latency-advisor steps list` shows all")
        )
    change = step.change.model_dump(exclude_none=True, exclude_defaults=True) if step.change else {}
    if step.stages or not change.keys() - {"package"}:
        raise UsageError(
            id, "changes more than the settings of one query", "make the change by hand, then `compare` the logs"
        )
    _check_trigger(id, change.get("trigger"))


def _check_trigger(place: str, trigger: Mapping[str, Any] | None) -> None:
    if trigger and set(trigger) != {"processing_time"}:
        found = f"batches of trigger {next(iter(trigger))} cannot be compared with those of the baseline"
        raise UsageError(place, found, "a trial can only try processing_time")
