"""A running driver's pages and answers as the tables that a log fills; each look adds the batches that are new."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any, Final

import msgspec
import pyarrow as pa

from advisor.batches import SCHEMA, Doing, Reading, build, table_of_sightings
from advisor.batches import Broken as Lost
from advisor.batches.reading import each_batch_once, job_in_words
from advisor.catalogue import waits
from advisor.errors import InputError, fault
from advisor.facts import Sighting
from advisor.progress import FROM_UI, Broken, from_object
from advisor.redaction import redact
from advisor.sources.paths import Input
from advisor.sources.sightings.errors import error
from advisor.sources.sightings.line import Line, Told, sighting
from advisor.sources.stages.statusstore import StoredJob, opened
from advisor.sources.ui import pages, rest
from advisor.sources.ui.pages import Event, Listed
from advisor.sources.ui.rest import Application, Environment, Execution, Executor, Thread, of_plans, operators_of
from advisor.sources.ui.web import SECONDS_OF_ALL, Absent, Server, parted
from advisor.stages import SCHEMAS

ORIGIN: Final = "ui"
_AT_A_TIME: Final = 100
"""SQL executions of one answer."""
_LISTED_AGAIN: Final = 300
"""Of the SQL executions that a look listed, those at the end that the next one lists again: Spark drops the oldest."""
_KEPT: Final = 20_000
"""Batches that are kept while a driver is watched, the newest."""
_MOST_ROWS: Final = 5 * _KEPT
"""Of what ran inside addBatch."""
_OPENED_EVERY: Final = 60.0
"""Seconds between two readings of jobs and stages: the driver writes all that it holds each time."""
_LOOKS: Final = 5
"""At the driver's threads, where one look does not show that a query waits."""
_QUIET: Final = timedelta(seconds=10)
"""After a run's last batch: from then on each look asks what it does, too."""
_BRIEF: Final = "details=false&planDescription=false"
_LACKS: Final = (FROM_UI, "eventTime", "sources", "sink")
"""Parts of a progress event that no page shows, or not all of."""
_ODD: Final = (ValueError, ArithmeticError, AssertionError, RecursionError, msgspec.MsgspecError, Broken)
"""What numbers and texts raise that Spark does not write."""
_STATE: Final = "stateOperators"
"""Another one, where Spark holds no SQL execution of the batch any more."""


