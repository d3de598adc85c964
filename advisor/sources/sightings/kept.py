"""Facts that a session told of a run, as the lines of a history keep them beside its events."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from advisor.facts import ORIGINS
from advisor.redaction import redact
from advisor.sources.sightings.line import Line, Told

MARK: Final = b'{"latencyAdvisorFact":'


class _Kept(msgspec.Struct, rename={"fact": "latencyAdvisorFact", "origin": "from"}):
    fact: str
    value: Any
    origin: str
    of: str


def fact_line(id: str, run_id: str, fact: str, value: Any, origin: str) -> bytes:
    """Return a fact of a run as one line, without credentials; it names the run as Spark's own lines do."""
    value = redact(value) if isinstance(value, str) else value
    return msgspec.json.encode(_Kept(fact, value, origin, f"[id = {id}, runId = {run_id}]"))


def read_fact(line: Line) -> list[Told]:
    """Read such a line; nothing of one that somebody changed."""
    try:
        kept = msgspec.json.decode(line.text, type=_Kept)
    except msgspec.MsgspecError:
        return []
    return [Told(kept.fact, kept.value, kept.origin)] if kept.origin in ORIGINS else []
