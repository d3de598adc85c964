"""Points in time as Spark writes them, and as other hands do."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?:Z|([+-]\d\d):?(\d\d))\Z", re.ASCII)
_LATEST_MS = 253_402_300_799_999


def is_instant(text: str) -> bool:
    """Whether `text` is a point in time exactly as Spark writes it, to the millisecond in UTC."""
    return len(text) == 24 and text[-1] == "Z" and as_instant(text) == text


def as_instant(value: object) -> str | None:
    """ISO time in UTC to the millisecond of a text or of epoch milliseconds; None when it is neither."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)) or (isinstance(value, str) and value.isascii() and value.isdigit()):
        return _of_epoch(value)
    return _of_text(value) if isinstance(value, str) else None


def _of_epoch(value: float | str) -> str | None:
    try:
        milliseconds = int(value)
    except (ValueError, OverflowError):
        return None
    return _written(_EPOCH + timedelta(milliseconds=milliseconds)) if 0 <= milliseconds <= _LATEST_MS else None


def _of_text(text: str) -> str | None:
    match = _INSTANT.match(text.strip())
    if match is None:
        return None
    day, clock, fraction, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(
            f"{day}T{clock}.{(fraction or '0').ljust(6, '0')[:6]}{hours or '+00'}:{minutes or '00'}"
        )
        return _written(moment.astimezone(timezone.utc))
    except (ValueError, OverflowError):
        return None


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.").zfill(20) + f"{moment.microsecond // 1000:03d}Z"
