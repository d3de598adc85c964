"""The trigger that people name in words: `trigger 30 seconds`, `a 30-second trigger`, `was 10 s, now 30 s`, `none`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from advisor.sources.formats.spans import read_span
from advisor.sources.sightings.marked import Words, lowered
from advisor.sources.sightings.query import Told

_LENGTH: Final = (
    r"(?P<length>\d{1,9}(?:[.,]\d{1,3})?[ \t]?[a-zA-Zа-я毫秒分钟小时]{1,13}|[a-z]{3,6} (?:seconds?|minutes?|hours?))"
)
_TRIGGER: Final = (
    r"(?:(?:micro-?batch(?:es)?|batch(?:es)?)[ ])?(?:\btriggers?(?:ed)?|\bdisparador|\btrigger-?intervall?)"
)
_LINK: Final = (
    r"(?:[ ](?:interval|intervall|is|was|are|has been|of|at|as|set to|set at|set|to|every|each|"
    r"with an? interval of|an? interval of|with|"
    r"on|von|ist|auf|alle|de|cada|es|toutes les)|[ ]?[:=](?=[^\n]{0,20}$|[^\n,;)]{1,14}[,;)]))"
)
_NAMED: Final = re.compile(rf"(?im){_TRIGGER}(?P<link>{_LINK}{{0,4}})[ ][\"'`]?{_LENGTH}")
_INTERVAL: Final = re.compile(rf"(?i)\btrigger[ -]?interval[ ]?[:=][ ]?[\"'`]?{_LENGTH}")
_AHEAD: Final = re.compile(
    r"(?i)(?<![\w.,\-–])(?P<length>\d{1,6}(?:[.,]\d{1,3})?[ \-]?(?:ms|milliseconds?|s|secs?|seconds?|min|minutes?))[ ]"
    r"(?:processing[ -]time[ ])?trigger(?:[ ]interval)?\b(?![ ](?:took|takes|executions?)|\w)"
)
_SET: Final = (
    r"(?:[ \t]{0,40}\|[ \t]{0,20}(?=[^|\n]{1,20}[ \t]{0,60}\|?\s*$)"
    r"|[\"'`]?[ \t]{0,20}(?:value[ ])?(?:=|:|->)[ \t]{0,20}"
    r"|[ ](?:is[ ])?(?:set[ ])?(?:to|of|at)[ ]|[ ](?=\d))"
)
_KEYED: Final = re.compile(
    rf"(?i:(?:^|[\s\"'`({{.\-])trigger(?:[ ._-]?interval|[._-]?processing[._-]?time)){_SET}[\"'`]?{_LENGTH}"
)
_PROCESSING: Final = re.compile(rf"(?<!\w)processingTime{_SET}[\"'`]?{_LENGTH}")
_VALUE: Final = re.compile(r"[\"',]*\n[ \t]*[\"']?value[\"']?[ \t]*(?=[=:])")
"""A variable's name and value, one below the other."""
_BELOW: Final = re.compile(r"\n[ \t]*[\"']?value[\"']?[ \t]*[=:]")
_OF_A_TRIGGER: Final = ("trigger", "disparador", "interval", "every", "processingtime(")
_OF_A_KEY: Final = ("interval", "processingtime", "processing.time", "processing_time", "processing-time")
"""Without one of these a sentence tells no trigger, in words or as a key."""
_UNQUOTED: Final = re.compile(rf"ProcessingTime\([ ]?{_LENGTH}[ ]?\)")
_EVERY: Final = re.compile(rf"(?i)\b(?:micro-?)?batch(?:es)?[ ](?:[a-z]+[ ]){{0,2}}?every[ ]{_LENGTH}")
_NOW: Final = re.compile(
    rf"(?i)\b(?:now|jetzt|currently)(?:[ ](?:it|we|is|it's|are|use|have|at|set to|on))*[ ]{_LENGTH}"
    rf"|\b(?:changed|increased|raised|reduced|lowered|cut|moved|went|switched)\b[^.\n]{{0,60}}?\bto[ ]"
    + _LENGTH.replace("length", "then")
)
_OF_TIME: Final = re.compile(r"(?i)(?<!per)(?<!per[ _-])trigger|interval")
_NOW_ALONE: Final = re.compile(r"\b(?:now|jetzt|currently|today)\b")
_NONE: Final = re.compile(
    r"(?i)\b(?:no trigger(?! interval)|without (?:a |any )?trigger|default trigger|kein(?:en)? trigger|ohne trigger)\b"
)
_SENTENCE: Final = re.compile(r"[^\n.;?!]*(?:\.(?=\w)[^\n.;?!]*)*[\n.;?!]?")
_WHY: Final = re.compile(r"\W*(?:why|how come|warum|wieso)\b")
"""A question that takes what it names for granted."""
_PAST: Final = re.compile(
    r"\b(?:was|were|had|used to|previous(?:ly)?|before|earlier|old|former(?:ly)?|from (?=\d)|original(?:ly)?|"
    r"at first|initial(?:ly)?|yesterday|last (?:week|month|quarter|year)|(?:weeks?|months?|years?) ago|"
    r"vorher|früher|war|hatten?|antes|until|removed)\b"
)
_SUPPOSED: Final = re.compile(
    r"\?|\b(?:con|with|mit|avec) [`\"']--|^\W{0,9}(?:fix|solution|remedy|recommended)\b[^:\n]{0,20}:"
    r"|\b(?:would|could|should|if|whether|try|tried|trying|suggest\w*|recommend\w*|plan\w*|want|instead of|"
    r"rather than|e\.g|for example|say|maybe|consider\w*|advis\w*|würde|sollte|könnte|wenn|not)\b"
)
_ONCE: Final = re.compile(
    r"(?i)\b(?:we|i|it|had|trigger) (?:was|were|had|used)\b|\b(?:we|i|ich|wir) (?:hatten?|had)\b"
    r"|\b(?:used to|previously|before|earlier|formerly|removed|vorher|früher)\b"
)
_IN_MS: Final = re.compile(r"(?i)\d[ \t]?(?:ms|milli)")
_SAYS_NOW: Final = re.compile(r"(?i)\bnow\b[^.]{0,40}$")
_COMMENT: Final = re.compile(r"(?:#|//).*")
_USUAL_MS: Final = frozenset(
    (
        100,
        200,
        250,
        500,
        *(1000 * s for s in (1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90)),
        *(60_000 * m for m in (2, 3, 5, 10, 15, 20, 30, 60)),
    )
)
"""Lengths that are an interval even where nothing but the word trigger stands before them."""


