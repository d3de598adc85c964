"""What people write behind the name of a figure: `addBatch (write to the sink)`, `triggerExecution total`."""

from __future__ import annotations

import re
from typing import Final

_REMARK: Final = re.compile(r"[ \t]{0,9}\(([^()|\n]{1,60})\)$")
_TOTAL: Final = re.compile(r"(?i)(?<=execution)[\"'`*]{0,4}[ \t]{1,4}(?:total|overall|whole|gesamt|insgesamt|totale)$")
"""The whole trigger is the total of its phases; the total of a phase may be one over many batches."""
_MEANS_MORE: Final = re.compile(
    r"(?i)[\d%<>]|\b(?:s|secs?|seconds?|min|minutes?|mins|max|maximum|minimum|p\d+|percentile|std\w*|count|sum|share"
    r"|percent|ratio|rate|rows|records|peak|worst|slowest|first|cold|before|after|old|new|limit|alert|target|total)\b"
)
"""Words by which a number is not the time that a typical batch took, or not in milliseconds."""


def without_remark(name: str) -> str:
    """The name of a figure without a remark that changes nothing of what it is."""
    found = _REMARK.search(name)
    if found is not None and not _MEANS_MORE.search(found[1]):
        name = name[: found.start()]
    return _TOTAL.sub("", name)
