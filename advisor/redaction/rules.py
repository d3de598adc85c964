"""What stands in the place of a credential, and rules that put it there.

Every repetition in a rule ends where it fails, or is bounded, so that the time grows as the length of a text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import compress
from typing import Any, Final, Generic, NamedTuple, TypeVar

from stringzilla import find

REDACTED: Final = "*********(redacted)"
"""What stands in the place of a credential; the words that Spark itself prints."""
NOT_YET: Final = r"(?!\*{9}\(redacted\))"
"""Redacting twice changes nothing."""
_SHORT: Final = 150
"""Letters of a text up to which stringzilla finds a word no faster than Python does."""

_Entry = TypeVar("_Entry", bound=tuple[Any, ...])


class Rule(NamedTuple):
    """Where a credential stands and what the pattern's match becomes.

    The pattern is tried where a text holds one of `needs`, in lower case, and the probe, a part of the pattern that
    begins with a letter and is found some times as fast.
    """

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    becomes: str
    probe: re.Pattern[str]


def rule(needs: str | tuple[str, ...], pattern: str, then: str = "", probe: str = "") -> Rule:
    """A rule that hides what stands after group 1 of the pattern, if it has one, and before `then`."""
    compiled = re.compile(pattern, re.DOTALL)
    becomes = (r"\1" if compiled.groups else "") + REDACTED + then
    return Rule((needs,) if isinstance(needs, str) else needs, compiled, becomes, re.compile(probe))


class Tried(Generic[_Entry]):
    """Entries, each to be tried where a text holds one of the words that stand first in it, in lower case."""

    def __init__(self, entries: Iterable[_Entry]) -> None:
        self._entries = tuple(entries)
        self._words = tuple(dict.fromkeys(word for entry in self._entries for word in entry[0]))
        self._of_word = [[at for at, entry in enumerate(self._entries) if word in entry[0]] for word in self._words]

    def on(self, text: str) -> Iterator[_Entry]:
        """Those to try on a text, in their order."""
        numbers = {number for of_word in compress(self._of_word, standing(self._words, text)) for number in of_word}
        return map(self._entries.__getitem__, sorted(numbers))


def standing(words: Iterable[str], text: str) -> Iterator[bool]:
    """Of each word, in lower case, whether it stands in the text."""
    lowered = text.lower()
    if len(lowered) < _SHORT:
        return map(lowered.__contains__, words)
    searched = lowered.encode("utf-8", "surrogatepass")  # at a lone surrogate in a str stringzilla ends the process
    return map((0).__le__, map(partial(find, searched), map(str.encode, words)))


def applied(rules: Tried[Rule], text: str) -> str:
    """`text` without the credentials that the rules know."""
    for _, pattern, becomes, probe in rules.on(text):
        if probe.search(text):
            text = pattern.sub(becomes, text)
    return text
