"""Facts that a session told of a run, as the lines of a history keep them beside its events."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from advisor.facts import CONF, EXECUTOR, FACTS, ORIGINS, check_value
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
    return [Told(kept.fact, kept.value, kept.origin)] if kept.origin in ORIGINS and _fits(kept) else []


def _fits(kept: _Kept) -> bool:
    """Whether the fact is known and its value one that it may have."""
    values = kept.value if isinstance(kept.value, list) else [kept.value]
    plain = all(isinstance(value, str | int | float | None) for value in values)
    if not plain or kept.fact.startswith((CONF, EXECUTOR)):
        return plain
    return kept.fact in FACTS and check_value(FACTS[kept.fact], kept.value)
