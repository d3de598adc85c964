"""Words and numbers as every view prints them: milliseconds, shares, times, phases, and text that is safe to show."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any

UNKNOWN = "unknown"

PHASES: dict[str, str] = {
    "addBatch": "reads, computes, keeps state, writes to the sink",
    "walCommit": "writes the offset log",
    "commitOffsets": "writes the commit log",
    "queryPlanning": "plans the batch",
    "latestOffset": "asks the source what is new",
    "getOffset": "asks the source what is new",
    "getEndOffset": "asks the source what is new",
    "setOffsetRange": "tells the source what to read",
    "getBatch": "prepares the source's data",
    "commitBatch": "tells source and sink that the batch is done",
    "collectSourceMetrics": "asks the source for its metrics",
    "postAddBatchCallback": "callbacks after the batch",
    "postCommitBatchCallback": "callbacks after the commit",
    "unaccounted": "Spark names no phase for this time",
}
"""What Spark does in each phase, in a few words."""

METRICS: dict[str, str] = {
    "trigger_execution_ms": "batch",
    "record_latency_ms": "record latency",
    "input_rows": "rows a batch",
    "input_rows_per_second": "rows a second",
    "backlog_rows": "backlog",
    "backlog_ms": "backlog",
    "add_batch_ms": "addBatch",
    "offset_log_ms": "offset and commit logs",
    "state_commit_wall_ms": "state commit",
}

_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def clean(value: str, *, lines: bool = False) -> str:
    """The text with control, format and unassigned characters shown as escapes; line breaks stay with `lines`."""
    if not lines:
        value = " ".join(value.split())
    return "".join(char if char == "\n" and lines else _shown(char) for char in value)


def clean_all(value: Any, *, lines: bool = False) -> Any:
    """Plain data with every text in it cleaned; only what stands under a key `code` keeps its line breaks."""
    if isinstance(value, str):
        return clean(value, lines=lines)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_all(item, lines=key == "code") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_all(item) for item in value]
    return value


def _shown(char: str) -> str:
    if unicodedata.category(char) not in _UNSAFE:
        return char
    return " " if char == "\t" else char.encode("unicode_escape", "replace").decode("ascii")


def ms(value: float | None) -> str:
    """A duration in the unit that a reader would say it in: `3.2 ms`, `1,234 ms`, `12.3 s`, `4.5 min`, `2.1 h`."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    for limit, divisor, unit in ((10_000, 1, "ms"), (120_000, 1000, "s"), (7_200_000, 60_000, "min")):
        if abs(value) < limit:
            return f"{_digits(value / divisor)} {unit}"
    return f"{_digits(value / 3_600_000)} h"


def share(value: float | None) -> str:
    """A part of one as percent: `0.4 %`, `37 %`."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{_digits(100 * value)} %"


def count(value: float | None) -> str:
    """A number of things with thousands set apart; a fraction only below ten."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return _digits(value)


def size(value: float | None) -> str:
    """A number of bytes in the unit that keeps it short: `512 B`, `12.3 MB`."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 1000:
            return f"{_digits(value, one_decimal_below=100 if unit != 'B' else 10)} {unit}"
        value /= 1000
    return f"{_digits(value, one_decimal_below=100)} TB"


def amount(value: float | None, unit: str | None) -> str:
    """A metric's number in its own unit, as the report names units (`ms`, `share`, `bytes`, `rows`, …)."""
    if unit == "ms":
        return ms(value)
    if unit == "share":
        return share(value)
    if unit == "bytes":
        return size(value)
    if unit in (None, "", "count", "number"):
        return count(value)
    return f"{count(value)} {unit.replace('_', ' ')}" if value is not None else UNKNOWN


def _digits(value: float, one_decimal_below: float = 10) -> str:
    if abs(value) < one_decimal_below and round(value, 1) != round(value):
        return f"{value:.1f}"
    return f"{value:,.0f}"


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
    return PHASES.get(phase(key), "")


def metric(name: str) -> str:
    """A metric by the words that a reader would use."""
    return METRICS.get(name, name.removesuffix("_ms").replace("_", " "))


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 batch`, `2 batches`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def saving(saves: Mapping[str, float | None] | None) -> str:
    """`52 to 82 ms, 73 ms expected`; an upper bound says so; empty if nothing is promised."""
    if not saves:
        return ""
    low, expected, high = (saves.get(key) for key in ("low", "expected", "high"))
    if expected is None:
        return f"at most {ms(high)}; not measured yet"
    if low is None or high is None or low == high:
        return f"{ms(expected)} expected"
    return f"{ms(low)} to {ms(high)}, {ms(expected)} expected"
