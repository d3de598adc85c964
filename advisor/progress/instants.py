"""Points in time as Spark writes them, and as other hands do."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_INSTANT = re.compile(
    r"(\d{4})([-/])(\d\d)\2(\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?: ?(?:Z|UTC|GMT)|([+-]\d\d):?(\d\d))?\Z",
    re.ASCII,
)
_OF_A_SHEET = re.compile(r"(\d\d?)([/.-])(\d\d?)\2(\d{4}),?[T ](\d\d:\d\d:\d\d.*)", re.ASCII)
_OF_A_PAGE = re.compile(r"([A-Z][a-z]{2}) (\d\d?), (\d{4}) @ (\d\d:\d\d:\d\d.*)", re.ASCII)
_MOST_MONTHS = 12
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_EPOCH_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,9})?\Z", re.ASCII)
_LATEST_MS = 253_402_300_799_999
_UNITS = ((10**17, 1e-6), (10**14, 1e-3), (10**11, 1.0), (10**9, 1e3), (0, 1.0))
"""(least count since 1970, milliseconds of one): nanoseconds to seconds; the rest as it is."""


def is_instant(text: str) -> bool:
    """Whether `text` is a point in time exactly as Spark writes it, to the millisecond in UTC."""
    return len(text) == 24 and text[-1] == "Z" and as_instant(text) == text


def as_instant(value: object) -> str | None:
    """ISO time in UTC to the millisecond of a text or of a count since 1970; None when it is neither.

    A text without a zone is taken for UTC: what counts is the time between two of them. `11/03/2026` is neither day
    nor month: None.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)) or (isinstance(value, str) and _EPOCH_NUMBER.match(value)):
        return _of_epoch(value)
    return _of_text(value.strip()) if isinstance(value, str) else None


def _of_epoch(value: float | str) -> str | None:
    try:
        count = float(value) if isinstance(value, str) and "." in value else value
        whole = int(count)
        unit = next((unit for least, unit in _UNITS if whole >= least), None)
        if unit is None:
            return None
        milliseconds = round(float(count) * unit) if unit != 1.0 else whole
    except (ValueError, OverflowError):
        return None
    return _written(_EPOCH + timedelta(milliseconds=milliseconds)) if milliseconds <= _LATEST_MS else None


def _of_text(text: str) -> str | None:
    match = _INSTANT.match(text)
    if match is None:
        other = _with_year_first(text)
        return None if other is None else _of_text(other)
    year, _, month, day, clock, fraction, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(
            f"{year}-{month}-{day}T{clock}.{(fraction or '0').ljust(6, '0')[:6]}{hours or '+00'}:{minutes or '00'}"
        )
        return _written(moment.astimezone(timezone.utc))
    except (ValueError, OverflowError):
        return None


def _with_year_first(text: str) -> str | None:
    """A time as a sheet or a page shows it, as Spark would write it."""
    if page := _OF_A_PAGE.match(text):
        month, day, year, clock = page.groups()
        return f"{year}-{_MONTHS.index(month) + 1:02d}-{int(day):02d} {clock}" if month in _MONTHS else None
    if sheet := _OF_A_SHEET.match(text):
        first, second, year, clock = int(sheet[1]), int(sheet[3]), sheet[4], sheet[5]
        if first > _MOST_MONTHS >= second or first == second:
            return f"{year}-{second:02d}-{first:02d} {clock}"
        return f"{year}-{first:02d}-{second:02d} {clock}" if second > _MOST_MONTHS >= first else None
    return None


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.").zfill(20) + f"{moment.microsecond // 1000:03d}Z"
