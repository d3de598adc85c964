"""Takes off what was put around or into a whole event: colours, progress bars, prefixes, quotes of a word processor."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from advisor.progress import Broken, Progress, decode
from advisor.sources.harvest import Buffer
from advisor.sources.search import find

_COLOURS = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_PROGRESS_BAR = re.compile(rb"\r?\[Stage \d{1,9}:[^\[\]\r\n]{0,300}\][^\r\n]{0,300}\r *\r?|\r +\r")
_LOG_HEAD = (
    rb"(?m)^(?:\d\d/\d\d/\d\d|\[?\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d[.,]\d+ )"
    rb"[^\n]*\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"
)
_LOG_LINE = re.compile(_LOG_HEAD + rb"[^\n]*\n")
_LINE_WITHOUT_RECORD = re.compile(_LOG_HEAD + rb"[^\n{]*\n")
_DOUBLED = b'""durationMs""'
_OUTER_QUOTE = re.compile(rb'"(?=[^"\n]*\{\s*"")|(?<=\})"(?=\s*(?:[,;\t\r\n]|$))')
_CLOSING = re.compile(rb'(\\?)""(?=\s*[:,}\]])')
_OPENING = re.compile(rb'(\\?)""')
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\xa0": " ", "\ufeff": None})
_MARKS = re.compile(rb"""[^"'{}\[\]&\xe2]*?(?=u?["'{}\[\]&\xe2]|$)""")


def read_whole(raw: bytes) -> Progress:
    """The event in `raw`, if need be with foreign matter taken off; Broken (of the raw text) when none comes out."""
    try:
        return decode(raw)
    except Broken as broken:
        for repair in _REPAIRS:
            repaired = repair(raw)
            if repaired != raw:
                raw = repaired
                try:
                    return decode(raw)
                except Broken:
                    continue
        raise broken from None


def _without_foreign_lines(raw: bytes) -> bytes:
    return _LOG_LINE.sub(b"", _PROGRESS_BAR.sub(b"", _COLOURS.sub(b"", raw)))


def without_prefix(raw: bytes) -> bytes:
    """The lines without what stands before each but the first (which begins with the bracket).

    Collectors put a time before every line, people put comment marks. The first inner line shows the prefix: all
    before its first quote; in the others only digits may differ.
    """
    first, *lines = raw.split(b"\n")
    if not lines:
        return raw
    prefix = _prefix(lines[0])
    if not prefix.strip():
        return raw
    shape = _shape(prefix)
    return b"\n".join([first, *(shape.sub(b"", line, count=1) for line in lines)])


def _prefix(line: bytes) -> bytes:
    quote = min((at for at in (line.find(b'"'), line.find(b"u'"), line.find(b"'")) if at >= 0), default=0)
    return line[:quote].rstrip(b" \t")


def _shape(prefix: bytes) -> re.Pattern[bytes]:
    """A pattern of the prefix in which the digits are free, and the blanks at its end may be gone."""
    digits_free = re.sub(rb"\d+", rb"\\d+", re.escape(prefix.strip()))
    return re.compile(rb"^[ \t]*" + digits_free)


def foreign_lines_emptied(raw: bytes) -> bytes:
    """The text without colours and progress bars, and log lines that open no bracket empty; as many lines as before."""
    return _LINE_WITHOUT_RECORD.sub(b"\n", _PROGRESS_BAR.sub(b"", _COLOURS.sub(b"", raw)))


def without_marks(raw: bytes, before: bytes) -> bytes:
    """The lines without such marks (of comments, of a collector) as stand before `before`'s first quote or bracket."""
    marks = _MARKS.match(before)
    prefix = marks[0].rstrip(b" \t") if marks else b""
    return (
        raw if not prefix.strip() else b"\n".join(_shape(prefix).sub(b"", line, count=1) for line in raw.split(b"\n"))
    )


def table_cells(buffer: Buffer) -> Buffer:
    """The text as long as it is, with the quotes of a CSV table's cells as they were: doubled ones plain, outer blank.

    Other text comes back as it is.
    """
    if find(buffer, _DOUBLED) < 0:
        return buffer
    plain = _OUTER_QUOTE.sub(b" ", buffer[:])
    return _OPENING.sub(rb' \1"', _CLOSING.sub(rb'\1" ', plain))


def typewritten(raw: bytes) -> bytes:
    """The text with plain quotes and without HTML entities."""
    text = raw.decode("utf-8", "replace")
    return html.unescape(text).translate(_QUOTES).encode()


def _without_escapes(raw: bytes) -> bytes:
    """The text of a string as a program prints it: its line ends stand there as letters."""
    return raw.replace(rb"\n", b"\n").replace(rb"\r", b"").replace(rb"\t", b"\t").replace(rb"\'", b"'")


_REPAIRS: tuple[Callable[[bytes], bytes], ...] = (
    _without_foreign_lines,
    without_prefix,
    typewritten,
    _without_escapes,
)
