"""Partial records in text: where one begins, what its lines say without comment marks and quotes, where it ends."""

from __future__ import annotations

import re
from typing import NamedTuple

from advisor.progress import Partial, of_fragment, read_fragment
from advisor.sources.formats.quoted import unquoted
from advisor.sources.formats.repair import foreign_lines_emptied, typewritten, without_marks
from advisor.sources.harvest import Buffer

REACH = 256 << 10
"""Bytes before and behind the key by which a record is found; a thousand partitions of Kafka fit in."""
_KEY = re.compile(rb"\w+")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_BRACKET = re.compile(r"[{}\[\]]")
_BRACKET_OR_CALL = re.compile(r"[{}\[\]()]")
_LONG_QUOTES = re.compile(r'"""|\'\'\'')
_OPENS_WITH_A_KEY = re.compile(r"""\{\s*["']\w+["']\s*:""")
_KEYWORD = re.compile(r"\s*\w+\s?=\s?(?:[\w\"'{\[(-]|$)")
_NAMED = re.compile(rb"(?<!\w)(?:\w+\()?\w+\s?=")
_OF_A_RECORD = re.compile(r"""\s*(?:u?["'][^"'\n]*["']?\s{0,20}[:,]|\w+\s*:|[{}\[\]]|\.\.\.|…|//|\#|/\*|$)""")


class Piece(NamedTuple):
    """A partial record at [start, end) of the buffer."""

    start: int
    end: int
    partial: Partial


def piece_around(buffer: Buffer, begin: int, anchor: int, end: int) -> Piece | None:
    """The partial record around the key at `anchor`, within [begin, end); None when nothing there can be read."""
    lines = unquoted(buffer, begin, anchor, end)
    if lines is not None:
        nth = bytes(buffer[lines.start : anchor]).count(_key(buffer, anchor))
        found = _read(lines.text, _nth(lines.text, _key(buffer, anchor), nth))
        return found and Piece(lines.start, max(lines.end, anchor + 1), found.partial)
    low, high = max(begin, anchor - REACH), min(end, anchor + REACH)
    raw = bytes(buffer[low:high])
    found = _read(raw, anchor - low)
    if found is None:
        return None
    stop = low + max(found.end, anchor - low + 1)
    return Piece(low + found.start, stop, found.partial)


def _read(raw: bytes, anchor: int) -> Piece | None:
    """The record around `anchor` and where its lines stand in `raw`; text is cleared line for line."""
    key = _key(raw, anchor)
    line_start = raw.rfind(b"\n", 0, anchor) + 1
    number = raw.count(b"\n", 0, line_start)
    lines = _cleared(raw, anchor, line_start).split("\n")
    column = _nth(lines[number].encode(), key, raw.count(key, line_start, anchor))
    first, begin = _beginning(lines, number, len(lines[number].encode()[:column].decode("utf-8", "replace")))
    text = "\n".join(lines[first:])
    fragment = read_fragment(text, begin)
    partial = of_fragment(fragment)
    if partial is None:
        return None
    last = first + text.count("\n", 0, fragment.end)
    same = text.encode() == raw[_line(raw, first) :]
    stop = _line(raw, first) + len(text[: fragment.end].encode()) if same else _line(raw, max(last, number) + 1)
    return Piece(_line(raw, first) + (len(text[:begin].encode()) if same else 0), stop, partial)


def _key(buffer: Buffer, anchor: int) -> bytes:
    match = _KEY.match(buffer[anchor : anchor + 40])
    return match[0] if match else b""


def _nth(text: bytes, key: bytes, nth: int) -> int:
    """Where `key` stands for the time after `nth` others, or the last time."""
    at = text.find(key)
    while nth and (following := text.find(key, at + 1)) >= 0:
        at, nth = following, nth - 1
    return max(0, at)


def _line(raw: bytes, number: int) -> int:
    """Where a line begins; beyond the last one the end."""
    at = 0
    for _ in range(number):
        at = raw.find(b"\n", at) + 1
        if not at:
            return len(raw)
    return at


def _cleared(raw: bytes, anchor: int, line_start: int) -> str:
    """The text without colours, foreign lines, the marks before each line and the quotes of a word processor."""
    prefix = raw[line_start:anchor]
    if _KEYWORD.match(raw[anchor : anchor + 40].decode("utf-8", "replace")):
        prefix = _NAMED.split(prefix, maxsplit=1)[0]  # `Row(id=` is no mark of a comment
    return typewritten(without_marks(foreign_lines_emptied(raw), prefix)).decode("utf-8", "replace")


def _beginning(lines: list[str], number: int, column: int) -> tuple[int, int]:
    """(line, column) where the record begins that has a key at (number, column): its bracket, else its first key."""
    keywords = bool(_KEYWORD.match(lines[number], column))
    brackets = _BRACKET_OR_CALL if keywords else _BRACKET
    depth, before = 0, _LONG_QUOTES.sub(_blank, lines[number][:column])
    for first in range(number, -1, -1):
        for bracket in reversed(list(brackets.finditer(_STRING.sub(_blank, before)))):
            depth += 1 if bracket[0] in "}])" else -1
            if depth < 0:
                return first, bracket.start()
        above = lines[max(0, first - 1)]
        if not first or not (_is_of_a_record(above) or (keywords and _is_of_a_call(above))):
            return first, _first_quote(before) if first == number else 0
        before = _LONG_QUOTES.sub(_blank, lines[first - 1])
    return number, 0


def _is_of_a_record(line: str) -> bool:
    return bool(_OF_A_RECORD.match(line) or _OPENS_WITH_A_KEY.search(line)) or line.rstrip().endswith(("{", "["))


def _is_of_a_call(line: str) -> bool:
    return bool(_KEYWORD.match(line)) or line.rstrip().endswith(("(", ")", "),"))


def _first_quote(before: str) -> int:
    """Where the first key stands in a line that may begin with other words."""
    return min((at for at in (before.find('"'), before.find("'")) if at >= 0), default=0)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
