"""Offsets of sources: their text, and the rows between two of them where offsets count rows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

_RATE = re.compile(r"^RateStream(?:V2|Source)?\[.*?rowsPerSecond=(\d+), rampUpTimeSeconds=0\b")
_LONGEST_COUNT = 2**63 - 1


class Offset(NamedTuple):
    """One offset: compact JSON, and its counters by place (`topic/partition`; "" for a plain number)."""

    text: str | None
    counts: dict[str, int] | None


NONE = Offset(None, None)


class Offsets:
    """Reads offsets, each distinct one once: a batch starts where the one before it ended."""

    def __init__(self) -> None:
        self._read: dict[bytes, Offset] = {}

    def read(self, raws: Iterable[msgspec.Raw | None]) -> list[Offset]:
        """The offsets of one column."""
        return [NONE if raw is None else self._of(bytes(raw)) for raw in raws]

    def _of(self, raw: bytes) -> Offset:
        found = self._read.get(raw)
        if found is None:
            found = self._read[raw] = parse(raw)
        return found


def parse(raw: bytes) -> Offset:
    """The offset in JSON text; in an event log the JSON stands inside a JSON string."""
    if raw[:1] == b'"':
        raw = _inside(raw)
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return Offset(raw.decode("utf-8", "replace"), None)
    if value is None:
        return NONE
    return Offset(msgspec.json.format(raw, indent=-1).decode("utf-8", "replace"), _counts(value))


def _inside(raw: bytes) -> bytes:
    text: str = msgspec.json.decode(raw, type=str)
    return text.encode() if _is_json(text) else raw


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _counts(value: Any) -> dict[str, int] | None:
    if isinstance(value, int):
        return _if_counters({"": value})
    if not isinstance(value, dict) or not value:
        return None
    if isinstance(value.get("offset"), int) and value.keys() <= {"offset", "timestamp"}:
        return _if_counters({"offset": value["offset"]})
    if not all(isinstance(partitions, dict) for partitions in value.values()):
        return None
    return _if_counters({f"{topic}/{n}": at for topic, partitions in value.items() for n, at in partitions.items()})


def _if_counters(counts: dict[str, Any]) -> dict[str, int] | None:
    """The counters, if each is a number of a row: negative ones stand for earliest and latest."""
    fits = all(type(count) is int and 0 <= count <= _LONGEST_COUNT for count in counts.values())
    return counts if fits and counts else None


def rows_between(start: Offset, end: Offset, description: str | None) -> int | None:
    """Rows from one offset to a later one; None where these offsets do not count rows, or not the same partitions."""
    old, new = start.counts, end.counts
    if old is None or new is None or old.keys() != new.keys():
        return None
    rows = sum(new.values()) - sum(old.values())
    scale = _rows_per_step(description or "") if "" in new else 1
    return rows * scale if rows >= 0 and rows * scale <= _LONGEST_COUNT and scale else None


def _rows_per_step(description: str) -> int:
    """What one step of a plain number is worth: a row of a socket, a second of the rate source; 0 when unknown."""
    if description.startswith("TextSocket"):
        return 1
    rate = _RATE.match(description)
    return int(rate[1]) if rate else 0
