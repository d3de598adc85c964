"""What all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow]
"""Hypothesis looks at the clock for it, and a busy machine is slow."""
settings.register_profile(  # chance lives in `make fuzz`
    "ci", deadline=None, max_examples=50, derandomize=True, suppress_health_check=SLOW
)
settings.register_profile("long", deadline=None, max_examples=10_000, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-golden", action="store_true", help="write the golden files again, then look at the diff")
