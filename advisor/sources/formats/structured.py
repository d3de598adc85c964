"""Spark 4's structured logs: one JSON object per line, which may hold the event twice."""

from __future__ import annotations

import msgspec

from advisor.progress import Broken, Progress, decode

KEY = b'"streaming_query_progress"'


class _Context(msgspec.Struct):
    streaming_query_progress: str | None = None


class _Line(msgspec.Struct):
    context: _Context = msgspec.field(default_factory=_Context)
    msg: str = ""


_decode = msgspec.json.Decoder(_Line).decode


def is_structured(line: bytes) -> bool:
    """Whether a line is one of a structured log, whatever a progress bar or a collector put before it."""
    return KEY in line or b'{"ts":' in line[:400]


def read_line(line: bytes) -> Progress:
    """The event in a line of a structured log, from its context where that has it; Broken when there is none."""
    try:
        read = _decode(line[max(0, line.find(b'{"')) :])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Broken("a line of a structured log that is no JSON") from None
    text = read.context.streaming_query_progress or read.msg.partition("progress:")[2]
    return decode(text.encode("utf-8", "replace"))
