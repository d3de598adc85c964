"""Whether a text shows a well-known error as it is printed, or but names one: in a note, a runbook, a changelog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.sources.sightings.errors import OF_ANY_JOB, KnownError, known_error, pattern_of

_STREAMING: Final = re.compile(
    r"MicroBatchExecution|ContinuousExecution|StreamingQuery|writeStream|readStream|foreachBatch|kafka010"
    r"|[Ss]tructured [Ss]treaming"
)
_ENDED: Final = re.compile(
    r"terminated with (?:error|exception)|StreamingQueryException|[Jj]ob aborted"
    r"|\bTask \d{1,9} in stage \S{1,20} failed"
)
"""What says that not only a task ended."""
_WARNS: Final = re.compile(r"\b(?:WARN|WARNING|INFO)\b")
"""Where Spark but warns, the query goes on."""
_REMARK: Final = re.compile(r"\)[,;]?\s*(?://|#)")
"""A comment behind code: why its author wrote it so, not what ended the query."""
_COMMENTED: Final = re.compile(r"^(?://|#)")
_AHEAD: Final = re.compile(r"""^(?:(?://+|\#+|\*|>)[ \t]*)?(?:Exception in thread "[^"\n]{1,80}" )?""")
"""What stands before the words of an error that is quoted in a comment, or that ended a thread."""
_COMMENT: Final = re.compile(r"(?m)(?<!:)//.*$|#.*$")
_CLASS: Final = r"(?:[a-z]\w{0,60}\.){0,12}[A-Z][\w$]{0,80}(?:Exception|Error)"
_PRINTED: Final = re.compile(
    r"\b(?:ERROR|FATAL|SEVERE)\b"  # a line of a log
    rf"|(?<![\w.`]){_CLASS}:(?=\s|$)|^\W{{0,9}}(?:Caused by: )?{_CLASS}\s*$"
    r"|(?<![\w`])\[[A-Z][A-Z0-9_]{4,80}(?:\.[A-Z0-9_]{3,80})?\] [A-Z'\"(]"  # an error's class, then its sentence
    r"|\bQuery \[id = [^\n]{1,120}\] terminated with (?:error|exception)\b"
    r"|\b(?:Reason|Status|State|[Ee]xit ?[Cc]ode)[\"']?\s{0,12}[:=]"  # of a container
    r"|^\S{1,200}\s{1,80}\d{1,3}/\d{1,3}\s"  # of a pod, in a table
)
"""What stands in a line before an error's own words, or begins with them, where a program printed it."""
_STACK: Final = re.compile(r"[ \t]+at [\w.$<>/@]+\(|=== Streaming Query ===|\+- |[ \t]*\.\.\. \d+ more")
_ELSEWHERE: Final = re.compile(
    r"(?i)\b(?:tried|used to|no longer|another|other|others|colleagues?|staging|in the past|once had|had once|if|would|"
    r"fixed|solved|avoid(?:ed)?|last (?:week|month|quarter|year|spring|summer|autumn|winter)|"
    r"years? ago|months? ago|weeks? ago|means?)\b"
)
"""Words before an error that tell of another time, place or query, or of none."""
_HEADING: Final = re.compile(r"\s{0,3}(?:#{2,6}|={2,6}|Q\d{0,3}[.:)]|\*\*Q\d{0,3}[.:)])\s*(?!.*===\s*$)\S")
_TITLE: Final = re.compile(r"#\s+\S")
"""A title, or a comment in code."""
_UNDERLINED: Final = re.compile(r"\s{0,3}(?:={3,}|-{3,})\s*$")
_IN_A_TABLE: Final = re.compile(r"\s*\|.*\|.*\|")
_OF_A_LOG: Final = re.compile(r"\b(?:ERROR|FATAL|SEVERE)\b")
_CHANGED: Final = re.compile(
    r"(?i)\W*(?:\[?[A-Z]{2,12}-\d{1,9}\]?:?\s*)?(?:\[[A-Za-z ]{1,30}\]\s*)*"
    r"(?:fix(?:e[sd])?|handle[sd]?|prevent(?:s|ed)?|remove[sd]?|document(?:s|ed)?|retr(?:y|ies|ied)|no more)\b"
)
"""How an entry of a list of changes begins."""
_FIRST_PERSON: Final = re.compile(r"\b(?:I|I'm|I've|my|My|we|We|we're|our|Our|me)\b")
_EXPLAINED: Final = re.compile(
    r"(?im)^\W{0,9}(?:causes?|solutions?|resolution|fix|action|answer|a|workaround|remedy|mitigation|explanation|meaning"
    r"|what (?:it means|this means|to do)|why (?:it|this) happens)[ *_]{0,4}(?::|$)"
    r"|\b(?:this|the|that|it)(?: (?:error|message|exception|failure))? (?:means|(?:happens|occurs|appears|comes"
    r"|is (?:thrown|raised|shown|seen|reported)) (?:when|if|where|because) (?:you|your|an?|the|no|two|several|Spark))\b"
)
"""How a text explains an error to anybody who meets it."""
_AT_A_START: Final = (
    "at a start Spark reads the offset files of the last two batches, and ends where one is not there. Asynchronous "
    "progress tracking that was switched off leaves such a gap; a file that was lost or deleted does so, too"
)
_OPENS: Final = (":", "```")
"""How the line above an error's bare words ends, where they are quoted as printed."""
_MARKS: Final = " \t\"'`>"
_GAP: Final = re.compile(r"(?<!of )\b(?:batch|offsets?)\W{0,2} \d{1,18} (?:doesn'?t|does not) exist")
_MISSING: Final = re.compile(r"\b(?:java\.lang\.)?IllegalStateException: batch \d{1,18} doesn'?t exist")


class _Quote(NamedTuple):
    """A line that holds an error's words: what stands before them in it, the line above, the line below."""

    line: str
    before: str
    above: str
    below: str


def told_error(text: str) -> tuple[KnownError, str] | None:
    """The known error of a stream that a text of any kind shows as printed, and its line; None where none is."""
    known = _of_a_stream(text)
    if known is None or (known.of_task and not _ENDED.search(text)):
        return None
    quotes = _quotes(pattern_of(known), text)
    return next(
        (
            (known, _AHEAD.sub("", each.line.strip()))
            for each in quotes
            if _is_shown(each, text) and not _explains(each.line.strip(), text)
        ),
        None,
    )


def named_error(text: str) -> str | None:
    """That the text names a known error and does not show it, and what it means; None where it names none."""
    known = _of_a_stream(text)
    found = pattern_of(known).search(text) if known else None
    if known is None and (gap := _GAP.search(text)) and not missing_batch(text):
        return f'the text names a batch that is missing in a checkpoint ("{gap[0]}"): {_AT_A_START}'
    if known is None or found is None or told_error(text) or _warned(text, found.start()):
        return None
    words, ended = " ".join(found[0].split()), "tasks or a query" if known.of_task else "a query"
    return (
        f'the text names an error of Spark ("{words}") and does not show that this query ended with it. {known.means} '
        f"Where {ended} ended with it: {known.cure[0].lower()}{known.cure[1:]}"
    )


def missing_batch(text: str) -> str | None:
    """The words of `batch N doesn't exist` that a text shows as an error; None where it shows none."""
    shown = (
        found for each in _quotes(_MISSING, text) if _is_shown(each, text) and (found := _MISSING.search(each.line))
    )
    return next((found[0] for found in shown), None)


def only_names(line: str, after: str) -> bool:
    """Whether a line is a heading or a row of a table, with no stack below: no program printed it."""
    below = after.lstrip("\n").partition("\n")[0]
    return bool(_HEADING.match(line) or _TITLE.match(line) or _IN_A_TABLE.match(line)) and not _STACK.match(below)


def _of_a_stream(text: str) -> KnownError | None:
    known = known_error(text)
    return None if known in OF_ANY_JOB and not _STREAMING.search(text) else known


def _warned(text: str, at: int) -> bool:
    return _WARNS.search(text, text.rfind("\n", 0, at) + 1, at) is not None


def _is_shown(quote: _Quote, text: str) -> bool:
    """Whether the line was printed, and heads no chapter, row or entry of a text that explains errors to anybody."""
    if not _is_printed(quote):
        return False
    if _OF_A_LOG.search(quote.line) or _STACK.match(quote.below):
        return True
    return not (_heads(quote) or _IN_A_TABLE.match(quote.line) or _CHANGED.match(quote.line) or _is_general(text))


def _heads(quote: _Quote) -> bool:
    """Whether the line is a heading; a comment of code is none."""
    opens = bool(_TITLE.match(quote.line)) and not quote.above and not quote.below.strip()
    return bool(opens or _HEADING.match(quote.line) or _UNDERLINED.match(quote.below))


def _is_general(text: str) -> bool:
    """Whether a text explains an error, and nobody tells in it of their own."""
    return _EXPLAINED.search(text) is not None and not _FIRST_PERSON.search(text)


def _is_printed(quote: _Quote) -> bool:
    """Whether a program printed the line: by its shape, by what follows, or as bare words below an introduction."""
    if _WARNS.search(quote.line):
        return False
    shapes = (found.start() for found in _PRINTED.finditer(quote.line) if found.start() <= len(quote.before))
    shape = next(shapes, None)
    prose = quote.before[:shape]
    introduced = quote.above if quote.above.endswith(":") and not prose.strip() else ""
    if _ELSEWHERE.search(prose) or _ELSEWHERE.search(introduced):
        return False
    alone = not quote.before.strip(_MARKS) and (not quote.above or quote.above.endswith(_OPENS))
    return shape is not None or alone or _STACK.match(quote.below) is not None


def _explains(line: str, text: str) -> bool:
    """Whether a line that quotes an error tells why its author wrote other code: behind code, or of another trigger."""
    if _REMARK.search(line):
        return True
    code = _COMMENT.sub("", text)
    return bool(_COMMENTED.match(line)) and "ontinuous" in line and ".trigger(" in code and "ontinuous" not in code


def _quotes(pattern: re.Pattern[str], text: str) -> Iterator[_Quote]:
    """The lines in which the pattern begins."""
    for found in pattern.finditer(text):
        start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())  # words may be broken
        end = end if end >= 0 else len(text)
        above = text[max(0, start - 4096) : start].rstrip().rpartition("\n")[2].strip()
        below = text[end + 1 : end + 200].partition("\n")[0]
        yield _Quote(text[start:end].rstrip(), text[start : found.start()], above, below)
