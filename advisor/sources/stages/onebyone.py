"""Messages of Spark's scheduler, one by one: those that have no usual form, and those of structured logs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from advisor.sources.stages.forms import background
from advisor.sources.stages.kinds import FAILED, JOBS, LAST, TASKS, Kind
from advisor.stages import LOCALITIES

_NAMED = re.compile(rb"\[queryId = (\w+)\] \[batchId = (\d{1,15})\] ")
_CONTEXT = re.compile(rb'"(?i:batch_id)":"(\d{1,15})","(?i:query_id)":"([^"]+)"')
_LOCALITIES = {name.encode(): place for place, name in enumerate(LOCALITIES)}


class One(NamedTuple):
    """A row of Messages, and the batch that it names."""

    kind: Kind
    number: int
    other: int = 0
    ms: float = 0.0
    query: bytes = b""
    batch: int = 0


def _got(found: re.Match[bytes]) -> One:
    apart = background(found[2])
    return One(Kind.GOT, int(found[1]), apart) if apart >= 0 else One(Kind.NOTHING, 0)


def _stage_ends(found: re.Match[bytes]) -> One:
    last, stage, failed, length, unit = found.groups()
    how = (LAST if last else 0) | (FAILED if failed else 0)
    return One(Kind.STAGE_ENDS, int(stage), how, _ms(length, unit))


def _job_ends(found: re.Match[bytes]) -> One:
    context = _CONTEXT.search(found.string)
    batch, query = context.groups() if context else (b"0", b"")
    return One(Kind.JOB_ENDS, int(found[1]), 0, _ms(found[2], found[3]), query, int(batch))


def _ms(length: bytes, unit: bytes) -> float:
    value = float(length.replace(b",", b"."))
    return value * 1000 if unit == b"s" else value


_READERS: Mapping[str, Sequence[tuple[re.Pattern[bytes], Callable[[re.Match[bytes]], One]]]] = {
    JOBS: [
        (re.compile(rb"Got (?:map stage )?job (\d{1,15}) \((?=(.*))"), _got),
        (re.compile(rb"Final stage: \w+ (\d{1,15})"), lambda found: One(Kind.FINAL, int(found[1]))),
        (re.compile(rb"Pare"), lambda found: One(Kind.PARENTS, b"List()" not in found.string)),
        (
            re.compile(rb"Submitting (\d{1,15}) missing tasks from \w+ (\d{1,15})"),
            lambda found: One(Kind.SUBMITS, int(found[2]), int(found[1])),
        ),
        (
            re.compile(
                rb"(?:(Result)|ShuffleMap)Stage (\d{1,15}) \(.*\) (?:finished|(failed)) in "
                rb"(\d{1,12}(?:[.,]\d{1,12})?) (m?s)"
            ),
            _stage_ends,
        ),
        (
            re.compile(rb"Job (\d{1,15}) (?:finished|failed): .*, took (\d{1,12}(?:[.,]\d{1,12})?) (m?s)"),
            _job_ends,
        ),
    ],
    TASKS: [
        (
            re.compile(
                rb"Starting task [\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) .*? ([A-Z]{2,}(?:_[A-Z]+)?), \d+ bytes"
            ),
            lambda found: One(Kind.STARTS, int(found[1]), _LOCALITIES.get(found[2], -1)),
        ),
        (
            re.compile(rb"Finished task (\d{1,9})[\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) in (\d{1,15}) ms"),
            lambda found: One(Kind.FINISHES, int(found[2]), int(found[1]), float(found[3])),
        ),
        (re.compile(rb"Lost task [\d.]+ in stage (\d{1,15})\."), lambda found: One(Kind.LOST, int(found[1]))),
    ],
}


def one_message(logger: str, line: bytes, begin: int) -> One | None:
    """What a message says that begins there; None where it says nothing."""
    named = _NAMED.match(line, begin) if logger == TASKS else None
    begin = named.end() if named else begin
    for pattern, read in _READERS[logger]:
        if found := pattern.match(line, begin):
            one = read(found)
            return one._replace(query=named[1], batch=int(named[2])) if named else one
    return None
