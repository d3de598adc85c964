"""Decodes one progress event of any Spark version (2.0 to 4.3, Databricks) into a typed record."""

from advisor.progress.decoding import UNUSUAL, decode, decode_usual, from_object, is_event
from advisor.progress.fragment import Fragment, read_fragment
from advisor.progress.instants import as_instant
from advisor.progress.partial import FROM_UI, INPUT_RATE, PARTS, UNNAMED, Partial, of_fragment
from advisor.progress.shapes import (
    ABSENT,
    FURTHEST,
    MEAN,
    Broken,
    Durations,
    EventTime,
    Operator,
    Progress,
    Sink,
    Source,
)

__all__ = [
    "ABSENT",
    "FROM_UI",
    "FURTHEST",
    "INPUT_RATE",
    "MEAN",
    "PARTS",
    "UNNAMED",
    "UNUSUAL",
    "Broken",
    "Durations",
    "EventTime",
    "Fragment",
    "Operator",
    "Partial",
    "Progress",
    "Sink",
    "Source",
    "as_instant",
    "decode",
    "decode_usual",
    "from_object",
    "is_event",
    "of_fragment",
    "read_fragment",
]
