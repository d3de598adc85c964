"""Patterns that are tried only where a text holds a mark: no match may be missed."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from advisor.sources import sightings
from advisor.sources.sightings import limits, paste, settings, storage, words
from advisor.sources.sightings.marked import Marked, Words, lowered, marked

if sys.version_info >= (3, 11):
    from re import _constants as op
    from re import _parser as parser
else:
    import sre_constants as op
    import sre_parse as parser

_ANYTHING = "\0"
_HELD = "held"
_FEW = 8


def holds_a_mark(pattern: re.Pattern[str], marks: tuple[str, ...]) -> bool:
    """Whether each text that a pattern can match holds a mark, by the pattern's structure."""
    return _spelled(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE), marks) == {_HELD}


def _spelled(tree: Iterable[Any], marks: tuple[str, ...]) -> set[str]:
    """What a match can be spelled, in lower case, as far as that is certain."""
    found = {""}
    for kind, what in tree:
        ends = _ends(kind, what, marks)
        found = {_joined(start, end, marks) for start in found for end in ends}
    return found


def _joined(start: str, end: str, marks: tuple[str, ...]) -> str:
    if _HELD in (start, end) or any(mark in start + end for mark in marks):
        return _HELD
    whole, longest = start + end, max(map(len, marks))
    return whole if len(whole) <= 2 * longest else whole[:longest] + _ANYTHING + whole[-longest:]


def _ends(kind: Any, what: Any, marks: tuple[str, ...]) -> set[str]:
    if kind is op.LITERAL:
        return {chr(what).lower()}
    if kind is op.IN:
        letters = {chr(each).lower() for of, each in what if of is op.LITERAL}
        return letters if len(what) <= _FEW and all(of is op.LITERAL for of, _ in what) else {_ANYTHING}
    if kind is op.SUBPATTERN:
        return _spelled(what[3], marks)
    if kind is op.BRANCH:
        return {each for branch in what[1] for each in _spelled(branch, marks)}
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        least, most, inside = what
        once = _spelled(inside, marks)
        more = {_joined(each, _ANYTHING, marks) for each in once} if most > 1 else set()
        return once | more | ({""} if least == 0 else set())
    if kind is op.ASSERT and _spelled(what[1], marks) == {_HELD}:  # what must follow is in the text, too
        return {_HELD}
    return {""} if kind in (op.AT, op.ASSERT, op.ASSERT_NOT) else {_ANYTHING}


def all_marked() -> Iterator[tuple[str, Marked]]:
    for module in pkgutil.iter_modules(sightings.__path__):
        for name, thing in vars(importlib.import_module(f"{sightings.__name__}.{module.name}")).items():
            if isinstance(thing, Marked):
                yield f"{module.name}.{name}", thing


BY_LINE = {
    "trigger": (words._OF_A_TRIGGER, words._NAMED, words._INTERVAL, words._UNQUOTED, words._EVERY, words._AHEAD),
    "no trigger": (words._OF_A_TRIGGER, words._NONE, words._OF_TIME),
    "key": (words._OF_A_KEY, words._KEYED, words._PROCESSING),
    "limit": (limits._OF_A_LIMIT, limits._NAMED, limits._IN_WORDS, limits._CHANGED, limits._WAS),
    "arrow": (paste._ARROWS, paste._ARROW),
    "checkpoint": (("checkpoint",), storage._CHECKPOINT),
    "setting": (("spark.",), settings._WRITTEN),
}


@pytest.mark.parametrize("each", [pytest.param(each, id=name) for name, each in all_marked()])
def test_what_a_pattern_matches_holds_one_of_its_marks(each: Marked) -> None:
    assert holds_a_mark(each.pattern, each.marks)


@pytest.mark.parametrize("case", list(BY_LINE))
def test_what_is_looked_for_line_by_line_holds_a_mark(case: str) -> None:
    marks, *patterns = BY_LINE[case]
    assert [pattern for pattern in patterns if not holds_a_mark(pattern, marks)] == []


@pytest.mark.parametrize(
    ("pattern", "marks", "holds"),
    [
        ("a(?:b|c)d", ("abd", "acd"), True),
        ("a(?:b|c)d", ("abd",), False),
        ("ab?c", ("ac", "abc"), True),
        ("ab?c", ("abc",), False),
        ("a[-_]b", ("a-b", "a_b"), True),
        ("(?:ab)*c", ("ab",), False),
        ("(?:ab)+c", ("ab",), True),
    ],
)
def test_the_structure_of_a_pattern_shows_what_it_needs(pattern: str, marks: tuple[str, ...], holds: bool) -> None:
    assert holds_a_mark(re.compile(pattern), marks) is holds


@pytest.mark.parametrize("text", ["a trİgger", "a trıgger", "SKETCHEſ", "\u212aelvin", "Ärger", "\ud800 trigger"])
def test_each_letter_keeps_its_place_in_lower_case(text: str) -> None:
    assert len(lowered(text)) == len(text)


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ("trigger", "a TRIGGER"),
        ("trigger", "a trıgger"),
        ("trigger", "a TRİGGER"),
        ("sink", "ſink"),
        ("key", "\u212aey"),
    ],
)
def test_a_mark_is_found_where_a_pattern_finds_it(mark: str, text: str) -> None:
    assert re.search(f"(?i){mark}", text)
    assert Words(text).holds(mark)
    assert marked(mark, f"(?i){mark}").search(Words(text))


def test_a_lone_surrogate_is_no_word() -> None:
    assert Words("\ud800 no trigger").holds("trigger")
    assert not Words("\ud800").holds("trigger")


def test_lines_with_a_mark_come_in_order_with_their_ends() -> None:
    text = Words("one sink\nnothing\r\nA Source and a sink\nsource")
    assert list(text.lines_with("source", "sink")) == ["one sink\n", "A Source and a sink\n", "source"]
    assert list(text.lines_with("trigger")) == []
