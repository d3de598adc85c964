"""YAML that hides nothing: no key twice, nothing that grows when it is read, no types that JSON lacks."""

from __future__ import annotations

import re
import stat
from itertools import chain
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml

try:  # libyaml is ten times as fast, and a wheel without it is rare
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]

from advisor.vocabulary import OF_KERNEL

DEEPEST: Final = 50
"""Levels of lists and mappings; libyaml itself ends the process somewhere above 20,000."""
MOST_VALUES: Final = 300_000
"""Values in a file, each as often as aliases repeat it: some 300 MB."""
MOST_BYTES: Final = 32 << 20

_TYPES: Final = {f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null")}
_ODD: Final = {f"tag:yaml.org,2002:{name}" for name in ("timestamp", "value")}

_OF_PYTHON: Final = re.compile(r"a valid (dictionary|tuple|list)(?: or instance of \w+)?")
_WORDS: Final = {"dictionary": "keys with values", "tuple": "a list", "list": "a list"}

Problems = list[tuple[str, str]]
"""Place in a file ("line 3", or nothing for the whole of it) and text of what is wrong there."""


def read_plain(path: Path) -> tuple[Any, Problems]:
    """Return what a YAML file holds, None if it cannot be read, and what is wrong with it as YAML; raise OSError.

    `true` and `false` are the only booleans (YAML 1.2: `yes` stays a word), and a date stays a word, too.
    """
    found = path.stat()
    if not found.st_size and str(path.resolve()).startswith(OF_KERNEL):
        return None, [("", "is a file that the kernel makes, which may never end")]
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):  # to open a directory says what it is
        return None, [("", "is no plain file, and may never end")]
    with path.open("rb") as file:
        written = file.read(MOST_BYTES + 1)
    if len(written) > MOST_BYTES:
        return None, [("", f"is larger than {MOST_BYTES >> 20} MB")]
    try:
        return _plain(written.decode("utf-8"))
    except yaml.MarkedYAMLError as error:
        said = " ".join(filter(None, (error.context, error.problem)))
        return None, [(_line(error.problem_mark or error.context_mark), " ".join(said.split()))]
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        of_yaml = isinstance(error, yaml.YAMLError)
        return None, [("", " ".join(str(error).split()) if of_yaml else "is not UTF-8; save it as UTF-8")]


def in_words(found: Any) -> str:
    """Return what pydantic says of a value, in the words of YAML."""
    said = _OF_PYTHON.sub(lambda word: _WORDS[word[1]], str(found["msg"]).removeprefix("Value error, "))
    return said[:1].lower() + said[1:]


def read_trusted(text: str) -> Any:
    """Return what a text of the project's own holds, read as `read_plain` reads it; nothing is checked."""
    loader = _Trusting(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _plain(text: str) -> tuple[Any, Problems]:
    _refuse_deep(text)
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None, []
        _extent(root, {})
        content = loader.construct_document(root)  # after the check: a merge key copies what it repeats
        return content, loader.twice
    finally:
        loader.dispose()


def _refuse_deep(text: str) -> None:
    """Raise where the text nests too deeply or holds too much, before anything is built of it."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, _Loader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        _refuse(number, depth, event)


def _extent(node: yaml.Node, known: dict[int, tuple[int, int] | None]) -> tuple[int, int]:
    """(values, levels) of a node with its aliases written out; raises where that is too much or without end."""
    if isinstance(node, yaml.ScalarNode):
        return 1, 0
    if id(node) not in known:
        known[id(node)] = None
        parts = chain.from_iterable(node.value) if isinstance(node, yaml.MappingNode) else node.value
        inner = [_extent(each, known) for each in parts]
        known[id(node)] = (1 + sum(size for size, _ in inner), 1 + max((deep for _, deep in inner), default=0))
    extent = known[id(node)]
    if extent is None:
        raise yaml.composer.ComposerError(None, None, "an alias stands inside what it repeats", node.start_mark)
    _refuse(*extent, node)
    return extent


def _refuse(values: int, depth: int, at: Any) -> None:
    if depth > DEEPEST:
        said = f"lists and mappings lie more than {DEEPEST} deep in one another"
    elif values > MOST_VALUES:
        said = f"more than {MOST_VALUES:,} values, those that aliases repeat among them"
    else:
        return
    raise yaml.composer.ComposerError(None, None, said, at.start_mark)


def _line(mark: yaml.Mark | None) -> str:
    return "" if mark is None else f"line {mark.line + 1}"


class _Loader(SafeLoader):
    """Knows the types of JSON alone. `twice`: the keys that stand twice."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.twice: Problems = []

    def mapping(self, node: yaml.Node) -> dict[Any, Any]:
        """A mapping as it is written, merge keys carried out."""
        if not isinstance(node, yaml.MappingNode):
            self.other(node)
        lines: dict[Any, int] = {}
        for key, _ in node.value:
            self._note(self._name(key), key, lines)
        self.flatten_mapping(node)
        pairs = [(self.construct_object(key, deep=True), value) for key, value in node.value]
        return {name: self.construct_object(value, deep=True) for name, value in pairs}

    def _name(self, key: yaml.Node) -> Any:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is one word or number", key.start_mark)
        return key.value if key.tag.endswith(":merge") else self.construct_object(key)

    def _note(self, name: Any, key: yaml.Node, lines: dict[Any, int]) -> None:
        line = key.start_mark.line + 1
        if name in lines:
            first = f" (first in line {lines[name]})" if lines[name] != line else ""
            self.twice.append((_line(key.start_mark), f"the key {name!r} stands twice{first}"))
        lines.setdefault(name, line)

    def plain(self, node: yaml.ScalarNode) -> Any:
        """A number or a truth; the word itself where it is none of YAML 1.2 (`0x_`, `1:30`) or no 64 bits hold it.

        Digits are decimal, as `0500`, which YAML 1.1 reads as 320.
        """
        decimal, make = node.value.lstrip("+-").isdecimal(), SafeLoader.yaml_constructors[node.tag]
        try:  # to add up what colons part takes quadratic time
            number = node.value if ":" in node.value else int(node.value) if decimal else make(self, node)
        except (ValueError, OverflowError, LookupError):
            return node.value
        return node.value if isinstance(number, int) and abs(number) >= 1 << 63 else number

    def other(self, node: yaml.Node) -> NoReturn:
        """Refuse a type that JSON lacks: `!!set`, `!!binary`, `!!python/…`."""
        tag = node.tag.replace("tag:yaml.org,2002:", "!!")
        tag = tag if tag.startswith("!!") else "of its own"
        said = f"no type {tag} here; text, numbers, true, false, null, lists and mappings are read"
        raise yaml.constructor.ConstructorError(None, None, said, node.start_mark)


def _is_plain(tag: str, first: str | None) -> bool:
    """Whether a word that begins with `first` and looks like this type is read as it."""
    return tag not in _ODD and (tag != "tag:yaml.org,2002:bool" or first in tuple("tTfF"))


_Loader.yaml_constructors = {tag: make for tag, make in SafeLoader.yaml_constructors.items() if tag in _TYPES}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if _is_plain(tag, first)]
    for first, resolvers in SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.mapping)
for _kind in ("bool", "int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.plain)
_Loader.add_constructor(None, _Loader.other)


class _Trusting(_Loader):
    """Reads what was checked before."""


_Trusting.yaml_constructors = _Loader.yaml_constructors | {
    "tag:yaml.org,2002:map": lambda loader, node: loader.construct_mapping(node, deep=True)
}
