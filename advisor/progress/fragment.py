"""Read an object from text that was JSON, or printed by Python or Scala, and then cut off, commented or elided."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""
    (?P<string>[ubr]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<elision>\.\.\.|…)
    |(?P<instant>\d{4}-\d\d-\d\dT[\d:.]+Z)
    |(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d][\w.$-]*(?:"(?=[ ]*:))?)
    |(?P<mark>[{}\[\]():,=])
    |(?P<other>["'][^\n]*|.|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
"""A quote that nothing closes takes the rest of its line; at the end of the text stands a token of no letters."""
_BETWEEN: Final = re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\#[^\n]*|<--?[ ][^\n]*|←[^\n]*)*", re.DOTALL)
"""Blanks and comments."""
_ELIDED: Final = re.compile(
    r"(?i)(?://|\#|/\*|<--?|←)[ \t*]{0,40}"
    r"(?:\.\.\.|…|.{0,300}?\b(?:omitted|elided|snip|skipped|left out|shortened|truncated|etc|other phases)\b)"
)
"""A comment that marks an omission."""
_CUT: Final = ("...", "…")
_CLOSING: Final = ("}", "]", ")")
_NAMES: Final = {
    "true": True, "True": True, "false": False, "False": False,
    "null": None, "None": None, "nan": None, "NaN": None, "inf": None,
}  # fmt: skip
_QUOTED_CALLS: Final = ("UUID", "Decimal", "Timestamp", "str")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_MEANT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ONLY_ONCE: Final = ("id", "runId")
_OFFSETS: Final = ("startOffset", "endOffset", "latestOffset")
UNREADABLE: Final = "not told"
"""Stands for an offset that is there and cannot be read: a name of a program's, or elided."""
_DEEPEST: Final = 40
_LONGEST_NUMBER: Final = 400
_LOST: Final = object()


class Fragment(NamedTuple):
    """What could be read: `thing`, the outermost keys whose values it `lacks` or has in part, and where reading ended.

    `whole`: the object was closed and nothing in it was left out. `elided`: members of it were left out on the way:
    what stands nowhere is not known to be absent.
    """

    thing: dict[str, Any]
    lacks: frozenset[str]
    whole: bool
    end: int
    elided: bool = False


def read_fragment(text: str) -> Fragment:
    """Read the object with which a text begins, at its bracket or at a key, as far as it goes.

    A member is kept only when its value is beyond doubt: a number that may be cut, a name that stands for something
    else and whatever `...` touches are left out. Comments and trailing commas are no loss.
    """
    reader = _Reader(text)
    thing, whole = reader.outermost()
    return Fragment(thing, frozenset(reader.lacks), whole, reader.at, reader.elided)


