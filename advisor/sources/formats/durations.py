"""Durations of one batch that stand alone: a map as Java or a person writes it, figures read off Spark's pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from advisor.progress import of_fragment, read_fragment
from advisor.sources.formats.fragments import Piece
from advisor.sources.formats.spans import read_span
from advisor.sources.harvest import Buffer

_MOST = 1 << 20
_APART = 200
_NAMED = re.compile(
    rb"\b(triggerExecution|addBatch|walCommit|commitOffsets|latestOffset|getOffset|getEndOffset|setOffsetRange|getBatch"
    rb"|queryPlanning|numInputRows|batchId|Batch Duration|Input Rows)\b[\"'`*)\]]*[ \t]*"
    rb"(?:[:=|~,;]|takes|took|is|of)?[ \t~*`]*(?:\xe2\x89\x88[ \t]*)?(?=\d|PT\d)"
)
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


def alone(buffer: Buffer) -> Iterator[Piece]:
    """Each group of durations near the beginning of a text that holds no event, as a partial record."""
    raw = bytes(buffer[:_MOST])
    groups = list(_groups(raw))
    rates = _rates(raw) if len(groups) == 1 else {}
    maps = [match.span() for match in _MAP.finditer(raw)]
    for group, start, end in groups:
        if "batchId" not in group and (named := _BATCH_BEFORE.search(raw[max(0, start - _FAR_BEFORE) : start])):
            group["batchId"] = int(named[1])
        whole = any(opened < start and end < closed for opened, closed in maps)
        yield from _record(group, rates, start, end, whole=whole)


def _groups(raw: bytes) -> Iterator[tuple[dict[str, int], int, int]]:
    """(numbers by name, start, end) of what stands together."""
    group: dict[str, int] = {}
    start = end = 0
    for match in _NAMED.finditer(raw):
        name = match[1].decode()
        name = _PAGE.get(name, name)
        told = _number(name, raw[match.end() : match.end() + _LONGEST_SPAN].decode("utf-8", "replace"))
        if told is None:
            continue
        if group and (name in group or match.start() - end > _APART):
            yield group, start, end
            group = {}
        start, end = start if group else match.start(), match.end()
        group[name] = told
    if group:
        yield group, start, end


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


def _record(group: dict[str, int], rates: dict[str, float], start: int, end: int, *, whole: bool) -> Iterator[Piece]:
    """The record of a group; only of a `whole` map it is known that these are all durations."""
    rows: dict[str, float] = {name: group[name] for name in ("batchId", "numInputRows") if name in group}
    durations = {name: ms for name, ms in group.items() if name not in rows}
    summed = with_sum(durations)
    if not all(name in durations for name in _NEEDED):
        return
    text = msgspec.json.encode({**rows, **rates, "durationMs": durations}).decode()
    partial = of_fragment(read_fragment(text if whole else f"{text[:-2]}, ...}}}}"))
    if partial is not None:
        yield Piece(start, end, partial._replace(says=f"{partial.says}; {SUMMED}") if summed else partial)
