"""Lengths of batches that a text tells in words, without their interval: `each batch took 80 s, then 30 s`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.metrics.words import milliseconds
from advisor.sources.no_progress.paced import ABOUT, LENGTH, NEAR, said, span
from advisor.sources.sightings.marked import Words
from advisor.sources.sightings.words import held, sentences

_STREAMS: Final = re.compile(
    r"(?i)\bspark\b|streaming|\bstreams?\b|kafka|writeStream|GroupsWithState|event-time|watermark"
    r"|\b(?:update|append) mode\b"
)
_WRAPPED: Final = re.compile(r"(?<=[a-z,])\n[ \t]{0,8}(?=[a-z~≈\d])")
"""A sentence goes on in the next line."""
_THEN: Final = re.compile(
    r"(?i)\b(?:it|this|that|they|which)(?:[ ](?:now|only|then))?[ ](?:takes?|took"
    rf"|(?:went|came|is|was)[ ](?:up|down)[ ]to|(?:dropped|fell|rose|grew|went)[ ]to){ABOUT}{LENGTH}\b"
    r"(?![ ](?:for|to|until|before)\b)"
)
_AND: Final = re.compile(
    rf"(?i)^(?:[^.;:\n]|\.\d){{0,25}}?\b(?:and|then|vs\.?|versus|instead of)\b{ABOUT}{LENGTH}"
    r"\b(?=\W{0,3}(?:$|[.;,)\n]|(?:and|or|on|at|in|with|after|when|now|per|each|later)\b))"
)
_PER_BATCH: Final = re.compile(
    rf"(?i)\b(?:latenc\w{{1,4}}|durations?|(?<!lead )time|tiempo|takes?|took|dauer)\b[^.;\n\d]{{0,30}}[~≈]?{LENGTH}"
    r"[ ](?:per|por|pro|par|a|each|je)[ ](?:micro-?)?(?:batch|lote)\b(?![ ](?:interval|job))"
)
_OF_A_PART: Final = re.compile(
    r"(?i)overhead|sav(?:e|ing)|\badd(?:s|ed)?\b|cost|commit|plan|writ|extra|wait|timeout|trigger|interval|window|limit"
    r"|budget|target|\bSLA|\bGC\b|schedul|shuffle|network|from \w+ to"
)
"""`latency of the commit: 200 ms per batch` is no length of it."""
_LONG_AGO: Final = re.compile(
    r"(?i)\b(?:nightly|daily|hourly|weekly|batch jobs?)\b"
    r"|\blast (?:week|month|quarter|year)\b|\bago\b|\bused to\b|\bprevious|\bformer|\bvorher\b|\bfrüher\b|\(#\d+\)"
)
_PARTITIONS: Final = re.compile(r"(?i)shuffle[. _]partitions|\b200 (?:state |shuffle )?(?:partitions|tasks)\b")
_TASKS: Final = (
    ". It names shuffle partitions: 200 by default, and a query that keeps state or shuffles rows runs as many tasks "
    "in each batch, however few its rows"
)
_MOST: Final = 6
"""Lengths that are repeated; more are a range."""


def batches_of(text: str) -> str | None:
    """How long batches take by the words of a text about a stream; None where it does not say."""
    told = list(dict.fromkeys(milliseconds(ms) for ms in read_lengths(text))) if _STREAMS.search(text) else []
    if not told:
        return None
    tasks = _TASKS if _PARTITIONS.search(text) else ""
    missing = "whether they keep up with their trigger, and where their time goes, is not told"
    each = f"{', '.join(told[:-1])} and {told[-1]}" if len(told) <= _MOST and told[1:] else told[0]
    each = each if len(told) <= _MOST else f"{len(told)} lengths"
    several = ", several measurements, of which no average is made" if told[1:] else ""
    return f"the text tells of batches of {each}{several}; {missing}{tasks}"


def read_lengths(text: str) -> Iterator[float]:
    """Milliseconds of batches in the order of the text; what it supposes, or was so long ago, counts for nothing."""
    follows = False
    for sentence in held(sentences(Words(_WRAPPED.sub(" ", text.replace("`", ""))))):
        first = [] if _LONG_AGO.search(sentence) else [*said(sentence)]
        if not first and not _LONG_AGO.search(sentence) and not _OF_A_PART.search(sentence):
            first = [*_PER_BATCH.finditer(sentence)]
        ands = [found for match in first if (found := _AND.match(sentence[match.end() : match.end() + NEAR]))]
        told = [ms for match in [*first, *ands] for ms in span(match["length"]) if ms > 0]
        yield from told
        if told or follows:
            yield from (ms for match in _THEN.finditer(sentence) for ms in span(match["length"]) if ms > 0)
        follows = bool(told)
