"""Find whose batch was late: a line about falling behind names no query, but gives its batch's length."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.facts.sighting import LATE_BATCH, Sighting

_AFTER_MS, _AFTER_SHARE = 100.0, 0.02
"""How much longer than its triggerExecution a late batch may have been: progress is reported in between."""
_BACK: Final = 100
"""Events before the line that are looked at: one of each query that runs beside the late one."""


class _Event(NamedTuple):
    offset: int
    run_id: str
    took: float


def late_batches(rows: Iterable[Sighting], batches: pa.Table) -> list[Sighting]:
    """Trigger, interval and `falling_behind` of the runs whose batches those were; of a line that fits two, of none.

    Spark writes the line right after the progress of the batch.
    """
    late = [row for row in rows if row.fact == LATE_BATCH and not row.run_id]
    if not late or pc.count_distinct(batches["run_id"]).as_py() < 2:
        return []
    events = {file: _events(batches, file) for file in {row.file for row in late}}
    found: list[Sighting] = []
    for row in late:
        interval, spent = json.loads(row.value)
        run_id = _of(events[row.file], row.offset, spent)
        read = {"falling_behind": True, "trigger": "processing_time", "trigger_interval_ms": interval}
        if run_id is not None:
            found += [row._replace(run_id=run_id, fact=fact, value=json.dumps(value)) for fact, value in read.items()]
    return found


def _events(batches: pa.Table, file: str) -> list[_Event]:
    """The events of a file in order of place."""
    own = batches.filter(pc.equal(batches["file"], file))
    took = np.asarray(own["trigger_execution_ms"].cast(pa.float64()))
    offsets, runs = own["offset"].to_pylist(), own["run_id"].to_pylist()
    return sorted(_Event(*one) for one in zip(offsets, runs, took.tolist(), strict=True))


def _of(events: list[_Event], offset: int, spent: int) -> str | None:
    """The run whose last batch before this place took so long; None where none did, or several."""
    end = bisect_left(events, offset, key=lambda event: event.offset)
    last = {event.run_id: event.took for event in events[max(0, end - _BACK) : end]}
    allowed = max(_AFTER_MS, _AFTER_SHARE * spent)
    fitting = [run_id for run_id, took in last.items() if 0 <= spent - took <= allowed]
    return fitting[0] if len(fitting) == 1 else None
