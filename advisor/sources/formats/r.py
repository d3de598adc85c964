"""Lists as R writes them (`dput` of SparkR's lastProgress), as JSON."""

from __future__ import annotations

import re
from typing import Final

SIGN: Final = re.compile(rb"durationMs`?\"? ?= ?list\(")
_TOKEN: Final = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")(?P<key>\s*=(?!=))?|(?P<name>`[^`\n]+`|[A-Za-z.][\w.]*)(?P<named>\s*=(?!=))
    |(?P<open>(?:list|c|structure)\()(?=\s*(?P<member>(?:`[^`\n]+`|"[^"\n]*"|[A-Za-z.][\w.]*)\s*=(?!=))?)
    |(?P<number>\d)L\b|(?P<close>\))|(?P<word>NULL|TRUE|FALSE|NA)\b""",
    re.VERBOSE,
)
_WORDS: Final = {"NULL": "null", "TRUE": "true", "FALSE": "false", "NA": "null"}


def as_json(raw: bytes) -> bytes | None:
    """The text with its lists as JSON; None where none of them holds durations."""
    if not SIGN.search(raw):
        return None
    ends: list[str] = []

    def put(match: re.Match[str]) -> str:
        if match["string"]:
            return match["string"] + (":" if match["key"] else "")
        if match["name"]:
            return f'"{match["name"].strip("`")}":'
        if match["open"]:
            ends.append("}" if match["member"] else "]")
            return "{" if match["member"] else "["
        if match["close"]:
            return ends.pop() if ends else ")"
        return match["number"] or _WORDS[match["word"]]

    return _TOKEN.sub(put, raw.decode("utf-8", "replace")).encode()
