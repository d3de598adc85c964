"""Limits of a source that code sets where no source reads them: on the writer, or in the session's configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


def read_misplaced(code: Words) -> Iterator[Told]:
    """The first limit that limits nothing, and where it is set; none where another place sets the same."""
    for where, pattern in _PLACES.items():
        for found in pattern.finditer(code):
            if not re.search(rf"""["']{found[1]}["']""", without_misplaced(code)):
                yield Told("misplaced_limit", f"{found[1]} {where}")
                return


def without_misplaced(code: Words) -> Words:
    """The code without them."""
    for pattern in _PLACES.values():
        while code.holds("pertrigger") and (found := pattern.search(code)):
            code = Words(code[: found.start(1)] + code[found.end() :])
    return code
