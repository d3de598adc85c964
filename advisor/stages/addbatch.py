"""When addBatch ran, and which of its parts gives up the time that a line names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from advisor.stages.inside import Gathered, Inside
from advisor.stages.parts import DRIVER, PLACE, Times
from advisor.stages.triggers import Triggers
from advisor.stages.work import Job, Note


def bounds_of(gathered: Gathered, triggers: Triggers, at: np.ndarray) -> np.ndarray:
    """When addBatch of each batch began and ended, ms since 1970; `at`: its trigger.

    It ends before the commit log, which ends the trigger. Without that phase (before Spark 3.4) it begins behind the
    phases before it. Jobs that reach out a little, as the phases leave some milliseconds out, move it; its length
    stays Spark's own. If the log's clock does not show it, it is its jobs' own time.
    """
    start, length = triggers.start[at], triggers.add_batch[at]
    till_commit, in_order = triggers.whole[at] - triggers.commit[at], triggers.before[at] + length
    end = start + np.where(np.isnan(till_commit), in_order, till_commit)
    of, starts, ends = gathered.of_job, gathered.start, gathered.end
    there = (starts < end[of]) & (ends > (end - length)[of])
    ended = there & np.isfinite(ends)
    np.maximum.at(end, of[ended], ends[ended])
    np.minimum.at(end, of[there], (starts + length[of])[there])
    own = np.tile([np.inf, -np.inf], (len(gathered), 1))
    np.minimum.at(own[:, 0], of, starts)
    np.maximum.at(own[:, 1], of, np.where(np.isfinite(ends), ends, starts))
    return np.where(gathered.clock[:, None], np.column_stack([end - length, end]), own)


def strangers_of(gathered: Gathered, bounds: np.ndarray) -> Times:
    """Jobs without a batch that began and ended while addBatch of one ran: only they may be that batch's."""
    found = [
        (place, job.start, job.end)
        for place, inside in enumerate(gathered.insides)
        if inside.work.strangers and inside.work.clock
        for job in _between(inside.work.strangers, *bounds[place].tolist())
    ]
    rows = np.array(found, float).reshape(-1, 3)
    return Times(rows[:, 0].astype(np.int64), rows[:, 1:])


def _between(jobs: Sequence[Job], begin: float, end: float) -> list[Job]:
    """Those of these jobs, which are in order, that began and ended in that time."""
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
    """Return which of the driver's parts gives up the time that a line names."""
    if not inside.work.clock:
        return ["driver_ms"]
    if note.time <= min(job.start for job in inside.jobs):
        return DRIVER[:1]
    return DRIVER[:0:-1] if note.name == "sink_commit_ms" else DRIVER[1:]
