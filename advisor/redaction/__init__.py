"""Removes what looks like a credential, and control characters, from text that is kept, printed or written.

The patterns are this project's own: libraries were compared, and none serves (CONTRIBUTING.md, "Credentials").
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from advisor.redaction.forms import AFTER_NAMES, INTRODUCED, REDACTED, applied
from advisor.redaction.names import is_secret_name
from advisor.redaction.pairs import hide_named
from advisor.redaction.plain import clean, undisguised

__all__ = [
    "REDACTED", "clean", "hide", "hide_lines", "is_secret_name", "redact", "redact_data", "redact_json",
    "redact_setting",
]  # fmt: skip

_LONGEST: Final = 4000
"""Longer text is cut: nothing that is kept needs more."""
_OPEN_END: Final = (
    r"(?:(?:[:=→：＝]|[-=]>)[ \t]{0,9}(?:[|>][-+]?[ \t]{0,9}|\\{0,7}[\"'({\[][ \t]{0,9})?"
    r"|\(|[\"'],|(?:AKIA|ASIA)[A-Z0-9]{16}|(?<![\w-])eyJ[\w.-]{8,200})\r?"
)
"""The end of a line whose value stands on the next one."""
_KEY_OF_LINES: Final = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?:[^-]|-(?!-{3,4} ?END))*(?:-{4,5} ?END [^\n]*)?"
_LINES: Final = re.compile(rf"(?:[^\n]*{_OPEN_END}\n)*(?:[^\n]*{_KEY_OF_LINES}|[^\n]+)")
"""Lines of a text that are looked at together."""


@lru_cache(maxsize=4096)  # logs say the same things again and again
def redact(text: str) -> str:
    """`text` on one line, at most 4,000 characters, without control characters and what looks like a credential."""
    safe = hide(clean(text[: 2 * _LONGEST]))
    if len(text) > 2 * _LONGEST:  # the end of its last word may be what shows a credential
        safe = safe[:-1000] + safe[-1000:].rpartition(" ")[0]
    return safe[:_LONGEST]


@lru_cache(maxsize=4096)
def hide(text: str) -> str:
    """`text` as it is but for what looks like a credential; where only plain letters show one, in plain letters."""
    safe = _hidden(text)
    plain = undisguised(safe)
    if plain == safe:
        return safe
    found = _hidden(plain)
    return safe if found == plain else found


def _hidden(text: str) -> str:
    return applied(AFTER_NAMES, hide_named(applied(INTRODUCED, text)))


def hide_lines(text: str) -> str:
    """Each line of `text` by itself as `hide` gives it: what one holds swallows no other.

    A credential may stand below the line that names it, as in YAML, and a private key is of many lines.
    """
    return _LINES.sub(lambda stretch: hide(stretch[0]), text)


def redact_setting(name: str, value: str) -> str:
    """The value of a setting: hidden as a whole if the setting's name is secret."""
    return REDACTED if _is_secret(name, value) else redact(value)


def redact_data(thing: Any, name: str = "") -> Any:
    """Parsed JSON without credentials in its keys and texts; `name`: what it stands under. Numbers stay."""
    if isinstance(thing, str):
        return REDACTED if thing and _is_secret(name, thing) else hide(thing)
    if isinstance(thing, dict):
        return {k if k.isdecimal() else hide(k): redact_data(v, _over(name, k, thing)) for k, v in thing.items()}
    if isinstance(thing, list):
        return [redact_data(item, _option(before) or name) for before, item in zip(["", *thing], thing, strict=False)]
    return thing


def _is_secret(name: str, text: str) -> bool:
    """Whether a text is a credential by its name; of a session by both, as such a name also stands beside none."""
    return is_secret_name(name) or ("session" in name.lower() and hide(f"{name}={text}") == f"{name}={REDACTED}")


def _option(argument: Any) -> str:
    """The name of an option of a command line whose value is the next argument."""
    return argument.lstrip("-") if isinstance(argument, str) and argument.startswith("--") else ""


_OF_WEB_KEY: Final = frozenset(("d", "dp", "dq", "k", "p", "q", "qi"))
"""What is secret of a JSON web key, which has a `kty`."""


def _over(outer: str, key: str, thing: dict[str, Any]) -> str:
    """Return the name that counts for the value under `key`: the whole key, or a `name` beside the `value`."""
    if is_secret_name(outer):
        return outer
    if ("kty" in thing and key in _OF_WEB_KEY) or (key == "code" and "grant_type" in thing):
        return "private key"
    if key.lower() != "value":
        return key
    beside = [item for each, item in thing.items() if each.lower() in ("name", "key") and isinstance(item, str)]
    return next(filter(is_secret_name, beside), key)


def redact_json(raw: bytes) -> bytes:
    """JSON without credentials in its keys and texts; the same bytes where there is none to hide.

    Raises msgspec.DecodeError where it is no JSON.
    """
    thing = msgspec.json.decode(raw)
    safe = redact_data(thing)
    return raw if safe == thing else msgspec.json.encode(safe)
