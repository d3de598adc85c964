"""Text that stands in a program as quoted lines joined by plus signs."""

from __future__ import annotations

import re
from typing import NamedTuple

from advisor.sources.harvest import Buffer

_QUOTED = re.compile(
    rb"""^(?:[^"\n]{0,80}?"(?P<double>(?:[^"\\]|\\.)*)"|[^'"\n]{0,80}?'(?P<single>(?:[^'\\]|\\.)*)')[\s+;,)\\#]*$"""
)
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_MEANT = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
_REACH = 256 << 10


class Unquoted(NamedTuple):
    """The text inside quoted lines that stand at [start, end)."""

    text: bytes
    start: int
    end: int


def unquoted(buffer: Buffer, begin: int, anchor: int, end: int) -> Unquoted | None:
    """The text of the quoted lines around an anchor; None when its line is not quoted as a whole."""
    low, high = max(begin, anchor - _REACH), min(end, anchor + _REACH)
    before = buffer[low:anchor].split(b"\n")
    after = buffer[anchor:high].split(b"\n")
    lines = [*before[:-1], before[-1] + after[0], *after[1:]]
    at = len(before) - 1
    first = last = at
    while first > 0 and _QUOTED.match(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and _QUOTED.match(lines[last + 1]):
        last += 1
    matches = [_QUOTED.match(line) for line in lines[first : last + 1]]
    if not all(matches):
        return None
    start = low + sum(len(line) + 1 for line in lines[:first])
    size = sum(len(line) + 1 for line in lines[first : last + 1])
    return Unquoted(
        b"".join(_meant(match["double"] or match["single"] or b"") for match in matches if match),
        start,
        start + size - 1,
    )


def _meant(text: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: _MEANT.get(match[1], match[1]), text)
