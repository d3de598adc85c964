"""Durations of one batch that stand alone: a map as Java or a person writes it, figures read off Spark's pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from advisor.progress import of_fragment, read_fragment
from advisor.sources.formats.fragments import Piece
from advisor.sources.formats.remarks import without_remark
from advisor.sources.formats.spans import read_range, read_span
from advisor.sources.harvest import Buffer

_MOST = 1 << 20
_APART = 200
_NAMED = re.compile(
    rb"\b(?P<name>triggerExecution|addBatch|walCommit|commitOffsets|latestOffset|getOffset|getEndOffset|setOffsetRange|getBatch"
    rb"|queryPlanning|numInputRows|batchId|Batch Duration|Input Rows)\b"
    rb"(?P<remark>(?:[\"'`*]{0,4}[ \t]{0,9}(?:\([^()|\n]{1,60}\)|[A-Za-z]{5,9}(?=[\"'`*]{0,4}[ \t]{0,20}\|)))?)"
    rb"[\"'`*)\]]*[ \t]*"
    rb"(?:[:=|~,;]|takes|took|is|of)?[ \t~*`]*(?:\xe2\x89\x88[ \t]*)?(?=\d|PT\d)"
)
_MARKS = " \t\"'`*"
_LONGEST_SPAN = 40
_BATCH_BEFORE = re.compile(
    rb"(?i)\bbatch[ \t]*(?:id|no\.?|number)?[ \t]*[#:=]?[ \t]*(\d{1,9})\b"
    rb"(?![.,]\d|[ \t]*(?:rows|records|files|events|ms\b|s\b|sec|min|%|batches|/))[^|\d\n]{0,40}\Z"
)
"""The number of the batch as words before its first duration tell it: `Batch 0 metrics - triggerExecution: …`."""
_FAR_BEFORE = 80
_MAP = re.compile(rb"\{[ \t]*(?:[a-zA-Z]{1,30}[ \t]*=[ \t]*\d{1,15}(?:,[ \t]*|(?=[ \t]*\}))){3,40}[ \t]*\}")
"""A map as Java prints it."""
_RATE = re.compile(
    rb"\b(Input Rate|Process Rate|inputRowsPerSecond|processedRowsPerSecond)\b[ \t]*(?:\(?avg\)?)?[ \t]*[:=|~]?[ \t]*"
    rb"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d+)?)(?![\d,.])"
)
_RATES = {"Input Rate": "inputRowsPerSecond", "Process Rate": "processedRowsPerSecond"}
_PAGE = {"Batch Duration": "triggerExecution", "Input Rows": "numInputRows"}
"""What the page of a query's statistics calls them."""
_COUNTS = ("numInputRows", "batchId")
_COUNT = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,15})\b(?![.,]\d)")
_NEEDED = ("triggerExecution", "addBatch")
_CHART = {"addBatch", "walCommit", "queryPlanning"}
"""Phases that Spark's chart of durations always has; triggerExecution is not among them."""
SUMMED = "triggerExecution not given: the sum of the phases is taken"


class _Group(NamedTuple):
    """Numbers by name that stand together at [start, end), and which of them are told as a range."""

    told: dict[str, int]
    ranges: dict[str, str]
    start: int
    end: int


def alone(buffer: Buffer) -> Iterator[Piece]:
    """Each group of durations near the beginning of a text that holds no event, as a partial record."""
    raw = bytes(buffer[:_MOST])
    groups = [group for group in _groups(raw) if group.told]
    rates = _rates(raw) if len(groups) == 1 else {}
    maps = [match.span() for match in _MAP.finditer(raw)]
    for group in groups:
        before = raw[max(0, group.start - _FAR_BEFORE) : group.start]
        if "batchId" not in group.told and (named := _BATCH_BEFORE.search(before)):
            group.told["batchId"] = int(named[1])
        whole = any(opened < group.start and group.end < closed for opened, closed in maps)
        yield from _record(group, rates, whole=whole)


def _groups(raw: bytes) -> Iterator[_Group]:
    group = _Group({}, {}, 0, 0)
    for match in _NAMED.finditer(raw):
        name = _PAGE.get(match["name"].decode(), match["name"].decode())
        if without_remark(f"{name}{match['remark'].decode('utf-8', 'replace').rstrip(_MARKS)}").rstrip(_MARKS) != name:
            continue
        text = raw[match.end() : match.end() + _LONGEST_SPAN].decode("utf-8", "replace")
        told = _number(name, text)
        bounds = "" if told is not None or name in _COUNTS else read_range(text)
        if told is None and not bounds:
            continue
        known = group.told.keys() | group.ranges
        if not known or name in known or match.start() - group.end > _APART:
            yield group
            group = _Group({}, {}, match.start(), 0)
        group = group._replace(end=match.end())
        if told is None:
            group.ranges[name] = bounds
        else:
            group.told[name] = told
    yield group


def bounds_of(ranges: dict[str, str]) -> str:
    """What is said of phases that a text tells as ranges."""
    told = ", ".join(f"{name} {bounds}" for name, bounds in ranges.items())
    return f"; {told} {'are ranges' if len(ranges) > 1 else 'is a range'}: no number of it is taken" if ranges else ""


def with_sum(durations: dict[str, int]) -> bool:
    """Whether these durations, of Spark's chart, now have the sum of the phases for triggerExecution."""
    summed = "triggerExecution" not in durations and durations.keys() >= _CHART
    if summed:
        durations["triggerExecution"] = sum(durations.values())
    return summed


def _rates(raw: bytes) -> dict[str, float]:
    """Rates of a text of one record."""
    told = {match[1].decode(): float(match[2].replace(b",", b"")) for match in _RATE.finditer(raw)}
    return {_RATES.get(name, name): rate for name, rate in told.items()}


def _number(name: str, text: str) -> int | None:
    """Rows or an id, else milliseconds; None where the text begins with neither."""
    if name in _COUNTS:
        count = _COUNT.match(text)
        return int(count[1].replace(",", "")) if count else None
    span = read_span(text)
    return None if span is None else round(span[0])


def _record(group: _Group, rates: dict[str, float], *, whole: bool) -> Iterator[Piece]:
    """The record of a group; only of a `whole` map it is known that these are all durations."""
    rows: dict[str, float] = {name: group.told[name] for name in _COUNTS if name in group.told}
    durations = {name: ms for name, ms in group.told.items() if name not in rows}
    summed = not group.ranges and with_sum(durations)
    if not all(name in durations for name in _NEEDED):
        return
    text = msgspec.json.encode({**rows, **rates, "durationMs": durations}).decode()
    partial = of_fragment(read_fragment(text if whole else f"{text[:-2]}, ...}}}}"))
    if partial is not None:
        says = f"{partial.says}{f'; {SUMMED}' if summed else ''}{bounds_of(group.ranges)}"
        yield Piece(group.start, group.end, partial._replace(says=says))
