"""Credentials that are known by their own form: the prefixes that their issuers publish."""

from __future__ import annotations

from typing import Final

from advisor.redaction.rules import NOT_YET, Tried, applied, rule

_PREFIXED: Final = (
    r"(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}\b(?:[:/,;| ]\s?[\w+/]{40,200})?",  # AWS, its key behind it
    r"gh[pousr]_\w{20,}",
    r"github_pat_\w{22,}",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-AgE[\w-]{20,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}",  # Stripe
    r"sk-(?:(?:proj|svcacct|admin|ant|or)-[\w-]{20,}|[A-Za-z0-9]{20,})",  # OpenAI, Anthropic, OpenRouter
    r"(?:xox[abeoprs]|xapp)-[\w-]{10,}",  # Slack
    r"AIza[\w-]{35}",
    r"ya29\.[\w-]{20,}",
    r"GOCSPX-[\w-]{20,}",
    r"1//0[\w-]{30,}",  # Google's refresh token
    r"[\w~.-]{3}8Q~[\w~.-]{31,34}",  # a client's secret on Azure
    r"eyJ[\w-]{8,2000}\.[\w-]*\.[\w-]*(?:\.[\w-]+\.[\w-]+)?",  # JWT, JWE
    r"(?:dapi|dose)[0-9a-f]{32}(?:-\d)?",  # Databricks
    r"do[opr]_v1_[0-9a-f]{40,}",
    r"SG\.[\w-]{16,40}\.[\w-]{16,80}",
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"hv[sbr]\.[\w-]{20,}",
    r"gl(?:sa|c)_[\w=+/]{20,}",  # Grafana
    r"NRAK-[A-Z0-9]{20,}",
    r"dckr_(?:pat|oat)_[\w-]{20,}",
    r"\d{8,10}:AA[\w-]{33}",  # Telegram
    r"ATATT3[\w=-]{20,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    r"lin_api_[A-Za-z0-9]{30,}",
    r"key-[0-9a-f]{32}\b",  # Mailgun
    r"MII[\w+/]{60,}={0,2}",  # the inside of a private key, whose first line is missing
)
_HOOKS: Final = (
    r"hooks\.slack\.com/\w+/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/\w+/|api\.telegram\.org/bot"
)
_RULES: Final = Tried((
    rule("", rf"(?<![\w~-])(?=[\w~./:-]{{16}})(?:{'|'.join(_PREFIXED)})"),
    # what a system keeps of a password: bcrypt, crypt, htpasswd, argon2
    rule("$", r"(?<![\w$])\$(?:2[abxy]\$\d\d|apr1|[156y]|argon2(?:id?|d))\$[\w./$=,+]{20,}"),
    rule(("hook", "telegram"), rf"(?i:({_HOOKS})){NOT_YET}[^\s\"'<>]+"),
))  # fmt: skip


def hide_tokens(text: str) -> str:
    """`text` without the credentials that their own form shows."""
    return applied(_RULES, text)
