"""Decode one progress event: fast in its usual shape, patiently in any other.

Other shapes: numbers as strings, other spellings, missing keys, dicts as Python prints them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
from msgspec.structs import fields

from advisor.progress.shapes import Broken, Durations, Operator, Progress, Sink, Source, with_totals
from advisor.redaction import redact

_decode = msgspec.json.Decoder(Progress).decode

UNUSUAL = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What `decode_usual` raises when the bytes are not an event of the usual shape."""
_SPELLINGS = {"durationMillis": "durationMs", "streamingQueryProgressId": "id", "numRecords": "numInputRows"}
_NUMBER = re.compile(r"[+-]?\d{1,400}(\.\d*)?([eE][+-]?\d+)?\Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_INSTANT = re.compile(
    r"(?a)(\d{4})([-/])(\d\d)\2(\d\d)[T ](\d\d:\d\d:)([0-5]\d|60)"
    r"(?:[.,](\d{1,9}))?(?: ?(?:Z|UTC|GMT)|([+-]\d\d):?(\d\d))?\Z"
)
_FAR = re.compile(r"\+?[1-9]\d{4,8}-\d\d-\d\d[T ]", re.ASCII)
"""How a time behind the year 9999 begins: an event time in another unit than Spark takes it for."""
_EPOCH_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,9})?\Z", re.ASCII)
_LATEST_MS = 253_402_300_799_999
_UNITS = ((10**17, 1e-6), (10**14, 1e-3), (10**11, 1.0), (10**9, 1e3), (0, 1.0))
"""(least count since 1970, milliseconds of one): nanoseconds to seconds; the rest as it is."""
_NOT_A_NUMBER = ("nan", "infinity", "inf", "-infinity", "-inf", "")


def decode_usual(raw: bytes) -> Progress:
    """Return the event in `raw`, if it has the usual shape; else raise one of UNUSUAL.

    Its timestamp is text that nobody has looked at: a column of them is checked in one go.
    """
    event = _decode(raw)
    return event if event.num_input_rows is not None else with_totals(event)


def is_instant(text: str) -> bool:
    """Whether `text` is a point in time exactly as Spark writes it, to the millisecond in UTC."""
    return len(text) == 24 and text[-1] == "Z" and as_instant(text) == text


