"""Limits of a source that code sets where no source reads them: on the writer, or in the session's configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from advisor.sources.sightings.marked import Words, marked
from advisor.sources.sightings.query import Told

_CALLS: Final = (
    r"(?:[\s\\]{0,80}\.(?!start\b|toTable\b)\w{1,40}\((?:[^()\n]|\([^()\n]{0,200}\)){0,300}\)){0,12}[\s\\]{0,80}"
)
"""Calls on one object, one behind the other."""
_LIMIT: Final = r"""["'](m(?:ax|in)(?:Offsets|Files|Bytes)PerTrigger)["']\s{0,9},[^)\n]{1,80}\)"""
_PLACES: Final = {
    "on writeStream": marked(
        "writestream",
        rf"(?<=writeStream){_CALLS}\.option\(\s{{0,9}}{_LIMIT}",
    ),
    "in the session's configuration": marked(
        "conf", rf"(?:\bbuilder(?:\(\))?{_CALLS}\.config|\.conf\.set)\(\s{{0,9}}{_LIMIT}"
    ),
}
_SET: Final = r"""["']{0}["']|\b{0}\s{{0,3}}="""
_COMMENT: Final = re.compile(r"#|//|^\s*[*-]")
_OF_CODE: Final = 2
"""Words that stand alone in a line of code before a name: `val query = ...`."""
_OF_ONE_WRITER: Final = 3
"""Limits that stand one behind the other, of which a search finds the first."""


def read_misplaced(code: Words) -> Iterator[Told]:
    """The first limit that limits nothing, and where it is set; none where another place sets the same."""
    rest = without_misplaced(code)
    found = ((where, match) for where, pattern in _PLACES.items() for match in pattern.finditer(code))
    said = ((where, match[1]) for where, match in found if _is_code(code, match.start()))
    alone = (f"{limit} {where}" for where, limit in said if not re.search(_SET.format(limit), rest))
    yield from (Told("misplaced_limit", limit) for limit in islice(alone, 1))


def _is_code(text: str, at: int) -> bool:
    """Whether the line before that place is code: no comment, and no sentence."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return not _COMMENT.search(before) and sum(word.isalpha() for word in before.split()) <= _OF_CODE


def without_misplaced(code: Words) -> Words:
    """The code without them."""
    for pattern in _PLACES.values():
        for _ in range(_OF_ONE_WRITER):
            code = Words(pattern.pattern.sub(_emptied, code)) if pattern.search(code) else code
    return code


def _emptied(found: re.Match[str]) -> str:
    return found[0].replace(found[1], "")
