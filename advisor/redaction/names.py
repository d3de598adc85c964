"""Which names are those of credentials."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from advisor.redaction.plain import undisguised

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN: Final = re.compile(r"[\s_\-]+")
_KEYS: Final = (
    "access|account|api|app(?:lication)?|auth|cipher|encryption|fernet|functions?|hmac|license|master|pass|private|pvt|session|shared|signing|ssh|storage|tls"
    "|subscription|symmetric"
)
# Spark's own pattern (spark.redaction.regex: secret, password, token, access key), and what it misses.
_WORDS: Final = re.compile(
    rf"secret(?!ar)|basic\.?auth$|passw|passphrase|passcode|token(?!i[sz])|credential|(?:{_KEYS})\.?key|keystore\.key|client\.key\.data"
    r"|(?:store|key|user|db|ssh)pass\b|(?:admin|bind|db|root|user)pw\b|dockerconfigjson|client\.assertion|code\.verifier"
    r"|samlresponse|connect\.sid|sasl\.?jaas|connection\.?string|signature|authorization|identified\.by"
    r"|auth\.user\.?info|set\.cookie|webhook|jsessionid|phpsessid|requirepass|masterauth|userpwd"
    r"|kennwort|mot\.de\.passe|motdepasse|contrase[ñn]a|wachtwoord|lösenord|jelszó|пароль|密码|パスワード|비밀번호"
    r"|adgangskode|lozinka|passord|salasana|κωδικός|סיסמה|密钥|口令"
)
_SEGMENTS: Final = re.compile(
    r"(?:^|\.)(?:pass|pwd|psw|pw|otp|sas|sig|creds?|jwt|mdp|clave|senha|parola|hasło|heslo|şifre)\d?(?:\.|$)"
    r"|(?:^|\.)(?:auth|delegation|cookie|bearer|hmac|(?:stored|server)\.key|(?:auth\w*|device)\.code|psk|[cx]srf|cv[cv]2?)$|(?:^|\.)(?:pin(?:code)?|puk)(?:\.?value)?$"
)
"""Words that are too short to count inside a longer one or in a path."""
_STEMS: Final = (
    "key", "pass", "secret", "token", "auth", "delegation", "cred", "pw", "psw", "otp", "sig", "sas", "cookie",
    "bearer", "jwt", "jaas", "connect", "identified", "webhook", "sessid", "sessionid", "dockerconfig", "pin", "puk",
    "psk", "cvv", "cvc", "csrf", "xsrf", "assertion", "verifier", "saml", "kennwort", "mdp", "contrase", "senha",
    "parola", "wachtwoord", "lösenord", "jelszó", "hasło", "heslo", "şifre", "пароль", "密码", "パスワード",
    "비밀번호", "hmac", "device_code", "adgangskode", "clave", "lozinka", "salasana", "κωδικός", "סיסמה", "密钥",
    "口令",
)  # fmt: skip
"""In every name of a credential stands one of these."""
_SPEAKS_OF_ONE: Final = re.compile(
    r"(?:^|\.)(?:(?:chang|creat|updat)ed\.at|algorithm|class|count|days?|dir|enabled|endpoint|error|exception|expir\w+|file|format|id\.type|interval"
    r"|invalid\.token|issuer|java|kind|length|limit|location|manager|max|mechanism|method|min|mode|ms|name|path|policy"
    r"|provider|py|renewal|required|rotat\w+|scala|scheme|seconds|size|source|timeout|topic|(?:per\.)trigger|ttl|type|uri|url|utils?"
    r"|version|(?:change|event|metric|request|reset|update)s?|usage)s?$"
)
"""Ends of names whose value is about a credential but is none: credentials.provider, TokenUtils.scala."""
_DIGITS: Final = re.compile(r"(?:pin|puk|cv[cv]2?|otp|code|value)$")
_PHRASES: Final = re.compile(r"passw|passphrase|passcode|authorization|(?:^|\.)(?:pass|pwd|pw|mdp)\d?(?:\.|$)|pass$")


def may_name_a_secret(text: str) -> bool:
    """Whether a text can hold the name of a credential at all: most texts cannot."""
    lowered = text.lower()
    return any(stem in lowered for stem in _STEMS)


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


def may_be_a_number(name: str) -> bool:
    """Whether a credential of this name may be a plain number, as a PIN is."""
    return may_hold_blanks(name) or _DIGITS.search(_plain(name)) is not None


def _plain(name: str) -> str:
    """The name in lower case and plain letters with a dot between its words."""
    return _BETWEEN.sub(".", _CAMEL.sub(".", undisguised(name))).lower()