def as_instant(value: object) -> str | None:
    """ISO time in UTC to the millisecond of a text or of a count since 1970; None when it is neither.

    What lies behind the year 9999 is its end: far in the future, too.
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
        return _written(datetime.max) if _FAR.match(text) else None
    year, _, month, day, at, second, fraction, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(
            f"{year}-{month}-{day}T{at}{min(second, '59')}.{fraction or '':0<6.6}{hours or '+00'}:{minutes or '00'}"
        )
        return _written(moment.astimezone(timezone.utc) + timedelta(seconds=second == "60"))  # a leap second
    except (ValueError, OverflowError):
        return None


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.").zfill(20) + f"{moment.microsecond // 1000:03d}Z"


def is_event(thing: object) -> bool:
    """Return whether a parsed object looks like a progress event, whole or not."""
    if not isinstance(thing, dict):
        return False
    return ("durationMs" in thing or "durationMillis" in thing) and ("timestamp" in thing or "runId" in thing)


def from_object(thing: Any) -> Progress:
    """Return the event in a parsed JSON object or Python dict; Broken when it is none, or its meaning not clear."""
    if not isinstance(thing, dict):
        raise Broken("no JSON object")
    event = _event(in_latest_words(thing))
    return event if event.num_input_rows is not None else with_totals(event)


def in_latest_words(thing: dict[str, Any]) -> dict[str, Any]:
    """Return the object with the keys of other versions as the latest one spells them."""
    return {_SPELLINGS.get(key, key): value for key, value in thing.items()}


def _event(thing: dict[str, Any]) -> Progress:
    if not isinstance(thing.get("durationMs"), dict) and not isinstance(thing.get("sources"), list):
        raise Broken("no durationMs and no sources")
    found = {"durationMs": {}, **_members(thing)}
    found["id"], found["runId"] = found.get("id") or found.get("runId"), found.get("runId") or found.get("id")
    if not found["id"]:
        raise Broken("no id and no runId")
    if "timestamp" not in found:
        given = thing.get("timestamp")
        raise Broken("no timestamp" if given is None else f"timestamp: {_shown(given)} is no point in time")
    if isinstance(phases := found["durationMs"], dict):
        found["durationMs"] = {key: ms for key, ms in phases.items() if key in _PHASES}
        if others := {key: ms for key, ms in phases.items() if key not in _PHASES}:
            found["durationMs"][""] = others
    try:
        return _decode(msgspec.json.encode(found))
    except (msgspec.MsgspecError, RecursionError, OverflowError, TypeError, UnicodeEncodeError) as error:
        raise Broken(str(error)) from None


def _members(thing: dict[str, Any], within: str = "") -> dict[str, Any]:
    """Return the known members of an object as Spark writes them, without those that are nothing."""
    read = ((_text(key, ""), _read(within or key, value)) for key, value in thing.items())
    return {key: value for key, value in read if value is not None}


def _read(key: str, value: Any) -> Any:
    if value is None or key not in _READERS:
        return None
    if key in _ANY_JSON:
        return value
    if isinstance(value, dict):
        return _members(value, f"{key}." if key in _MAPS else "")
    if isinstance(value, list):
        return [_members(each) if isinstance(each, dict) else {} if each is None else each for each in value]
    return _READERS[key](value, key)


def _whole(value: Any, place: str) -> Any:
    number = _number(value, place)
    return round(number) if isinstance(number, float) else number


def _duration(value: Any, place: str) -> Any:
    milliseconds = _whole(value, place)
    if milliseconds is None:  # a missing addBatch would make the trigger an idle one
        raise Broken(f"{place}: {_shown(value)} is no number")
    return milliseconds


def _number(value: Any, place: str) -> Any:
    """Return a number, also of a text; None for none and for NaN."""
    if isinstance(value, str):
        text = value.strip()
        match = _NUMBER.match(text)
        if match is None and text.lower() not in _NOT_A_NUMBER:
            raise Broken(f"{place}: {_shown(text)} is no number")
        value = math.nan if match is None else float(text) if match[1] or match[2] else int(text)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rate(value: Any, place: str) -> Any:
    number = _number(value, place)
    try:
        return float(number) if isinstance(number, int) and not isinstance(number, bool) else number
    except OverflowError:
        return None


def _text(value: Any, _place: str) -> Any:
    value = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _metric(value: Any, place: str) -> str | None:
    return None if value == "null" else _text(value if isinstance(value, str) else _shown(value), place)


def _shown(value: Any) -> str:
    """Return a short, printable form of a value that did not fit, without credentials."""
    if isinstance(value, (dict, list)):
        return repr(type(value).__name__)
    text = redact(value) if isinstance(value, str) else str(value)[:80]
    return repr(text[:40] + "…" if len(text) > 40 else text)


_PHASES = frozenset(field.encode_name for field in fields(Durations)) - {""}
_ANY_JSON = ("startOffset", "endOffset", "latestOffset", "rtmMetrics", "latencies")
_MAPS = ("durationMs", "customMetrics", "metrics")
_READERS: dict[str, Callable[[Any, str], Any]] = {
    **{field.encode_name: _whole for kind in (Progress, Operator, Source, Sink) for field in fields(kind)},
    **dict.fromkeys(("inputRowsPerSecond", "processedRowsPerSecond", "customMetrics."), _rate),
    **dict.fromkeys(("id", "runId", "name", "operatorName", "description"), _text),
    **dict.fromkeys(("timestamp", "watermark", "max", "min", "avg"), lambda value, _: as_instant(value)),
    **dict.fromkeys(("eventTime", "stateOperators", "sources", "sink", *_MAPS), lambda value, _: value),
    "durationMs.": _duration,
    "metrics.": _metric,
}
"""What reads a plain value under a key, or under any key within a map; what no reader knows is left out."""