class Driver:
    """The queries of one driver. `look` asks its pages; `reading` returns what all looks have read."""

    def __init__(self, server: Server, *, stages: bool = True) -> None:
        """Without `stages` jobs and stages are not asked for."""
        self._server = server
        self._opens = stages
        self._application = Application("")
        self._slots: int | None = None
        self._rows: list[pa.Table] = []
        self._unopened: list[pa.Table] = []
        """Those of batches whose jobs were not read yet."""
        self._open_from = 0.0
        self._listed = 0
        self._seen: dict[str, set[str]] = {}
        """When the batches began that the page of each run showed last: none comes back to a page that it left."""
        self._taken = 0
        self._bare: list[Event] = []
        """Batches of the last look without their state operators: one more look asks for them."""
        self._facts: dict[tuple[str, str | None, str], Sighting] = {}
        self._learned: set[str] = set()
        self._over: set[str] = set()
        """Runs that had ended when their page was read."""
        self._ended: dict[str, datetime] = {}
        """When the newest batch of each run ended."""
        self._doing: dict[str, Doing] = {}
        self._idle: dict[str, datetime] = {}
        """When each run was last seen to wait."""
        self._met: dict[str, datetime] = {}
        """When each run was first seen."""
        self._begun: dict[str, int | None] = {}
        """The newest batch of each run whose SQL execution a look has seen."""
        self._running: dict[str, str] = {}
        """The query of each run that the list showed last as running."""
        self._gone: dict[str, tuple[str, datetime]] = {}
        """Of each run that the list shows no more the query, and since when; until another run of it runs."""
        self._inside = {name: schema.empty_table() for name, schema in SCHEMAS.items()}
        self.there = False
        """Whether the list of queries has answered the last look."""
        self._missed: InputError | None = None

    def look(self) -> None:
        """Ask once, and keep each answer that can be had; InputError where one cannot and no batch is known."""
        self.there, self._missed = False, None
        with self._going_on():
            self._look()
        if self._missed and not self._taken:
            raise self._missed

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Go on after a question without an answer; the first of them is named."""
        try:
            yield
        except InputError as missed:
            self._missed = self._missed or missed
        except _ODD as odd:
            wrong = f"what it shows does not fit together: {fault(odd)}"
            says = "ask again; the driver may just have ended"
            self._missed = self._missed or InputError(self._server.address, wrong, says)

    @property
    def known(self) -> tuple[int, int]:
        """How many batches and how many facts all looks have kept."""
        return self._taken, len(self._facts)

    def _look(self) -> None:
        self._server.begin(SECONDS_OF_ALL)
        self._meet()
        runs = self._runs()
        self.there = True
        shown, seen = dict[str, list[Event]](), self._seen
        for run in runs:
            with self._going_on():
                page = self._page(f"{pages.STATISTICS}{run.run_id}", pages.HEADING)
                shown[run.run_id] = pages.events(page, run)
                if not run.active:
                    self._over.add(run.run_id)
        new = [one for run, all in shown.items() for one in all if one["timestamp"] not in seen.get(run, ())]
        unknown = [run for run in runs if run.run_id not in self._learned]
        again, executions = self._bare, dict[int, Execution]()
        bare = [*again, *(event for event in new if event[_STATE])]
        with self._going_on():
            if unknown or bare:
                executions = self._executions(bool(unknown))
        with self._going_on():
            self._complete(bare, executions)
        self._bare = [{**event} for event in new if event.get("lacks")]
        seen |= {run: {one["timestamp"] for one in all} for run, all in shown.items() if all}
        self._keep([*new, *(event for event in again if not event["lacks"])])
        for run in runs:
            self._list(run)
        for event in new:
            began = datetime.fromisoformat(event["timestamp"].replace("Z", "+00:00"))
            self._ended[event["runId"]] = began + timedelta(milliseconds=event["batchDuration"])
            self._met[event["runId"]] = datetime.now(timezone.utc)
        with self._going_on():
            for run in unknown:
                self._learn(run, [*executions.values()])
        with self._going_on():
            now = datetime.now(timezone.utc)
            gone = {run: Doing(now, gone=since) for run, (_, since) in self._gone.items()}
            self._doing = self._ask([run.run_id for run in runs if run.active], executions, now) | gone
        if self._opens and self._unopened and time.monotonic() >= self._open_from:
            self._open()

    def reading(self) -> Reading:
        """Return all that was read so far."""
        found = Reading.of(
            pa.concat_tables([SCHEMA.empty_table(), *self._rows]),
            table_of_sightings(self._facts.values()),
            broken=[Lost(self._server.address, 0, 0, self._missed.found)] if self._missed and self.there else [],
            size=self._server.bytes,
        )
        return replace(found, doing=self._doing, inside=self._inside if self._opens else {})

    def _ask(self, running: Sequence[str], executions: Mapping[int, Execution], now: datetime) -> dict[str, Doing]:
        """Return what each run does that runs; of those whose last batch ended long ago jobs, thread and executions.

        The newest batch is the one of the look before: the pages are older than the executions.
        """
        self._met = {run: self._met.get(run, now) for run in running}
        found = {run: Doing(now, met=self._met[run]) for run in running}
        quiet = [run for run in running if now - min(self._ended.get(run, now), self._met[run]) > _QUIET]
        if not quiet:
            return found
        threads = self._threads(quiet)
        seen = any(thread and not waits(thread) for thread in threads.values())
        jobs = self._answer("jobs?status=running", list[StoredJob]) if seen else []
        held = (executions or self._executions(all=False)) if any(threads.values()) else {}
        batches = [one.batch for one in held.values() if one.batch]
        self._idle |= {run: now for run, thread in threads.items() if waits(thread)}
        for run in quiet:
            own = [one for one in jobs if one.job_group == run]
            job = max(own, key=lambda one: one.job_id, default=None)
            words = job_in_words(job.job_id, job.num_completed_tasks, job.num_tasks) if job else ""
            numbers = [number for of, number in batches if of == run]
            last, first = max(numbers, default=None), min(numbers, default=None)
            newest = self._begun.get(run, last)
            self._begun[run] = last
            found[run] = Doing(now, threads[run], words, newest, self._idle.get(run), first, self._met[run])
        return found

    def _threads(self, runs: Sequence[str]) -> dict[str, str]:
        """Return the frames of each run's thread; between two waits it asks its source."""
        found = dict.fromkeys(runs, "")
        for _ in range(_LOOKS):
            try:
                threads = self._answer("executors/driver/threads", list[Thread])
            except InputError:  # spark.ui.threadDumpsEnabled=false
                return found
            for run in [run for run in runs if not waits(found[run])]:
                found[run] = "\n".join(
                    frame.strip() for one in threads if run in one.thread_name for frame in one.stack_trace.elems
                )
            if all(map(waits, found.values())):
                break
        return found

    def _meet(self) -> None:
        """Ask which application runs there, and its slots; of a new application also its settings."""
        found = self._server.json("applications", list[Application])
        if len(found) != 1:
            raise rest.no_application(self._server, found)
        if found[0].id != self._application.id:
            self._application, self._slots = found[0], None
            self._tell(None, found[0].told())
        with self._going_on():
            if found[0].id not in self._learned:
                self._tell(None, self._answer("environment", Environment).told())
                self._learned.add(found[0].id)
        with self._going_on():
            executors = self._answer("executors", list[Executor])
            self._slots = sum(one.max_tasks for one in executors if one.is_active) or None
            self._tell(None, [Told("task_slots", self._slots)] if self._slots else [])

    def _answer(self, what: str, kind: type[Any]) -> Any:
        return self._server.json(f"applications/{self._application.id}/{what}", kind)

    def _runs(self) -> list[Listed]:
        """Return the runs to read: those that run, and once the newest one of each other query."""
        found = pages.listed(self._page(pages.LIST))
        if not found and rest.HISTORY in self._page(""):
            raise rest.no_application(self._server, [self._application])
        if not found:
            raise InputError(self._server.address, *self._nothing_streams())
        active = [run for run in found if run.active]
        self._miss({run.run_id for run in found}, {run.run_id: run.id for run in active})
        again = {run.id for run in active}
        ended = {run.id: run for run in reversed(found) if run.id not in again}
        return [*active, *(run for run in ended.values() if run.run_id not in self._over)]

    def _miss(self, listed: set[str], running: dict[str, str]) -> None:
        """Note since when runs are not listed that ran, where no other run of their query runs."""
        now = datetime.now(timezone.utc)
        missing = {run: (id, now) for run, id in self._running.items() if run not in listed} | self._gone
        self._gone = {run: each for run, each in missing.items() if each[0] not in running.values()}
        self._running = running

    def _page(self, path: str, heading: str = "") -> str:
        """Return a page, empty where the server has none."""
        with suppress(Absent):
            return self._server.page(path, heading)
        return ""

    def _nothing_streams(self) -> tuple[str, str]:
        """Return what runs here instead of a streaming query, and what would do."""
        called = redact(self._application.name or self._application.id)
        running = self._answer("jobs?status=running", list[StoredJob])
        words = [redact(" ".join((job.description or job.name).split())[:80]) for job in running[:3]]
        instead = f"running: {', '.join(words)}" if words else "no job is running"
        return f"the application '{called}' has no streaming query; {instead}", "give the driver that runs the query"

    def _executions(self, all: bool) -> dict[int, Execution]:
        """Return the SQL executions that Spark holds by their place, without plans and nodes; or the last of them."""
        begin = 0 if all else max(0, self._listed - _LISTED_AGAIN)
        found = self._answer(f"sql?{_BRIEF}&offset={begin}&length=1000000", list[Execution])
        self._listed = begin + len(found)
        return dict(enumerate(found, begin))

    def _complete(self, bare: Sequence[Event], executions: Mapping[int, Execution]) -> None:
        """Put the state operators of SQL executions in the place of the page's sums."""
        stateful = {(event["runId"], event["batchId"]): event for event in bare}
        at = [place for place, one in executions.items() if one.batch in stateful]
        for event in stateful.values():
            event["lacks"] = _STATE
        for begin in range(at[0], at[-1] + 1, _AT_A_TIME) if at else ():
            length = min(_AT_A_TIME, at[-1] + 1 - begin)
            asked = f"sql?details=true&planDescription=false&offset={begin}&length={length}"
            with self._going_on():
                for batch, operators in operators_of(self._answer(asked, list[Execution])).items():
                    if batch in stateful:
                        stateful.pop(batch).update({_STATE: operators, "lacks": ""})

    def _keep(self, new: Sequence[Event]) -> None:
        """Add these batches to the table."""
        if not new:
            return
        lacks = [",".join(filter(None, (*_LACKS, event.pop("lacks", "")))) for event in new]
        places = range(self._taken, self._taken + len(new))
        self._taken += len(new)
        rows = build([*map(from_object, new)], places, self._server.address, self._application.id, lacks)
        self._rows.append(rows)
        self._unopened.append(rows)
        while sum(map(len, self._rows)) - len(self._rows[0]) >= _KEPT:
            self._rows.pop(0)
        del self._unopened[: -len(self._rows)]

    def _list(self, run: Listed) -> None:
        """Take what the list says of a run."""
        if run.status == "FAILED":
            self._tell(run, error(run.error))
        elif run.status == "FINISHED":
            self._tell(run, [Told("stopped", value=True)])
        self._tell(run, [Told("query_name", run.name)] if run.name else [])

    def _learn(self, run: Listed, executions: Sequence[Execution]) -> None:
        """Take what the plans of the newest batch show whose executions have all ended: foreachBatch has several."""
        of_batch: dict[int, list[Execution]] = {}
        for one in executions:
            if one.batch and one.batch[0] == run.run_id:
                of_batch.setdefault(one.batch[1], []).append(one)
        ended = [number for number, all in of_batch.items() if {one.status for one in all} == {"COMPLETED"}]
        if not ended:
            return
        asked = (f"sql/{one.id}?details=true&planDescription=true" for one in of_batch[max(ended)])
        self._tell(run, of_plans([self._answer(each, Execution) for each in asked]))
        self._learned.add(run.run_id)

    def _tell(self, run: Listed | None, found: Iterable[Told]) -> None:
        """Keep what was told of a run, or of the application; what was told of the same before is forgotten."""
        log, run_id = self._application.id, run and run.run_id
        line = Line("", "", 0, None, run and run.id, run_id)
        for each in found:
            one = sighting(each._replace(origin=ORIGIN), line, log=log, file=self._server.address, base=0)
            self._facts[log, run_id, one.fact] = one

    def _open(self) -> None:
        """Read the jobs and stages that Spark holds, a few megabytes; what was read of earlier batches stays."""
        self._open_from, batches = time.monotonic() + _OPENED_EVERY, pa.concat_tables(self._unopened)
        raw = [self._server.raw(f"api/v1/applications/{self._application.id}/{what}") for what in ("jobs", "stages")]
        log, file = self._application.id, self._server.address
        found = opened(*raw, log=log, file=file, slots=self._slots, batches=batches)
        inside = {name: each_batch_once([found[name], old]) for name, old in self._inside.items()}
        self._inside = {name: rows.slice(0, _MOST_ROWS) for name, rows in inside.items()}
        self._unopened = []


