"""One thing that a log or a session revealed besides progress."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

LATE_BATCH: Final = "late_batch"
"""What a line about falling behind says: [interval, time spent] in ms. It is no fact of a run by itself."""


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
