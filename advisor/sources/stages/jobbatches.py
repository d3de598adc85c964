"""Which batch the jobs of a log's applications belong to, and what stages are for: by the log's own progress events."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice, zip_longest
from math import inf, nextafter
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.arrays import Members
from advisor.facts.inspection import sink_kind, source_kind
from advisor.metrics.flow import folders_of, lies_in
from advisor.sources.stages.loggedjobs import BEGINNING, CLOCKS_MS, HOUR_MS, LOST, LoggedJob, Named, Place
from advisor.sources.stages.plans import ROWS
from advisor.stages import LISTING, VACUUM, Attempt, Batch, Job, Note, Work

_LOADS = "custom:rocksdbLoadLatencyMs"
_TIMES = ("commit_ms", "all_updates_ms", "all_removals_ms")
_COLUMNS = ("timestamp", "trigger_execution_ms", "add_batch_ms", "file", "offset", "operators", "sources", "sink")
_OF_FILES = frozenset({"file", "delta", "auto_loader", "other"})
"""Kinds of sources that may read files."""
_QUARTER_MS = 900_000
"""Zones differ by quarters of an hour."""
_STEADY = 2
"""How many batches behind each other have to show that the clock was put forward behind them."""
_OWN_PLACES = ("start at ", "toTable at ")
"""How the names of jobs begin that a query's own thread starts, outside of foreachBatch."""
_CAPTURED = "withThreadLocalCaptured"
"""In the names of jobs that adaptive execution or a broadcast starts for another thread than a query's own."""
_SEVERAL = 3
"""Before so many batches a thread has to start a job: the first one's may be of before the query."""


def settle(
    work: Work, jobs: Sequence[LoggedJob], notes: Iterable[tuple[Place, Note]], events: Events, *, shift: bool
) -> None:
    """Give each job its batch, each stage its kind and its share of the state's times; notes go to `work`.

    With `shift` the log's clock may be that of another zone than UTC.
    """
    jobs_of: dict[Batch, tuple[Event, dict[int, LoggedJob]]] = {}
    others = _of_others(jobs, events)
    work.knows_others |= bool(others)
    for job in jobs:
        if (event := events.of(job.place, job.named)) and id(job) not in others and not event.again:
            jobs_of.setdefault(event.batch, (event, {}))[1][job.job] = job  # the later copy of a job is whole
    by_batch = {batch: (event, [*members.values()]) for batch, (event, members) in jobs_of.items()}
    zones = dict(zip(by_batch, _zones([*by_batch.values()]), strict=True)) if work.clock and shift else {}
    last = next(reversed(zones.values()), (0.0, 0.0))
    work.strangers += [job for job in jobs if id(job) in others or not (job.named or events.of(job.place, None))]
    moved: dict[int, float] = {}
    for event, members in by_batch.values():
        moved |= {id(job): _zone(_ended(job), event, *zones.get(event.batch, last)) for job in members}
        if work.clock:
            own = [job for job in members if _ended(job) + moved[id(job)] > event.begin - CLOCKS_MS]
        else:  # a file source lists the files that it read before a restart in a job before the first batch
            longest = event.end - event.begin if events.is_first(event) and event.end > event.begin else inf
            own = [job for job in members if _ended(job) - job.start <= longest + CLOCKS_MS]
        for job in own:
            job.batch = event.batch
        _settle_batch(event, own)
    for place, note in notes:
        event = events.of(place, None)
        if event and not (others and note.trace) and not event.again:
            time = note.time + _zone(note.time, event, *zones.get(event.batch, last))
            work.notes.append(note._replace(batch=event.batch, time=time))
    for job in jobs:  # attempts know their jobs: as a cycle they would keep their memory for long
        job.attempts, job.leaves = [], []
    if any(moved.values()):
        work.move(lambda job: moved.get(id(job), last[0]))


def name_batches(jobs: Iterable[Job], events_of: Callable[[], Events]) -> None:
    """Give jobs that do not name their batch and run what is missing, from the triggers in which they began.

    A function that sets a job group of its own leaves query and batch, but not the run. A thread that it starts leaves
    nothing; its job belongs to the batch that ran, if it reads a stream and no other batch ran then.
    """
    lacking = [job for job in jobs if (job.streams if job.batch is None else job.batch.run_id is None)]
    if not lacking:
        return
    events = events_of()
    for job in lacking:
        job.batch = events.alone(job.start, job.batch) or job.batch


