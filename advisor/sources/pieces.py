"""Pieces of a driver's log that show a streaming query at work and hold no progress: its starts, jobs and commits."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from advisor.metrics.words import milliseconds

_BEGUN: Final = re.compile(r"Committed offsets for batch (\d{1,15})\. Metadata OffsetSeqMetadata\(\d{1,15},(\d{13})\b")
"""The number of a batch and when its trigger began."""
_JOB: Final = re.compile(r"Job \d{1,9} finished: (\w{1,40}) at [^,\n]{1,120}, took (\d{1,7}(?:\.\d{1,9})?) s")
_DELTA: Final = re.compile(r"Committed delta #(\d{1,15})")
_STREAMS: Final = re.compile(r"\b(?:MicroBatchExecution|StateStore\w*|ProcessingTimeExecutor|IncrementalExecution)\b")
_START: Final = "start"
"""Where the jobs of a streaming query are said to come from, but for those of a function."""


def at_work(text: str) -> str | None:
    """What lines of a streaming query's starts, jobs and commits tell, in one line; None where there are none."""
    begun = dict(sorted((int(number), int(ms)) for number, ms in _BEGUN.findall(text)))
    jobs, commits = _JOB.findall(text), _DELTA.findall(text)
    if not begun and not (jobs and (_STREAMS.search(text) or any(place == _START for place, _ in jobs))):
        return None
    told = [_starts(begun), _took([float(seconds) * 1000 for _, seconds in jobs]), _commits(commits)]
    return f"these lines show a streaming query at work ({'; '.join(filter(None, told))}), and not its progress"


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
    low, high = milliseconds(min(jobs)), milliseconds(max(jobs))
    return (
        f"1 job took {low}"
        if len(jobs) == 1
        else f"{len(jobs):,} jobs took {low if low == high else f'{low} to {high}'}"
    )


def _commits(numbers: list[str]) -> str:
    count = len(set(numbers))
    return f"{count:,} commit{'s' * (count > 1)} to Delta" if count else ""
