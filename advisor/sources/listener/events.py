"""Read the events of a session's queries, whether they are Java's objects behind Py4J or PySpark's own."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Started(NamedTuple):
    """A run began; `at` is ISO 8601, nothing where no text came."""

    id: str
    run_id: str
    name: str | None
    at: str


def started(event: Any) -> Started:
    """Read which query started, and when."""
    return Started(*_ids(event), _text(_of(event, "name")), _text(_of(event, "timestamp")) or "")


def progress(event: Any) -> bytes:
    """Return the progress of an event as JSON; of Java's in two round trips."""
    return as_json(_of(event, "progress"))


def idle(event: Any) -> tuple[str, str, Any]:
    """Return (id, run id, since when) of a query that waits for data: as ISO 8601 if right, and whatever came."""
    return *_ids(event), _of(event, "timestamp")


def ended(event: Any) -> tuple[str, str, str | None]:
    """Return (id, run id, the error's whole text, None without one) of a run that ended; Java's is Scala's option."""
    error = _of(event, "exception")
    if hasattr(error, "isDefined"):
        error = error.get() if error.isDefined() else None
    return *_ids(event), None if error is None else str(error)


def as_json(progress: Any) -> bytes:
    """Return a progress as JSON: a plain dict in PySpark before 4.0, else an object that knows its JSON."""
    text: str = json.dumps(progress) if type(progress) is dict else _of(progress, "json")
    return text.encode()


def _of(thing: Any, name: str) -> Any:
    """Return what Java's objects give by a method, a round trip, and PySpark's as an attribute."""
    found = getattr(thing, name)
    return found() if callable(found) else found


def _ids(event: Any) -> tuple[str, str]:
    return str(_of(event, "id")), str(_of(event, "runId"))


def _text(thing: Any) -> str | None:
    """Return a text as it is; of anything else nothing, which a client may be sent, too."""
    return thing if isinstance(thing, str) else None