def _of_others(jobs: Sequence[LoggedJob], events: Events) -> set[int]:
    """Return which jobs another thread of the application runs, as its code also starts some where no batch can.

    Between the event of a batch and the offsets of the next one only a source of files, or a thread, starts jobs.
    Those of the source have the place of start(), as all of the query's own thread.
    """
    between: dict[str, set[Batch]] = defaultdict(set)
    for job in jobs:
        own = job.named or job.description or (job.background and _CAPTURED not in job.name)
        event = None if own else events.of(job.place, None)
        if event is None or event.folders is None or job.before != event.batch.batch_id:
            continue
        if not (event.folders and job.name.startswith(_OWN_PLACES)):
            between[job.name].add(event.batch)
    names = {name for name, batches in between.items() if len(batches) >= _SEVERAL}
    tell = any(job.named for job in jobs)  # then all jobs of the query's own thread name it
    return {id(job) for job in jobs if names and not job.named and (tell or job.name in names)}


def _settle_batch(event: Event, jobs: Sequence[LoggedJob]) -> None:
    """Set the kinds of a batch's stages.

    Stages without parents read the source, if progress counts as many reads as there are such jobs; else one of several
    may read something else. Lines of tasks that read files say which.
    """
    own = [job for job in jobs if not _beside(job, event)]
    for job in jobs:
        beside = _beside(job, event)
        for attempt in job.attempts:
            attempt.what = job.description or attempt.what
            attempt.kind = beside or ("result" if attempt.last else "shuffle")
    leaves = [leaf for job in own for leaf in job.leaves]
    scans = {id(leaf) for leaf in _beside_source(leaves, event.folders)}
    of_jobs = sum(any(id(leaf) not in scans for leaf in job.leaves) for job in own)
    for leaf in leaves:
        reads = "source_read" if of_jobs == 1 or (event.reads or 0) >= of_jobs else None
        leaf.kind = "other" if id(leaf) in scans else reads
    _settle_state(event, [attempt for job in own for attempt in job.attempts], {id(leaf) for leaf in leaves})


