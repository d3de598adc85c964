"""Many queries in little room: their HTML compressed within the page, taken out when one is opened."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence

TOGETHER = 25
"""Queries that are packed together: they share most of their bytes, and opening one unpacks so many."""


def packed(articles: Sequence[str]) -> list[str]:
    """Lists of so many articles, each as JSON, compressed with gzip and written in base64."""
    parts = [articles[start : start + TOGETHER] for start in range(0, len(articles), TOGETHER)]
    return [base64.b64encode(gzip.compress(json.dumps(part).encode(), mtime=0)).decode() for part in parts]
