"""The project's own rules as they are judged by: read without their examples, and checked by `rules check` alone.

To check every file at each start would take longer than to judge a log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel
from yaml import YAMLError

from advisor.catalogue.load import PHASES, Catalogue, load, resolve, rules_directory
from advisor.catalogue.plain import read_trusted
from advisor.catalogue.read import Written
from advisor.catalogue.rule import Phases, WrittenRule
from advisor.catalogue.step import SharedStep, Use

_EXAMPLES: Final = "\nexamples:"
"""The examples stand last in each file, and are half of its text."""
Make = Callable[[Any], Any]


def rules_to_judge_by(dirs: Sequence[Path | str] | None = None) -> Catalogue:
    """Return the project's rules and those of further directories, which are checked, and all others with them."""
    if dirs:
        return load(dirs)
    try:
        home = rules_directory().resolve()
        phases = _model(Phases)(read_trusted((home / PHASES).read_text(encoding="utf-8")))
        return resolve(_shipped(home), phases)
    except (AttributeError, LookupError, TypeError, ValueError, YAMLError):
        return load()  # reports what is wrong with a file of a working copy


def _shipped(home: Path) -> Iterator[Written]:
    for path in sorted(home.glob("*/*.y*ml")):  # what lies beside the folders are lists that the rules use
        content = read_trusted(path.read_text(encoding="utf-8").partition(_EXAMPLES)[0])
        kind = SharedStep if "step" in content else WrittenRule
        file = path.relative_to(home.parent).as_posix()
        yield Written(file, path, _model(kind)(content))


@cache
def _model(kind: type[BaseModel]) -> Make:
    """Return what makes a model of plain data, unchecked."""
    makes = {field.alias or name: _maker(field.rebuild_annotation()) for name, field in kind.model_fields.items()}
    return lambda data: kind.model_construct(**{name: makes[name](value) for name, value in data.items()})


@cache
def _maker(annotation: Any) -> Make:
    """Return what makes a value of a type of plain data: models of mappings, tuples of lists, all else as it is."""
    types = list(_types(annotation))
    models = [each for each in types if issubclass(each, BaseModel)]
    listed = tuple in types

    def make(value: Any) -> Any:
        if isinstance(value, dict) and models:
            return _model(Use if "use" in value else models[0])(value)
        if isinstance(value, list):
            return tuple([make(each) if isinstance(each, dict) else each for each in value])
        return (value,) if listed and isinstance(value, str) else value

    return make


def _types(annotation: Any) -> Iterator[type]:
    """Return the types that an annotation names."""
    for each in (get_origin(annotation), annotation):
        if isinstance(each, type):
            yield each
    for inner in get_args(annotation):
        yield from _types(inner)
