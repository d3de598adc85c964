"""Rates without rows or durations: how busy they say that a query is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from advisor.sources.sightings.marked import Words
from advisor.sources.sightings.words import of_now, sentences

_CAME: Final = r"(?:avg\.?[ ])?input[ _]?(?:rows[ _]?per[ _]?second|rate(?:[-_.]total)?|/ ?sec)"
_DONE: Final = r"(?:avg\.?[ ])?process(?:ed|ing)?[ _]?(?:rows[ _]?per[ _]?second|rate(?:[-_.]total)?|/ ?sec)"
_NAMES: Final = re.compile(rf"(?i)\b(?:(?P<came>{_CAME})|(?P<done>{_DONE}))(?![\w])")
_NUMBER: Final = r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d+)?)(?P<kilo>k\b)?(?![\d,]*\d)"
_VALUE: Final = re.compile(
    r"(?i)[\"'`*)]{0,4}(?:[ \t]*(?:\((?:avg|rows|records)[^)\n]{0,12}\)|is|was|of|at|about|around|[:=|~≈])){0,4}"
    rf"[ \t]*[\"'`*~≈]?{_NUMBER}"
)
_ROWS: Final = r"(?:rows|events|records|messages|msgs?|offsets)"
_PER_SECOND: Final = re.compile(rf"(?i)(?<![\w.,]){_NUMBER}[ ]?{_ROWS}?[ ]?(?:/|per|a|each)[ ]?s(?:ec(?:onds?)?)?\b")
_SAYS: Final = re.compile(
    r"(?i)\b(?:(?P<came>inputs?|incoming|arriv\w+|comes?|coming|receiv\w+|producers?|produc(?:es?|ing)|ingest\w*|get|gets|"
    r"getting|sends?)|(?P<done>process(?:es|ed|ing)?|handles?|handling|consum(?:es?|ing)|works? off|keeps? up with))\b"
)
_IN: Final = re.compile(r"(?i)[ ](?:(?:are|is)[ ])?(?:in\b(?![ ]\w)|in,|in and|arriv|com(?:e|ing)\b)")
_CELLS: Final = re.compile(r"\t|\s*\|\s*|\s{2,}")
_HARDLY: Final = 1.05
"""Times as fast as they are processed: of one batch, or rounded, such a rate shows nothing yet."""
_MOST: Final = 1000
"""Rates that are looked at."""


def busy(text: str) -> str | None:
    """How fast rows came and were processed by the last rates of a text, and what that means; None without both."""
    told = _in_words(text) or _in_a_table(text) or _in_prose(text)
    if told is None:
        return None
    came, done = told
    rates = f"these are rates without durations: {came:,.4g} rows/s came and {done:,.4g} were processed"
    if 1 < came / done <= _HARDLY:
        return f"{rates}: hardly a pause is left between batches, and these rates do not tell whether it keeps up"
    if came > done:
        faster = f"rows come {came / done:.1f} times as fast as they are processed"
        return f"{rates}; {faster}: if that lasts, the query falls behind"
    return f"{rates}; a batch takes {100 * came / done:.0f} % of the time from one trigger to the next: that keeps up"


def _in_words(text: str) -> tuple[float, float] | None:
    """The last two rates that follow their names, where each name is of one query."""
    values: dict[str, float] = {}
    for _, name in zip(range(_MOST), _NAMES.finditer(text), strict=False):
        value = _VALUE.match(text, name.end())
        if value:
            values[str(name.lastgroup)] = _number(value)
    return _both(values)


def _in_prose(text: str) -> tuple[float, float] | None:
    """The one rate at which rows come and the one at which they are processed, by the last word before each."""
    found: dict[str, set[float]] = {"came": set(), "done": set()}
    for sentence in of_now(sentences(Words(text))):
        begin = 0
        for rate in _PER_SECOND.finditer(sentence):
            words = [word for word in _SAYS.finditer(sentence, begin, rate.start()) if word.lastgroup]
            says = str(words[-1].lastgroup) if words else "came" if _IN.match(sentence, rate.end()) else ""
            begin = rate.end()
            if not says:
                return None
            found[says].add(_number(rate))
    return _both({says: rates.pop() for says, rates in found.items() if len(rates) == 1})


def _in_a_table(text: str) -> tuple[float, float] | None:
    """The rates of the row below their names."""
    for head, row in pairwise(text.splitlines()):
        names = {kind: at for at, kind in _columns(head)}
        cells = _CELLS.split(row.strip().strip("|"))
        if len(names) == 2 and max(names.values()) < len(cells):
            found = {kind: re.fullmatch(_NUMBER, cells[at].strip()) for kind, at in names.items()}
            return _both({kind: _number(match) for kind, match in found.items() if match})
    return None


def _columns(head: str) -> Iterator[tuple[int, str]]:
    for at, cell in enumerate(_CELLS.split(head.strip().strip("|"))):
        name = _NAMES.fullmatch(cell.strip())
        if name:
            yield at, str(name.lastgroup)


def _number(match: re.Match[str]) -> float:
    return float(match["number"].replace(",", "")) * (1000 if match["kilo"] else 1)


def _both(values: dict[str, float]) -> tuple[float, float] | None:
    came, done = values.get("came", 0.0), values.get("done", 0.0)
    return (came, done) if came > 0 and done > 0 else None
