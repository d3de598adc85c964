"""From events to the two tables, on a thread of its own."""

from __future__ import annotations

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from advisor.batches import Reading
from advisor.progress import Broken, Progress, decode
from advisor.redaction import hide, redact, redact_json
from advisor.sources.listener.execution import Told
from advisor.sources.listener.session import Session, ended_of, idle_of, progress_of, started_of
from advisor.sources.listener.store import History, Store
from advisor.sources.listener.worker import Worker
from advisor.sources.sightings.errors import error as read_error
from advisor.sources.sightings.region import fact_line

_log = logging.getLogger("advisor")

FLUSH_SECONDS: Final = 30.0
_PROBLEMS_KEPT: Final = 20
SILENT_TICKS: Final = 10
"""After so many ticks without an event it is asked which runs still run: the end of one may never come."""
_RUNS_WITH_FACTS: Final = 1000
_RUNS_KNOWN: Final = 10_000
_ASKED_AT: Final = (1, 5)
"""Batches of a run after which its session is asked: of the first jobs, and of those of a table that grows."""


class Recorder:
    """Hears the events of one session, or of several whose listener it is, and keeps them as the two tables.

    `hear` only leaves an event in a queue. `changed(id, run_id, ended)` is called on the recorder's thread after each
    batch that was kept and at the end of each run. What goes wrong stands in `problems`.
    """

    def __init__(self, session: Session, *, keep: int, capacity: int, history: History | None = None) -> None:
        self.store = Store(keep, session.log)
        self.history = history
        self.problems: OrderedDict[str, int] = OrderedDict()
        self.heard: Counter[str] = Counter()
        self.callback_seconds = 0.0
        self.callback_cpu_seconds = 0.0
        self.changed: Callable[[str, str, bool], None] = lambda *_: None
        self.tick: Callable[[], None] = lambda: None
        self.detached = False
        self.idle: dict[str, datetime] = {}
        """When each run last said that there is nothing to read."""
        self.newest: dict[str, int] = {}
        """The newest batch of each run of which progress came."""
        self._dropped = 0
        self._silent = 0
        self._seen: set[str] = set()  # runs that the session itself named
        self._missing: set[str] = set()
        self._once: set[str] = set()  # runs that nobody named, of which one event came
        self._told_of_dropped = False
        self._session = session
        self._known: OrderedDict[str, int] = OrderedDict()  # batches heard of each run
        self._facts: OrderedDict[str, list[bytes]] = OrderedDict()  # of each run, as lines of a history
        self._facts_in: dict[str, Path] = {}  # of each run the file in which its facts stand
        self.worker = Worker(self._do, self._needed, self.failed, tick=self._tick, capacity=capacity)

    def hear(self, kind: str, event: Any) -> None:
        """Take an event from a callback: never raises, never waits."""
        wall, cpu = time.perf_counter(), time.thread_time()
        self.heard[kind] += 1
        self.worker.offer(partial(self._READERS[kind], self, event))
        self.callback_seconds += time.perf_counter() - wall
        self.callback_cpu_seconds += time.thread_time() - cpu

    def pick_up(self) -> None:
        """Take what runs already, with its recent batches; not in the caller's time."""
        self.worker.offer(self._pick_up)

    def reading(self, id: str | None = None, newest: int | None = None) -> Reading:
        """What is kept, after everything that was heard so far."""
        if not self.worker.flush(FLUSH_SECONDS):
            self.trouble("the queue was not empty in time: the newest batches are missing")
        return self.store.reading(id, newest)

    def write_to(self, history: History) -> None:
        """Append what is heard from now on to this history, no longer to another."""
        self.worker.offer(partial(setattr, self, "history", history))

    def failed(self, error: BaseException) -> None:
        """Note something that went wrong here, once with its number of times."""
        self.trouble(words_of(error))

    def trouble(self, words: str) -> None:
        """Note a problem in words; a new one goes through `logging`, too."""
        said = redact(words)
        if said not in self.problems:
            _log.warning("%s", said)
        self.problems[said] = self.problems.pop(said, 0) + 1
        while len(self.problems) > _PROBLEMS_KEPT:
            self.problems.popitem(last=False)

    def stop(self, timeout: float) -> None:
        """Handle what was heard, then end the thread; report one that hangs."""
        done = self.worker.flush(timeout)
        self.detached = True
        if done:
            self.worker.flush(timeout)
            self.worker.join(timeout)
        else:
            self.trouble("the queue was not empty in time: what waited in it is lost")

    def _needed(self) -> bool:
        return not self.detached and bool(self.store.live()) and not self._session.stopped()

    def _tick(self) -> None:
        self._silent += 1
        if self.worker.dropped > self._dropped:
            self._dropped = self.worker.dropped
            self._end(set(self.store.live()) - self._meet_running())
        elif self._silent % SILENT_TICKS == 0:
            self._look()
        self.tick()

    def _look(self) -> None:
        """End queries that no longer run at two looks in a row: Spark also drops events, without a notice.

        A run of another session, which this one never named, is not asked for.
        """
        running = self._meet_running()
        missing = self._seen - running
        self._end(missing & self._missing)
        self._missing = missing

    def _meet_running(self) -> set[str]:
        running = {run_id for _, run_id, _ in self._session.active()}
        self._seen = (self._seen | running) & set(self.store.live())
        return running

    def _end(self, gone: set[str]) -> None:
        """Nothing else would ever end the thread, or whoever watches."""
        for run_id, id in self.store.live().items():
            if run_id in gone:
                self.trouble(f"run {run_id} is no longer seen, its end was not heard")
                self._forget(run_id)
                self.store.ended(run_id)
                self.changed(id, run_id, True)

    def _do(self, task: Callable[[], None]) -> None:
        self._silent = 0
        if self.worker.dropped and not self._told_of_dropped:
            self._told_of_dropped = True  # once: how many were dropped so far stands in `worker.dropped`
            found = f"what finds {self.worker.capacity:,} waiting is dropped"
            self.trouble(f"events come faster than they are read: {found}")
        task()

    def _started(self, event: Any) -> None:
        self._begin(*started_of(event))
        self._meet_running()

    def _begin(self, id: str, run_id: str, name: str | None, at: str = "") -> None:
        self._known[run_id] = 0
        while len(self._known) > _RUNS_KNOWN:
            self._forget(self._known.popitem(last=False)[0])
        self.store.began(id, run_id)
        own = (("start_time", at), ("query_name", name))
        self._sight(id, run_id, [(fact, value, "session") for fact, value in own if value])
        self._sight(id, run_id, self._session.facts_at_start(run_id))

    def _sight(self, id: str, run_id: str, told: Sequence[Told]) -> None:
        """Keep facts of a run; a history gets them, too, each of its files behind the run's first batch in it."""
        self.store.sight(id, run_id, told)
        lines = [fact_line(id, run_id, *one) for one in told]
        self._facts.setdefault(run_id, []).extend(lines)
        while len(self._facts) > _RUNS_WITH_FACTS:
            self._facts.popitem(last=False)
        if self.history is not None and self._facts_in.get(run_id) == self.history.path:
            for line in lines:
                self._append(line)

    def _progress(self, heard: Any) -> None:
        self._keep(progress_of(heard))

    def _keep(self, raw: bytes, *, replayed: bool = False) -> None:
        event = self._taken(raw, len(raw))
        if event is None:
            self._append(_written(raw))  # a later version may read it
            return
        if event.batch_id is not None:
            self.newest[event.run_id] = event.batch_id
        self._write(event.run_id, raw)
        if not event.idle and not replayed:
            self._known[event.run_id] = batches = self._known.get(event.run_id, 0) + 1
            if batches in _ASKED_AT:
                self._sight(event.id, event.run_id, self._session.facts_at_batch(event.run_id))
            self.changed(event.id, event.run_id, False)

    def _taken(self, raw: bytes, size: int) -> Progress | None:
        """Return the event, which is kept now; None where it cannot be read, which is counted."""
        try:
            event = decode(raw)
        except Broken as broken:
            self.store.bad(broken.reason)
            return None
        self._meet(event)
        self.store.add(event, size)
        return event

    def _meet(self, event: Progress) -> None:
        """A run whose start was not heard: it ran before, or the start was dropped.

        It is alive where the session names it, or at its second event: a damaged id comes once, and never ends.
        """
        if event.run_id not in self._known:
            self._begin(event.id, event.run_id, event.name)
            if not self._is_named(event.run_id):
                self.store.ended(event.run_id)
                self._once.add(event.run_id)
        elif event.run_id in self._once:
            self._once.remove(event.run_id)
            self.store.began(event.id, event.run_id)

    def _is_named(self, run_id: str) -> bool:
        """Whether the session names the run among those that run, or does not answer."""
        try:
            return run_id in self._meet_running()
        except Exception as error:  # it must not cost the event
            self.failed(error)
            return True

    def _write(self, run_id: str, raw: bytes) -> None:
        if self.history is None:
            return
        file = self.history.path
        if self._append(_written(raw)) and self.history.path == file != self._facts_in.get(run_id):
            self._facts_in = {run: known for run, known in self._facts_in.items() if known == file} | {run_id: file}
            for line in self._facts.get(run_id, ()):
                self._append(line)

    def _append(self, line: bytes) -> bool:
        """Append a line to the history; whether it could be written."""
        if self.history is not None:
            try:
                self.history.write(line)
            except OSError as error:  # without the file's name, which changes: it is said once
                said = f"{error.strerror or error} in {self.history.directory}"
                self.trouble(f"history: {said}; what cannot be written is left out")
                return False
        return True

    def _idle(self, heard: Any) -> None:
        id, run_id, at = idle_of(heard)
        self.idle[run_id] = datetime.now(timezone.utc)
        self._taken(msgspec.json.encode({"id": id, "runId": run_id, "timestamp": at, "durationMs": {}}), 0)

    def _ended(self, event: Any) -> None:
        id, run_id, error = ended_of(event)
        self._forget(run_id)
        facts = [(one.fact, one.value) for one in read_error(error)] if error else [("stopped", True)]
        self._sight(id, run_id, [(fact, value, "session") for fact, value in facts])
        self.store.ended(run_id)
        self.changed(id, run_id, True)

    def _forget(self, run_id: str) -> None:
        self._once.discard(run_id)
        self.idle.pop(run_id, None)
        self.newest.pop(run_id, None)

    def _pick_up(self) -> None:
        for id, run_id, name in self._session.active():
            if run_id not in self._known:
                self._begin(id, run_id, name)
                for raw in self._session.recent(run_id):
                    if b'"addBatch"' in raw:
                        self._keep(raw, replayed=True)
        self._meet_running()

    _READERS: Final = {"started": _started, "progress": _progress, "idle": _idle, "ended": _ended}


def words_of(error: BaseException) -> str:
    """What went wrong, on one line: the error's name, and its words where it can tell them."""
    try:
        words = str(error).partition("\n")[0]
    except BaseException:  # the caller's own code
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _written(raw: bytes) -> bytes:
    """An event as its history keeps it: on one line, without credentials."""
    try:
        return redact_json(raw)
    except (msgspec.DecodeError, RecursionError):  # a printed dict, numbers that JSON does not know, lists in lists
        return hide(raw.decode("utf-8", "replace").replace("\n", " ")).encode()
