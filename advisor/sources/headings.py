"""What people write above a record to say under which settings it was measured: `with 50000:`, `after`, `8 workers`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_MOST_LINES: Final = 8
_LONGEST: Final = 160
_OF_A_RECORD: Final = re.compile(
    r"""^\s*(?:[{}\[\](),;`]+\s*$|["'][^"']*["']\s*[:,}\]]|[{\[]\s*["']|\w+\s*:\s*[{\[\d"'])"""
)
_NO_WORDS: Final = re.compile(r"\s*(?:(?:```.*|~~~.*|[-=*_#>\s]*|<[^>]*>)$|\[?\d\d(?:\d\d)?[-/]\d\d[-/]\d\d)")
_MARKUP: Final = re.compile(r"^[\s#>*_=\-/|`~({\[•+]+|[\s*_=\-/|`~:.,;>{(\[→]+$")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")

_SETTING: Final = re.compile(
    r"""(?ix) \bspark\.[\w.]+
    | \b(?:max|min)_?(?:offsets|files|bytes|rows|trigger)_?per_?trigger\b | \bmin_?partitions\b
    | \b(?:max|min)RatePerPartition\b
    | \b(?:shuffle|kafka|topic|input)?[ ]?partitions?\b | \b(?:repartition|coalesce|persist|cache|broadcast)(?:\(|\b)
    | \btrigger\b | \bprocessing_?time\b | \bavailable_?now\b | \bstate[ ]?store\b | \brocks_?db\b | \bhdfs\b
    | \bchangelog\b | \basync\w* | \bcheckpoint\w* | \bparallelism\b | \bphoton\b | \badaptive\b | \baqe\b
    | \b(?:batch|rows|records|offsets|files)[ ](?:size|per[ ](?:trigger|batch))\b
    | \bforeach_?batch\b | \b(?:memory|heap|cpu|cluster|version|settings?|config\w*|options?|tuning|optimi[sz]\w+)\b"""
)
_AMOUNT: Final = re.compile(
    r"""(?ix) \b\d[\d.,_]*[ ]?[km]?[ -]?(?:workers?|nodes?|executors?|cores?|v?cpus?|partitions?|machines?|brokers?
    |threads?|slots?|instances?|pods?|tasks?|dbus?|gb|gib|gigs?|g)\b
    | \blocal\[\d+\] | \b[a-z]\d[a-z]*\.(?:\d*x?large|medium|small)\b | \bstandard_\w+"""
)
_KIND: Final = re.compile(
    r"(?i)^(?:the )?(?:first |second |third |\w+ )?(?:run|test|attempt|experiment|trial|config(?:uration)?|setup|"
    r"scenario|case|variant|environment|env|cluster|job|query|stream|pipeline|version)\s?(?:no\.?\s?|#)?(?:[A-Z]|\d{1,2})\b"
)
_CHANGE: Final = re.compile(
    r"""(?ix) ^(?:and[ ]|now[ ]|then[ ]|here[ ]is[ ]|this[ ]is[ ])*(?:it[ ])?
    (?:(?P<side>before|after|old|new|previous(?:ly)?|untuned|tuned|baseline|original|default|(?:un)?optimi[sz]ed)\b
    |(?P<using>with|without|w/o?|using|no|when[ ]i|after[ ]i|changed|increas\w+|decreas\w+|rais\w+|reduc\w+
    |lower\w+|set(?:ting)?|switch\w*|disabl\w+|enabl\w+|add(?:ed|ing)|at|on|for
    |i[ ](?:changed|increased|set|reduced|raised))\b)"""
)
_BY_A_CHANGE: Final = re.compile(
    r"(?i)\bby (?:using|setting|changing|tuning|increasing|decreasing|raising|reducing|lowering|switching|disabling"
    r"|enabling|adding)\b"
)
_GOES_ON: Final = re.compile(
    r"(?i)\b(?:\d+|a few|some|several|half an?|an?|two|three|few|many)(?: more| or so)? "
    r"(?:ms|s|secs?|seconds?|min\w*|hours?|days?|weeks?|months?|batch\w*|triggers?\b(?! interval)|while|moments?"
    r"|time)\b"
    r"|\b(?:that|this|it|them|which|restart\w*|crash\w*|slow\w*|fast\w*|spik\w*|errors?|long\w*|late\w*|idle|empty|lag"
    r"|peak|incident|problem|issue|failure|warm\w*|sample|example|record|event|log|logs|output|json|progress|next|one)\b"
)
"""Words of what one run goes through, under the same settings."""
_A_NUMBER: Final = re.compile(r"(?i)^(?:with|at|using|for|on|and|to)?\s?\d[\d,_.]*[km]?$")
_COUNTED: Final = re.compile(r"\d[\d.,_]*(?:[kKmM]\b)?|\b[A-H]\b")
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")


class Heading(NamedTuple):
    """The words above a record. `sure`: they say by themselves that settings were changed."""

    text: str
    sure: bool

    @property
    def form(self) -> str:
        """What headings of one series have in common: their words without numbers."""
        return _BETWEEN_WORDS.sub(" ", _COUNTED.sub(" n ", self.text)).strip().lower()

    @property
    def only_a_number(self) -> bool:
        """Whether it goes on with a series that another heading opened: `with 50000`."""
        return bool(_A_NUMBER.match(self.text))


def heading(above: str) -> Heading | None:
    """What the lines above a record, nearest first, say of its settings; None where they say nothing of them."""
    for words in _lines(above):
        found = _of_settings(words)
        if found is not None:
            return found
    return None


def _lines(above: str) -> Iterator[str]:
    """The last sentence of each line that belongs to no record, without markup, from the last line back."""
    said = 0
    for line in reversed(above.split("\n")):
        if _NO_WORDS.match(line) or "made progress" in line:
            continue
        if _OF_A_RECORD.match(line) or said == _MOST_LINES:
            return
        said += 1
        words = _MARKUP.sub("", _MARKUP.sub("", line))
        if words and len(words) <= _LONGEST:
            yield _SENTENCE.split(words)[-1]


def _of_settings(words: str) -> Heading | None:
    change = _CHANGE.match(words)
    named = bool(_SETTING.search(words) or _AMOUNT.search(words))
    if change is not None:
        rest = words[change.end() :].strip()
        if change["side"] and (not rest or named or not _GOES_ON.search(rest)):
            return Heading(words, sure=True)
        if change["using"] and (named or (words.lower().startswith(("with", "w/")) and not _GOES_ON.search(rest))):
            return Heading(words, sure=not _A_NUMBER.match(words))
    if named and _BY_A_CHANGE.search(words):
        return Heading(words, sure=True)
    if named or _KIND.match(words) or _A_NUMBER.match(words):
        return Heading(words, sure=False)
    return None
