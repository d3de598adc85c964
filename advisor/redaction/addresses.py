"""Credentials in addresses: user:password@host, token@host, scott/tiger@db, ?key=..."""

from __future__ import annotations

from typing import Final

from advisor.redaction.rules import NOT_YET, Tried, applied, rule

_SECRET_QUERY: Final = r"key|code|x-(?:amz|goog)-(?:credential|security-token)|awsaccesskeyid"
_ACCOUNT: Final = r"root|admin(?:istrator)?|sa|sys(?:tem|dba)?|user|guest|postgres|mysql|oracle|mongo|redis"
_PASSWORD: Final = r"[^\s\"'@/<>(){}\[\]:,;]{4,200}"
_DRAWN: Final = r"(?=[^\d@]{0,100}\d)(?=[^a-z@]{0,100}[a-z])(?=[^A-Z@]{0,100}[A-Z])"
# A quote or bracket inside has a letter behind it, and does not stand where a list goes on.
_QUOTES_INSIDE: Final = r"(?:[^\s\"'@/<>,]|[\"'<>](?=\w)){1,300}"
# A few words are a password, but for a sentence that ends in a mail's address.
_BLANKS_INSIDE: Final = (
    r"(?!(?:[^\s@]{1,100}\s){1,4}?(?:and|as|ask|at|by|contact|for|from|mail|of|on|see|to|user|with)\s)"
    r"(?:[^\s\"'@/<>,;:]{1,100}\s{1,2}){1,4}[^\s\"'@/<>]{1,100}(?=@[\w.-]{1,253}(?:[:/,?\s\"']|$))"
)
_HOST: Final = r"@(?=[a-zA-Z])(?!sha\d)"
_RULES: Final = Tried((
    # up to the host; a port is no password
    rule("@", rf"(://){NOT_YET}[^\s\"'/@:<>]*:(?!\d{{1,5}}(?:[/?#,\s\"']|$))"
         rf"(?:[^\s\"'/<>]{{0,500}}|[^\s\"'@<>]{{0,500}}|{_QUOTES_INSIDE}|{_BLANKS_INSIDE})@", "@"),
    # the container@account of wasb(s) and abfs(s) is no token
    rule("@", rf"((?<!abfs:)(?<!abfss:)(?<!wasb:)(?<!wasbs:)//){NOT_YET}[^\s\"'/<>]{{1,500}}@", "@"),
    rule("jdbc", rf"(?i:(\bjdbc:\w{{1,30}}:(?:\w{{1,30}}:)?)){NOT_YET}[^\s\"'/:@;?<>]{{1,100}}[:/]{NOT_YET}"
         r"[^\s\"'<>]{1,300}@", "@"),
    # the service/host@REALM of Kerberos is no password
    rule("@", r"(?<![\w/.:@~-])[\w$#]{1,64}/(?!_HOST@|(?:[\w-]{1,63}\.){1,8}[a-z]{2,63}@[A-Z])"
         r"(?:[^\s\"'@/<>]{2,200}|\"[^\s\"'/<>]{2,200}\")@(?!sha256:)(?=[\w/(])", "@"),
    rule("@", r"(?<![\w/.@-])[\w.-]{1,64}:[^\s\"'@/<>(){}\[\]]{2,200}@(?!sha256:)"
         r"(?=[\w-]{1,63}(?:\.[a-zA-Z]|:\d))", "@"),
    # a host without a dot: of an account that everybody knows, on this machine, or a password drawn by chance
    rule("@", rf"((?<![\w/.@-])(?i:{_ACCOUNT}):){NOT_YET}{_PASSWORD}{_HOST}", "@"),
    rule("@", rf"((?<![\w/.@-])[a-zA-Z][\w.-]{{0,63}}:){NOT_YET}{_PASSWORD}"
         r"@(?=localhost\b|(?:\d{1,3}\.){3}\d)", "@"),
    rule("@", rf"((?<![\w/.@-])[a-zA-Z][\w.-]{{0,63}}:){NOT_YET}{_DRAWN}{_PASSWORD}{_HOST}", "@"),
    rule("=", rf"(?i:([?&](?:{_SECRET_QUERY})=)){NOT_YET}[^&\s\"'<>]+"),
))  # fmt: skip


def hide_in_addresses(text: str) -> str:
    """`text` without the credentials in its addresses."""
    return applied(_RULES, text)
