"""Up to when an event log has told all that ran, although it goes on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from advisor.stages import Job

_SILENT_MS = 3_600_000
"""Of a query of which nothing was heard for so long nothing older will come."""
LOST = 2048
"""Behind so many others a job that has not ended will not: the line is lost."""


class Horizon:
    """Knows of one application when each of its queries was heard of last; times are ms since 1970."""

    def __init__(self) -> None:
        self._heard: dict[str | None, float] = {}

    def known(self, jobs: Sequence[Job], batches: pa.Table) -> float:
        """Up to when all is known: before any job began that runs, or a trigger of which there is no event.

        `jobs` in order; `batches` are the events since it was asked before.
        """
        heard = self._heard
        for job in jobs:
            if job.batch:
                heard.setdefault(job.batch.id, job.start)
        for query, end in _last(batches):
            heard[query] = max(heard.get(query, end), end)
        newest = max(heard.values(), default=0.0)
        last = jobs[-1].nth if jobs else 0
        running = [job.start for job in jobs if job.end is None and job.nth > last - LOST]
        return min([time for time in heard.values() if time > newest - _SILENT_MS] + running, default=0.0)

    def waits(self, job: Job) -> bool:
        """Whether the event of a job's batch is to come."""
        return job.batch is not None and job.start >= self._heard.get(job.batch.id, job.start)


def ends_of(batches: pa.Table) -> pa.ChunkedArray:
    """When the triggers ended, ms since 1970; null where that is not known."""
    start = batches["timestamp"].cast(pa.int64())
    return pc.add(start, pc.fill_null(batches["trigger_execution_ms"], 0)).cast(pa.float64(), safe=False)


def _last(batches: pa.Table) -> Iterable[tuple[str | None, float]]:
    """(each query, when the last of its triggers ended)."""
    ends = pa.table({"id": batches["id"], "end": ends_of(batches)}).drop_null()
    last = ends.group_by("id").aggregate([("end", "max")])
    return zip(last["id"].to_pylist(), last["end_max"].to_pylist(), strict=True)
