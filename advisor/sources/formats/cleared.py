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
_MARKS = re.compile(rb"""(?:[^"'{}\[\]&\xe2]|""" + _TAG + rb""")*?(?=u?["'{}\]&\xe2]|\[(?!""" + _TAG[2:] + rb""")|$)""")
_NAMED = re.compile(rb"(?<!\w)(?:\w+\()?\w+\s?=")
_KEY = re.compile(rb"\w+")
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_NAME = re.compile(rb"[A-Za-z]{2}")
_TWO_LINES = 4096
_QUOTED = re.compile(
    rb"""^(?:[^"\n]{0,80}?"(?P<double>(?:[^"\\]|\\.)*)"|[^'"\n]{0,80}?'(?P<single>(?:[^'\\]|\\.)*)')[\s+;,)\\#]*$"""
)
_ESCAPE = re.compile(rb"\\([nrt])")
_CLOSES = rb"(?P<closes>(?=\s*(?:[:,}\])]|$)))?"
_ODD = rb"(?:&quot;|&#34;|\xe2\x80[\x9c-\x9e]|(?P<single>&apos;|&#39;|&#x27;|\xe2\x80[\x98\x99]))"
_ODD_QUOTE = re.compile(rb"(?m:" + _ODD + _CLOSES + rb")")
_ESCAPED_QUOTE = re.compile(rb"""(?m:(?<!\\)\\+(?:"|(?P<single>'))""" + _CLOSES + rb")")
_DOUBLED_QUOTE = re.compile(rb'(?m:\\?""(?P<single>(?!))?' + _CLOSES + rb")")
_OUTER_QUOTE = re.compile(rb'"(?=[^"\n]*\{\s*"")|(?<=\})"(?=\s*(?:[,;\t\r\n]|$))')

_OF_DOUBLE, _OF_SINGLE = r'"(?:[^"\\\n]|\\.)*(?P<double>")?', r"'(?:[^'\\\n]|\\.)*(?P<single>')?"
_STRINGS = {
    quotes: re.compile(
        "|".join([r'(?P<triple>"""|\'\'\')', *(one for one in (_OF_DOUBLE, _OF_SINGLE) if one[0] in quotes)])
    )
    for quotes in ("\"'", '"', "'", "")
}
"""Strings, closed or not, by the quotes that may begin one."""
_BRACKET = re.compile(r"[{}\[\]()]")
_OPENS_WITH_A_KEY = re.compile(r"""\{\s*["']\w+["']\s*:""")
_KEYWORD = re.compile(r"\s*\w+\s?=\s?(?:[\w\"'{\[(-]|$)")
_OF_A_RECORD = re.compile(
    r"""\s*(?:u?["'][^"'\n]*["']?\s{0,20}[:,]|\w+\s*:|[{}\[\]]|\.\.\.|\xe2\x80\xa6|//|\#|/\*|$)"""
)


def cleared(raw: bytes, anchor: int) -> bytes:
    """Return the text with blanks in place of all that is foreign to the record with a key at `anchor`."""
    line, end = raw.rfind(b"\n", 0, anchor) + 1, raw.find(b"\n", anchor)
    text = _FOREIGN.sub(_blank, _without(raw, _repeated(raw, line)))
    if _QUOTED.match(text[line : len(text) if end < 0 else end]):
        return _unquoted(text, line)
    marks = _MARKS.match(_before(text, line, anchor))  # of comments, of a collector
    text = _without(text, marks[0].strip() if marks else b"")
    key = _KEY.match(text, anchor)
    behind = text[key.end() : key.end() + 2] if key else b""
    if behind[:1] == b"\\" or b"\\n" in text[max(line, anchor - 40) : anchor]:
        text = _unescaped(text)
    elif behind == b'""':
        text = _DOUBLED_QUOTE.sub(_quote, _OUTER_QUOTE.sub(b" ", text))
    return _ODD_QUOTE.sub(_quote, text)


def _before(text: bytes, line: int, anchor: int) -> bytes:
    """Return what stands before a key in its line; of a key of a call what stands before its first argument."""
    before = text[line:anchor]
    keyword = _KEYWORD.match(text[anchor : anchor + 40].decode("latin-1"))
    return _NAMED.split(before, maxsplit=1)[0] if keyword else before


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


def opens_at(text: str, anchor: int) -> int:
    """Return where the record opens that has a key at `anchor`: at its bracket, else at its first key."""
    keywords = bool(_KEYWORD.match(text, anchor))
    skipped = "" if keywords else "()"
    depth, stop = 0, anchor
    while True:
        line = text.rfind("\n", 0, stop) + 1
        for bracket in reversed(list(_BRACKET.finditer(_without_strings(text[line:stop])))):
            if bracket[0] in skipped:
                continue
            depth += 1 if bracket[0] in "}])" else -1
            if depth < 0:
                return line + bracket.start()
        above = text[text.rfind("\n", 0, max(0, line - 1)) + 1 : max(0, line - 1)]
        if not line or not (_is_of_a_record(above) or (keywords and _is_of_a_call(above))):
            return line + _first_quote(text[line:stop]) if stop == anchor else line
        stop = line - 1


def _without_strings(line: str) -> str:
    """Return the line with blanks for its strings; a quote that nothing closes begins none, nor do those behind it."""
    parts: list[str] = []
    at, kept, quotes = 0, 0, "\"'"
    while found := _STRINGS[quotes].search(line, at):
        if found.lastgroup is None:
            quotes, at = quotes.replace(found[0][0], ""), found.start() + 1
            continue
        at = found.end()
        parts += line[kept : found.start()], " " * len(found[0])
        kept = at
    return "".join([*parts, line[kept:]])


def _is_of_a_record(line: str) -> bool:
    return bool(_OF_A_RECORD.match(line) or _OPENS_WITH_A_KEY.search(line)) or line.rstrip().endswith(("{", "["))


def _is_of_a_call(line: str) -> bool:
    return bool(_KEYWORD.match(line)) or line.rstrip().endswith(("(", ")", "),"))


def _first_quote(before: str) -> int:
    """Return where the first key stands in a line that may begin with other words."""
    return min((at for at in (before.find('"'), before.find("'")) if at >= 0), default=0)
