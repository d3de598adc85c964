"""What the browser may do with the page: run its script, use its style, and nothing else."""

from __future__ import annotations

import base64
import hashlib


def policy(script: str, *styles: str) -> str:
    """The Content-Security-Policy that allows these texts and no request at all."""
    allowed = f"style-src {' '.join(map(_hash, styles))}; script-src {_hash(script)}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