def read_words(text: Words) -> Iterator[Told]:
    """The trigger by what the text says of now; nothing of what it says of the past, or of what might be."""
    for sentence in held(sentences(text, *_OF_A_TRIGGER)):
        for ms in _intervals(sentence):
            yield Told("trigger", "processing_time")
            yield Told("trigger_interval_ms", ms)
        if _NONE.search(sentence):
            yield Told("trigger", "unspecified")


def read_keys(code: Words) -> Iterator[Told]:
    """The trigger's interval as a key, an argument or a variable sets it: `trigger_interval: 10 s`."""
    for sentence in of_now(sentences(code, *_OF_A_KEY)):
        for match in [*_KEYED.finditer(sentence), *_PROCESSING.finditer(sentence)]:
            ms = _ms(match["length"])
            if ms and (match.re is _KEYED or ms in _USUAL_MS):  # `processingTime: 2205 ms` may be how long one took
                yield Told("trigger", "processing_time")
                yield Told("trigger_interval_ms", ms)


def sentences(text: Words, *marks: str) -> Iterator[str]:
    """The sentences; with marks, those in which one of them stands."""
    joined = Words(_VALUE.sub(" value ", text)) if _BELOW.search(text) else text
    if not marks:
        return filter(None, _SENTENCE.findall(joined))
    near = (sentence for line in joined.lines_with(*marks) for sentence in _SENTENCE.findall(line))
    return (sentence for sentence in near if any(map(lowered(sentence).__contains__, marks)))


def of_now(sentences: Iterable[str]) -> Iterator[str]:
    """Those that say what is so today; of `was this, now that` the part that speaks of now."""
    for sentence in held(sentences):
        words = lowered(sentence)
        now = _NOW_ALONE.search(words)
        if now or not _PAST.search(words):
            yield sentence[now.end() :] if now else sentence


def held(sentences: Iterable[str]) -> Iterator[str]:
    """Those that suppose nothing."""
    return (sentence for sentence in sentences if not supposes(sentence))


def supposes(sentence: str) -> bool:
    """Whether it supposes something; `why` takes for granted what it asks about."""
    words = lowered(sentence)
    return _SUPPOSED.search(words.rstrip("?") if _WHY.match(words) else words) is not None


def is_past(text: str, start: int, end: int) -> bool:
    """Whether the line around [start, end) says that this was so once; a comment behind code is left out."""
    line_end = text.find("\n", end)
    before = text[text.rfind("\n", 0, start) + 1 : start]
    behind = _COMMENT.sub("", text[end : line_end if line_end >= 0 else len(text)])
    return _SAYS_NOW.search(before) is None and _ONCE.search(f"{before} {behind}") is not None


def _intervals(sentence: str) -> Iterator[int]:
    """The intervals of a sentence that hold today."""
    if (now := _NOW.search(sentence)) and _OF_TIME.search(sentence):
        ms = _ms(now["length"] or now["then"])
        yield from [ms] if ms else []
        return
    if _PAST.search(lowered(sentence)):
        return
    for pattern in (_NAMED, _INTERVAL, _UNQUOTED, _EVERY, _AHEAD):
        for match in pattern.finditer(sentence):
            ms = _ms(match["length"])
            link = match["link"].strip() if pattern is _NAMED else "every"
            alone = link in ("", ":", "=")  # `trigger: 2205 ms` may be how long one took
            if ms and not (alone and (ms not in _USUAL_MS or (link and _IN_MS.search(match["length"])))):
                yield ms


def _ms(length: str) -> int | None:
    """Its milliseconds; None of a number without a unit."""
    words = length.strip().replace("-", " ")
    span = read_span(words)
    if span is None or words[: span[1]][-1:].isdigit():
        return None
    return round(span[0]) or None
