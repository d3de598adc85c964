"""Lines that a collector put into an envelope each: docker's and others' JSON, and the Kubernetes CRI format."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

import msgspec

from advisor.sources.harvest import Buffer

_KEYS = ("log", "message", "MESSAGE", "line", "textPayload")
_ENVELOPE = re.compile(rb'\s*\{.{0,4096}?"(?:log|message|MESSAGE|line|textPayload)"\s*:\s*"', re.DOTALL)
_CRI = re.compile(rb"\S{19,40} std(?:out|err) ([FP]) ")


class Unwrapped(NamedTuple):
    """The lines as they were before; `starts` and `places` say where each begins in `text` and in the file's window."""

    text: bytes
    starts: list[int]
    places: list[int]

    def origin(self, position: int) -> int:
        """Where in the window the line stands that holds a position of the text."""
        return self.places[max(0, bisect_right(self.starts, position) - 1)]


def unwrapped(buffer: Buffer, begin: int, end: int) -> Unwrapped | None:
    """The lines in [begin, end) out of their envelopes; None when the first line is in none."""
    head = buffer[begin : begin + 8192]
    if not (_CRI.match(head) or (_ENVELOPE.match(head) and _of_json(head.split(b"\n", 1)[0]) is not None)):
        return None
    lines = bytes(buffer[begin:end]).splitlines(keepends=True)
    texts = [_text(line) for line in lines]
    starts = list(accumulate(map(len, texts[:-1]), initial=0))
    places = list(accumulate(map(len, lines[:-1]), initial=begin))
    return Unwrapped(b"".join(texts), starts, places)


def _text(line: bytes) -> bytes:
    """What one line held; a line of another form stays as it is."""
    cri = _CRI.match(line)
    if cri:
        return line[cri.end() :] if cri[1] == b"F" else line[cri.end() :].rstrip(b"\r\n")
    found = _of_json(line) if line[:1] == b"{" else None
    return line if found is None else found


def _of_json(line: bytes) -> bytes | None:
    """The line in a JSON envelope, with its end even where the collector left that out; docker cuts long lines."""
    try:
        envelope = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    text: str | None = next((envelope[key] for key in _KEYS if isinstance(envelope.get(key), str)), None)
    if text is None:
        return None
    cut = "log" in envelope or text.endswith("\n")
    return (text if cut else text + "\n").encode("utf-8", "replace")
