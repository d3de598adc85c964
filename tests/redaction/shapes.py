"""Texts in which a credential stands, and texts that only look so; shapes.yaml says what each table holds.

All credentials are made up. Keys that a scanner of repositories knows by their shape are put together here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

SECRET = "Zq7xPw91Lk"
LONG = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6"
HEX = "0123456789abcdef" * 4
_TABLES: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
NAMED: dict[str, str] = _TABLES["named"]
PLACED: dict[str, str] = _TABLES["placed"]
OVER_LINES: dict[str, str] = _TABLES["over_lines"]
DRAWN: dict[str, str] = _TABLES["drawn"]
ODD: dict[str, str] = _TABLES["odd"]
HOLDS_ODD: dict[str, str] = _TABLES["holds_odd"]
HARMLESS: list[str] = _TABLES["harmless"]

TOKENS: dict[str, str] = {
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "aws with its key": "AKIAIOSFODNN7EXAMPLE:" + (LONG * 2)[:40],
    "aws with its key behind a slash": "AKIAIOSFODNN7EXAMPLE/" + (LONG * 2)[:40],
    "aws with its key behind a blank": "AKIAIOSFODNN7EXAMPLE " + (LONG * 2)[:40],
    "aws temporary": "ASIAIOSFODNN7EXAMPLE",
    "github": "ghp_" + LONG,
    "github server": "ghs_" + LONG,
    "github fine": "github_pat_" + LONG + "_" + LONG,
    "gitlab": "glpat-" + LONG[:20],
    "gitlab runner": "glrt-" + LONG[:20],
    "npm": "npm_" + LONG,
    "pypi": "pypi-AgEIcHlwaS5vcmc" + LONG * 2,
    "hugging face": "hf_" + LONG[:34],
    "stripe": "sk_live_" + LONG[:24],
    "stripe test": "rk_test_" + LONG[:24],
    "stripe webhook": "whsec_" + LONG[:32],
    "openai": "sk-" + LONG + "T3BlbkFJ",
    "openai project": "sk-proj-" + LONG + "-" + LONG,
    "anthropic": "sk-ant-api03-" + LONG + "-AA",
    "slack": "xoxb-123456789012-123456789012-" + LONG[:24],
    "slack app": "xapp-1-A0123456789-1234567890123-" + HEX,
    "slack webhook": "https://hooks.slack.com/services/T00000000/B00000000/" + LONG[:24],
    "discord webhook": "https://discord.com/api/webhooks/123456789012345678/" + LONG * 2,
    "teams webhook": "https://acme.webhook.office.com/webhookb2/" + HEX[:32] + "/IncomingWebhook/" + HEX[:32],
    "google": "AIza" + LONG[:35],
    "google oauth": "ya29." + LONG,
    "google client": "GOCSPX-" + LONG[:28],
    "google refresh": "1//0" + LONG,
    "azure client": "abc8Q~" + LONG[:34],
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + LONG,
    "jwe": "eyJhbGciOiJSU0EtT0FFUCJ9." + ".".join([LONG] * 4),
    "inside of a private key": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ" + LONG,
    "bcrypt": "$2a$10$" + (LONG * 2)[:53],
    "crypt": "$6$salt$" + (LONG * 3)[:86],
    "htpasswd": "me:$apr1$aB3dE5gH$" + LONG[:22],
    "databricks": "dapi" + HEX[:32],
    "databricks numbered": "dapi" + HEX[:32] + "-2",
    "databricks oauth": "dose" + HEX[:32],
    "digital ocean": "dop_v1_" + HEX,
    "sendgrid": "SG." + LONG[:22] + "." + (LONG * 2)[:43],
    "shopify": "shpat_" + HEX[:32],
    "vault": "hvs." + LONG,
    "grafana": "glsa_" + LONG[:32] + "_1a2b3c4d",
    "new relic": "NRAK-" + "ABCDEFGHIJ0123456789ABCDEFG",
    "docker": "dckr_pat_" + LONG[:27],
    "telegram": "1234567890:AA" + LONG[:33],
    "atlassian": "ATATT3xFf" + LONG,
    "age": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" + "QPZRY9X8GF2TVDW0S3JN54KHCE",
    "linear": "lin_api_" + LONG,
    "dynatrace": f"dt0c01.{(LONG * 2)[:24].upper()}.{(LONG * 2)[:64].upper()}",
    "salesforce": "00D5g000004XyZa!AR" + LONG,
    "contentful": "CFPAT-" + LONG,
    "langsmith": f"lsv2_pt_{HEX[:32]}_{HEX[:10]}",
    "hubspot": f"pat-na1-{HEX[:8]}-{HEX[:4]}-{HEX[:4]}-{HEX[:4]}-{HEX[:12]}",
    "pulumi": "pul-" + HEX[:40],
    "square": "sq0atp-" + LONG[:22],
    "perplexity": "pplx-" + LONG,
    "doppler": "dp.pt." + (LONG * 2)[:43],
    "vercel": f"vercel_blob_rw_{LONG[:16]}_{LONG}",
    "notion": "secret_" + (LONG * 2)[:43],
    "frame.io": "fio-u-" + LONG,
    "facebook": "EAACEdEose0cBA" + LONG,
    "1password": "ops_eyJ" + LONG,
    "mailgun": "key-" + HEX[:32],
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + LONG + "\n-----END RSA PRIVATE KEY-----",
    "pem on one line": r"-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + LONG + r"\n-----END PRIVATE KEY-----",
    "pem cut off": "-----BEGIN EC PRIVATE KEY----- MIIEpAIBAAKCAQEA" + LONG,
    "openssh": "-----BEGIN OPENSSH PRIVATE KEY-----\n" + LONG + "\n-----END OPENSSH PRIVATE KEY-----",
    "pgp": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n" + LONG + "\n-----END PGP PRIVATE KEY BLOCK-----",
}  # fmt: skip
"""Credentials that are known by their own form, whatever stands around them."""

MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6kL8n"
VALUES = {
    "secret": SECRET, "mixed": MIXED, "long": (MIXED[::-1] * 3), "hex": "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "digest": "90ab12cd34ef56" * 4 + "0011aabb",
}  # fmt: skip
_ATTACK: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("attacked.yaml").read_text(encoding="utf-8"))
ATTACKED: dict[str, str] = {name: form.format(o="", **VALUES) for name, form in _ATTACK["credentials"].items()}
LOOK_ALIKES: list[str] = _ATTACK["look_alikes"]
"""Credentials of an attack, and texts that only look like one."""
