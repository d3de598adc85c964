"""Spark's line about a batch that falls behind, quoted without its figures, and the settings that stand beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.metrics.words import milliseconds
from advisor.sources.sightings.paste import read_paste

_NAMED: Final = re.compile(
    r"(?i)\bbatch(?:es)? (?:(?:is|are|was|were) )?falling behind\b"
    r"|\btrigger interval is \{?\d{1,12}\}? ?m\w{0,11},? but spent\b"
)
_LIMITS: Final = {
    "max_offsets_per_trigger": ("maxOffsetsPerTrigger", "rows"),
    "max_files_per_trigger": ("maxFilesPerTrigger", "files"),
}
_GIVE: Final = "give the line itself, with the trigger interval and the time spent"


def behind_without_figures(text: str) -> str | None:
    """That a text names the line and not how long the batch took, and its settings; None where it does not name it."""
    if not _NAMED.search(text):
        return None
    settings = ", ".join(_settings({told.fact: told.value for told in read_paste(text)}))
    beside = f". It names beside it: {settings}" if settings else ""
    return f"this names Spark's line about batches that fall behind, and not its figures: {_GIVE}{beside}"


def _settings(told: dict[str, object]) -> Iterator[str]:
    if isinstance(version := told.get("spark_version"), str):
        yield f"Spark {version}"
    interval = told.get("trigger_interval_ms")
    if isinstance(interval, int):
        yield f"a trigger interval of {milliseconds(interval)}"
    for fact, (option, things) in _LIMITS.items():
        limit = told.get(fact)
        if isinstance(limit, int):
            yield f"{option} {limit:,}{_at_most(limit, interval, things)}"
    if told.get("stateful"):
        yield (
            "a query that keeps state, in 200 partitions unless spark.sql.shuffle.partitions said otherwise when its "
            "checkpoint began, each a task in every batch"
        )


def _at_most(limit: int, interval: object, things: str) -> str:
    """What a limit lets through in a second, where the interval is known."""
    if not isinstance(interval, int) or not interval:
        return ""
    rate = f"{limit * 1000 / interval:,.4g} {things} a second"
    return f" (at most {rate}: where more come they wait, however fast a batch is)"
