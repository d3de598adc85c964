"""Lines that say that a batch took longer than its trigger interval, in logs that have no progress."""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.batches import Overrun
from advisor.sources.harvest import Buffer

MARK = b" spent"
_BEFORE, _AFTER, _AROUND = 300, 60, 4096
_BETWEEN = rb"[\s#/*|>]+"
_TIME = rb"\{?(\d+)\}?[\s#/*|>]*(?:(?:-|\xe2\x80\x93|to)\s*(\d+)\s*)?(milliseconds?|ms|seconds?|s|minutes?|min)?\b"
_SAYS = re.compile(_BETWEEN.join([rb"[Tt]rigger", rb"interval", rb"is", _TIME + rb",?", rb"but", rb"spent", _TIME]))
_CLOCK = re.compile(
    rb"(\d\d/\d\d/\d\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\b\d\d:\d\d:\d\d)(?=\D)[^\n]{0,200}\Z"
)
_UNITS = {b"s": 1000, b"second": 1000, b"seconds": 1000, b"min": 60_000, b"minute": 60_000, b"minutes": 60_000}
_CLUES = {
    "jdbc": re.compile(rb"\bjdbc\b", re.IGNORECASE),
    "foreach_batch": re.compile(rb"foreach_?batch", re.IGNORECASE),
    "s3a": re.compile(rb"\bs3a?(?:://|\b)", re.IGNORECASE),
    "shuffle_partitions": re.compile(rb"spark\.sql\.shuffle\.partitions|\+ \d+\) / 200\]"),
    "aggregation": re.compile(rb"\.groupBy\(|outputMode\(\s*[\"'](?:update|complete)", re.IGNORECASE),
    "database": re.compile(rb"\b(?:mysql|mariadb|postgres(?:ql)?|oracle)\b", re.IGNORECASE),
    "endless_keys": re.compile(
        rb"\bwithWatermark\(\s{0,20}[\"'](?P<time>\w{1,80})[\"'][^()]{0,80}\)"
        rb"(?:(?!withWatermark|window\(|alias|Renamed|withColumn)[^#;]){0,400}?\.dropDuplicates\("
        rb"(?=\s{0,20}(?:Seq\(|Array\(|\[)?\s{0,20}[\"'][^\"']{0,80}[\"'](?:\s{0,20},\s{0,20}[\"'][^\"']{0,80}[\"']){0,20}\s{0,20}[\])])"
        rb"(?![^()]{0,300}[\"'](?P=time)[\"'])"
    ),
    "duplicates": re.compile(rb"\.dropDuplicates(?:WithinWatermark)?\("),
    "console": re.compile(
        rb"(?<!-)-{20,}[\s#/*|>]{1,20}Batch: \d{1,18}[\s#/*|>]{1,20}-{20,}(?!.{0,4000}\bonly showing top\b)", re.DOTALL
    ),
    "few_rows": re.compile(
        rb"\bbatch:? \d{1,18}\b[^\n]{1,120}\b\d{1,6} ?m?s\b[^\n]{0,20}\b\d{1,2} rows?\b", re.IGNORECASE
    ),
    "limit": re.compile(
        rb"\bmax(?:Offsets|Files|Bytes)PerTrigger[\"'`]{0,3}\s{0,3}(?:[=:]|at|to|of|is|was|set to)\s{0,3}[\"'`]?\d"
    ),
    "file_sink": re.compile(
        rb"writeStream(?:(?!readStream)[^#]){0,500}?format\(\s*[\"'](?:parquet|json|csv|orc|text|avro)\b"
    ),
}
_NUMBERED = re.compile(rb"\b(?:batch|epoch)(?:[ _]?id)?[:=]?\s+(\d{1,18})\b", re.IGNORECASE)
"""A number of a batch that the query's own code or the console sink prints; for `foreach` it is an epoch."""
_ANOTHER_RUN = re.compile(
    rb"(?i)\bspent[\s#/*|>]+\{?\d|\brestart"
    rb"|\b(?:next|another|following) (?:day|run|time|query|start)\b|\bspark-submit\b"
    rb"|Starting new streaming query|\bstarted (?:it )?again\b|\brun again\b"
)
"""What separates the lines of two runs in a text: another such line, or words of a new start."""
_LABELLED = re.compile(
    rb"(?i)[^\w\n]{0,4}(?:[(\[#]|//|--|<-|\xe2(?:\x80[\x93\x94]|\x86\x90))[^\w\n]{0,4}"
    rb"(?:(first|cold|warm-?up)|(steady|later|every|subsequent))\b"
)
"""What somebody wrote behind the line: `(first batch)`, `(steady-state)`."""


def overruns(buffer: Buffer, begin: int, end: int, file: str, base: int) -> Iterator[Overrun]:
    """What the lines in [begin, end) of `buffer` say, which stands at byte `base` of `file`.

    All spellings: ms or milliseconds, the stray bracket of 4.0, ranges, lines broken by hand, JSON.
    """
    at = buffer.find(MARK, begin, end)
    while at >= 0:
        start = max(0, at - _BEFORE)
        around = _SAYS.finditer(buffer[start : at + _AFTER])
        match = next((each for each in around if each.start() <= at - start < each.end()), None)
        if match is not None:
            yield _overrun(match, buffer, start + match.start(), file, base)
        at = buffer.find(MARK, at + 1, end)


def _overrun(match: re.Match[bytes], buffer: Buffer, at: int, file: str, base: int) -> Overrun:
    interval, _, interval_unit, low, high, unit = match.groups()
    clock = _CLOCK.search(buffer[max(0, at - _BEFORE) : at])
    before, after = bytes(buffer[max(0, at - _AROUND) : at]), bytes(buffer[at : at + _AROUND])
    clues = [name for name, clue in _CLUES.items() if clue.search(before + after)]
    label = _LABELLED.match(buffer[at + len(match[0]) : at + len(match[0]) + _AFTER])
    which = ["first_batch" if label[1] else "later_batch"] if label else _by_its_number(before, after[len(match[0]) :])
    return Overrun(
        file=file,
        offset=base + at,
        interval_ms=int(interval) * _UNITS.get(interval_unit, 1),
        spent_ms=(int(low) * _UNITS.get(unit, 1), int(high or low) * _UNITS.get(unit, 1)),
        clock=clock[1].decode() if clock else None,
        clues=(*clues, *which),
    )


def _by_its_number(before: bytes, after: bytes) -> list[str]:
    """Whether the batch that was late is the first or a later one, as the text around the line numbers it.

    Number 0 stands before the line of the first batch, or 1 behind it; another number before that is of an older run,
    and so is whatever stands beyond words of another run.
    """
    numbers, following = _NUMBERED.findall(_of_this_run(before)), _NUMBERED.search(after)
    if following is not None and int(following[1]) == 1 and not _ANOTHER_RUN.search(after[: following.start()]):
        return ["first_batch"]
    return ["later_batch" if int(numbers[-1]) else "first_batch"] if numbers else []


def _of_this_run(before: bytes) -> bytes:
    """What stands before a line and behind the last sign of another run; a number may be part of such words."""
    last = max((match.end() for match in _ANOTHER_RUN.finditer(before)), default=0)
    return before[last:]
