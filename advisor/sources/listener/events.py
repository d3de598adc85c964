"""The events of a session's queries, in the two forms in which PySpark delivers them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Protocol


class Started(NamedTuple):
    """A run began; `at` is ISO 8601, nothing where no text came."""

    id: str
    run_id: str
    name: str | None
    at: str


class Idle(NamedTuple):
    """A query waits for data; `at` should be ISO 8601, and is whatever came."""

    id: str
    run_id: str
    at: Any


class Ended(NamedTuple):
    """A run ended: stopped in good order, or with an error whose whole text this is."""

    id: str
    run_id: str
    error: str | None


class Form(Protocol):
    """Reads events of one form."""

    def started(self, event: Any) -> Started: ...  # noqa: D102

    def progress(self, event: Any) -> bytes: ...  # noqa: D102

    def idle(self, event: Any) -> Idle: ...  # noqa: D102

    def ended(self, event: Any) -> Ended: ...  # noqa: D102


class OfJava:
    """Spark's own objects behind Py4J: each word here is a round trip, so the progress comes as one JSON text."""

    def started(self, event: Any) -> Started:
        """The query, its run, its name or None, and when it started."""
        return Started(*_ids_of_java(event), _text(event.name()), _text(event.timestamp()) or "")

    def progress(self, event: Any) -> bytes:
        """The event as JSON, two round trips."""
        text: str = event.progress().json()
        return text.encode()

    def idle(self, event: Any) -> Idle:
        """The query that waits."""
        return Idle(*_ids_of_java(event), event.timestamp())

    def ended(self, event: Any) -> Ended:
        """How the run ended."""
        error = event.exception()
        return Ended(*_ids_of_java(event), error.get() if error.isDefined() else None)


class OfPython:
    """PySpark's own event objects: the public way, and the only one on Spark Connect."""

    def started(self, event: Any) -> Started:
        """The query, its run, its name or None, and when it started."""
        return Started(str(event.id), str(event.runId), _text(event.name), _text(event.timestamp) or "")

    def progress(self, event: Any) -> bytes:
        """The event as JSON."""
        return recent(event.progress)

    def idle(self, event: Any) -> Idle:
        """The query that waits."""
        return Idle(str(event.id), str(event.runId), event.timestamp)

    def ended(self, event: Any) -> Ended:
        """How the run ended."""
        error = event.exception
        return Ended(str(event.id), str(event.runId), None if error is None else str(error))


def recent(progress: Any) -> bytes:
    """One entry of `recentProgress` as JSON: a plain dict before 4.0, an object that knows its JSON since."""
    text: str = json.dumps(progress) if type(progress) is dict else progress.json
    return text.encode()


def _text(thing: Any) -> str | None:
    """A text as it is; of anything else nothing, which a client may be sent, too."""
    return thing if isinstance(thing, str) else None


def _ids_of_java(event: Any) -> tuple[str, str]:
    return event.id().toString(), event.runId().toString()
