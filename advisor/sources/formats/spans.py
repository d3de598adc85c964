"""Lengths of time as people write them: `12.4 s`, `1 min 20 s`, `1m20s`, `PT12.4S`, `00:00:12.400`, `12 400 ms`."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {
    0.000_001: ("ns", "nanosecond", "nanoseconds"),
    0.001: ("us", "µs", "μs", "microsecond", "microseconds"),
    1.0: ("ms", "msec", "msecs", "millis", "millisecond", "milliseconds", "мс", "毫秒"),
    1000.0: ("s", "sec", "secs", "second", "seconds", "sekunden", "segundos", "secondes", "с", "сек", "секунд", "秒"),
    60_000.0: ("m", "min", "mins", "minute", "minutes", "minuten", "minutos", "мин", "минут", "分", "分钟"),
    3_600_000.0: ("h", "hr", "hour", "hours", "ч", "小时"),
}
_MS: Final = {unit: ms for ms, units in _UNITS.items() for unit in units}
_UNIT: Final = "(?:" + "|".join(sorted(_MS, key=len, reverse=True)) + ")"
_NUMBER: Final = r"(?:\d{1,3}(?:[,. '\u00a0\u202f]\d{3})+|\d{1,19})(?:[.,]\d{1,9})?"
_PART: Final = re.compile(rf"({_NUMBER})[ \t\u00a0]?({_UNIT})(?![^\W\d])", re.IGNORECASE)
_BOUND: Final = r"(?:\+|[ \t]{0,2}(?:[-–—~]|â\x80[\x93\x94])[ \t]{0,2}\d|[ \t](?:to|or|bis|bis zu)[ \t])"
"""Behind `10+ seconds`, `20-45 s` and `10 to 12 s` stand bounds: none of them is the length. (Also as Latin-1.)"""
_PARTS: Final = re.compile(rf"{_PART.pattern}(?:[ \t]?{_PART.pattern}){{0,2}}", re.IGNORECASE)
_BOUNDED: Final = re.compile(rf"{_BOUND}|[ \t]?\d{{1,2}}{_BOUND}[ \t]?\d{{0,2}}[ \t]?{_UNIT}(?!\w)", re.IGNORECASE)
"""What follows a length that is a bound, itself or with its last part: `1 min 20 s+`, `1 min 20-45 s`."""
_RANGE: Final = re.compile(
    rf"{_NUMBER}[ \t]?(?:{_UNIT})?[ \t]{{0,2}}(?:[-–—~]|â\x80[\x93\x94]|[ \t](?:to|bis|a|à)[ \t])[ \t]{{0,2}}{_NUMBER}"
    rf"(?:[ \t]?{_UNIT})?(?![\w.,:/-]*\d)(?![^\W\d])",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"(\d{1,3}):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)(?![\d:])")
_ISO: Final = re.compile(r"PT(?=\d)(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:(\d{1,7}(?:\.\d{1,9})?)S)?(?!\w)")
_PLAIN: Final = re.compile(
    rf"(\d{{1,3}}(?:,\d{{3}})+|\d{{1,15}})(?:\.0+)?(?![\w%:/]|[.,]\d|[ \t]?{_UNIT}(?!\w))(?!{_BOUND})"
)
_GROUPED: Final = re.compile(r"\d{1,3}(?:([,. '\u00a0\u202f])\d{3})+$")
_APART: Final = re.compile(rf"(?<=\d) (?=\d{{3}}(?: \d{{3}})* ?ms\b|{_UNIT}(?!\w))", re.IGNORECASE)


def read_span(text: str) -> tuple[float, int] | None:
    """(milliseconds, where it ends) of the length with which `text` begins; None where its unit or shape is in doubt.

    Without a unit it is milliseconds, if it is whole. `12.400 ms` may be thousands or a fraction; `12,400 s`, too.
    """
    if clock := (_CLOCK.match(text) or _ISO.match(text)):
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return ((hours * 60 + minutes) * 60 + seconds) * 1000, clock.end()
    if parts := _PARTS.match(text):
        if _BOUNDED.match(text, parts.end()):
            return None
        lengths = [_length(number, unit.lower()) for number, unit in _PART.findall(parts[0])]
        known = [length for length in lengths if length is not None]
        return (sum(known), parts.end()) if len(known) == len(lengths) else None
    plain = _PLAIN.match(text)
    return (float(plain[1].replace(",", "")), plain.end()) if plain else None


def read_range(text: str) -> str:
    """The two bounds with which `text` begins, as they are written: `15-24 ms`; empty where there are not two."""
    found = _RANGE.match(text)
    return found[0] if found else ""


def joined(line: str) -> str:
    """The line, with no blank between a number and its unit, nor in a number of milliseconds."""
    return _APART.sub("", line)


def _length(number: str, unit: str) -> float | None:
    grouped = _GROUPED.match(number)
    if grouped is None:
        return float(number.replace(",", ".")) * _MS[unit]
    if grouped[1] == "." and number.count(".") == 1:
        return None if unit == "ms" else float(number) * _MS[unit]
    if grouped[1] == "," and number.count(",") == 1 and unit != "ms":
        return None
    return float(re.sub(r"\D", "", number)) * _MS[unit]
