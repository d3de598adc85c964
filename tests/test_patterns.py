"""No compiled pattern of the package takes more than linear time, whatever text it is asked of.

Texts are made of each pattern's own parse tree: what leads to a repetition, what it repeats up to 8,000 times, and an
end that does not match. An exponential pattern shows at 24 units, a quadratic one by the ratio of CPU times.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.catalogue.traces import forms
from advisor.progress.partial import Fragment
from advisor.redaction import hide
from advisor.sources.formats.records import cleared, opens_at
from advisor.sources.sightings.errors import known_errors

PARSE: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse").parse
FEW, SIZES = (16, 24, 100), (500, 2_000)
LETTERS = 24_000
"""Of the longest text made of units of several letters: six times the largest bound of a repetition."""
GROWS = 9.0
"""Four times the text takes four times as long in linear time, and 16 times in quadratic time."""
LINEAR = 5.0
"""What takes less than that of four times the text has no part that GROWS at four times as much again."""
SHORTEST_S = 0.002
"""A shorter time shows no growth: a quadratic pattern takes longer for 2,000 units."""
LONG = 24
"""A repetition of fewer units takes constant time."""
ALPHABET = "aZ0_ \t\n.:/-=,;\"'()[]{}<>|\\&%#@+*x\0é"
ENDS = ("\0", "x")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def patterns() -> dict[str, re.Pattern[Any]]:
    """The patterns of the package's modules, by module, name and number, and of rules/errors.yaml and traces.yaml."""
    found: dict[int, tuple[str, re.Pattern[Any]]] = {}
    for name in (module.name for module in pkgutil.walk_packages(advisor.__path__, "advisor.")):
        if name.endswith("__main__"):
            continue
        for member, value in list(vars(importlib.import_module(name)).items()):
            for number, pattern in enumerate(_held(value)):
                found.setdefault(id(pattern), (f"{name.removeprefix('advisor.')}.{member}[{number}]", pattern))
    lines = [each for events in (False, True) for some in forms(events=events).values() for each in some]
    of_rules = {f"rules/traces.yaml {it.pattern.decode()}": it for it, _ in lines}
    of_rules |= {f"rules/errors.yaml {known.matches[0]}": it for known, it in known_errors().items()}
    return dict(found.values()) | of_rules


def _held(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 5:
        for inner in _parts(value):
            yield from _held(inner, depth + 1)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (tuple, list, set, frozenset)):
        return value
    if isinstance(value, type) or not type(value).__module__.startswith(("advisor.", "functools")):
        return ()
    fields = getattr(type(value), "__struct_fields__", ())
    return [*(getattr(value, name, None) for name in fields), *getattr(value, "__dict__", {}).values()]


