"""What the browser may do with the page: run its one script, use its one style, and nothing else."""

from __future__ import annotations

import base64
import hashlib


def policy(style: str, script: str) -> str:
    """The Content-Security-Policy that allows these two texts and no request at all."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
