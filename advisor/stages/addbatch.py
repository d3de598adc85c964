"""When addBatch was, and from which of its parts the time is taken that a line tells of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from advisor.stages.inside import Inside, Row
from advisor.stages.parts import DRIVER, PLACE, Clock
from advisor.stages.work import Job, Note


def clock_of(inside: Inside, row: Row) -> Clock:
    """When addBatch was; where the log's clock does not tell, its jobs' own time."""
    jobs = inside.jobs
    if inside.work.clock:
        begin, end = _span(jobs, row)
        return Clock(
            begin, end, _during(jobs, begin, end), inside.attempts, _strangers(inside.work.strangers, begin, end)
        )
    ends = (job.start if job.end is None else job.end for job in jobs)
    return Clock(min(job.start for job in jobs), max(ends), jobs, inside.attempts)


def _span(jobs: Sequence[Job], row: Row) -> tuple[float, float]:
    """When addBatch began and ended, ms since 1970: it ends before the commit log, which ends the trigger.

    Without that phase (before Spark 3.4) it begins behind the phases before it. Jobs that reach out a little, as the
    phases leave some milliseconds out, move it; its length stays Spark's own.
    """
    start, length = float(row.timestamp), float(row.add_batch_ms)
    if row.commit_offsets_ms is not None and row.trigger_execution_ms is not None:
        end = start + row.trigger_execution_ms - row.commit_offsets_ms
    else:
        end = start + sum(ms or 0 for ms in row.before) + length
    there = _during(jobs, end - length, end)
    end = max([end, *(job.end for job in there if job.end is not None)])
    end = min([end, *(job.start + length for job in there)])
    return end - length, end


def _during(jobs: Sequence[Job], begin: float, end: float) -> list[Job]:
    return [job for job in jobs if job.start < end and (job.end is None or job.end > begin)]


def _strangers(jobs: Sequence[Job], begin: float, end: float) -> list[Job]:
    """Those of these jobs, which are in order, that began and ended in that time: only they may be the batch's."""
    some = jobs[bisect_left(jobs, begin, key=attrgetter("start")) : bisect_left(jobs, end, key=attrgetter("start"))]
    return [job for job in some if job.end is not None and job.end <= end]


def move(parts: np.ndarray, part: str, ms: float, homes: Sequence[str]) -> None:
    """So many milliseconds of the parts `homes`, as far as they hold as much, are of this part."""
    for home in homes:
        taken = min(ms, parts[PLACE[home]])
        parts[PLACE[home]] -= taken
        parts[PLACE[part]] += taken
        ms -= taken


def gather(parts: np.ndarray, ms: float) -> None:
    """All but jobs is the driver's, of which is not known when; together they are so many milliseconds."""
    parts[[PLACE[part] for part in DRIVER]] = 0.0
    jobs = parts.sum()
    if jobs > ms:
        parts *= ms / jobs
    else:
        parts[PLACE["driver_ms"]] = ms - jobs


def homes_of(inside: Inside, note: Note) -> Sequence[str]:
    """Which of the driver's parts the time is taken from that a line tells of."""
    if not inside.work.clock:
        return ["driver_ms"]
    if note.time <= min(job.start for job in inside.jobs):
        return DRIVER[:1]
    return DRIVER[:0:-1] if note.name == "sink_commit_ms" else DRIVER[1:]
