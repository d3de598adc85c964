"""One log line, plain or structured: its message, its logger and the run that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple

import msgspec
from stringzilla import find, rfind

from advisor.batches import Broken
from advisor.facts import Sighting
from advisor.redaction import redact

_LONGEST: Final = 1 << 18
_AFTER: Final = 4096
_PLAN: Final = 1 << 16  # the lines of a plan may be long
_QUERY: Final = re.compile(r"\[id = ([0-9a-f-]{36}), runId = ([0-9a-f-]{36})\]")
OF_SPARK: Final = re.compile("[0-9a-f-]{36}")
"""An id as Spark makes it, which is no credential and new in each log: to hide nothing in it takes long."""


class _Error(msgspec.Struct):
    class_: str | None = msgspec.field(default=None, name="class")
    msg: str | None = None


class _Structured(msgspec.Struct):
    msg: str
    ts: str | None = None
    logger: str | None = None
    context: dict[str, Any] = msgspec.field(default_factory=dict)
    exception: _Error | None = None


_DECODER: Final = msgspec.json.Decoder(_Structured)


class Told(NamedTuple):
    """A fact and its value, with the origin and the query where they differ from what the line itself names."""

    fact: str
    value: Any
    origin: str = "log"
    id: str | None = None
    run_id: str | None = None


class Line(msgspec.Struct, frozen=True):
    """A log line around a marker; `text` holds the message (of a plain line: the line), `after` what follows it."""

    text: str
    after: str
    offset: int
    logger: str | None = None
    id: str | None = None
    run_id: str | None = None
    timestamp: datetime | None = None


def lines_with(region: bytes, marker: bytes, most: int) -> Iterator[Line]:
    """The lines of `region` that hold `marker`, at most `most` of them: the first ones and the last."""
    position, count = find(region, marker), 0
    while position >= 0:
        count += 1
        if count == most:
            position = rfind(region, marker)
        yield line_at(region, position)
        end = region.find(b"\n", position)
        position = find(region, marker, end) if end > 0 and count < most else -1


def line_at(region: bytes, position: int) -> Line:
    """The line around `position`; of a very long one the part around it."""
    start = max(region.rfind(b"\n", 0, position) + 1, position - _LONGEST)
    end = region.find(b"\n", position)
    end = min(end if end >= 0 else len(region), position + _LONGEST)
    raw = region[start:end]
    structured = raw.find(b'{"ts"')  # a progress bar may stand before it
    if structured >= 0:
        line = _structured(raw[structured:], start)
        if line is not None:
            return line
    text = raw.decode("utf-8", "replace").rstrip("\r")
    query = _QUERY.search(text)
    after = region[end + 1 : end + 1 + (_PLAN if raw.endswith(b" plan:") else _AFTER)].decode("utf-8", "replace")
    query_id, run_id = query.groups() if query else (None, None)
    return Line(text, after, start, None, query_id, run_id)


def _structured(raw: bytes, offset: int) -> Line | None:
    try:
        record = _DECODER.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    context = {key.lower(): value for key, value in record.context.items()}
    query = _QUERY.search(record.msg)
    query_id, run_id = query.groups() if query else (_text(context.get("query_id")), _text(context.get("run_id")))
    error = record.exception
    after = f"{error.class_ or 'error'}: {error.msg or ''}" if error else ""
    return Line(record.msg, after, offset, record.logger or "", query_id, run_id, _time(record.ts))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _time(text: str | None) -> datetime | None:
    """The time of a structured line, which is UTC."""
    try:
        return datetime.fromisoformat((text or "").replace("Z", "+00:00")).astimezone(timezone.utc)
    except ValueError:
        return None


def sighting(found: Told, line: Line, *, log: str, file: str, base: int) -> Sighting:
    """Return what a line revealed as a row of the table of sightings; credentials are removed."""
    value = redact(found.value) if isinstance(found.value, str) else found.value
    text = msgspec.json.encode(value).decode()
    return Sighting(
        _safe(found.id or line.id),
        _safe(found.run_id or line.run_id),
        log,
        redact(found.fact),
        text,
        found.origin,
        file,
        base + line.offset,
        line.timestamp,
    )


def _safe(id: str | None) -> str | None:
    return redact(id) if id and not OF_SPARK.fullmatch(id) else id


def torn(broken: Sequence[Broken], log: str) -> list[Sighting]:
    """Return that some of a log could not be read, which concerns all its queries; nothing where all of it was read."""
    return [Sighting(None, None, log, "records_torn", "true", "log", broken[0].file, 0)] if broken else []
