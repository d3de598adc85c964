"""Which part of a text can be a person's words; what programs log tells by itself, line by line.

A short text is one that somebody may have pasted and written around: all of it counts but the lines of a log, where
these are many. Of those stay the ones that name a source or a sink. Of a longer text, which is a log, only what stands
above its first line counts.
"""

from __future__ import annotations

import re
from typing import Final

from advisor.sources.sightings.marked import Words

LONGEST: Final = 64 << 10
"""Bytes of a text that somebody pasted."""
_OF_A_LOG: Final = re.compile(r"(?m)^[ \t]*(?:[\[{]|\d\d(?:\d\d)?[-/]\d\d[-/]\d\d)")
_LINE: Final = re.compile(r".*\n|.+")
_TIME: Final = re.compile(r"\d\d(?:\d\d)?[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d")
_ENDS: Final = re.compile(r"\b(?:[sS]ources?|[sS]ink|Using|Writing)\b")
_IN_ENDS: Final = ("ource", "ink", "Using", "Writing")
_MANY_LINES: Final = 40
"""Of a log: so many nobody pastes to be read."""


def written(text: bytes) -> Words:
    """What a person may have written of a text."""
    words = text[:LONGEST].decode("utf-8", "replace")
    return Words(beside_the_log(words) if len(text) <= LONGEST else above_the_log(words))


def beside_the_log(text: str) -> str:
    """The text without the lines of a log, where these are many: they tell by themselves, and nobody wrote them."""
    lines = _LINE.findall(text)
    rest = [line for line in lines if not _is_logged(line)]
    return "".join(rest) if len(lines) - len(rest) >= _MANY_LINES else text


def above_the_log(text: str) -> str:
    """What stands above the first line of a log or record."""
    first = _OF_A_LOG.search(text)
    return text[: first.start()] if first else ""


def _is_logged(line: str) -> bool:
    """Whether a program logged the line, and it names neither source nor sink."""
    time = _TIME.match(line)
    return time is not None and not (any(map(line.__contains__, _IN_ENDS)) and _ENDS.search(line, time.end()))
