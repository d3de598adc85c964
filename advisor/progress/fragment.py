"""Read an object from text that was JSON, or printed by Python or Scala, and then cut off, commented or elided."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""
    (?P<blank>\s+)
    |(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*|<--?[ ][^\n]*|←[^\n]*)
    |(?P<elision>\.\.\.|…)
    |(?P<string>[ubr]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<unclosed>"(?:[^"\\\n]|\\.)*|'(?:[^'\\\n]|\\.)*|/\*.*)
    |(?P<instant>\d{4}-\d\d-\d\dT[\d:.]+Z)
    |(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d][\w.$-]*(?:"(?=[ ]*:))?)
    |(?P<mark>[{}\[\]():,=])
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ONE: Final = re.compile(r"(?P<other>.)", re.DOTALL)
_ELIDED: Final = re.compile(
    r"(?i)(?://|\#|/\*|<--?|←)[ \t*]{0,40}"
    r"(?:\.\.\.|…|.{0,300}?\b(?:omitted|elided|snip|skipped|left out|shortened|truncated|etc|other phases)\b)"
)
"""A comment that marks an omission."""
_CUT: Final = ("...", "…")
_ENDS: Final = {"{": "}", "[": "]", "(": ")"}
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
_AHEAD: Final = 4
_LONGEST_NUMBER: Final = 400
_LOST: Final = object()


class Fragment(NamedTuple):
    """What could be read: `thing`, the outermost keys whose values it `lacks` or has in part, and where reading ended.

    `whole`: the object was closed and nothing in it was left out. `elided`: members of it were left out on the way, or
    it is a call's, whose members somebody chose: what stands nowhere is not known to be absent.
    """

    thing: dict[str, Any]
    lacks: frozenset[str]
    whole: bool
    end: int
    elided: bool = False


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def read_fragment(text: str) -> Fragment:
    """Read the object with which a text begins, at its bracket or at a key, as far as it goes.

    A member is kept only when its value is beyond doubt: a number that may be cut, a name that stands for something
    else and whatever `...` touches are left out. Comments and trailing commas are no loss.
    """
    reader = _Reader(text)
    thing, whole = reader.outermost()
    return Fragment(thing, frozenset(reader.lacks), whole, reader.at, reader.elided)


class _Reader:
    """One pass over the tokens; `at` is where the next one begins."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0
        self.lacks: set[str] = set()
        self.elided = False
        self._stopped = self._unread = False
        self._depth = 0
        self._seen: dict[int, _Token | None] = {}  # the last few, each of which is asked for several times
        self._unclosed: dict[str, range] = {}  # where a quote of this kind, or /*, begins nothing

    def outermost(self) -> tuple[dict[str, Any], bool]:
        """Return the outermost object, and whether nothing of it is missing."""
        opened = self._peek()
        if opened is not None and opened.text in ("{", "("):
            self._take()
            self.elided = opened.text == "("
            read, whole = self._object(_ENDS[opened.text])
            return read, whole and not self.elided and not self._unread
        thing: dict[str, Any] = {}
        self._members(thing)
        return thing, False

    def _next(self, at: int) -> _Token | None:
        """Return the next token that is neither blank nor comment."""
        if at not in self._seen:
            begin, token = at, None
            while token is None and (match := self._match(begin)) is not None:
                if match.lastgroup not in ("blank", "comment"):
                    token = _Token(match.lastgroup or "", match[0], match.start(), match.end())
                begin = match.end()
            self._seen = {**self._seen, at: token} if len(self._seen) < _AHEAD else {at: token}
        return self._seen[at]

    def _match(self, at: int) -> re.Match[str] | None:
        """Return the token at a place; a quote that nothing closes is one by itself, and so are those behind it."""
        opening = self._text[at : at + (2 if self._text.startswith("/*", at) else 1)]
        found = _TOKEN.match(self._text, at) if at not in self._unclosed.get(opening, ()) else None
        if found is not None and found.lastgroup == "unclosed":
            self._unclosed[opening], found = range(*found.span()), None
        return found or _ONE.match(self._text, at)

    def _peek(self) -> _Token | None:
        return self._next(self.at)

    def _take(self) -> None:
        token = self._next(self.at)
        self.at = len(self._text) if token is None else token.end

    def _object(self, end: str) -> tuple[dict[str, Any], bool]:
        thing: dict[str, Any] = {}
        self._depth += 1
        whole = self._depth < _DEEPEST and self._members(thing, end)
        self._depth -= 1
        return thing, whole

    def _members(self, thing: dict[str, Any], end: str = "}") -> bool:
        """Read members into `thing` up to its bracket; return whether there was one, and no loss before it."""
        whole = True
        while not self._stopped and (token := self._peek()) is not None:
            noted = _ELIDED.search(self._text, self.at, token.start) is not None
            whole &= not noted
            self.elided |= self._depth <= 1 and (noted or token.kind == "elision")
            if token.text == end:
                self._take()
                if self._depth or self._ends_here(thing):
                    return whole and bool(self._depth)
                thing.clear()  # text that begins inside an object: what was read so far belongs further in
            elif token.text == ",":
                self._take()
            elif token.kind in ("string", "word", "number") and self._is_key(token):
                whole &= self._member(token, thing)
            elif token.kind in ("string", "elision") or token.text in _NAMES:
                self._take()  # a member without a value: something was left out
                whole = False
            else:
                whole = False
                self._skip_line(token)
        self._stop_at_the_end()
        return False

    def _ends_here(self, thing: dict[str, Any]) -> bool:
        """Return whether a bracket that nothing opened is the record's own."""
        following = self._peek()
        return "durationMs" in thing or following is None or following.text not in (",", "}", "]")

    def _stop_at_the_end(self) -> None:
        if not self._stopped:
            self.at = len(self._text)

    def _is_key(self, token: _Token) -> bool:
        following = self._next(token.end)
        return following is not None and following.text in (":", "=")

    def _member(self, token: _Token, thing: dict[str, Any]) -> bool:
        key = _plain(token.text) if token.kind == "string" else token.text.rstrip('"')
        if key in thing and not self._depth and "durationMs" not in thing:
            for prose in [*thing][: [*thing].index(key) + 1]:  # it was about the record that begins behind it
                del thing[prose]
        if key in thing or (key in _ONLY_ONCE and self._depth > 1):
            opened = self._text.rfind("{", 0, token.start)
            self.at = self.at if self._text[opened + 1 : token.start].strip() else opened
            self._stopped = True  # the next record has begun
            return False
        self._take()
        self._take()
        value, whole = self._value()
        if key in _OFFSETS and not whole and self._goes_on():
            value, whole, self._unread = UNREADABLE, True, True
        offset = self._depth > 1 and isinstance(value, (dict, list))
        if value is not _LOST and (whole or not offset):  # partitions that are not all there would be miscounted
            thing[key] = value
        if not whole and self._depth <= 1:
            self.lacks.add(key)
        return whole

    def _goes_on(self) -> bool:
        """Return whether the record goes on behind a value: not where it was cut within it."""
        following = self._peek()
        return not self._stopped and following is not None and following.text in (",", "}", ")")

    def _value(self) -> tuple[Any, bool]:
        token = self._peek()
        if token is None or token.text in (*_CLOSING, ","):
            return _LOST, False
        self._take()
        if token.text == "{":
            return self._object("}")
        if token.kind == "word" and self._opens_with_keywords():
            self._take()
            return self._object(")")
        if token.text in ("[", "("):
            return self._list(_ENDS[token.text])
        value = self._plain_value(token)
        if value is _LOST:
            self._skip_value(token)
        return value, value is not _LOST

    def _plain_value(self, token: _Token) -> Any:
        following = self._peek()
        if token.kind in ("string", "instant"):
            text = _plain(token.text) if token.kind == "string" else token.text
            return _LOST if text.endswith(_CUT) else text
        if token.kind == "number":
            return _number(token.text) if self._ends(token, following) else _LOST
        if token.text in _NAMES:
            return _NAMES[token.text]
        if token.kind == "word" and following is not None and following.text == "(":
            self._take()
            values, whole = self._list(")")
            return values[0] if whole and len(values) == 1 and token.text in _QUOTED_CALLS else _LOST
        return _LOST

    def _ends(self, number: _Token, following: _Token | None) -> bool:
        """Return whether something behind a number shows that it ends there: `12,345` may be thousands."""
        if following is None or following.text not in (",", *_CLOSING):
            return False
        rest = self._next(following.end) if following.text == "," else None
        return rest is None or rest.kind != "number" or rest.start != number.end + 1

    def _opens_with_keywords(self) -> bool:
        """Return whether a bracket follows, and in it a key: `Row(numRowsTotal=10)` is read like an object."""
        bracket = self._peek()
        if bracket is None or bracket.text != "(":
            return False
        key = self._next(bracket.end)
        following = None if key is None or key.kind != "word" else self._next(key.end)
        return following is not None and following.text == "="

    def _list(self, end: str) -> tuple[list[Any], bool]:
        self._depth += 1
        values: list[Any] = []
        whole = self._depth < _DEEPEST and self._items(values, end)
        self._depth -= 1
        return values, whole

    def _items(self, values: list[Any], end: str) -> bool:
        whole = True
        while not self._stopped and (token := self._peek()) is not None:
            if token.text == end:
                self._take()
                return whole
            if token.text in _CLOSING:
                return False
            if token.text == ",":
                self._take()
            elif token.kind == "elision":
                self._take()
                whole = False
            else:
                value, all_of_it = self._value()
                whole &= all_of_it
                if value is not _LOST:
                    values.append(value)
        self._stop_at_the_end()
        return False

    def _skip_value(self, token: _Token) -> None:
        """Go on behind an empty value: at the next comma or bracket, at the latest on the next line."""
        line_end = self._text.find("\n", token.start)
        limit = len(self._text) if line_end < 0 else line_end
        while (following := self._peek()) is not None and following.start < limit:
            if following.text in (",", *_CLOSING):
                return
            self._take()
            if following.text == "(":
                self._list(")")
        if following is None:
            self.at = len(self._text)

    def _skip_line(self, token: _Token) -> None:
        """Leave out a line that is none of the record, if the record goes on behind it; else end here."""
        line_end = self._text.find("\n", token.start)
        following = self._next(line_end) if line_end >= 0 else None
        if following is not None and (
            following.text in ("}", "]") or (following.kind == "string" and self._is_key(following))
        ):
            self.at = line_end
        else:
            self._stopped = True


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
