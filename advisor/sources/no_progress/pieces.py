"""Pieces of a driver's log that show a query at work and hold no progress: its starts, triggers, jobs and commits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from advisor.metrics.words import milliseconds

_BEGUN: Final = re.compile(r"Committed offsets for batch (\d{1,15})\. Metadata OffsetSeqMetadata\(\d{1,15},(\d{13})\b")
"""The number of a batch and when its trigger began."""
_JOB: Final = re.compile(r"Job \d{1,9} finished: (\w{1,40}) at [^,\n]{1,120}, took (\d{1,7}(?:\.\d{1,9})?) s")
_RESUMED: Final = re.compile(r"\bResuming at batch (\d{1,15}) with committed offsets")
_TRIGGERS: Final = re.compile(r"\b(?:MicroBatchExecution|StreamExecution): triggerExecution took (\d{1,12}) ms")
_DELTA: Final = re.compile(r"Committed delta #(\d{1,15})")
_STREAMS: Final = re.compile(r"\b(?:MicroBatchExecution|StateStore\w*|ProcessingTimeExecutor|IncrementalExecution)\b")
_IDLE: Final = "Streaming query has been idle"
_SHOWN: Final = 3
_START: Final = "start"
"""Where the jobs of a streaming query are said to come from, but for those of a function."""


def at_work(text: str) -> str | None:
    """What lines of a streaming query's starts, jobs and commits tell, in one line; None where there are none."""
    begun = dict(sorted((int(number), int(ms)) for number, ms in _BEGUN.findall(text)))
    jobs, commits = _JOB.findall(text), _DELTA.findall(text)
    others = [] if _IDLE in text else [*_resumed(text), *_triggers(text)]
    if not begun and not others and not (jobs and (_STREAMS.search(text) or any(place == _START for place, _ in jobs))):
        return None
    told = [*others, _starts(begun), _took([float(seconds) * 1000 for _, seconds in jobs]), _commits(commits)]
    return f"these lines show a streaming query at work ({'; '.join(filter(None, told))}), and not its progress"


def _resumed(text: str) -> Iterator[str]:
    """Where the query goes on, which its checkpoint says and no option."""
    if numbers := sorted({int(number) for number in _RESUMED.findall(text)}):
        which = " and ".join(f"batch {number:,}" for number in numbers[:_SHOWN])
        yield f"it goes on at {which}, by its checkpoint: startingOffsets counts without one only"


def _triggers(text: str) -> Iterator[str]:
    """How long triggers took by the lines at level DEBUG, where no batch ran in them."""
    took = [float(ms) for ms in _TRIGGERS.findall(text)]
    if took and "addBatch took" not in text:
        yield f"{_count(len(took), 'trigger')} without a batch took {_range(took)}"


def _starts(begun: dict[int, int]) -> str:
    """How far apart batches began that follow each other."""
    apart = [begun[later] - begun[one] for one, later in pairwise(begun) if later == one + 1]
    if not apart or min(apart) <= 0:
        return ""
    low, high = milliseconds(min(apart)), milliseconds(max(apart))
    which = f"batches {min(begun):,} to {max(begun):,} began"
    return f"{which} {low} apart" if low == high else f"{which} {low} to {high} apart"


def _took(jobs: list[float]) -> str:
    if not jobs:
        return ""
    return f"{_count(len(jobs), 'job')} took {_range(jobs)}"


def _range(took: list[float]) -> str:
    low, high = milliseconds(min(took)), milliseconds(max(took))
    return low if low == high else f"{low} to {high}"


def _count(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _commits(numbers: list[str]) -> str:
    count = len(set(numbers))
    return f"{count:,} commit{'s' * (count > 1)} to Delta" if count else ""
