"""Which batch the jobs of a driver's log belong to, and what their stages are for."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from advisor.sources.stages.events import Event, Events, Place
from advisor.stages import Attempt, Batch, Job, Note, Work

if TYPE_CHECKING:
    from advisor.sources.stages.begun import Begun

_QUARTER_MS = 900_000
"""Zones differ by quarters of an hour."""
_CLOCKS_MS = 1_000
"""By so much a line may stand before what it tells of; a job that ended earlier than its batch began is none of it."""


def settle(
    work: Work,
    jobs: Sequence[Begun],
    notes: Iterable[tuple[Place, Note]],
    events: Events,
    *,
    shift: bool,
) -> None:
    """Give each job its batch, each stage its kind and what progress says of its state; notes go to `work`.

    With `shift` the log's clock may be that of another zone than UTC.
    """
    by_batch: dict[Batch, tuple[Event, list[Begun]]] = {}
    for begun in jobs:
        event = events.of(begun.place, begun.named)
        begun.job.description = begun.what
        if event:
            by_batch.setdefault(event.batch, (event, []))[1].append(begun)
    zone = _zone(by_batch.values()) if work.clock and shift else 0.0
    work.strangers += [begun.job for begun in jobs if not begun.named and events.of(begun.place, None) is None]
    for event, members in by_batch.values():
        own = [begun for begun in members if not work.clock or _ended(begun) + zone > event.begin - _CLOCKS_MS]
        for begun in own:
            begun.job.batch = event.batch
        _settle_batch(event, own)
    for place, note in notes:
        event = events.of(place, None)
        if event:
            work.notes.append(note._replace(batch=event.batch))
    if zone:
        work.move(zone)


def name_batches(jobs: Iterable[Job], events_of: Callable[[], Events]) -> None:
    """Give jobs that say less than their batch and run what is missing, from the triggers in which they began.

    A function that sets a job group of its own leaves query and batch, but not the run. A thread that it starts leaves
    nothing; its job belongs to the batch that ran, if it reads a stream and no other batch ran then.
    """
    lacking = [job for job in jobs if (job.streams if job.batch is None else job.batch.run_id is None)]
    runs: dict[str | None, list[Event]] = defaultdict(list)
    for event in events_of().all if lacking else ():
        runs[event.batch.run_id].append(event)
    for events in runs.values():
        events.sort(key=attrgetter("begin"))
    for job in lacking:
        before = [
            events[at - 1]
            for events in runs.values()
            if (at := bisect_right(events, job.start, key=attrgetter("begin")))
        ]
        fitting = {event.batch for event in before if job.start <= event.end and _same(job.batch, event.batch)}
        if len(fitting) == 1:
            job.batch = fitting.pop()


def _same(said: Batch | None, batch: Batch) -> bool:
    """Whether a batch may be the one of which a job says query and number."""
    return said is None or (said.id, said.batch_id) == (batch.id, batch.batch_id)


def _settle_batch(event: Event, jobs: Sequence[Begun]) -> None:
    """Stages without parents read the source, if progress counts as many reads as there are such jobs; else one of
    several may read something else, and which of them does not stand in the log.
    """
    own = [begun for begun in jobs if not begun.what and not begun.background]
    for begun in jobs:
        for attempt in begun.attempts:
            attempt.what = begun.what or attempt.what
            attempt.kind = _kind(attempt, begun)
    leaves = [leaf for begun in own for leaf in begun.leaves]
    of_jobs = sum(bool(begun.leaves) for begun in own)
    for leaf in leaves:
        leaf.kind = "source_read" if of_jobs == 1 or (event.reads or 0) >= of_jobs else None
    _settle_state(event, [attempt for begun in own for attempt in begun.attempts], {id(leaf) for leaf in leaves})


def _kind(attempt: Attempt, begun: Begun) -> str:
    if begun.what or begun.background:
        return "table_log" if begun.what else "other"
    return "result" if attempt.last else "shuffle"


def _settle_state(event: Event, attempts: Sequence[Attempt], leaves: set[int]) -> None:
    """Stages with as many tasks as there are partitions of the state hold it; its sums go by their tasks' time."""
    if not event.partitions:
        return
    fitting = [attempt for attempt in attempts if attempt.tasks in event.partitions]
    holding = [attempt for attempt in fitting if id(attempt) not in leaves] or fitting
    whole = sum(attempt.numbers.get("task_ms", 0.0) for attempt in holding)
    for attempt in holding:
        attempt.kind = "state"
        share = attempt.numbers.get("task_ms", 0.0) / whole if whole else 1 / len(holding)
        attempt.numbers.update({name: ms * share for name, ms in event.sums.items()})


def _zone(batches: Iterable[tuple[Event, list[Begun]]]) -> float:
    """What turns the log's clock into UTC, ms: jobs end before their batch's trigger does."""
    off = [event.end - max(map(_ended, jobs)) for event, jobs in batches]
    return float(round(np.median(off) / _QUARTER_MS) * _QUARTER_MS) if off else 0.0


def _ended(begun: Begun) -> float:
    return begun.job.start if begun.job.end is None else begun.job.end
