"""Text from logs made safe to show: nothing in it that a terminal, a page or a build server would obey."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar, cast

import msgspec

T = TypeVar("T")

_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_PLAIN = (float, int, bool, type(None))
"""Types of most values of a report, in which there is nothing to clean."""


@lru_cache(maxsize=4096)  # the runs of a report say much the same
def clean(value: str, *, lines: bool = False) -> str:
    """Return the text with control, format and unassigned characters as escapes; line breaks stay with `lines`."""
    if not lines:
        value = " ".join(value.split())
    if value.isprintable():
        return value
    return "".join(char if char == "\n" and lines else _shown(char) for char in value)


def clean_all(value: T) -> T:
    """A report, or plain data, with every text in it cleaned; only `code` keeps its line breaks."""
    return cast(T, _cleaned(value, lines=False))


def _cleaned(value: object, *, lines: bool) -> object:
    """Return the value with its texts cleaned; itself where nothing had to be."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        return clean(value, lines=lines)
    if isinstance(value, msgspec.Struct):
        changed = {}
        for name in value.__struct_fields__:
            if (
                type(found := getattr(value, name)) not in _PLAIN
                and (safe := _cleaned(found, lines=name == "code")) != found
            ):
                changed[name] = safe
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, list | tuple):
        return type(value)([_cleaned(item, lines=False) for item in value])
    if isinstance(value, Mapping):
        return {clean(str(key)): _cleaned(item, lines=key == "code") for key, item in value.items()}
    return value


def _shown(char: str) -> str:
    if unicodedata.category(char) not in _UNSAFE:
        return char
    return " " if char == "\t" else char.encode("unicode_escape", "replace").decode("ascii")


_IN_A_LINE = re.compile(r"#(?=#\w{0,40}\[)")
_COMMAND = re.compile(rf"(?m)^((?:\x1b\[[\d;]{{0,20}}m|[^\S\n])*):(?=:)|{_IN_A_LINE.pattern}")
"""What a build server obeys in the output of a step: `::error::`, `##[error]`, `##vso[...]`, `##teamcity[...]`."""


def no_commands(page: str) -> str:
    """Return lines with an escape where one would be a command to the build server that prints them."""
    return _COMMAND.sub(lambda found: r"\x23" if found[1] is None else rf"{found[1]}\x3a", page)


def no_commands_in_html(page: str) -> str:
    """Return a page that shows the same, and in which a build server finds no `##vso[...]` to obey."""
    return _IN_A_LINE.sub("&#35;", page)


_NOT_PLAIN = re.compile(rf"[^\x00-\x7e]|{_IN_A_LINE.pattern}")
_CODES = {"#": "\\u0023", "\x7f": "\\u007f"}


def ascii_json(words: str) -> str:
    """The same JSON with everything beyond ASCII escaped: nothing obeys it, and every encoding can write it."""
    if words.isascii() and "\x7f" not in words and "##" not in words:
        return words
    return _NOT_PLAIN.sub(lambda found: _CODES.get(found[0]) or json.dumps(found[0]).strip('"'), words)


_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~$&]|^(?:[-+](?=\s)|[-=](?=[-=]*$)|/(?=\w))")
_LINKED = re.compile(
    r"@|#(?=\d)|!(?=\d)|(?i:\bGH-)(?=\d)|(?i:\b(?:https?|ftp|mailto|xmpp):|\bwww)(?=[\w/.])|^\d{1,9}(?=[.)](?:\s|$))"
    r"|:(?=:|100:|1234:|\d{0,20}[A-Za-z_+-][\w+-]{0,80}:)"
    r"|(?<![\w-])(?=\d{0,39}[a-f])(?=(?:[0-9a-f]{7}|[0-9a-f]{9,40})\b)[0-9a-f]"
)
"""What a forge reads, with what follows, as a call of a person, an issue, an address, an emoji, a commit, a list."""
_BREAK = "\u200b"
"""Keeps a forge from reading what stands on both sides as one; cleaned text holds none."""


def escape(value: str) -> str:
    """Text in which nothing is markup or calls anybody (@name, #1): special characters escaped, in one line."""
    broken = _LINKED.sub(rf"\g<0>{_BREAK}", " ".join(str(value).split()))
    return _SPECIAL.sub(r"\\\g<0>", broken).replace(_BREAK, "&#8203;")


def fenced(code: Sequence[str]) -> str:
    """Lines in a fence that none of them can close."""
    longest = max((len(run) for line in code for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return no_commands("\n".join([fence, *code, fence]))
