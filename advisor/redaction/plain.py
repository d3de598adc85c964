"""Text in plain letters: without control characters, escapes (pass%77ord, pass&#119;ord) and decoration."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ESCAPED: Final = re.compile(
    r"%(?:25){0,9}([0-9a-fA-F]{2})|\\{1,7}(?:u00|x)([0-9a-fA-F]{2})|&#(?:[xX]0{0,6}([0-9a-fA-F]{2})|0{0,6}(\d{2,3}));"
)
_OF_NAMES: Final = frozenset("_-. :/@")
_WIDE: Final = re.compile(r"(?:[^\0]\0{1,3}){4,}[^\0]?|(?:\0{1,3}[^\0]){4,}")
_MOST_TIMES: Final = 3
"""How often what was escaped may have been escaped again."""
# C0, DEL, C1, lone surrogates, line separators.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
# The marks that reorder or hide text on a terminal or page.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]+|(?<=[^\\W_])[\ufe00-\ufe0f]+"
)
_FULL_WIDTH: Final = {0xFF01 + at: 0x21 + at for at in range(94) if chr(0x21 + at).isalnum()}
_ESCAPE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|\x9b[0-?]*[ -/]*[@-~]"
)


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


def clean(text: str) -> str:
    """`text` without terminal sequences and marks that nobody sees; a run of control characters becomes one blank."""
    if text.isascii() and text.isprintable():
        return text.strip()
    return _CONTROL.sub(" ", _INVISIBLE.sub("", _ESCAPE.sub("", narrow(text.translate(_FULL_WIDTH))))).strip()
