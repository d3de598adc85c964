"""Credentials that a word or a line introduces: private keys, JAAS, Bearer, Basic, curl -u."""

from __future__ import annotations

from typing import Final

from advisor.redaction.rules import NOT_YET, Rule, applied, rule

_OF_PROSE: Final = r"auth\w*|credentials?|error|header|is|method|realm|scheme|tokens?|was"
_RULES: Final[tuple[Rule, ...]] = (
    rule("private key", r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----.*?(?:-----END [A-Z ]{0,60}-----|$)"),
    # a JAAS configuration is a sentence of its own that ends in a semicolon
    rule("loginmodule", r"(?<![\w.$])[\w.$]{0,200}LoginModule\s{1,3}(?:required|requisite|sufficient|optional)\b"
         r"(?:\s{1,9}[\w.]{1,100}\s?=\s?(?:\"(?:[^\"\\]|\\.)*\"|\\{1,7}\"[^\"]*\"|'[^']*'|[^\s;]+))*\s?;?"),
    rule("bearer", rf"(?i:(\bBearer\s{{1,3}})(?!(?:{_OF_PROSE})\b))[\w.~+/=-]{{6,}}"),
    rule("basic", r"(\bBasic\s{1,3})(?=[A-Za-z]{0,200}(?:[0-9=]|[a-z][A-Z]))[\w+/=-]{8,}"),
    rule("-u", rf"((?<![\w-])(?:-u|--user|--proxy-user)[\s=]{{0,3}}[\"']?){NOT_YET}[\w.@-]{{1,100}}:[^\s\"']+"),
    rule("sshpass", rf"(\bsshpass\s{{1,3}}-p\s{{0,3}}){NOT_YET}\S+"),
)  # fmt: skip


def hide_introduced(text: str) -> str:
    """`text` without the credentials that the words before them show."""
    return applied(_RULES, text)
