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
_TIME: Final = re.compile(r"\d\d(?:\d\d)?[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d")
_ENDS: Final = re.compile(r"[sSUW](?<!\w.)(?:(?<=[sS])(?:ources?|ink)|(?<=U)sing|(?<=W)riting(?! atomically))\b")
"""The words source, sink, Using and Writing; a pattern that begins with letters passes over all others at once."""
_MANY_LINES: Final = 40
"""Of a log: so many nobody pastes to be read."""


def written(text: bytes) -> Words:
    """What a person may have written of a text."""
    words = text[:LONGEST].decode("utf-8", "replace")
    return Words(beside_the_log(words) if len(text) <= LONGEST else above_the_log(words))


def beside_the_log(text: str) -> str:
    """The text without the lines of a log, where these are many: they tell by themselves, and nobody wrote them."""
    lines = text.split("\n")
    rest = [line for line in lines if not (time := _TIME.match(line)) or _names_an_end(line, time.end())]
    return "\n".join(rest) if len(lines) - len(rest) >= _MANY_LINES else text


def above_the_log(text: str) -> str:
    """What stands above the first line of a log or record."""
    first = _OF_A_LOG.search(text)
    return text[: first.start()] if first else ""


def _names_an_end(line: str, begin: int) -> bool:
    may = "ource" in line or "ink" in line or "Using" in line or "Writing" in line
    return may and _ENDS.search(line, begin) is not None
