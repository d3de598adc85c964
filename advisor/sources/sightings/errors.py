"""Errors that end queries: what they say, the well-known ones of rules/errors.yaml, and a pasted stack trace."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from textwrap import shorten
from typing import Final

import msgspec

from advisor.errors import CatalogueError
from advisor.facts import Sighting
from advisor.progress import UNNAMED
from advisor.sources.sightings.line import Line, Told, sighting

MISSING: Final = re.compile(r"batch (\d{1,18}) doesn'?t exist", re.IGNORECASE)
NEXT_RECORD: Final = re.compile(r"^(?:\d{2,4}[-/]\d\d[-/]\d\d[ T]\d\d:|\{\"ts\")", re.MULTILINE)
_CLASS: Final = re.compile(
    r"^(?:[^:]{0,80}(?<![\w.])(?:[\w.]+\.)?StreamingQueryException: "
    r"|(?:: |Caused by: )?(?:(?:[\w.]+\.)?StreamingQueryException: |pyspark\.errors\.exceptions\.\w+\.))"
)
"""What stands before an error's own words: its class, and who printed it."""
_OF_A_JOB: Final = re.compile(
    r"[Jj]ob aborted|occurred while calling o\d|\bTask \d{1,9} in stage \S{1,20} failed|Exception thrown in awaitResult"
)
"""Words of an error that only reports a failed job: its last cause holds the reason."""
_CAUSE_SHOWN: Final = 300
_CAUSE: Final = re.compile(r"^\s{0,40}Caused by: ([^\n]{1,1000})", re.MULTILINE)
_INTERRUPTED: Final = "java.lang.InterruptedException"
LONGEST: Final = 256 << 10
_NAME: Final = "pasted text"
_THROWN: Final = re.compile(
    r'^(?:Caused by: |: |Exception in thread "[^"\n]{1,80}" )?'
    r"(?P<package>(?:[a-z_]\w{0,60}\.){0,12})[A-Z][\w$]{0,80}(?:Exception|Error): \S",
    re.MULTILINE,
)
_FRAME: Final = re.compile(r"^\s{1,9}(?:at [\w.$<>/@]+\(|File \")", re.MULTILINE)
_OF_A_STREAM: Final = ("MicroBatchExecution", "ContinuousExecution", "StreamingQuery", "foreachBatch", "kafka010")
_ENDED: Final = re.compile(r"StreamingQueryException|[Jj]ob aborted|\bTask \d{1,9} in stage \S{1,20} failed")
"""Words by which more than one attempt of a task ended."""


class KnownError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An error by the patterns that match its text: what it means, what to do, and the line of code that does it.

    `of_task`: it ends a task, which Spark tries again. `of_any_job`: it ends other jobs than streams, too.
    `by_shutdown`: somebody stopped the application.
    """

    matches: tuple[str, ...]
    means: str
    cure: str
    change: str
    of_task: bool = False
    of_any_job: bool = False
    by_shutdown: bool = False


@cache
def known_errors() -> dict[KnownError, re.Pattern[str]]:
    """Return each known error with its pattern, more special ones first; CatalogueError where the file is not right."""
    from advisor.catalogue.load import ERRORS, rules_directory  # noqa: PLC0415 - who reads no error needs no rules
    from advisor.catalogue.plain import read_plain  # noqa: PLC0415

    content, problems = read_plain(rules_directory() / ERRORS)
    try:
        errors = msgspec.convert(content, tuple[KnownError, ...])
        patterns = {error: re.compile("|".join(error.matches), re.DOTALL) for error in errors}
    except (msgspec.ValidationError, re.error) as error:
        problems.append(("", str(error)))
    if problems:
        raise CatalogueError(ERRORS, "\n".join(": ".join(filter(None, each)) for each in problems))
    return patterns


def known_error(text: str) -> KnownError | None:
    """Return the first known error that the text of an error matches; None where none does."""
    return next((error for error, pattern in known_errors().items() if pattern.search(text)), None)


def error(whole: str) -> list[Told]:
    """Read an error that ended a run: what happened, and the batch that it missed in the log (None: none)."""
    own = NEXT_RECORD.split(whole, 1)[0]
    interrupts = "InvocationTargetException" in own.strip().partition("\n")[0]  # Spark itself knows plain ones only
    if interrupts and _CAUSE.findall(own)[-1:] == [_INTERRUPTED]:  # stop() while it planned a batch
        return [Told("stopped", value=True)]
    missing, words, found_error = MISSING.search(whole), said(whole), known_error(own)
    if found_error is not None and found_error.by_shutdown:
        return [Told("shut_down_in_batch", value=True), Told("stopped", value=True)]
    found = [Told("terminated_error", words)] if words else []
    found.append(Told("missing_batch", int(missing[1]) if missing else None))
    if found_error is not None:
        found += [Told("known_error", found_error.means), Told("known_error_cure", found_error.cure)]
        found.append(Told("known_error_change", found_error.change))
    return found


def said(whole: str) -> str:
    """Return the line of an error with what happened; for Python the exception, not the traceback's heading."""
    first, *others = whole.strip().splitlines() or [""]
    if first.rstrip().endswith("Traceback (most recent call last):"):
        first = next((line for line in others if line and not line[0].isspace()), first)
    words = _CLASS.sub("", first.strip())
    causes = _CAUSE.findall(NEXT_RECORD.split(whole, 1)[0]) if _OF_A_JOB.search(words) else []
    return f"{words.rstrip('.')}; caused by {shorten(causes[-1], _CAUSE_SHOWN, placeholder=' …')}" if causes else words


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
    of_a_stream = not known.of_any_job or any(name in text for name in _OF_A_STREAM)
    return of_a_stream and (not known.of_task or _ENDED.search(text) is not None)