def is_anchored(name: str) -> bool:
    """Whether the module asks the pattern by match or fullmatch alone, at one place of a text."""
    module, _, member = name.partition("[")[0].rpartition(".")
    if name.startswith("rules/"):  # known_error searches
        return name.startswith("rules/traces.yaml")
    path = Path(advisor.__file__).parent.joinpath(*module.split("."))
    source = (path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py").read_text()
    asked = set(re.findall(rf"\b{member}\b(?:\[\w+\])?\.(\w+)", source))
    return bool(asked) and asked <= {"match", "fullmatch"}


def pumped(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """For each long repetition of the pattern: what leads to it, and what it repeats."""
    found: dict[tuple[str, str], None] = {}
    _note(list(PARSE(pattern.pattern, pattern.flags & ~re.DEBUG)), "", found)
    return list(found)


def _note(nodes: list[Any], before: str, found: dict[tuple[str, str], None]) -> str:
    """Note the long repetitions among the nodes; return `before` with a text that matches them all."""
    for at, (op, argument) in enumerate(nodes):
        kind = str(op)
        if kind in REPEATS:
            least, most, body = argument
            if most >= LONG:
                after = _note(nodes[at + 1 :], "", {})[:3]
                for unit in _units(list(body)):
                    found.update(dict.fromkeys([(before, unit), (before, unit + after), ("", before + unit)]))
            _note(list(body), before, found)
            before += (_units(list(body)) or [""])[0] * least
        elif kind in ("SUBPATTERN", "ATOMIC_GROUP"):
            before = _note(list(argument[-1] if kind == "SUBPATTERN" else argument), before, found)
        elif kind == "BRANCH":
            ways = [_note(list(branch), before, found) for branch in argument[1]]
            before = ways[0]
        elif kind in ("ASSERT", "ASSERT_NOT"):
            _note(list(argument[1]), before, found)
        else:
            before += _letters(op, argument)[:1]
    return before


def _units(body: list[Any]) -> list[str]:
    """A few texts that match the body of a repetition."""
    op, argument = body[0] if len(body) == 1 else ("", None)
    kind = str(op)
    if kind == "BRANCH":
        return list(dict.fromkeys(unit for branch in argument[1] for unit in _units(list(branch))))[:6]
    if kind in ("SUBPATTERN", *REPEATS):
        return _units(list(argument[-1]))
    letters = _letters(op, argument) if kind else ""
    return (
        [letters[at] for at in sorted({0, len(letters) // 2, len(letters) - 1})] if letters else [_note(body, "", {})]
    )


def _letters(op: Any, argument: Any) -> str:
    """Letters that one node takes, those that it names first."""
    kind = str(op)
    if kind == "LITERAL":
        return chr(argument)
    items = argument if kind == "IN" else [("NEGATE", None), ("LITERAL", argument)] if kind == "NOT_LITERAL" else []
    negated = kind == "ANY" or bool(items and str(items[0][0]) == "NEGATE")
    named = "".join(
        chr(item[1] if str(item[0]) == "LITERAL" else item[1][0])
        for item in items
        if str(item[0]) in ("LITERAL", "RANGE")
    )
    taken = [letter for letter in ALPHABET if any(_takes(*item, letter) for item in items)]
    if negated:
        return "".join(letter for letter in ALPHABET if letter not in taken and letter != "\n")
    return named + "".join(taken) if kind == "IN" else ""


def _takes(op: Any, argument: Any, letter: str) -> bool:
    kind = str(op)
    if kind == "RANGE":
        return bool(argument[0] <= ord(letter) <= argument[1])
    if kind != "CATEGORY":
        return kind == "LITERAL" and argument == ord(letter)
    name = str(argument).removeprefix("CATEGORY_").removeprefix("UNI_")
    classes = {"DIGIT": letter.isdigit(), "SPACE": letter.isspace(), "WORD": letter.isalnum() or letter == "_"}
    return classes[name.removeprefix("NOT_")] is not name.startswith("NOT_")


def slow_text(pattern: re.Pattern[Any], anchored: bool) -> str | None:
    """A text for which the pattern's time grows faster than the text does, as prefix, unit and end."""
    for prefix, unit in pumped(pattern):
        for end in ENDS:
            if _grows(pattern, anchored, prefix, unit, end):
                return f"{prefix!r} + {unit!r} * n + {end!r}"
    return None


def _grows(pattern: re.Pattern[Any], anchored: bool, prefix: str, unit: str, end: str) -> bool:
    def seconds(times: int) -> float:
        text = prefix + unit * times + end
        sought: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
        started = time.thread_time()
        if anchored:
            pattern.match(sought)
        else:
            sum(1 for _ in pattern.finditer(sought))
        return time.thread_time() - started

    if any(seconds(times) > SHORTEST_S * 50 for times in FEW):
        return True
    longest = LETTERS // max(1, len(unit))
    if longest >= 4 * SIZES[-1]:
        sizes, least = SIZES, SHORTEST_S
    else:  # of so few units the smaller text takes a quadratic pattern little time
        sizes, least = (max(FEW[-1], longest) // 4,), SHORTEST_S / 16
    first = cache(seconds)
    if first(sizes[-1]) <= max(least, LINEAR * min(seconds(sizes[-1] // 4) for _ in range(3))):
        return False
    return any(_outgrows(seconds, first, size) for size in sizes)


def _outgrows(seconds: Callable[[int], float], first: Callable[[int], float], size: int) -> bool:
    """Whether four times the units take much more than four times as long, in each of three looks."""
    before, after = first(size), first(4 * size)
    for _ in range(2):  # a busy machine may delay one of the two
        if after < GROWS * before:
            return False
        before, after = max(before, seconds(size)), seconds(4 * size)
    return after >= GROWS * before


@pytest.mark.parametrize("text", [r"(?:a|a)*b", r"\s*\[x", r"(?:-?\d{1,20})*\]", r"from the beginning .*!"])
def test_a_pattern_of_more_than_linear_time_is_found(text: str) -> None:
    assert slow_text(re.compile(text), anchored=False)


@pytest.mark.parametrize("text", [r"a+b", r"(?<!a)a+b", r"\[[^\[\]]*\]", r"(?:\d{1,20}(?!\d)|,)*\]"])
def test_a_pattern_of_linear_time_is_none(text: str) -> None:
    assert not slow_text(re.compile(text), anchored=True)


FOUND = patterns()


@pytest.mark.parametrize("name", FOUND)
def test_no_pattern_takes_more_than_linear_time(name: str) -> None:
    assert slow_text(FOUND[name], is_anchored(name)) is None


def takes_linear_time(work: Callable[[int], object]) -> bool:
    """Whether 16 times the text takes about 16 times as long; in quadratic time it takes 256 times."""

    def seconds(times: int) -> float:
        started = time.thread_time()
        work(times)
        return time.thread_time() - started

    return seconds(4_000) < 50 * max(seconds(250), SHORTEST_S)


@pytest.mark.parametrize("word", ["arn:aws:s3:r:1:", "string,", "****", "{1,2,", "f(x: int),", "no such ", "'a''b'"])
@pytest.mark.parametrize("name", ["password:", "token=>", "--secret ", "(api-key, "])
def test_names_within_a_harmless_value_are_read_once(name: str, word: str) -> None:
    assert takes_linear_time(lambda times: hide((name + word) * times))


@pytest.mark.parametrize(
    "unit", ['"\\', "'\\", "\"\\'\\", 'u"\\', "/* ", "INFO ", "{", "a(", '"a" : { # x\n', "[Stage 1:"]
)
def test_what_nothing_closes_is_read_once(unit: str) -> None:
    key = ' "durationMs": {"addBatch": 3,\n'
    assert takes_linear_time(lambda times: Fragment('{"a": ' + unit * times + "\n"))
    assert takes_linear_time(lambda times: opens_at(('{"a": ' + unit * times + key).encode(), 8 + len(unit) * times))
    before = "26/01/01 00:00:00 "
    assert takes_linear_time(
        lambda times: cleared((before + unit * times + '{"a\n' + key).encode(), 24 + len(unit) * times)
    )
