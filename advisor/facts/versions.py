"""Versions of Spark and of the Databricks Runtime: comparing what their vendors print."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NUMBERS = re.compile(r"\s*v?(\d+(?:\.(?:\d+|x\b))*)")
_RELEASE = re.compile(r"\d+\.\d+\.\d+(?:-(?:SNAPSHOT|preview\d*|rc\d+))?")
_VERSION = re.compile(r"v?\d{1,4}(?:\.(?:\d{1,9}|x\b)){0,9}(?:[-.+][\w.+-]{1,60})?", re.ASCII)


def is_version(text: str) -> bool:
    """Whether a text is a version and nothing else: digits and dots, perhaps with a vendor's word behind them."""
    return bool(_VERSION.fullmatch(text))


@lru_cache(maxsize=1024)  # of every run the same few are asked, a rule and a fact after the other
def version_numbers(version: str) -> tuple[int, ...]:
    """The leading numbers: "3.5.1-amzn-0" is (3, 5, 1), "13.3.x-scala2.12" is (13, 3); empty when there are none."""
    match = _NUMBERS.match(str(version))
    if match is None:
        return ()
    return tuple(int(part) for part in match[1].split(".") if part != "x")


def version_at_least(version: str, floor: str) -> bool:
    """Whether `version` is `floor` or later; only as many numbers count as `floor` has."""
    wanted = version_numbers(floor)
    found = version_numbers(version)
    return (found + (0,) * len(wanted))[: len(wanted)] >= wanted


def is_older(version: str | None, below: str | None, floor: str) -> bool:
    """Whether a Spark is surely older than `floor`, by its version, else by a bound below which it lies."""
    if version:
        return not version_at_least(version, floor)
    return bool(below) and version_at_least(floor, str(below))


MINORS: Final = (
    "2.0", "2.1", "2.2", "2.3", "2.4", "3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "4.0", "4.1", "4.2", "4.3",
)  # fmt: skip
"""The releases of Spark that there are."""
COMMIT_OFFSETS_ON_DATABRICKS: Final = ("3.3", "11.0")
"""The first Spark, and Databricks Runtime, that times commitOffsets on Databricks."""


def may_be_spark(version: str) -> bool:
    """Whether there is a release of Spark with these numbers, at least two, or one may still come."""
    named, newest = version_numbers(version)[:2], version_numbers(MINORS[-1])
    return (
        is_version(version)
        and len(named) == 2
        and (newest < named < (newest[0] + 2, 0) or ".".join(map(str, named)) in MINORS)
    )


def is_untried(version: str | None) -> bool:
    """Whether a Spark is newer than all that were tried."""
    return bool(version) and version_numbers(str(version))[:2] > version_numbers(MINORS[-1])


def version_in_words(least: str | None, below: str | None) -> str | None:
    """Two bounds as people say them: "2.4", "3.2 to 3.3", "below 3.4", "3.4 or later"; None without any."""
    if least is None or below is None:
        return f"below {below}" if below else f"{least} or later" if least else None
    between = [minor for minor in MINORS if version_at_least(minor, least) and not version_at_least(minor, below)]
    if not between:
        return f"{least} or later"
    return between[0] if len(between) == 1 else f"{between[0]} to {between[-1]}"


def platform_of(spark_version: str) -> str:
    """The platform that a Spark outside Databricks belongs to: vendors add to the numbers of a release."""
    return "open_source" if _RELEASE.fullmatch(spark_version) else "other"


def same_version(one: str, other: str) -> bool:
    """Whether two versions agree as far as both say: "3.5" and "3.5.1" do."""
    return all(a == b for a, b in zip(version_numbers(one), version_numbers(other), strict=False))
