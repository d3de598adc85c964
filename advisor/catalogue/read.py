"""Rule files to models, and every problem with its file and key."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from advisor.catalogue.condition import Condition
from advisor.catalogue.example import Batches, Every, Example, Expect, SourceShort
from advisor.catalogue.plain import read_plain
from advisor.catalogue.rule import Measure, Seen, WrittenRule
from advisor.catalogue.step import Borrowed, Change, Saves, SharedStep, Stage, Trigger
from advisor.errors import did_you_mean

_TAGS = ("step", "use", "text")  # what pydantic adds to a place for the kind of a step
_MODELS: tuple[type[BaseModel], ...] = (
    WrittenRule, SharedStep, Condition, Measure, Seen, Change, Saves, Stage, Trigger, Borrowed,
    Batches, Every, Example, Expect, SourceShort,
)  # fmt: skip
_KEYS_ON_TOP = {field.alias or name for kind in (WrittenRule, SharedStep) for name, field in kind.model_fields.items()}
_KEYS = sorted({field.alias or name for model in _MODELS for name, field in model.model_fields.items()} | {"id"})


@dataclass(frozen=True)
class Problem:
    """What is wrong, in which file, at which key."""

    file: str
    key: str
    text: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.key, self.text) if part)


@dataclass(frozen=True)
class Written:
    """One file of the catalogue: a rule or a shared step."""

    file: str
    path: Path
    content: WrittenRule | SharedStep


def read(path: Path, file: str) -> Written | list[Problem]:
    """The rule or shared step that a file holds, or what is wrong with it."""
    try:
        content, wrong = read_plain(path)
    except OSError as error:
        return [Problem(file, "", " ".join(str(error).split()))]
    problems = [Problem(file, line, text) for line, text in wrong]
    if problems and content is None:
        return problems
    if not isinstance(content, dict) or not _KEYS_ON_TOP.intersection(content):  # no line of such a file is repeated
        return [Problem(file, "", "contains no rule; a rule starts with 'id:', a shared step with 'step:'")]
    kind: type[WrittenRule | SharedStep] = SharedStep if "step" in content else WrittenRule
    try:
        return problems or Written(file, path, kind.model_validate(content))
    except ValidationError as error:
        return problems + [_problem(file, one) for one in error.errors()]


def suggestion(name: str, known: Any) -> str:
    """ "; did you mean 'x'?" where a known name is near, else nothing."""
    said = did_you_mean(name, known)
    return said and f"; {said}"


def _problem(file: str, error: Any) -> Problem:
    place = list(_place(error["loc"]))
    key = ".".join(place)
    if error["type"] == "extra_forbidden":
        return Problem(file, key, f"no key '{place[-1]}' here" + suggestion(place[-1], _KEYS))
    if error["type"] == "missing":
        return Problem(file, key, "is missing")
    said = str(error["msg"]).removeprefix("Value error, ")
    found = "" if error["type"] == "value_error" else f", not {reprlib.repr(error['input'])}"
    return Problem(file, key, said[:1].lower() + said[1:] + found)


def _place(loc: tuple[str | int, ...]) -> Iterator[str]:
    """The keys of a place without the kinds of step and undo that pydantic puts in between."""
    for before, part in zip((None, *loc), loc, strict=False):
        if not (part in _TAGS and (isinstance(before, int) or before == "undo")):
            yield str(part)
