"""Which names are those of credentials."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN: Final = re.compile(r"[\s_\-]+")
_KEYS: Final = (
    "access|account|api|encryption|functions?|license|master|private|session|shared|signing|storage|subscription"
)
# Spark's own pattern (spark.redaction.regex: secret, password, token, access key), and what it misses.
_WORDS: Final = re.compile(
    rf"secret|passw|passphrase|passcode|token|credential|(?:{_KEYS})\.?key|keystore\.key|(?:store|key|user|db)pass\b"
    r"|sasl\.?jaas|connection\.?string|signature|authorization|identified\.by|auth\.user\.?info|webhook"
)
_SEGMENTS: Final = re.compile(r"(?:^|\.)(?:pass|pwd|pw|sas|sig|creds?|jwt)\d?(?:\.|$)|(?:^|\.)(?:auth|cookie|bearer)$")
"""Words that are too short to count inside a longer one or in a path."""
_SPEAKS_OF_ONE: Final = re.compile(
    r"\.(?:algorithm|class|count|dir|enabled|endpoint|expir\w+|file|format|id\.type|interval|issuer|kind|length|limit"
    r"|location|max|mechanism|method|min|mode|ms|name|path|policy|provider|renewal|required|rotat\w+|scheme|seconds"
    r"|size|source|timeout|topic|ttl|type|uri|url|version|(?:change|event|metric|request|reset|update)s?)s?$"
)
"""Ends of names whose value says something about a credential and is none: fs.s3a.aws.credentials.provider."""
_PHRASES: Final = re.compile(r"passw|passphrase|passcode|authorization|(?:^|\.)(?:pass|pwd|pw)\d?(?:\.|$)|pass$")


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a setting of this name holds a credential; of a path its last part counts."""
    folder, _, last = name.rpartition("/")
    plain = _plain(last)
    found = _WORDS.search(plain) or (not folder and _SEGMENTS.search(plain))
    return bool(found) and not _SPEAKS_OF_ONE.search(plain)


def may_hold_blanks(name: str) -> bool:
    """Whether a credential of this name may be several words, as a password can."""
    return _PHRASES.search(_plain(name)) is not None


def is_cookie(name: str) -> bool:
    """Whether what this name holds goes on to the end of the line."""
    return name.lower().endswith("cookie")


def _plain(name: str) -> str:
    """The name in lower case with a dot between its words."""
    return _BETWEEN.sub(".", _CAMEL.sub(".", name)).lower()
