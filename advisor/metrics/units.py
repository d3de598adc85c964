"""Numbers as people read them, each by its unit."""

from __future__ import annotations

import math
import re

from advisor.metrics.metric import Estimate, Unit

_AN = re.compile(r"8|1[18](?!\d)")
"""Numbers that are spoken with a vowel: eight, eleven, eighteen."""
_MANY = 10


def in_words(estimate: Estimate, unit: Unit) -> str:
    """`23 ms`, `9.1 %`, `440 rows`; `7.2 % to 18.2 %` or `at least 2.8 s` where only the interval is known."""
    if estimate.value is None and math.isinf(estimate.high):
        return f"at least {number(estimate.low, unit)}"
    if estimate.value is None:
        return f"{number(estimate.low, unit)} to {number(estimate.high, unit)}"
    return number(estimate.value, unit)


def number(value: float, unit: Unit) -> str:
    """One number with its unit."""
    if unit == "ms":
        return milliseconds(value)
    if unit == "share":
        return "100 %" if round(value, 3) == 1 else f"{value * 100:.1f} %"
    if unit == "bytes":
        return _bytes(value)
    rows = " row" if value == 1 else " rows"
    suffix = {"per_second": " per second", "ms_per_minute": " ms per minute", "rows": rows}.get(unit, "")
    return f"{_plain(value)}{suffix}"


_LARGE = ((1e9, 1e9, "billion"), (1e7, 1e6, "million"))
"""From which size a number is written in words, and how many one of them is: nobody reads more digits."""


def milliseconds(value: float) -> str:
    """`0.4 ms`, `23 ms`, `1.2 s`, `9.1 min`, `3.2 h`, `11.9 days`."""
    size = abs(value)
    if size < 1000:
        return f"{value:.1f} ms" if 0 < size < 9.95 and size != round(size) else f"{value:.0f} ms"
    if size < 120_000:
        return f"{value / 1000:.1f} s"
    if size < 7_200_000:
        return f"{value / 60_000:.1f} min"
    return f"{value / 3_600_000:.1f} h" if size < 172_800_000 else f"{value / 86_400_000:,.1f} days"


def with_article(number: str) -> str:
    """`a 9.1 s`, `an 8.8 s`."""
    return f"{'an' if _AN.match(number) else 'a'} {number}"


def interval(value: str | float) -> str:
    """An interval as Spark's triggers take it: milliseconds become `500 milliseconds` or `2 seconds`, words stay."""
    try:
        number = round(float(value))
    except (TypeError, ValueError, OverflowError):
        return str(value)
    for size, unit in ((60_000, "minute"), (1000, "second"), (1, "millisecond")):
        if number >= size and number % size == 0:
            return f"{number // size} {unit}{'' if number == size else 's'}"
    return f"{number} milliseconds"


def _plain(value: float) -> str:
    for least, size, name in _LARGE:
        if abs(value) >= least:
            return f"{value / size:,.1f}".removesuffix(".0") + f" {name}"
    if abs(value) >= 100 or (abs(value) >= 0.95 and round(value, 1) == round(value)):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 0.1 else f"{value:.1g}"


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 1000:
            return f"{_plain(round(value, 1))} {unit}"
        value /= 1000
    return f"{_plain(round(value, 1))} TB"


def times(ratio: float) -> str:
    """How many times, with a decimal below ten."""
    return f"{ratio:,.{int(ratio < _MANY)}f}"
