"""One thing that a log or a session revealed besides progress."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

LATE_BATCH: Final = "late_batch"
"""The content of a line about falling behind: [interval, time spent] in ms. By itself it is no fact of a run."""


class Sighting(NamedTuple):
    """What one place of a log revealed besides progress: a row of the table of sightings, `value` as JSON text."""

    id: str | None
    run_id: str | None
    log: str
    fact: str
    value: str
    origin: str
    file: str
    offset: int
    timestamp: Any = None
