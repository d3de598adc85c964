"""How long batches take, in words: `20-45 seconds against a 30-second trigger`, `up from 15 seconds to 5 minutes`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.metrics.words import milliseconds, times
from advisor.sources.formats.spans import read_span
from advisor.sources.sightings.marked import Words
from advisor.sources.sightings.words import held, of_now, read_keys, read_words, sentences

ABOUT: Final = (
    r"(?:[ ](?:about|around|roughly|approximately|nearly|almost|up to|between|only|just|now|still|usually|typically|"
    r"always|often|currently|on average|an?|of|to|is|are|was|takes?|p50|p95|p99|median|avg|average|mean|max|min)|"
    r"[ ]?[=:|~≈(])*[ ]?[~≈]?"
)
_BATCH: Final = r"\b(?:micro-?)?batch(?:es)?"
_OF_ROWS: Final = (
    r"(?:[ ](?:of|with)[ ](?:about[ ]|around[ ]|only[ ])?[~≈]?\d[\d,.]{0,12}k?"
    r"[ ](?:rows|records|events|messages|files))?"
)
_TAKES: Final = (
    r"(?:takes?|taking|took|runs? for|running for|lasts?|lasting|(?:processe?s?|completes?|finish(?:es)?) in"
    r"|lev(?:a|am|ou|aram)|demor(?:a|am|an|ou)|tardan?|dauer(?:t|n|te)|brauch(?:t|en)|prend|dure)"
)
_NUMBER: Final = r"(?:\d{1,3}(?:,\d{3}){1,2}|\d{1,6}(?:\.\d{1,3})?)"
LENGTH: Final = (
    rf"(?P<length>(?:{_NUMBER}[ ]?[a-z]{{0,12}}[ ]?(?:-|–|to|and)[ ]?)?{_NUMBER}[ -]?[a-z]{{1,12}}"
    r"(?:[ ]\d{1,2}[ ]?s(?:ec(?:onds?)?)?\b)?)"
)
_SAID: Final = tuple(
    re.compile(f"(?i){pattern}{ABOUT}{LENGTH}")
    for pattern in (
        rf"{_BATCH}{_OF_ROWS}(?:[ ][a-z]{{1,12}}){{0,3}}?[ ]{_TAKES}",
        rf"{_BATCH}[ _](?:processing[ _])?(?:duration|time|length)s?",
        r"\bprocessing[ ]time(?:[ ](?:per|of (?:a|each))[ ](?:micro-?)?batch)",
    )
)
_MORE: Final = re.compile(rf"(?i)^[ ]?[,;/][ ]?(?:and[ ])?(?:p50|p95|p99|median|avg|average|mean|max)\b{ABOUT}{LENGTH}")
_RANGE: Final = re.compile(r"(?i)(\d[\d.]*)[ ]?([a-z]*?)[ ]?(-|–|to|and)[ ]?(\d[\d.]*[ -]?[a-z]+)$")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_LITERALS: Final = re.compile(r"""(?<!\\)(["'])[ \t]{0,9}\+?[ \t]{0,9}\n[ \t]{0,80}\+?[ \t]{0,9}(?:[frb]{1,2})?\1""")
"""Where a text in a program's lines goes on from one string to the next."""
_SEEN: Final = re.compile(r"(?i)\b(?:was|were|has been|have been)[ ](?=(?:observed|measured|seen)\b)")
"""Of what was measured, which is told in the past, the rest counts for now."""
_ASIDE: Final = re.compile(r"[ ](?:--|—)[ ]")
"""What an author thinks of it stands behind a dash, and supposes what the figures before it do not."""
_OF_OTHERS: Final = re.compile(r"(?i)\(#\d+\)|\b(?:nightly|daily|weekly|batch jobs?)\b")
"""A line of a changelog tells of a fault that is gone, and a nightly batch is of no stream."""
_OF_NO_BATCH: Final = re.compile(
    r"(?i)\b(?:for|of) (?:an?|the|each|every|one)\b[^.;]{0,20}$|\b(?:never|no|not)\b[^.;]{0,12}$"
    r"|\b(?:increas|decreas|set|chang|rais|reduc|lower|configur)\w{0,6}(?: (?:the|my|our|a))? $"
)
"""`collect for a batch took 3 s` tells of a part, `never a batch took` of none, `set the batch duration` of a wish."""
NEAR: Final = 100
"""Letters beside a length in which words about it stand."""
_HARDLY: Final = 1.005
_LATER: Final = LENGTH.replace("length", "later")
_MORE_THAN: Final = r"(?:[ ](?:about|around|over|more than|mais de|más de|über|mehr als))?[ ]?[~≈]?"
_GREW: Final = (
    re.compile(rf"(?i)\b(?:from|de|von)\b{_MORE_THAN}{LENGTH}[ ](?:up[ ])?(?:to|para|a|auf)\b{_MORE_THAN}{_LATER}"),
    re.compile(
        rf"(?i)\b(?:of|at|was|is){_MORE_THAN}[ ]?{LENGTH}\b[^.;\n]{{0,60}}\b(?:increas|grew|rose|went up)"
        rf"[^.;\n]{{0,60}}\b(?:at|to){_MORE_THAN}[ ]?{_LATER}"
    ),
)
_OF_A_BATCH: Final = re.compile(r"(?i)\b(?:micro-?)?(?:batch|lote)(?:e?s)?\b")
_RISES: Final = re.compile(
    r"(?i)\b(?:increas|gr[eo]w|spik|rose|rise|rising|went up|go(?:es)? up|jump|climb|degrad|sub[ei]|crec|cresc|stieg)"
)


_OF_A_SETTING: Final = re.compile(r"(?i)trigger|interval|window|watermark|timeout|delay|retention|backoff")
"""Such lengths grow where somebody sets them."""


class Pace(NamedTuple):
    """Milliseconds that batches take, from and to, and those of the interval."""

    low: float
    high: float
    interval: float


def overdue(text: str) -> str | None:
    """What the text says of the length of its batches and of their interval, and what that means; None without both."""
    pace = read_pace(text)
    if pace is None:
        return None
    took = _range(milliseconds(pace.low), milliseconds(pace.high))
    ratios = _range(times(pace.low / pace.interval), times(pace.high / pace.interval))
    said = (
        f"the text says that batches take {took} with a trigger interval of {milliseconds(pace.interval)}, "
        f"{ratios} times the interval"
    )
    return f"{said}: {_means(pace)}. Where the time goes is not told"


def grown(text: str) -> str | None:
    """From which length to which the text says that its batches grew, and what shows why; None where it does not."""
    told = (grew for sentence in held(sentences(Words(text), "batch", "lote")) if (grew := _growth(sentence)))
    grew = next(told, None)
    if grew is None:
        return None
    first, later = (_range(milliseconds(min(each)), milliseconds(max(each))) for each in grew)
    return (
        f"the text says that batches grew from about {first} to about {later}. Progress of a batch from before and of "
        "one from after shows which phase did: addBatch grows with the table that is written, its log or the state, "
        "latestOffset and getBatch with what the source lists, queryPlanning with the plan"
    )


def _growth(sentence: str) -> tuple[list[float], list[float]] | None:
    """Milliseconds of a batch at first and later, two of a range each, where a sentence says that it became longer."""
    if not _OF_A_BATCH.search(sentence) or not _RISES.search(sentence) or _OF_A_SETTING.search(sentence):
        return None
    for match in (found for pattern in _GREW for found in pattern.finditer(sentence)):
        first, later = span(match["length"]), span(match["later"])
        if first and later and max(first) < min(later):
            return first, later
    return None


def read_pace(text: str) -> Pace | None:
    """How long batches take and their interval, by the words for what is so now; None where one is not told, or two."""
    words = Words(_ASIDE.sub(". ", _SEEN.sub("", _LITERALS.sub("", text).replace("`", ""))))
    intervals = {told.value for told in (*read_words(words), *read_keys(words)) if told.fact == "trigger_interval_ms"}
    took = [ms for sentence in of_now(sentences(words)) if not _OF_OTHERS.search(sentence) for ms in _lengths(sentence)]
    if len(intervals) != 1 or not took or min(took) <= 0:
        return None
    return Pace(min(took), max(took), float(intervals.pop()))


def _means(pace: Pace) -> str:
    if pace.low > _HARDLY * pace.interval:
        return "if most do, each begins as soon as the one before ends, and its length decides the latency"
    if pace.high > _HARDLY * pace.interval:
        return "the longer ones are late, and the next one then begins at once; the others keep the interval"
    wait = pace.interval / 2
    if wait <= pace.high:
        return "these keep the interval"
    waits = f"a record waits {milliseconds(wait)} for it on average, longer than for its batch"
    return f"these keep the interval, and {waits}; a shorter interval costs more batches"


def _lengths(sentence: str) -> Iterator[float]:
    for match in said(sentence):
        yield from span(match["length"])
        if more := _MORE.match(sentence[match.end() :]):
            yield from span(more["length"])


def said(sentence: str) -> Iterator[re.Match[str]]:
    """Where a sentence says how long batches take, with the group `length`."""
    found = (match for pattern in _SAID for match in pattern.finditer(sentence))
    return (match for match in found if not _OF_NO_BATCH.search(sentence[max(0, match.start() - NEAR) : match.start()]))


def span(words: str) -> list[float]:
    """The milliseconds of a length in words, two of a range; nothing without a unit."""
    words = _THOUSANDS.sub("", words)
    found = _RANGE.match(words)
    if found is None:
        return _ms(words)
    number, unit, joint, last = found.groups()
    of_last = last.lstrip("0123456789.- ")
    low, high = _ms(f"{number} {unit or of_last}"), _ms(last)
    if not low or not high:
        return []
    if low <= high:
        return [*low, *high]
    in_two_units = joint == "and" and unit and _ms(f"1 {unit}") > _ms(f"1 {of_last}")  # 2 hours and 30 min
    return [low[0] + high[0]] if in_two_units else []


def _ms(words: str) -> list[float]:
    words = words.strip().replace("-", " ")
    span = read_span(words) if words[-1:].isalpha() else None
    return [span[0]] if span and span[1] == len(words) else []


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
