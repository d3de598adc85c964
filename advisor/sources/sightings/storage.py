"""Where the checkpoint lies, in the words of people: `checkpoint on s3://bucket/ck`, `our checkpoints go to HDFS`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.sources.sightings.marked import Words
from advisor.sources.sightings.query import Told
from advisor.sources.sightings.words import of_now

_CHECKPOINT: Final = r"(?i)\bcheckpoint(?:s|ing|ed)?(?:[ _-]?(?:location|dir(?:ectory)?|path|folder|root))?\b"
_OF_ANOTHER: Final = r"(?:(?!read|sourc|sink|table|output|writ(?:e|es|ing)\b|data\b|instead|not\b)[^\n]){0,50}?"
_URL: Final = re.compile(
    rf"{_CHECKPOINT}{_OF_ANOTHER}(?<![\w/])(s3[an]?|abfss?|wasbs?|gs|hdfs|dbfs|file|oss|cos)(?=:/)"
)
_STORE: Final = re.compile(
    rf"{_CHECKPOINT}{_OF_ANOTHER}\b(?:on|in|to|at|into|:|=)[ ](?:an?[ ]|the[ ]|our[ ])?"
    r"(?:Google[ ]|Azure[ ]|Amazon[ ]|AWS[ ])?(S3A|HDFS|GCS|ADLS|DBFS|Data Lake)\b"
)
_SCHEME: Final = {"gcs": "gs", "adls": "abfss", "data lake": "abfss"}
"""S3 alone is none: s3a on open source, s3 on EMR, and what helps differs."""


def read_storage(text: Words) -> Iterator[Told]:
    """The file system of the checkpoint, where a sentence on what is so today names it."""
    for sentence in of_now(text, "checkpoint"):
        for pattern in (_URL, _STORE):
            if found := pattern.search(sentence):
                name = found[1].lower()
                yield Told("checkpoint_scheme", _SCHEME.get(name, name))
                break
