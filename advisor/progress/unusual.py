"""Read events of unusual shape: numbers as strings, other spellings, missing keys, Spark 2.0, printed dicts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import msgspec

from advisor.progress.fragment import read_fragment
from advisor.progress.instants import as_instant
from advisor.progress.shapes import (
    ABSENT,
    Broken,
    Durations,
    EventTime,
    Operator,
    Progress,
    Sink,
    Source,
    with_totals,
)
from advisor.redaction import redact

_SPELLINGS = {"durationMillis": "durationMs", "streamingQueryProgressId": "id", "numRecords": "numInputRows"}
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?\Z", re.ASCII)
_OF_PYTHON = re.compile(r"'|,\s*[}\]]")
"""What a printed dict has, and JSON has not."""
_NOT_A_NUMBER = ("nan", "infinity", "inf", "-infinity", "-inf", "")


def decode(raw: bytes) -> Progress:
    """Return the event in `raw`, JSON or a dict as Python prints it; Broken when it is none."""
    text = raw.decode("utf-8", "replace")
    try:
        return from_object(json.loads(text))
    except RecursionError:
        raise Broken("nested too deeply") from None
    except ValueError as error:
        fragment = read_fragment(text.strip()) if _OF_PYTHON.search(text) else None
        if fragment and fragment.whole and fragment.end == len(text.strip()):
            return from_object(fragment.thing)
        raise Broken(_why(text, error)) from None


def _why(text: str, error: ValueError) -> str:
    if "…" in text or "..." in text:
        return "shortened by hand: it holds '...'"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg} at its line {error.lineno}, column {error.colno}"
    return "no JSON: a number of thousands of digits"


def is_event(thing: object) -> bool:
    """Whether a parsed object looks like a progress event, whole or not."""
    if not isinstance(thing, dict):
        return False
    if "triggerDetails" in thing:
        return "sourceStatuses" in thing
    return ("durationMs" in thing or "durationMillis" in thing) and ("timestamp" in thing or "runId" in thing)


def from_object(thing: Any) -> Progress:
    """The event in a parsed JSON object or Python dict; raises Broken when it is not one, or its meaning not clear."""
    if not isinstance(thing, dict):
        raise Broken("no JSON object")
    if "triggerDetails" in thing:
        thing = _of_spark_2_0(thing)
    thing = in_latest_words(thing)
    return with_totals(_event(thing)) if thing.get("numInputRows") is None else _event(thing)


def in_latest_words(thing: dict[str, Any]) -> dict[str, Any]:
    """The object with the keys of other versions as the latest one spells them."""
    return {_SPELLINGS.get(key, key): value for key, value in thing.items()}


def _event(thing: dict[str, Any]) -> Progress:
    durations, sources = thing.get("durationMs"), thing.get("sources")
    if not isinstance(durations, dict) and not isinstance(sources, list):
        raise Broken("no durationMs and no sources")
    identity, run = _text(thing.get("id"), "id"), _text(thing.get("runId"), "runId")
    if not identity and not run:
        raise Broken("no id and no runId")
    event = Progress(
        id=identity or run or "",
        run_id=run or identity or "",
        timestamp=_instant(thing.get("timestamp")),
        duration_ms=_durations(durations),
        event_time=_record(EventTime, thing.get("eventTime"), "eventTime"),
        state_operators=_records(Operator, thing.get("stateOperators"), "stateOperators"),
        sources=_records(Source, sources, "sources"),
        sink=_record(Sink, thing.get("sink"), "sink"),
        **_fields(Progress, thing, "", only=_PLAIN),
    )
    found = {key: thing[key] for key in ("rtmMetrics", "latencies") if thing.get(key) is not None}
    if found:  # newer Sparks name it where it is null
        event.latencies = msgspec.Raw(msgspec.json.encode(found))
    return event


_PLAIN = ("batch_id", "batch_duration", "num_input_rows", "input_rows_per_second", "processed_rows_per_second", "name")


def _instant(value: Any) -> str:
    instant = as_instant(value)
    if instant is None:
        raise Broken("no timestamp" if value is None else f"timestamp: {_shown(value)} is no point in time")
    return instant


def _durations(thing: Any) -> Durations:
    items = _mapping(thing, "durationMs").items()
    read = {key: _duration(value, f"durationMs.{redact(key)}") for key, value in items if value is not None}
    named = {f.name: read.pop(f.encode_name, None) for f in _fields_of(Durations) if f.encode_name}
    return Durations(**named, other=read or None)


def _duration(value: Any, place: str) -> int:
    milliseconds = _whole(value, place)
    if milliseconds is None:  # a missing addBatch would make the trigger an idle one
        raise Broken(f"{place}: {_shown(value)} is no number")
    return milliseconds


def _records(kind: type[Any], things: Any, place: str) -> list[Any]:
    if things is None:
        return []
    if not isinstance(things, list):
        raise Broken(f"{place}: {_shown(things)} is no list")
    return [_record(kind, thing, f"{place}[{n}]") or kind() for n, thing in enumerate(things)]


def _record(kind: type[Any], thing: Any, place: str) -> Any:
    if thing is None:
        return None
    if not isinstance(thing, dict):
        raise Broken(f"{place}: {_shown(thing)} is no object")
    return kind(**_fields(kind, thing, f"{place}."))


_fields_of = cast("Callable[[type[Any]], tuple[msgspec.structs.FieldInfo, ...]]", cache(msgspec.structs.fields))


def _fields(kind: type[Any], thing: dict[str, Any], place: str, only: tuple[str, ...] | None = None) -> dict[str, Any]:
    fields = [f for f in _fields_of(kind) if only is None or f.name in only]
    return {f.name: _reader(f)(thing.get(f.encode_name), place + f.encode_name) for f in fields}


def _reader(field: msgspec.structs.FieldInfo) -> Callable[[Any, str], Any]:
    if field.name.endswith("_offset"):
        return _raw
    if field.name.endswith("_per_second"):
        return _number
    return _READERS.get(field.name, _whole)


def _whole(value: Any, place: str) -> int | None:
    number = _exact(value, place)
    if number is None:
        return None
    if not -(2**63) <= number < 2**63:
        raise Broken(f"{place}: {_shown(value)} is beyond 64 bits")
    return round(number)


def _number(value: Any, place: str) -> float | None:
    number = _exact(value, place)
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def _exact(value: Any, place: str) -> int | float | None:
    """Return the number, ints unrounded; None for none and for NaN."""
    if value is None:
        return None
    if isinstance(value, str):
        value = _of_text(value, place)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Broken(f"{place}: {_shown(value)} is no number")
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _of_text(text: str, place: str) -> int | float:
    text = text.strip()
    if text.lower() in _NOT_A_NUMBER:
        return math.nan
    match = _NUMBER.match(text)
    if match is None or len(text) > 400:
        raise Broken(f"{place}: {_shown(text)} is no number")
    return float(text) if match[1] or match[2] else int(text)


def _text(value: Any, place: str) -> str | None:
    if isinstance(value, bool) or (value is not None and not isinstance(value, (str, int))):
        raise Broken(f"{place}: {_shown(value)} is no text")
    return None if value is None else str(value).encode("utf-8", "replace").decode()


def _numbers(value: Any, place: str) -> dict[str, float] | None:
    read = {key: _number(item, f"{place}.{redact(key)}") for key, item in _mapping(value, place).items()}
    return {key: number for key, number in read.items() if number is not None} or None


def _strings(value: Any, place: str) -> dict[str, str] | None:
    shown = {key: item if isinstance(item, str) else _shown(item) for key, item in _mapping(value, place).items()}
    return {key: _text(item, place) or "" for key, item in shown.items() if item != "null"} or None


def _mapping(value: Any, place: str) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise Broken(f"{place}: {_shown(value)} is no object")
    return {_text(key, place) or "": item for key, item in (value or {}).items()}


def _raw(value: Any, place: str) -> msgspec.Raw:
    if value is None:
        return ABSENT
    try:
        return msgspec.Raw(msgspec.json.encode(value))
    except (RecursionError, OverflowError, TypeError, UnicodeEncodeError, msgspec.EncodeError):
        raise Broken(f"{place}: not to be written as JSON") from None


def _moment(value: Any, _place: str) -> str | None:
    """Return a time of the data; None for one out of range (watermarks run to the end of time)."""
    return as_instant(value)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "name": _text,
    "operator_name": _text,
    "description": _text,
    "custom_metrics": _numbers,
    "metrics": _strings,
    **dict.fromkeys(("watermark", "max", "min", "avg"), _moment),
}


def _shown(value: Any) -> str:
    """A short, printable form of a value that did not fit, without credentials."""
    if isinstance(value, (dict, list)):
        return repr(type(value).__name__)
    text = redact(value) if isinstance(value, str) else str(value)[:80]
    return repr(text[:40] + "…" if len(text) > 40 else text)


def _of_spark_2_0(status: dict[str, Any]) -> dict[str, Any]:
    """Spark 2.0's query status in later words.

    It times everything but the batch's own job; addBatch is what the other phases leave of the full trigger.
    """
    details = _mapping(status.get("triggerDetails"), "triggerDetails")
    durations = {name: details[key] for key, name in _LATENCIES_2_0.items() if key in details}
    if str(details.get("isDataPresentInTrigger")).lower() == "true" and "triggerExecution" in durations:
        parts = {name: _whole(value, f"triggerDetails.{name}") or 0 for name, value in durations.items()}
        durations["addBatch"] = max(0, 2 * parts["triggerExecution"] - sum(parts.values()))
    return {
        "id": status.get("id"),
        "name": status.get("name"),
        "timestamp": details.get("timestamp.triggerStart", status.get("timestamp")),
        "batchId": details.get("batchId"),
        "numInputRows": details.get("numRows.input.total"),
        "inputRowsPerSecond": status.get("inputRate"),
        "processedRowsPerSecond": status.get("processingRate"),
        "durationMs": durations,
        "sources": [_source_2_0(source) for source in _sources_2_0(status.get("sourceStatuses"))],
        "sink": {"description": _mapping(status.get("sinkStatus"), "sinkStatus").get("description")},
    }


def _sources_2_0(statuses: Any) -> list[dict[str, Any]]:
    if statuses is not None and not isinstance(statuses, list):
        raise Broken(f"sourceStatuses: {_shown(statuses)} is no list")
    return [source for source in statuses or [] if isinstance(source, dict)]


def _source_2_0(source: dict[str, Any]) -> dict[str, Any]:
    details = _mapping(source.get("triggerDetails"), "triggerDetails")
    return {
        "description": source.get("description"),
        "endOffset": source.get("offsetDesc"),
        "numInputRows": details.get("numRows.input.source"),
        "inputRowsPerSecond": source.get("inputRate"),
        "processedRowsPerSecond": source.get("processingRate"),
    }


_LATENCIES_2_0 = {
    "latency.fullTrigger": "triggerExecution",
    "latency.getOffset.total": "getOffset",
    "latency.getBatch.total": "getBatch",
    "latency.offsetLogWrite": "walCommit",
    "latency.optimizer": "queryPlanning",
}
