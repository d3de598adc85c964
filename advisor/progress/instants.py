"""Points in time as Spark writes them, and as other programs do."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_INSTANT = re.compile(
    r"(\d{4})([-/])(\d\d)\2(\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?: ?(?:Z|UTC|GMT)|([+-]\d\d):?(\d\d))?\Z",
    re.ASCII,
)
_EPOCH_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,9})?\Z", re.ASCII)
_LATEST_MS = 253_402_300_799_999
_UNITS = ((10**17, 1e-6), (10**14, 1e-3), (10**11, 1.0), (10**9, 1e3), (0, 1.0))
"""(least count since 1970, milliseconds of one): nanoseconds to seconds; the rest as it is."""


def is_instant(text: str) -> bool:
    """Whether `text` is a point in time exactly as Spark writes it, to the millisecond in UTC."""
    return len(text) == 24 and text[-1] == "Z" and as_instant(text) == text


def as_instant(value: object) -> str | None:
    """ISO time in UTC to the millisecond of a text or of a count since 1970; None when it is neither.

    A text without a zone is taken for UTC: what counts is the time between two of them.
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
        return None
    year, _, month, day, clock, fraction, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(
            f"{year}-{month}-{day}T{clock}.{(fraction or '0').ljust(6, '0')[:6]}{hours or '+00'}:{minutes or '00'}"
        )
        return _written(moment.astimezone(timezone.utc))
    except (ValueError, OverflowError):
        return None


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.").zfill(20) + f"{moment.microsecond // 1000:03d}Z"