def settle_scans(attempts: Iterable[Attempt], events_of: Callable[[], Events]) -> None:
    """Set the kind of an event log's stages that read tables, in batches whose source reads files, too."""
    scans: dict[tuple[str | None, int], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        if attempt.kind == "scan" and attempt.paths and attempt.job and (batch := attempt.job.batch):
            scans[batch.id, batch.batch_id].append(attempt)
    for event in events_of().all if scans else ():
        some = scans[event.batch.id, event.batch.batch_id]
        for attempt in _beside_source(some, [*event.folders, ROWS] if event.folders else None):
            attempt.kind = "other"


def _beside_source(attempts: Sequence[Attempt], folders: Sequence[str] | None) -> list[Attempt]:
    """Return which attempts read files in none of a source's folders: none, if none reads them by these names."""
    known = [attempt for attempt in attempts if attempt.paths and folders is not None]
    apart = [one for one in known if not any(lies_in(path, folders or ()) for path in one.paths)]
    return apart if len(apart) < len(known) or not folders else []


def _beside(job: LoggedJob, event: Event) -> str | None:
    """Return the kind of a job that is not the batch's own work.

    It works on a table's log, lists folders that are not the stream's, runs in the background, or is a VACUUM's.
    """
    if job.description.startswith("Delta: "):
        return "table_log"
    lists = job.description == LISTING and event.folders == []
    return "other" if lists or job.background or job.description == VACUUM else None


def _settle_state(event: Event, attempts: Sequence[Attempt], leaves: set[int]) -> None:
    """Give the state to stages with as many tasks as it has partitions, and its sums by their tasks' time."""
    if not event.partitions:
        return
    fitting = [attempt for attempt in attempts if attempt.tasks in event.partitions]
    holding = [attempt for attempt in fitting if id(attempt) not in leaves] or fitting
    whole = sum(attempt.numbers.get("task_ms", 0.0) for attempt in holding)
    for attempt in holding:
        attempt.kind = "state"
        share = attempt.numbers.get("task_ms", 0.0) / whole if whole else 1 / len(holding)
        attempt.numbers.update({name: ms * share for name, ms in event.sums.items()})


def _zones(batches: Sequence[tuple[Event, list[LoggedJob]]]) -> Iterator[tuple[float, float]]:
    """Yield for each batch what turns the log's clock into UTC, ms, and what did so in the batch before.

    Jobs end before their batch's trigger does, in summer too.
    """
    ends = [max(map(_ended, jobs)) for _, jobs in batches]
    off = [round((event.end - end) / _QUARTER_MS) * _QUARTER_MS for (event, _), end in zip(batches, ends, strict=True)]
    zone = float(np.percentile(off, 50, method="lower")) if off else 0.0
    for at, ((event, _), end) in enumerate(zip(batches, ends, strict=True)):
        before, moved = zone, zone - off[at]
        steady = off[at : at + _STEADY] == [off[at]] * _STEADY  # jobs of before the batch may end an hour early, too
        if (moved == HOUR_MS or (moved == -HOUR_MS and steady)) and not _lies_in(event, end + zone):
            zone = off[at]
        yield zone, before


def _zone(time: float, event: Event, zone: float, before: float) -> float:
    """Return the zone of a time in a batch: the one before, if the clock was put forward behind it."""
    early = time + zone <= event.begin - CLOCKS_MS
    return before if early and _lies_in(event, time + before) else zone


def _lies_in(event: Event, time: float) -> bool:
    return event.begin - CLOCKS_MS < time < event.end + CLOCKS_MS


def _ended(job: LoggedJob) -> float:
    return job.start if job.end is None else job.end


@dataclass(slots=True)
class Event:
    """A batch's event: it stands behind the lines of the batch's jobs."""

    place: Place
    batch: Batch
    begin: float
    end: float
    partitions: frozenset[int]
    sums: Mapping[str, float]
    reads: int | None
    folders: Sequence[str] | None
    """Where its sources read files; None if they or its sink may read some anywhere."""
    again: bool = False
    """Whether it stands in the log before, as where pieces of a log overlap."""


class Events:
    """The events of one log in order; finds the one to which a line belongs."""

    def __init__(
        self, batches: pa.Table, files: Mapping[str, int], since: Place = BEGINNING, until: Place | None = None
    ) -> None:
        """Take events of `batches` in these numbered files, from `since` up to `until`."""
        own = between(batches.select([*Batch._fields, *_COLUMNS]), files, since, until)
        self.all = sorted(_events(own, files), key=attrgetter("place"))
        self._places = [event.place for event in self.all]
        seen: set[Batch] = set()
        for event in self.all:
            event.again = event.batch in seen
            seen.add(event.batch)
        self._named: dict[int, dict[Named, list[Event]]] = {}
        self._reach: dict[str | None, tuple[Place, Place]] = {}
        for event in self.all:
            first, _ = self._reach.get(event.batch.run_id, (event.place, event.place))
            self._reach[event.batch.run_id] = first, event.place
        long = [(first, last) for first, last in self._reach.values() if first < last]
        self._firsts, self._lasts = sorted(first for first, _ in long), sorted(last for _, last in long)

    def of(self, place: Place, named: Named | None) -> Event | None:
        """Return the event of the batch to which a line at this place belongs; None where the log does not show it.

        A line may name the batch; else it belongs to the next event, if no other query runs beside it.
        """
        if named:
            own = self._by_name(len(named[0])).get(named, [])
            nth = bisect_right(own, place, key=attrgetter("place"))
            return own[nth] if nth < len(own) else None
        at = bisect_right(self._places, place)
        if at == len(self.all):
            return None
        coming = self.all[at]
        return coming if self._only(coming, place) else None

    def is_first(self, event: Event) -> bool:
        """Whether it is the first event of its run in this log."""
        return self._reach[event.batch.run_id][0] == event.place

    def _by_name(self, letters: int) -> dict[Named, list[Event]]:
        """The events by so many first letters of their query's id and the number of their batch."""
        if letters not in self._named:
            found = self._named[letters] = defaultdict(list)
            for event in self.all:
                found[(event.batch.id or "")[:letters], event.batch.batch_id].append(event)
        return self._named[letters]

    def running(self, time: float, run: str | None) -> Event | None:
        """Return the event of this run in whose trigger this time lies."""
        events = self._of_runs.get(run, [])
        at = bisect_right(events, time, key=attrgetter("begin"))
        return events[at - 1] if at and time <= events[at - 1].end else None

    def alone(self, time: float, said: Batch | None) -> Batch | None:
        """Return the batch in whose trigger this time lies, if no other of the said query and number runs then.

        Without `said`, no other batch at all may run then.
        """
        turns = self._turns.get(said and (said.id, said.batch_id), [])
        at = bisect_right(turns, time, key=itemgetter(0))
        return turns[at - 1][1] if at else None

    @cached_property
    def _of_runs(self) -> dict[str | None, list[Event]]:
        """The events of each run in the order of time."""
        runs: dict[str | None, list[Event]] = defaultdict(list)
        for event in sorted(self.all, key=attrgetter("begin")):
            runs[event.batch.run_id].append(event)
        return dict(runs)

    @cached_property
    def _turns(self) -> dict[tuple[str | None, int] | None, list[tuple[float, Batch | None]]]:
        """When the running batches change, and which one runs from then on, if one alone does.

        By the query and number that all of them have; None: of all batches.
        """
        turns: dict[tuple[str | None, int] | None, list[tuple[float, int]]] = defaultdict(list)
        batches: list[Batch | None] = [None]
        for events in self._of_runs.values():
            for event, coming in zip_longest(events, events[1:]):
                until = min(nextafter(event.end, inf), coming.begin if coming else inf)
                if event.begin < until:
                    for key in (None, (event.batch.id, event.batch.batch_id)):
                        turns[key] += (event.begin, len(batches)), (until, -len(batches))
                    batches.append(event.batch)
        return {key: list(_alone(sorted(own), batches)) for key, own in turns.items()}

    def over(self, jobs: Sequence[LoggedJob]) -> tuple[int, Place]:
        """Return (how many of the first jobs are over for good, the place behind the events of these)."""
        count, until, reach = 0, BEGINNING, BEGINNING
        for at, job in enumerate(jobs):
            if job.place > reach:
                count, until = at, reach
            if job.end is None and job.nth > jobs[-1].nth - LOST:
                return count, until
            if event := self.of(job.place, job.named):
                reach = max(reach, event.place)
            elif not self._lost(job):
                return count, until
        return len(jobs), reach

    def _lost(self, job: LoggedJob) -> bool:
        """Whether its batch will get no event, as a later batch of its query has one."""
        named, behind = job.named, islice(self.all, bisect_right(self._places, job.place), None)
        return named is not None and any(_names(named, event) and event.batch.batch_id > named[1] for event in behind)

    def _only(self, coming: Event, place: Place) -> bool:
        """Whether no run but that of the coming event has events both before and behind this place."""
        running = bisect_left(self._firsts, place) - bisect_right(self._lasts, place)
        return running == (self._reach[coming.batch.run_id][0] < place)


def _alone(turns: Iterable[tuple[float, int]], batches: Sequence[Batch | None]) -> Iterator[tuple[float, Batch | None]]:
    """Yield each time with the batch that runs from then on, if one alone does.

    A turn holds the place in `batches` of the one that begins, or its negative for one that is over: while one alone
    runs, they add up to its place.
    """
    running = at = 0
    for time, place in turns:
        running += 1 if place > 0 else -1
        at += place
        yield time, batches[at] if running == 1 else None


def _names(named: Named, event: Event) -> bool:
    """Whether a line names the query of the event."""
    return (event.batch.id or "").startswith(named[0])


class Applications:
    """The applications of one log, each as it reads its lines: nothing of one comes again when the next one begins."""

    def __init__(self, first: Any) -> None:
        self._files: dict[str, int] = {}
        self._past: list[tuple[Any, Place]] = []
        """Those that are over, and where the next one begins."""
        self._since, self._now = BEGINNING, first

    @property
    def held(self) -> int:
        """Jobs and stages that are held."""
        return int(self._now.held + sum(past.held for past, _ in self._past))

    def _begin(self, application: Any, place: Place) -> None:
        if self._now.held:
            self._past.append((self._now, place))
        self._since, self._now = place, application

    def over(self, batches: pa.Table) -> tuple[list[Work], pa.Table]:
        """Return (what no later line adds to, as far as these events show it; the events that all the rest needs)."""
        works = self._take_past(batches)
        more, left = self._now.over(between(batches, self._files, self._since), self._files)
        return [*works, *more], left

    def finish(self, batches: pa.Table) -> list[Work]:
        """Return all that is left, each job with the batch to which it belongs as far as the log shows it."""
        return [*self._take_past(batches), self._now.finish(partial(Events, batches, self._files, self._since))]

    def _take_past(self, batches: pa.Table) -> list[Work]:
        """Return the works of the applications before this one; they are forgotten."""
        works, since = [], BEGINNING
        for past, until in self._past:
            works.append(past.finish(partial(Events, batches, self._files, since, until)))
            since = until
        self._past = []
        return works


def between(batches: pa.Table, files: Mapping[str, int], since: Place, until: Place | None = None) -> pa.Table:
    """Return the events in these numbered files, from `since` up to `until`."""
    number = pc.index_in(batches["file"], pa.array(list(files), pa.string()))
    offset = pc.fill_null(batches["offset"], 0)
    rows = _not_before(number, offset, since)
    if until is not None:
        rows = pc.and_not(rows, _not_before(number, offset, until))
    return batches.filter(rows)


def _not_before(number: pa.ChunkedArray, offset: pa.ChunkedArray, place: Place) -> pa.ChunkedArray:
    behind = pc.and_(pc.equal(number, place[0]), pc.greater_equal(offset, place[1]))
    return pc.or_(pc.greater(number, place[0]), behind)


def _events(batches: pa.Table, files: Mapping[str, int]) -> Iterator[Event]:
    known = [pc.is_valid(batches[name]) for name in ("add_batch_ms", "batch_id", "timestamp")]
    rows = batches.filter(reduce(pc.and_, known))
    begin = rows["timestamp"].cast(pa.int64())
    end = pc.add(begin, pc.fill_null(rows["trigger_execution_ms"], 0))
    columns = {name: rows[name].to_pylist() for name in ("file", *Batch._fields)}
    places = zip(map(files.__getitem__, columns["file"]), pc.fill_null(rows["offset"], 0).to_pylist(), strict=True)
    names = map(Batch, *(columns[name] for name in Batch._fields))
    states, reads, folders = _states(rows), _reads(rows), _folders(rows)
    return map(Event, places, names, begin.to_pylist(), end.to_pylist(), *states, reads, folders)


def _states(rows: pa.Table) -> tuple[list[frozenset[int]], list[Mapping[str, float]]]:
    """Return (partitions of the state, its sums over tasks) of each row."""
    operators = Members(rows, "operators").columns
    of, counts = operators["batch"], operators["shuffle_partitions"]
    loads = operators[_LOADS] if _LOADS in operators else np.full(len(of), np.nan)
    commits, updates, removals, load_ms = map(np.nan_to_num, (*(operators[name] for name in _TIMES), loads))
    columns = (commits, updates + removals, load_ms, ~np.isnan(loads))
    sums: list[Mapping[str, float]] = [
        {"state_commit_ms": commit, "state_update_ms": update} | ({"state_load_ms": load} if loaded else {})
        for commit, update, load, loaded in zip(
            *(np.bincount(of, ms, len(rows)).tolist() for ms in columns), strict=True
        )
    ]
    partitions: list[frozenset[int]] = [frozenset()] * len(rows)
    known = ~np.isnan(counts)
    for at, count in zip(of[known].tolist(), counts[known].astype(int).tolist(), strict=True):
        partitions[at] |= {count}
    return partitions, sums


def _reads(rows: pa.Table) -> list[int | None]:
    """Return how often the source was read, in part at least: rows over those between its offsets."""
    sources = Members(rows, "sources").columns
    of, alone = sources["batch"], np.ones(len(rows), bool)
    values = []
    for column in (sources["input_rows"], sources["offset_rows"]):
        present = ~np.isnan(column)
        alone &= np.bincount(of[present], minlength=len(rows)) == 1
        values.append(np.bincount(of[present], column[present], len(rows)))
    read, between = values
    reads = np.maximum(1, -(-read // np.where(between == 0, 1, between)))
    present = (alone & (between != 0)).tolist()
    return [int(count) if known else None for count, known in zip(reads.tolist(), present, strict=True)]


def _folders(rows: pa.Table) -> list[Sequence[str] | None]:
    """Return where the sources of each row read files; None where that is not known, or the sink alone reads them."""
    sources, found = Members(rows, "sources").columns, defaultdict[int, list[str]](list)
    for at, text in zip(sources["batch"].tolist(), sources["description"].tolist(), strict=True):
        if (kind := source_kind(text or "")) in _OF_FILES:
            found[at] += (kind != "other" and folders_of([text])) or [""]
    for at, sink in enumerate(rows["sink"].to_pylist()):
        found[at] += [""] * (not found[at] and sink_kind(sink or "") == "delta")
    return [None if "" in found[at] else found[at] for at in range(len(rows))]
