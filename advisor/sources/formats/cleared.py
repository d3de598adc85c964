"""Clear the text around a record of colours, foreign lines, comment marks and quotes; each byte stays in its place."""

from __future__ import annotations

import re
from itertools import takewhile

_FOREIGN = re.compile(
    rb"\x1b\[[0-9;?]*[A-Za-z]|\xc2\xa0|\xef\xbb\xbf"  # colours, blanks of a web page, a mark at a file's beginning
    rb"|\r?\[Stage \d{1,9}:[^\[\]\r\n]{0,300}\][^\r\n]{0,300}\r *\r?|\r +\r"  # progress bars
    rb"|(?m:^)(?:\d\d/\d\d/\d\d|\[?\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d[.,]\d+ )"
    # A log line without a record: behind its last level. With the reference no earlier level is tried.
    rb"(?=(?P<head>[^\n]*\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b))(?P=head)"
    rb"[^\n{]*(?:\{[^\n{}\"']*\}[^\n{]*)*(?=\n)"
)
_TAG = rb"\[[\w./-]{1,80}\]"
"""A name in brackets before each line, as of a pod."""
_MARKS = re.compile(rb"""(?:[^"'{}\[\]]|""" + _TAG + rb""")*?(?=u?["'{}\]]|\[(?!""" + _TAG[2:] + rb""")|$)""")
_KEY = re.compile(rb"\w+")
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_NAME = re.compile(rb"[A-Za-z]{2}")
_TWO_LINES = 4096
_QUOTED = re.compile(
    rb"""^(?:[^"\n]{0,80}?"(?P<double>(?:[^"\\]|\\.)*)"|[^'"\n]{0,80}?'(?P<single>(?:[^'\\]|\\.)*)')[\s+;,)\\#]*$"""
)
_ESCAPE = re.compile(rb"\\([nrt])")
_CLOSES = rb"(?P<closes>(?=\s*(?:[:,}\])]|$)))?"
_ESCAPED_QUOTE = re.compile(rb"""(?m:(?<!\\)\\+(?:"|(?P<single>'))""" + _CLOSES + rb")")
_DOUBLED_QUOTE = re.compile(rb'(?m:\\?""(?P<single>(?!))?' + _CLOSES + rb")")
_OUTER_QUOTE = re.compile(rb'"(?=[^"\n]*\{\s*"")|(?<=\})"(?=\s*(?:[,;\t\r\n]|$))')
_STRING = re.compile(rb"""\"{3}|'{3}|"(?:[^"\\\n]|\\.)*"?|(?<=[{\[,:( u])'(?:[^'\\\n]|\\.)*'?""")
_OF_A_RECORD = re.compile(
    rb"""\s*(?:u?["'][^"'\n]*["']?\s{0,20}[:,]|\w+\s*:|[{}\[\]]|\.\.\.|\xe2\x80\xa6|//|\#|/\*|$)"""
    rb"""|[^\n]*(?:\{\s*["']\w+["']\s*:|[{\[]\s*$)"""
)


def cleared(raw: bytes, anchor: int) -> bytes:
    """Return the text with blanks in place of all that is foreign to the record with a key at `anchor`."""
    line, end = raw.rfind(b"\n", 0, anchor) + 1, raw.find(b"\n", anchor)
    text = _FOREIGN.sub(_blank, _without(raw, _repeated(raw, line)))
    if _QUOTED.match(text[line : len(text) if end < 0 else end]):
        return _unquoted(text, line)
    marks = _MARKS.match(text[line:anchor])  # of comments, of a collector
    text = _without(text, marks[0].strip() if marks else b"")
    key = _KEY.match(text, anchor)
    behind = text[key.end() : key.end() + 2] if key else b""
    if behind[:1] == b"\\" or b"\\n" in text[max(line, anchor - 40) : anchor]:
        return _unescaped(text)
    return _DOUBLED_QUOTE.sub(_quote, _OUTER_QUOTE.sub(b" ", text)) if behind == b'""' else text


def _without(text: bytes, prefix: bytes) -> bytes:
    """Return the text with blanks for a prefix of its lines, whose digits may differ: they are those of a time."""
    if not prefix:
        return text
    return re.sub(rb"(?m)^[ \t]*" + re.sub(rb"\d+", rb"\\d+", re.escape(prefix)), _blank, text)


def _repeated(text: bytes, line: int) -> bytes:
    """Return what this line and the next begin with, but for digits, before JSON: a scheduler's or a logger's words."""
    first, _, rest = text[line : line + _TWO_LINES].partition(b"\n")
    second = rest.partition(b"\n")[0]
    pairs = zip(first.translate(_ZEROS), second.translate(_ZEROS), strict=False)
    common = bytes(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)).partition(b'"')[0].rstrip()
    follows = second[len(common) :].lstrip()[:1]
    return first[: len(common)] if follows in (b'"', b"}", b"]") and _NAME.search(common) else b""


def _unquoted(text: bytes, line: int) -> bytes:
    """Return the text with the quoted lines around one unquoted, as they stand in a program."""
    before, after = text[:line].split(b"\n")[:-1], text[line:].split(b"\n")
    first, last = len(before), 0
    while first and _QUOTED.match(before[first - 1]):
        first -= 1
    while last < len(after) and _QUOTED.match(after[last]):
        last += 1
    return b"\n".join([*before[:first], *map(_inner, [*before[first:], *after[:last]]), *after[last:]])


def _inner(line: bytes) -> bytes:
    """Return what stands between the quotes of a line, as its program means it."""
    match = _QUOTED.match(line)
    assert match is not None
    start, end = match.span("double" if match["double"] is not None else "single")
    return b" " * start + _unescaped(line[start:end]) + b" " * (len(line) - end)


def _unescaped(text: bytes) -> bytes:
    return _ESCAPED_QUOTE.sub(_quote, _ESCAPE.sub(lambda found: b"\n " if found[1] == b"n" else b"  ", text))


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _quote(match: re.Match[bytes]) -> bytes:
    """Return a plain quote, with blanks outside of what it opens or closes."""
    quote, blanks = b"'" if match["single"] else b'"', b" " * (len(match[0]) - 1)
    return quote + blanks if match["closes"] is not None else blanks + quote


def opens_at(text: bytes, anchor: int) -> int:
    """Return where the record opens that has a key at `anchor`: at its bracket, else at its first key."""
    line = first = text.rfind(b"\n", 0, anchor) + 1
    while first and _OF_A_RECORD.match(text[text.rfind(b"\n", 0, first - 1) + 1 : first - 1]):
        first = text.rfind(b"\n", 0, first - 1) + 1
    opened: list[int] = []
    above = _STRING.sub(_blank, text[first:anchor])
    for at, mark in enumerate(above, first):
        if mark in b"{[":
            opened.append(at)
        elif mark in b"}]" and opened:
            opened.pop()
    if opened or first < line:
        return opened[-1] if opened else first
    return min((at for at in (text.find(b'"', line, anchor), text.find(b"'", line, anchor)) if at >= 0), default=line)
