"""Where the checkpoint lies, in the words of people: `checkpoint on s3://bucket/ck`, `our checkpoints go to HDFS`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.sources.sightings.marked import Words, lowered
from advisor.sources.sightings.query import Told
from advisor.sources.sightings.words import of_now, sentences

_CHECKPOINT: Final = re.compile(
    r"checkpoint(?<!\wcheckpoint)(?:s|ing|ed)?(?:[ _-]?(?:location|dir(?:ectory)?|path|folder|root))?\b"
)
_OF_ANOTHER: Final = re.compile(r"read|sourc|sink|table|output|writ(?:e|es|ing)\b|data\b|instead|not\b")
_NEAR: Final = 50
"""Letters between the word and its place."""
_LONGEST: Final = 60
"""Letters of a place."""
_URL: Final = re.compile(r"(?<![\w/])(s3[an]?|abfss?|wasbs?|gs|hdfs|dbfs|file|oss|cos)(?=:/)")
_STORE: Final = re.compile(
    r"\b(?:on|in|to|at|into|:|=)[ ](?:an?[ ]|the[ ]|our[ ])?"
    r"(?:google[ ]|azure[ ]|amazon[ ]|aws[ ])?(s3a|hdfs|gcs|adls|dbfs|data lake)\b"
)
_SCHEME: Final = {"gcs": "gs", "adls": "abfss", "data lake": "abfss"}
"""S3 alone is none: s3a on open source, s3 on EMR, and what helps differs."""


def read_storage(text: Words) -> Iterator[Told]:
    """The file system of the checkpoint, where a sentence on what is so today names it."""
    named = filter(_store, sentences(text, "checkpoint"))
    for name in filter(None, map(_store, of_now(named))):
        yield Told("checkpoint_scheme", _SCHEME.get(name, name))


def _store(sentence: str) -> str | None:
    """The file system of a checkpoint that it names, first by an address."""
    words = lowered(sentence)
    ends = [named.end() for named in _CHECKPOINT.finditer(words)]
    near = (found for place in (_URL, _STORE) for end in ends if (found := _behind(words, end, place)))
    return next(near, None)


def _behind(words: str, end: int, place: re.Pattern[str]) -> str | None:
    """The place that is named near behind the checkpoint, and not behind another thing's name."""
    found = place.search(words, end, end + _NEAR + _LONGEST)
    if found is None or found.start() > end + _NEAR or _OF_ANOTHER.search(words, end, found.start()):
        return None
    return found[1]
