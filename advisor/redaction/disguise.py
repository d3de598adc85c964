"""Text whose letters are written otherwise: pass%77ord, pass\\u0077ord, pass&#119;ord, two bytes a letter."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ESCAPED: Final = re.compile(
    r"%(?:25){0,9}([0-9a-fA-F]{2})|\\{1,7}(?:u00|x)([0-9a-fA-F]{2})|&#(?:[xX]0{0,6}([0-9a-fA-F]{2})|0{0,6}(\d{2,3}));"
)
_OF_NAMES: Final = frozenset("_-. ")
_WIDE: Final = re.compile(r"(?:[^\0]\0{1,3}){4,}[^\0]?|(?:\0{1,3}[^\0]){4,}")
_MOST_TIMES: Final = 3
"""How often what was escaped may have been escaped again."""


def narrow(text: str) -> str:
    """`text` without the zero bytes beside each letter: what UTF-16 and UTF-32 look like, read as bytes."""
    return _WIDE.sub(lambda wide: wide[0].replace("\0", ""), text) if "\0" in text else text


def undisguised(text: str) -> str:
    """`text` with plain letters and digits in place of escaped, wide and decorated ones; other escapes stay."""
    if text.isascii() and not any(map(text.__contains__, "%\\&\0")):
        return text
    plain = narrow(text)
    for _ in range(_MOST_TIMES):
        before, plain = plain, _ESCAPED.sub(_letter, unicodedata.normalize("NFKC", plain))
        if plain == before:
            break
    return plain


def _letter(escaped: re.Match[str]) -> str:
    *in_hex, decimal = escaped.groups()
    code = int(decimal) if decimal else int(next(filter(None, in_hex)), 16)
    letter = chr(code) if code < 128 else ""
    if not code:
        return ""
    return letter if letter.isalnum() or letter in _OF_NAMES else escaped[0]
