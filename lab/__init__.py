"""The laboratory: a Kafka broker, an S3 server, load at a constant rate, and the latency of records.

It is no part of the package: it runs from a checkout, with the packages of the dependency group `lab`.
"""

from __future__ import annotations

from importlib.util import find_spec

from advisor.errors import UsageError


def require(*modules: str) -> None:
    """Raise UsageError where one of these modules is not installed."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        found = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        raise UsageError("laboratory", found, "pip install --group lab, in the checkout")
