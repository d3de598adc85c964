"""The known error that a pasted stack trace shows, where no line of Spark's log stands beside it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from advisor.facts import Sighting
from advisor.progress import UNNAMED
from advisor.sources.sightings.errors import known_error
from advisor.sources.sightings.line import Line, Told, sighting
from advisor.sources.sightings.query import MISSING, NEXT_RECORD, error

LONGEST: Final = 256 << 10
_NAME: Final = "pasted text"
_THROWN: Final = re.compile(
    r'^(?:Caused by: |: |Exception in thread "[^"\n]{1,80}" )?'
    r"(?P<package>(?:[a-z_]\w{0,60}\.){0,12})[A-Z][\w$]{0,80}(?:Exception|Error): \S",
    re.MULTILINE,
)
_FRAME: Final = re.compile(r"^\s{1,9}(?:at [\w.$<>/@]+\(|File \")", re.MULTILINE)
_OF_A_STREAM: Final = re.compile(r"MicroBatchExecution|ContinuousExecution|StreamingQuery|foreachBatch|kafka010")
_ENDED: Final = re.compile(r"StreamingQueryException|[Jj]ob aborted|\bTask \d{1,9} in stage \S{1,20} failed")
"""Words by which more than one attempt of a task ended."""


def sight_stack_trace(text: str, *, log: str, file: str) -> list[Sighting]:
    """Return how the query ended whose stack trace is all that `text` holds; nothing where its error is not known."""
    if NEXT_RECORD.search(text):
        return []
    frames = _FRAME.search(text) is not None
    thrown = [found.start() for found in _THROWN.finditer(text) if frames or found["package"]]
    for start, end in pairwise([*thrown, len(text)]):
        message = _FRAME.split(text[start:end], maxsplit=1)[0].strip()
        if _ended_a_stream(message, text):
            place = Line("", "", len(text[:start].encode()), None, UNNAMED, UNNAMED)
            told = [Told("query_name", _NAME), *error(message)]
            return [sighting(each, place, log=log, file=file, base=0) for each in told]
    return []


def _ended_a_stream(message: str, text: str) -> bool:
    """Return whether a stream ended with this message, which may also end other jobs."""
    known = known_error(message)
    if known is None:
        return MISSING.search(message) is not None
    of_a_stream = not known.of_any_job or _OF_A_STREAM.search(text) is not None
    return of_a_stream and (not known.of_task or _ENDED.search(text) is not None)
