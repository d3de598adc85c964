"""Patterns that are tried only where a text holds a word without which they cannot match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

from stringzilla import find

_ALIKE: Final = {ord("İ"): "i", ord("ı"): "i", ord("ſ"): "s"}
"""Letters that a pattern takes for plain ones where it does not tell capitals from small letters."""


def lowered(text: str) -> str:
    """`text` in lower case, letter by letter: what stands at a place of one stands there in the other."""
    return text.lower() if text.isascii() else text.translate(_ALIKE).lower()


class Words(str):
    """A text of which it is cheap to say that it does not hold a word. Marks are words in lower case."""

    @cached_property
    def lowered(self) -> str:
        """The text in lower case."""
        return lowered(self)

    @cached_property
    def _searched(self) -> bytes:
        return self.lowered.encode("utf-8", "replace")  # at a lone surrogate in a str stringzilla ends the process

    def holds(self, *marks: str) -> bool:
        """Whether one of the marks stands in the text, in capitals or not."""
        return bool(max(map(partial(find, self._searched), map(str.encode, marks))) >= 0)

    def lines_with(self, *marks: str) -> Iterator[str]:
        """The lines in which one of the marks stands, each with its end."""
        places = (at for mark in filter(self.holds, marks) for at in _places(self.lowered, mark))
        for start in sorted({self.rfind("\n", 0, at) + 1 for at in places}):
            yield self[start : self.find("\n", start) + 1 or None]


def _places(text: str, mark: str) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + 1)


class Marked(NamedTuple):
    """A pattern, and the marks of which one stands in whatever it matches."""

    marks: tuple[str, ...]
    pattern: re.Pattern[str]

    def search(self, words: Words) -> re.Match[str] | None:
        """The first match."""
        return self.pattern.search(words) if words.holds(*self.marks) else None

    def findall(self, words: Words) -> list[Any]:
        """The groups of every match, as `re.findall` has them."""
        return self.pattern.findall(words) if words.holds(*self.marks) else []

    def finditer(self, words: Words) -> Iterator[re.Match[str]]:
        """Every match."""
        return self.pattern.finditer(words) if words.holds(*self.marks) else iter(())


def marked(marks: str | tuple[str, ...], pattern: str, flags: int = 0) -> Marked:
    """A pattern, and the marks of which one stands in whatever it matches."""
    return Marked((marks,) if isinstance(marks, str) else marks, re.compile(pattern, flags))
