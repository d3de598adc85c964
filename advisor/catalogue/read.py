"""Rule files to models: YAML that hides nothing, and every problem with its file and key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

try:  # libyaml is ten times as fast, and a wheel without it is rare
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]

from advisor.catalogue.condition import Condition
from advisor.catalogue.example import Batches, Every, Example, Expect, SourceShort
from advisor.catalogue.rule import Measure, Seen, WrittenRule
from advisor.catalogue.step import Change, Saves, SharedStep, Stage, Trigger, Use

_TAGS = ("step", "use", "text")  # what pydantic adds to a place for the kind of a step
_MODELS: tuple[type[BaseModel], ...] = (
    WrittenRule, SharedStep, Condition, Measure, Seen, Change, Saves, Stage, Trigger, Use,
    Batches, Every, Example, Expect, SourceShort,
)  # fmt: skip
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
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # a SafeLoader, see below
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        return [Problem(file, "", " ".join(str(error).split()))]
    if not isinstance(content, dict):
        return [Problem(file, "", "holds no rule; a rule starts with 'id:', a shared step with 'step:'")]
    kind: type[WrittenRule | SharedStep] = SharedStep if "step" in content else WrittenRule
    try:
        return Written(file, path, kind.model_validate(content))
    except ValidationError as error:
        return [_problem(file, one) for one in error.errors()]


def suggestion(name: str, known: Any) -> str:
    """ "; did you mean 'x'?" where a known name is near, else nothing."""
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _problem(file: str, error: Any) -> Problem:
    place = list(_place(error["loc"]))
    key = ".".join(place)
    if error["type"] == "extra_forbidden":
        return Problem(file, key, f"no key '{place[-1]}' here" + suggestion(place[-1], _KEYS))
    if error["type"] == "missing":
        return Problem(file, key, "is missing")
    said = str(error["msg"]).removeprefix("Value error, ")
    found = "" if error["type"] == "value_error" else f", not {error['input']!r}"
    return Problem(file, key, said[:1].lower() + said[1:] + found)


def _place(loc: tuple[str | int, ...]) -> Iterator[str]:
    """The keys of a place without the kinds of step and undo that pydantic puts in between."""
    for before, part in zip((None, *loc), loc, strict=False):
        if not (part in _TAGS and (isinstance(before, int) or before == "undo")):
            yield str(part)


class _Loader(SafeLoader):
    """Refuses a key that stands twice, and reads only true and false as booleans (YAML 1.2): `yes` stays a word."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    found: set[Any] = set()
    for key, _ in node.value:
        name = loader.construct_object(key)
        if name in found:
            raise yaml.constructor.ConstructorError(None, None, f"the key {name!r} stands twice", key.start_mark)
        found.add(name)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in SafeLoader.yaml_implicit_resolvers.items()
}
