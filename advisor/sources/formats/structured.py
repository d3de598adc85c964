"""Spark 4's structured logs: one JSON object per line, which holds the event twice."""

from __future__ import annotations

import msgspec

from advisor.progress import Broken, Progress, decode

KEY = b'"streaming_query_progress"'


class _Context(msgspec.Struct):
    streaming_query_progress: str | None = None


class _Line(msgspec.Struct):
    context: _Context


_decode = msgspec.json.Decoder(_Line).decode


def read_line(line: bytes) -> Progress | None:
    """The event in a line of a structured log, taken from its context; None when the line is no such line.

    Raises Broken when the event in it is none.
    """
    if KEY not in line:
        return None
    try:
        text = _decode(line[line.rfind(b"\r", 0, line.find(b"{")) + 1 :].lstrip(b" ")).context.streaming_query_progress
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Broken("a line of a structured log that is no JSON") from None
    return None if text is None else decode(text.encode("utf-8", "replace"))
