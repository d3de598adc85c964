"""The families of rules, and the ids that are never used again."""

from __future__ import annotations

from typing import Final

FAMILIES: Final = {
    "LG": "log",
    "ST": "state",
    "TR": "trigger",
    "SR": "source",
    "SK": "sink",
    "DR": "drift",
    "PL": "planning",
    "CL": "cluster",
    "CG": "code",
    "PY": "code",
    "SH": "shuffle",
    "BC": "join",
    "DV": "driver",
    "CF": "config",
    "ER": "error",
    "OB": "observer",
    "DQ": "quality",
}
"""First two letters of an id and the folder of its rules. Other letters are free for a team's own rules."""

RETIRED: Final = {
    "CF007": "limit-that-no-source-reads",
    "SK011": "state-computed-again",
    "SR006": "batch-computed-several-times",
    "SR007": "files-wait",
    "SR012": "batches-full-of-files",
    "TR012": "batches-as-full-as-the-limit",
}
"""Ids that were used once, and the slugs of their rules."""
