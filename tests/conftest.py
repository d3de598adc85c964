"""What all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from advisor import catalogue
from tests.views.chromium import CHROMIUM, LONGEST_MS

LOADING = sys.modules["advisor.catalogue.load"]  # the package has a function of this name
OWN_RULES = catalogue.rules_directory()


def once(read: Callable[..., Any]) -> Callable[..., Any]:
    """Read what belongs to the project's own rules once a process: that takes longer than to judge a log."""
    own = cache(read)
    return lambda path, *others: (own if path.is_relative_to(OWN_RULES) else read)(path, *others)


LOADING.read = once(LOADING.read)

SLOW = [HealthCheck.too_slow]
"""Hypothesis looks at the clock for it, and a busy machine is slow."""
settings.register_profile(  # chance lives in `make fuzz`
    "ci", deadline=None, max_examples=50, derandomize=True, suppress_health_check=SLOW
)
settings.register_profile("long", deadline=None, max_examples=10_000, suppress_health_check=SLOW)
if (profile := os.environ.get("HYPOTHESIS_PROFILE", "ci")) == "ci":
    # its pool holds the numbers and texts of each module that happens to be loaded in this process
    vars(providers)["_get_local_constants"] = providers.Constants
settings.load_profile(profile)


os.environ.pop("COLUMNS", None)  # what is printed into a pipe is as wide as it says
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for a Java that lives for minutes: to compile its code twice costs a third of its time."""
for java in ("SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS"):
    os.environ.setdefault(java, QUICK_JAVA)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-golden", action="store_true", help="write the golden files again, then look at the diff")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--write-golden") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--write-golden: without -n, since several processes would write the same files")


@pytest.fixture(scope="module", name="catalogue")
def _catalogue() -> catalogue.Catalogue:
    """The project's own rules, checked."""
    return catalogue.load()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=LONGEST_MS)
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Any) -> Iterator[Any]:
    made = chromium.new_context(permissions=["clipboard-read", "clipboard-write"], color_scheme="light")
    made.set_default_timeout(LONGEST_MS)
    yield made
    made.close()