class _Reader:
    """One pass over the tokens; `at` is where the last one ends that was taken."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.lacks: set[str] = set()
        self.elided = False
        self._stopped = self._unread = False
        self._depth = 0
        self._go(0)

    def _go(self, at: int) -> None:
        self.at = at
        self._now = self._token(at)
        self._next = self._token(self._now.end())

    def _take(self) -> None:
        self.at, self._now = self._now.end(), self._next
        self._next = self._token(self._now.end())

    def _token(self, at: int) -> re.Match[str]:
        """Return the next token at or behind a place."""
        between = _BETWEEN.match(self._text, at)
        token = _TOKEN.match(self._text, between.end() if between else at)
        assert token is not None
        return token

    def outermost(self) -> tuple[dict[str, Any], bool]:
        """Return the outermost object, and whether nothing of it is missing."""
        if self._now[0] == "{":
            self._take()
            thing, whole = self._object()
            return thing, whole and not self._unread
        thing = {}
        self._members(thing)
        return thing, False

    def _object(self) -> tuple[dict[str, Any], bool]:
        thing: dict[str, Any] = {}
        self._depth += 1
        whole = self._depth < _DEEPEST and self._members(thing)
        self._depth -= 1
        return thing, whole

    def _members(self, thing: dict[str, Any]) -> bool:
        """Read members into `thing` up to its bracket; return whether there was one, and no loss before it."""
        whole = True
        while not self._stopped and (text := self._now[0]):
            noted = _ELIDED.search(self._text, self.at, self._now.start()) is not None
            whole &= not noted
            self.elided |= self._depth <= 1 and (noted or self._now.lastgroup == "elision")
            if text == "}":
                self._take()
                if self._depth:
                    return whole
                if "durationMs" in thing or self._now[0] not in (",", "}", "]"):
                    return False
                thing.clear()  # text that begins inside an object: what was read so far belongs further in
            elif text == ",":
                self._take()
            elif self._is_key():
                whole &= self._member(thing)
            elif self._now.lastgroup in ("string", "elision") or text in _NAMES:
                self._take()  # a member without a value: something was left out
                whole = False
            else:
                whole = False
                self._skip_line()
        return False

    def _is_key(self) -> bool:
        return self._now.lastgroup in ("string", "word", "number") and self._next[0] in (":", "=")

    def _member(self, thing: dict[str, Any]) -> bool:
        key = _plain(self._now[0]) if self._now.lastgroup == "string" else self._now[0].rstrip('"')
        if key in thing and not self._depth and "durationMs" not in thing:
            for prose in [*thing][: [*thing].index(key) + 1]:  # it was about the record that begins behind it
                del thing[prose]
        if key in thing or (key in _ONLY_ONCE and self._depth > 1):
            opened = self._text.rfind("{", 0, self._now.start())
            self.at = self.at if self._text[opened + 1 : self._now.start()].strip() else opened
            self._stopped = True  # the next record has begun
            return False
        self._take()
        self._take()
        value, whole = self._value()
        goes_on = not self._stopped and self._now[0] in (",", "}")
        if key in _OFFSETS and not whole and goes_on:
            value, whole, self._unread = UNREADABLE, True, True
        offset = self._depth > 1 and isinstance(value, (dict, list))
        if value is not _LOST and (whole or not offset):  # partitions that are not all there would be miscounted
            thing[key] = value
        if not whole and self._depth <= 1:
            self.lacks.add(key)
        return whole

    def _value(self) -> tuple[Any, bool]:
        token = self._now
        if token[0] in (*_CLOSING, ",", ""):
            return _LOST, False
        self._take()
        if token[0] == "{":
            return self._object()
        if token[0] == "[":
            return self._list()
        value = self._plain_value(token)
        if value is _LOST:
            self._skip_value(token.end())
        return value, value is not _LOST

    def _plain_value(self, token: re.Match[str]) -> Any:
        text = token[0]
        if token.lastgroup in ("string", "instant"):
            read = _plain(text) if token.lastgroup == "string" else text
            return _LOST if read.endswith(_CUT) else read
        if token.lastgroup == "number":
            return _number(text) if self._ends_a_number() else _LOST
        if text in _QUOTED_CALLS and self._now[0] == "(" and self._next.lastgroup == "string":
            self._take()
            read = _plain(self._now[0])
            self._take()
            if self._now[0] == ")":
                self._take()
                return read
        return _NAMES.get(text, _LOST)

    def _ends_a_number(self) -> bool:
        """Return whether a number that was just taken ends there: `12,345` may be thousands."""
        thousands = self._next.lastgroup == "number" and self._next.start() == self.at + 1
        return self._now[0] in _CLOSING or (self._now[0] == "," and not thousands)

    def _list(self) -> tuple[list[Any], bool]:
        self._depth += 1
        values: list[Any] = []
        whole = self._depth < _DEEPEST and self._items(values)
        self._depth -= 1
        return values, whole

    def _items(self, values: list[Any]) -> bool:
        whole = True
        while not self._stopped and (text := self._now[0]) and text not in ("}", ")"):
            if text in ("]", ",") or self._now.lastgroup == "elision":
                self._take()
                if text == "]":
                    return whole
                whole &= text == ","
                continue
            value, all_of_it = self._value()
            whole &= all_of_it
            if value is not _LOST:
                values.append(value)
        return False

    def _skip_value(self, at: int) -> None:
        """Go on behind an empty value: at the next comma or bracket, at the latest on the next line."""
        line_end, opened = self._text.find("\n", at), 0
        limit = len(self._text) if line_end < 0 else line_end
        while self._now[0] and self._now.start() < limit and (opened or self._now[0] not in (",", *_CLOSING)):
            opened += (self._now[0] == "(") - (self._now[0] == ")")
            self._take()

    def _skip_line(self) -> None:
        """Leave out a line that is none of the record, if the record goes on behind it; else end here."""
        was, line_end = self.at, self._text.find("\n", self._now.start())
        if line_end >= 0:
            self._go(line_end)
            if self._now[0] in ("}", "]") or (self._now.lastgroup == "string" and self._is_key()):
                return
        self.at, self._stopped = was, True


def _number(text: str) -> int | float | object:
    if len(text) > _LONGEST_NUMBER:
        return _LOST
    return float(text) if "." in text or "e" in text or "E" in text else int(text)


def _plain(quoted: str) -> str:
    """Return the text in a quoted token."""
    inner = quoted.lstrip("ubr")[1:-1]
    return _ESCAPE.sub(_meant, inner) if "\\" in inner else inner


def _meant(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _MEANT.get(match[3], match[3])
