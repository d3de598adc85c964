"""Words and numbers as every view prints them: milliseconds, shares, times, phases."""

from __future__ import annotations

import math
from datetime import datetime
from functools import partial

from advisor.batches import PHASES
from advisor.contract import Advice, Promise
from advisor.metrics.phases import LACKING
from advisor.metrics.units import number

UNKNOWN = "unknown"

_DOES = {column.spark: column.does for column in PHASES} | {
    "other": "phases that only this Spark has",
    "commitLog": "in no phase: mostly writing the commit log",
    "unaccounted": "Spark names no phase for this time",
    LACKING: "in phases that these records lack",
}


def amount(value: float | None, unit: str | None) -> str:
    """A number in a metric's unit, worded as in findings; `unknown` where there is none."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return number(value, unit or "count")  # type: ignore[arg-type]


ms, share, count, size = (partial(amount, unit=unit) for unit in ("ms", "share", "count", "bytes"))
"""A duration, a part of one as percent, a number of things, a number of bytes: in the unit that keeps it short."""


def moment(value: str | None, day: str | None = None) -> str:
    """A time of the report as `2026-03-01 10:58:03`, without the day where it is `day` (`2026-03-01`)."""
    if not value:
        return UNKNOWN
    try:
        parsed = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return value
    return f"{parsed:%H:%M:%S}" if day and f"{parsed:%Y-%m-%d}" == day else f"{parsed:%Y-%m-%d %H:%M:%S}"


def span(first: str | None, last: str | None) -> str:
    """`2026-03-01 09:12:03 to 11:40:00 UTC`: two times of the report, the day once if it is the same."""
    if not first or not last:
        return UNKNOWN
    return f"{moment(first)} to {moment(last, day=first[:10])} UTC"


def phase(key: str | None) -> str:
    """A phase by the name that Spark prints, from that name or from a column's (`add_batch_ms`)."""
    if not key:
        return UNKNOWN
    first, *others = key.removesuffix("_ms").split("_")
    return first + "".join(word.title() for word in others)


def phase_meaning(key: str) -> str:
    """What Spark does in a phase, in a few words; empty for one that this project has no words for."""
    return _DOES.get(phase(key), "")


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 batch`, `2 batches`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def only_bounded(step: Advice) -> str:
    """Return why the saving of a step has no expected value."""
    return "not measured yet" if step.experimental else "how much of it is not known"


def saving(saves: Promise | None, bounded: str = "not measured yet") -> str:
    """Return `52 to 82 ms, 73 ms expected`; an upper bound or a low end of 0 is marked; empty without a promise.

    `bounded`: why nothing is expected, where only the most is known.
    """
    if saves is None:
        return ""
    if saves.expected is None:
        return f"up to about {ms(saves.high)}; {bounded}"
    if saves.low == saves.high:
        return f"{ms(saves.expected)} expected"
    nothing = "" if saves.low else "; it may save nothing"
    return f"{ms(saves.low)} to {ms(saves.high)}, {ms(saves.expected)} expected{nothing}"
