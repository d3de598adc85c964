"""The limit of rows per batch that people name: in words, as an option, a key, an argument or a variable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.sources.sightings.query import Told
from advisor.sources.sightings.words import of_now

_NUMBER: Final = r"(?P<number>\d{1,3}(?:[,_]\d{3}){1,4}|\d{1,18})(?P<thousand>[kK])?(?![\w.,%]*\d)(?!\w)"
_NAMED: Final = re.compile(
    r"(?i)(?:^|[\s\"'`*(\[{.,;:=\-])(?P<end>max|min)[_-]?offsets[_-]?per[_-]?trigger(?:[\"'`*]{0,3})"
    r"(?:[ \t]?(?:->|[=:,(|]|\bwith\b|\b(?:an?|the|its)\b|\bvalue\b|\bis\b|\bwas\b|\bof\b|\bat\b|\bto\b|\bset\b|\bnow\b"
    r"|\b(?:have|has)\b|\bbeen\b|\bas\b)|[\"'`*]){0,6}"
    rf"[ \t]{{0,20}}[\"'`*]?{_NUMBER}"
)
_IN_WORDS: Final = re.compile(
    rf"(?i)\b(?:limit(?:ed)?|at most|no more than|max(?:imum)?|cap(?:ped)?)\b[^\n.\d]{{0,30}}?\b{_NUMBER}"
    r"[ ]offsets[ ](?:per|a|each|in each|in a)[ ](?:trigger|batch|micro-?batch)\b"
)


def read_limits(text: str) -> Iterator[Told]:
    """`max_offsets_per_trigger` and `min_offsets_per_trigger` by what the text says of now."""
    for sentence in of_now(text):
        for match in [*_NAMED.finditer(sentence), *_IN_WORDS.finditer(sentence)]:
            end = match.groupdict().get("end") or "max"
            rows = int(re.sub("[,_]", "", match["number"])) * (1000 if match["thousand"] else 1)
            if rows:
                yield Told(f"{end.lower()}_offsets_per_trigger", rows)
