"""The limit of rows or files per batch that people name: in words, as an option, a key, an argument or a variable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.sources.sightings.marked import Words
from advisor.sources.sightings.query import LIMITS, Told
from advisor.sources.sightings.words import of_now, sentences, supposes

_NUMBER: Final = r"(?P<number>\d{1,3}(?:[,_]\d{3}){1,4}|\d{1,18})(?P<thousand>[kK])?(?![\w.,%]*\d)(?!\w)"
_NAME: Final = (
    r"(?:^|[\s\"'`*(\[{.,;:=\-])(?P<option>m(?:ax|in)[_-]?offsets|max[_-]?files)[_-]?per[_-]?trigger(?:[\"'`*]{0,3})"
)
_NAMED: Final = re.compile(
    rf"(?i){_NAME}"
    r"(?:[ \t]?(?:->|[=:,(|]|\bwith\b|\b(?:an?|the|its)\b|\bvalue\b|\bis\b|\bwas\b|\bof\b|\bat\b|\bto\b|\bset\b|\bnow\b"
    r"|\b(?:have|has)\b|\bbeen\b|\bas\b)|[\"'`*]){0,6}"
    rf"[ \t]{{0,20}}[\"'`*]?{_NUMBER}"
)
_IN_WORDS: Final = re.compile(
    rf"(?i)\b(?:limit(?:ed)?|at most|no more than|max(?:imum)?|cap(?:ped)?)\b[^\n.\d]{{0,30}}?\b{_NUMBER}"
    r"[ ]offsets[ ](?:per|a|each|in each|in a)[ ](?:trigger|batch|micro-?batch)\b"
)
_CHANGE: Final = (
    r"(?:\b(?:increased|raised|bumped|reduced|lowered|cut|dropped|changed|moved)"
    r"(?:[ ](?:it|this|that|the[ ](?:limit|value)))?(?:[ ](?:up|down))?[ ](?:from[ ][\d,_kK]{1,14}[ ])?to|->|→|=>"
    r"|\bfrom[ ][\d,_kK]{1,14}[ ]to|\bnow(?:[,:]|[ ](?:it(?:'s|[ ]is)?|is|at|set[ ]to))*)"
)
_OF_ANOTHER: Final = (
    r"(?:offsets|files|bytes)[_-]?per|partition|core|executor|worker|node|slot|interval|batch|memory|latenc|takes"
)
_CHANGED: Final = re.compile(
    rf"(?i){_NAME}(?:(?!{_OF_ANOTHER})[^?]){{0,60}}?{_CHANGE}[ ]?[\"'`]?{_NUMBER}"
    r"(?![\"'`]?[ ]?(?:[mµ]?s|sec\w*|min\w*|hours?|rows?|records?|events?|[KMG]i?B|partitions?|cores?|%)\b)"
)
_WAS: Final = re.compile(
    rf"(?i){_NAME}[^\d\n?]{{0,20}}?{_NUMBER}[\"'`]?\)?[ ,]{{0,3}}(?:(?://|\#|\()[ ]?)?"
    r"(?:was|were|previously|before|formerly|up[ ]from|down[ ]from|from|instead[ ]of)[ ](?:it[ ]was[ ])?\d"
)
_BACK: Final = re.compile(
    r"(?i)\b(?:went|go|changed|set|put|switched|rolled) (?:it )?back\b|\brevert|\bundid\b|\bback to \d"
)
_TAKEN_OUT: Final = re.compile(r"(?im)^-(?!-)[^\n]*(?:offsets|files)_?per_?trigger[^\n]*\n(?=\+)")
"""The old line of a difference of two files."""
_OF_A_LIMIT: Final = ("pertrigger", "per_trigger", "per-trigger", " offsets ")
"""Without one of these a sentence tells no limit."""


def read_limits(text: Words) -> Iterator[Told]:
    """The facts of LIMITS by what the text says of now: of `was 100, now 5000` the second; nothing of a limit that was
    changed and changed back.
    """
    if not text.holds(*_OF_A_LIMIT):
        return
    text = Words(_TAKEN_OUT.sub("", text))
    certain = "".join("?" if supposes(sentence) else sentence for sentence in sentences(text))
    changes = [found for pattern in (_CHANGED, _WAS) for found in pattern.finditer(certain)]
    if changes and _BACK.search(text):
        return
    changed = {_option(match) for match in changes}
    named = [
        match
        for sentence in of_now(sentences(text, *_OF_A_LIMIT))
        for pattern in (_NAMED, _IN_WORDS)
        for match in pattern.finditer(sentence)
    ]
    for match in changes + [match for match in named if _option(match) not in changed]:
        if rows := int(re.sub("[,_]", "", match["number"])) * (1000 if match["thousand"] else 1):
            yield Told(LIMITS[_option(match)], rows)


def _option(match: re.Match[str]) -> str:
    named = match.groupdict().get("option") or "maxoffsets"
    return named.lower().replace("_", "").replace("-", "")
