"""Messages of Spark's scheduler, one by one: those that have no usual form, and those of structured logs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from advisor.sources.stages.forms import background
from advisor.sources.stages.kinds import FAILED, JOBS, LAST, TASKS, Kind
from advisor.stages import LOCALITIES

_GOT = re.compile(rb"Got (?:map stage )?job (\d{1,15}) \((?=(.*))")
_FINAL = re.compile(rb"Final stage: \w+ (\d{1,15})")
_PARENTS = re.compile(rb"Pare(?!.*List\(\))")
_SUBMITS = re.compile(rb"Submitting (\d{1,15}) missing tasks from \w+ (\d{1,15})")
_STAGE_ENDS = re.compile(
    rb"(?:(Result)|ShuffleMap)Stage (\d{1,15}) \(.*\) (?:finished|(failed)) in (\d{1,12}(?:[.,]\d{1,12})?) (m?s)"
)
_JOB_ENDS = re.compile(rb"Job (\d{1,15}) (?:finished|failed): .*, took (\d{1,12}(?:[.,]\d{1,12})?) (m?s)")
_NAMED = re.compile(rb"\[queryId = (\w+)\] \[batchId = (\d{1,15})\] ")
_STARTS = re.compile(
    rb"Starting task [\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) .*? ([A-Z]{3,}(?:_[A-Z]+)?), \d+ bytes"
)
_FINISHES = re.compile(rb"Finished task (\d{1,9})[\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) in (\d{1,15}) ms")
_LOST = re.compile(rb"Lost task [\d.]+ in stage (\d{1,15})\.")
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


def _of_jobs(line: bytes, message: int) -> One | None:
    """What a line of the scheduler of jobs says."""
    if got := _GOT.match(line, message):
        apart = background(got[2])
        return One(Kind.GOT, int(got[1]), apart) if apart >= 0 else None
    if final := _FINAL.match(line, message):
        return One(Kind.FINAL, int(final[1]))
    if _PARENTS.match(line, message):
        return One(Kind.PARENTS, 1)
    if submits := _SUBMITS.match(line, message):
        return One(Kind.SUBMITS, int(submits[2]), int(submits[1]))
    if ends := _STAGE_ENDS.match(line, message):
        last, stage, failed, length, unit = ends.groups()
        return One(Kind.STAGE_ENDS, int(stage), (LAST if last else 0) | (FAILED if failed else 0), _ms(length, unit))
    if ends := _JOB_ENDS.match(line, message):
        batch, query = found.groups() if (found := _CONTEXT.search(line)) else (b"0", b"")
        return One(Kind.JOB_ENDS, int(ends[1]), 0, _ms(ends[2], ends[3]), query, int(batch))
    return None


def _of_tasks(line: bytes, message: int) -> One | None:
    """What a line of the manager of a stage's tasks says."""
    named = _NAMED.match(line, message)
    if named:
        message = named.end()
        found = _of_tasks(line, message)
        return found and found._replace(query=named[1], batch=int(named[2]))
    if starts := _STARTS.match(line, message):
        return One(Kind.STARTS, int(starts[1]), _LOCALITIES.get(starts[2], -1))
    if finishes := _FINISHES.match(line, message):
        return One(Kind.FINISHES, int(finishes[2]), int(finishes[1]), float(finishes[3]))
    if lost := _LOST.match(line, message):
        return One(Kind.LOST, int(lost[1]))
    return None


def _ms(length: bytes, unit: bytes) -> float:
    value = float(length.replace(b",", b"."))
    return value * 1000 if unit == b"s" else value


READERS: Mapping[str, Callable[[bytes, int], One | None]] = {JOBS: _of_jobs, TASKS: _of_tasks}
