"""Limits of a source that code sets where no source reads them: on the writer, or in the session's configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from advisor.sources.sightings.marked import Words, marked
from advisor.sources.sightings.query import Told

_LIMIT: Final = r"""["'](m(?:ax|in)(?:Offsets|Files|Bytes)PerTrigger)["']\s{0,9},[^)\n]{1,80}\)"""
_PLACES: Final = {
    "on writeStream": marked(
        "writestream",
        rf"(?<=writeStream)(?:(?!readStream|writeStream|\.start\b|\.toTable\().){{0,2000}}?\.option\(\s{{0,9}}{_LIMIT}",
        re.DOTALL,
    ),
    "in the session's configuration": marked("conf", rf"\.(?:config|conf\.set)\(\s{{0,9}}{_LIMIT}"),
}
_OF_ONE_WRITER: Final = 3
"""Limits that stand one behind the other, of which a search finds the first."""


def read_misplaced(code: Words) -> Iterator[Told]:
    """The first limit that limits nothing, and where it is set; none where another place sets the same."""
    rest = without_misplaced(code)
    found = ((where, match[1]) for where, pattern in _PLACES.items() for match in pattern.finditer(code))
    alone = (f"{limit} {where}" for where, limit in found if f'"{limit}"' not in rest and f"'{limit}'" not in rest)
    yield from (Told("misplaced_limit", limit) for limit in islice(alone, 1))


def without_misplaced(code: Words) -> Words:
    """The code without them."""
    for pattern in _PLACES.values():
        for _ in range(_OF_ONE_WRITER):
            code = Words(pattern.pattern.sub(_emptied, code)) if pattern.search(code) else code
    return code


def _emptied(found: re.Match[str]) -> str:
    return found[0].replace(found[1], "")
