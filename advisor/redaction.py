"""Removes what looks like a credential, and control characters, from text that is kept, printed or written."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

REDACTED: Final = "*********(redacted)"
"""What stands in the place of a credential; the words that Spark itself prints."""
_LONGEST: Final = 4000
"""Longer text is cut: nothing that is kept needs more."""

# Spark's own pattern (spark.redaction.regex), widened by names that hold credentials and that it misses.
_SECRET_WORDS: Final = (
    r"secret|passw(?:or)?d|passphrase|\bpwd\b|token|access[._-]?key|account[._-]?key|api[._-]?key|private[._-]?key"
    r"|sasl[._-]?jaas|credential|connection[._-]?string|\bsas\b|\bsig\b|signature|session[._-]?key|authorization"
)
_SECRET_NAME: Final = re.compile(_SECRET_WORDS, re.IGNORECASE)
_NAME: Final = rf"(?<![\w.\-/])\"?[\w.\-/]*(?:{_SECRET_WORDS})[\w.\-]*\"?"
_VALUE: Final = (
    r"(?!\*{9}\(redacted\))"  # redacting twice changes nothing
    r"(?:\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|(?:(?:bearer|basic|digest)\s+)?[^\s,;)\]}&\"']+)"
)
_RULES: Final = (
    # A JAAS configuration is a sentence of its own that ends in a semicolon.
    (r"[\w.]+LoginModule\s+(?:required|requisite|sufficient|optional)\b[^;]*;?", REDACTED),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", REDACTED),
    # user:password@ and token@ of a URL; the container@account of wasb(s) and abfs(s) is neither.
    (r"(://)[^\s\"'/@:]+:[^\s\"'@]*@", rf"\1{REDACTED}@"),
    (r"((?<!abfs:)(?<!abfss:)(?<!wasb:)(?<!wasbs:)//)(?!\*{9}\(redacted\)@)[^\s\"'/]+@", rf"\1{REDACTED}@"),
    # name=value, name: value, "name": "value", name -> value
    (rf"({_NAME}\s*(?:->|=>|[=:])\s*){_VALUE}", rf"\1{REDACTED}"),
    (r"([?&](?:key|code|x-amz-[\w-]+|x-goog-[\w-]+|awsaccesskeyid)=)(?!\*{9})[^&\s\"']+", rf"\1{REDACTED}"),
    (r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b", REDACTED),
    (r"\bAIza[\w-]{35}", REDACTED),
    (r"\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*", REDACTED),
    (r"\b(?:dapi[0-9a-f]{32}|gh[pousr]_\w{20,}|xox[abpr]-[\w-]{10,})", REDACTED),
)
_PATTERNS: Final = tuple((re.compile(pattern, re.IGNORECASE), put) for pattern, put in _RULES)
# C0, DEL, C1, lone surrogates, and the marks that reorder or hide text on a terminal or page.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
_ESCAPE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|\x9b[0-?]*[ -/]*[@-~]"
)


@lru_cache(maxsize=2048)  # logs say the same things again and again
def redact(text: str) -> str:
    """`text` on one line, at most 4,000 characters, without control characters and what looks like a credential."""
    cleaned = clean(text[: 2 * _LONGEST])
    for pattern, put in _PATTERNS:
        cleaned = pattern.sub(put, cleaned)
    return cleaned[:_LONGEST]


def redact_setting(name: str, value: str) -> str:
    """The value of a setting: hidden as a whole where the setting's name says that it is secret."""
    return REDACTED if is_secret_name(name) else redact(value)


@lru_cache(maxsize=2048)
def is_secret_name(name: str) -> bool:
    """Whether a setting of this name holds a credential."""
    return _SECRET_NAME.search(name) is not None


def clean(text: str) -> str:
    """`text` without terminal sequences; every other run of control characters becomes one blank."""
    return _CONTROL.sub(" ", _ESCAPE.sub("", text)).strip()