def read(address: str, read_files: Callable[[Sequence[Input]], Reading], *, stages: bool) -> Reading:
    """Return what a driver's pages show now; of an application of a History Server what its event log holds."""
    base, application = parted(address)
    server = Server(base)
    if application is None:
        driver = Driver(server, stages=stages)
        driver.look()
        return driver.reading()
    with rest.event_log(server, application, address) as inputs:
        return read_files(inputs)


class Watched:
    """The pages of one driver, asked again and again through its restarts, as logs are followed.

    What was read of them stays when it is gone, and one that comes back goes on.
    """

    def __init__(self, address: str, *, stages: bool) -> None:
        """Raises InputError where no query can be read now."""
        base, application = parted(address)
        if application is not None:
            raise InputError(address, "an application of a History Server", "`analyze` reads it; watch a driver")
        self._driver = Driver(Server(base), stages=stages)
        self._gone: datetime | None = None
        self._driver.look()
        self._told = False

    def poll(self) -> bool:
        """Ask again; whether there is a new batch, the driver is gone, or it is back. The first look counts as new."""
        if not self._told:
            self._told = True
            return True
        was_gone, before = self._gone, self._driver.known
        with suppress(InputError):
            self._driver.look()
        self._gone = None if self._driver.there else was_gone or datetime.now(timezone.utc)
        return self._driver.known != before or (was_gone is None) != (self._gone is None)

    def reading(self, *, stages: bool = False) -> Reading:  # noqa: ARG002 - decided when it began
        """Return all that was read so far."""
        return replace(self._driver.reading(), gone_since=self._gone)

    def close(self) -> None:
        """Nothing is open."""
