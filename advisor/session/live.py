"""The advisor of one session: a listener, the judge of every other report, and a watch over what it finds."""

from __future__ import annotations

import logging
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from advisor import batches, contract
from advisor.batches import Doing
from advisor.catalogue import Catalogue, silence
from advisor.contract import Comparison, Problem, Stall, plain
from advisor.contract import Session as SessionEntry
from advisor.errors import InputError, UsageError
from advisor.facts import Sighting
from advisor.redaction import redact
from advisor.report import Asked, assemble
from advisor.report.comparing import compare_readings
from advisor.report.silence import ALARMS, stalls
from advisor.session import onscreen
from advisor.session.health import Health
from advisor.session.notices import Notice, Watch
from advisor.sources.listener.callbacks import SessionListener
from advisor.sources.listener.recorder import Recorder, words_of
from advisor.sources.listener.session import Session, is_connect, session_of
from advisor.sources.listener.store import FILE, History
from advisor.sources.listener.worker import Worker
from advisor.sources.paths import mounted
from advisor.sources.stages.statusstore import opened
from advisor.views.shown import Compared, Report

if TYPE_CHECKING:
    import pandas as pd

    from advisor.batches import Reading

FIRST_JUDGEMENT: Final = 10
"""New batches of a run after which its findings are judged (again)."""
JUDGED_AFTER_SECONDS: Final = 30.0
"""Seconds after which fewer new batches will do: a slow query's findings come while it runs, too."""
JUDGED: Final = 1000
"""Batches, the newest, on which the watch judges; `report()` takes all that are kept."""
CPU_SHARE: Final = 0.01
"""The part of one core that the watch may take in the long run, but for runs that died."""
CPU_AHEAD: Final = 5.0
"""Seconds of CPU time that it may take before it has waited for them: a first judgement loads what judges."""
WATCHED: Final = 1000
"""How many queries to remember notices of."""
STOP_SECONDS: Final = 30.0
AT_MOST: Final = 10_000
"""Batches kept of each query, and events that may wait, where `attach` is given no other number."""
UNTOLD: Final = 1000
"""Notices that may wait while `on_finding` is slow."""

_ADDRESS: Final = re.compile(r"[A-Za-z][\w+.-]+:/")
"""How an address begins, also where `Path` has left it one slash (s3:/bucket)."""

_log = logging.getLogger("advisor")
_ATTACHED: dict[str, LiveAdvisor] = {}
_LOCK = threading.RLock()


@dataclass(frozen=True)
class Options:
    """What `attach` was asked for, read and checked."""

    catalogue: Catalogue
    asked: Asked
    history: Path | None
    on_finding: Callable[[Notice], None] | None
    keep: int | None = None
    capacity: int | None = None
    health: int | None = None


class LiveAdvisor(SessionListener):
    """What `attach` gives: `report()`, `watch()`, `progress()`, `overhead()`, `detach()`; a context manager.

    It is a `StreamingQueryListener`: `spark.streams.addListener` of a further session takes it, too. Facts that only
    a session can tell come from the session that it was attached to.
    """

    @classmethod
    def attached(cls, spark: Any) -> LiveAdvisor | None:
        """The advisor that this session has, as it is; None where it has none."""
        found = _ATTACHED.get(session_of(spark).key)
        return None if found is None or found._session.stopped() else found

    @classmethod
    def of(cls, spark: Any, options: Options) -> LiveAdvisor:
        """The advisor of this session: a new one, or the one that it has, with these options."""
        session = session_of(spark)
        for gone in [old for old in list(_ATTACHED.values()) if old._session.stopped()]:
            gone._let_go()
        with _LOCK:
            known = _ATTACHED.get(session.key)
            if known is not None:
                known._take(options)
                return known
            advisor = cls(spark, session, options)
            _ATTACHED[session.key] = advisor
        try:
            advisor._attach()
        except BaseException:
            advisor._let_go()
            raise
        return advisor

    def __init__(self, spark: Any, session: Session, options: Options) -> None:
        history = _written_to(options.history) if options.history is not None else None
        keep, capacity = options.keep or AT_MOST, options.capacity or AT_MOST
        recorder = Recorder(session, keep=keep, capacity=capacity, history=history)
        super().__init__(recorder, "connect" if is_connect(spark) else "lean")
        self._sparkSession = spark
        self._session = session
        self._options = options
        self._watches: dict[str, Watch] = {}
        self._ends: tuple[tuple[str, str], ...] = ()
        """The last runs that ended: (query, run)."""
        self._gone: datetime | None = None
        """Since when the session does not answer."""
        self._new: dict[str, tuple[int, float]] = {}
        """Of each run its new batches since it was judged, and when that was, or when its first event came."""
        self._news = onscreen.News()
        self._teller = Worker(self._tell_one, lambda: False, recorder.failed, capacity=UNTOLD)
        self._owed, self._owed_at = 0.0, 0.0
        """CPU seconds of judgements that no waiting has made up for yet, and when that was."""
        self._watch_cpu_seconds = 0.0
        self._health = Health(options.health, self.health) if options.health is not None else None
        recorder.changed = self._changed
        recorder.tick = self._look_after

    def report(self, *, stages: bool = False) -> Report:
        """The report on everything that is kept, by the same judge as `analyze`; with `stages` addBatch is opened.

        Beside what `analyze` gives, `data["comparisons"]` compares each query that changed with what it was before, and
        `data["session"]` is `overhead()`.
        """
        reading, doing = self.opened() if stages else self.recorder.reading(), self._doing()
        reading = self._with_unheard(replace(reading, doing=doing, gone_since=self._gone))
        idle, session = self.recorder.store.idle_since(), self._session_entry(reading.doing)
        beside: dict[str, Any] = {"session": session, "comparisons": ()}
        made = partial(_beside, reading, self._options.catalogue, idle=idle, beside=beside)
        report = made(self._options.asked)
        if any(one.changed for one in report.queries):
            beside["comparisons"] = self._compared(reading)
        return Report(
            msgspec.structs.replace(report, **beside), partial(made, replace(self._options.asked, series=True))
        )

    def watch(self) -> None:
        """Show the report in this cell, again after new batches, until no query of the session runs any more.

        Interrupting the cell ends it, and leaves the queries alone. Outside a notebook the last report is printed.
        """
        onscreen.show(onscreen.reports(self.report, self._runs, self._news))

    def _runs(self) -> bool:
        if self.recorder.detached or self._session.stopped():
            return False
        self.recorder.worker.flush(STOP_SECONDS)  # a start may still wait in the queue
        try:
            return bool(self._session.active() or self.recorder.store.live())
        except Exception as error:  # it does not answer: nothing more will come
            self.recorder.failed(error)
            return False

    def compare(self) -> Compared:
        """Each query's newest run, or what it has been since it changed, against what was before.

        Says of every step that was made what it promised, what was measured, and whether that is enough to tell.
        Raises InputError where no query has two windows.
        """
        return self._in_pairs(self.recorder.reading())

    def _in_pairs(self, reading: Reading) -> Compared:
        return Compared(*compare_readings(reading, None, self._options.catalogue, self._options.asked))

    def _compared(self, reading: Reading) -> tuple[Comparison, ...]:
        try:
            return self._in_pairs(reading).typed.comparisons
        except InputError:
            return ()

    def progress(self) -> pd.DataFrame:
        """The table of batches, columns as `advisor.batches.COLUMNS` explains them."""
        frame: pd.DataFrame = batches.to_pandas(self.recorder.reading().batches)
        return frame

    def stages(self, *, parts: bool = False) -> pd.DataFrame:
        """The table of stages, or with `parts` that of batch parts, as `advisor.read_stages` gives them.

        Asked of the JVM now, in two calls and without a job: what Spark still holds, by default its last 1,000 jobs and
        stages. Raises UsageError on Spark Connect.
        """
        frame: pd.DataFrame = batches.to_pandas(self.opened().tables["batch_parts" if parts else "stages"])
        return frame

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Whether every query goes on, and a word for each that runs; what died counts until another runs.

        Raises what a session raises that does not answer: what it says of its queries would be old.
        """
        if not self._session.stopped():
            self._session.active()
        live, doing = self.recorder.store.live(), self._doing()
        words = stalls(replace(self.recorder.store.reading(), doing=doing, gone_since=self._gone))
        queries = [{"id": id, "run_id": run, **_in_short(words.get(run))} for run, id in live.items()]
        bad = [one for one in queries if one["status"] in ALARMS]
        gone = self._session.stopped() or (not live and any(self.recorder.store.died(*one) for one in self._ends))
        status = "gone" if gone else bad[0]["status"] if bad else "running" if live else "no query runs"
        return not bad and not gone, {"status": status, "queries": queries}

    def _doing(self) -> dict[str, Doing]:
        """What each run that is alive does; of a session that is gone the time alone, which `_gone` then has, too."""
        found, gone, now = {}, self._session.stopped(), datetime.now(timezone.utc)
        for run_id in self.recorder.store.live():
            try:
                doing = Doing(now) if gone else self._session.doing(run_id)
            except Exception as error:  # Py4J raises what it likes
                self.recorder.failed(error)
                gone = isinstance(error, OSError)  # no connection, or no answer in time
                doing = Doing(now) if gone else None
            if doing is not None:
                said = self.recorder.idle.get(run_id)
                found[run_id] = doing if said is None else doing._replace(idle=max(said, doing.idle or said))
        self._gone = (self._gone or now) if gone else None
        return found

    def opened(self) -> Reading:
        """What is kept, with the jobs and stages that Spark still holds. Raises UsageError on Spark Connect."""
        reading = self.recorder.reading()
        jobs, stages = self._session.jobs()
        slots = reading.sightings.filter(pc.equal(reading.sightings["fact"], "task_slots"))["value"].to_pylist()
        known = int(slots[-1]) if slots and slots[-1].isdecimal() else None
        log, batches = self._session.log, reading.batches
        inside = opened(jobs, stages, log=log, file=FILE, slots=known, batches=batches)
        return replace(reading, inside=inside)

    def overhead(self) -> dict[str, Any]:
        """What listening costs and what got lost: the way in, events heard and dropped, times per event, problems.

        `unheard`: batches that have ended whose progress has not come, since another listener of the session is slow.
        `callback_ms_per_event`: time that Spark's listener thread spends here; `cpu_ms_per_event`: all of this process,
        reading, decoding and the table included.
        """
        entry: dict[str, Any] = plain(self._session_entry(self._doing()))
        return entry

    def _unheard(self, doing: Mapping[str, Doing]) -> dict[str, int]:
        """Return of each run how many batches have ended of which no progress came, neither here nor in the queue."""
        if self.recorder.detached:
            return {}
        heard, least, waiting = self.recorder.newest, silence()["unheard_batches"], self.recorder.worker.waiting()
        behind = {run: one.newest - heard[run] for run, one in doing.items() if one.newest is not None and run in heard}
        return {run: count - waiting if count - waiting >= least else 0 for run, count in behind.items()}

    def _with_unheard(self, reading: Reading) -> Reading:
        """Return the reading with the fact `unheard_batches` of each run that was asked; None where all were heard."""
        live, log = self.recorder.store.live(), self._session.log
        seen = [
            Sighting(live.get(run), run, log, "unheard_batches", str(count or "null"), "session", FILE, 0)
            for run, count in self._unheard(reading.doing).items()
        ]
        return replace(reading, sightings=pa.concat_tables([reading.sightings, batches.table_of_sightings(seen)]))

    def _session_entry(self, doing: Mapping[str, Doing]) -> SessionEntry:
        recorder, store = self.recorder, self.recorder.store
        heard = sum(recorder.heard.values())
        cpu = recorder.callback_cpu_seconds + recorder.worker.cpu_seconds - self._watch_cpu_seconds
        return SessionEntry(
            way=self.way,
            because=redact(self.because) if self.because else None,
            attached=not recorder.detached,
            events=dict(recorder.heard),
            kept_per_query=store.keep,
            memory_bytes=store.memory_bytes(),
            dropped=recorder.worker.dropped,
            broken=store.unreadable,
            waiting=recorder.worker.waiting(),
            unheard=sum(self._unheard(doing).values()),
            capacity=recorder.worker.capacity,
            callback_ms_per_event=_per(recorder.callback_seconds, heard),
            cpu_ms_per_event=_per(cpu, heard),
            watch_cpu_seconds=round(self._watch_cpu_seconds, 3),
            history=str(recorder.history.path) if recorder.history is not None else None,
            problems=tuple(Problem(problem=words, times=times) for words, times in recorder.problems.items()),
        )

    def detach(self) -> None:
        """Stop listening. What was kept stays, and can still be asked for; a second call does nothing."""
        if self.recorder.detached:
            return
        try:
            self._session.remove(self)
        except Exception as error:  # the session may be gone, and its listeners with it
            _log.debug("detach: %s", error)
        self._let_go()

    def __enter__(self) -> LiveAdvisor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.detach()

    def __repr__(self) -> str:
        return repr(self.report())

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def _attach(self) -> None:
        try:
            self._session.add(self)
        except Exception as error:
            if self.way != "lean":
                raise
            self.fall_back(error)
            self._session.add(self)
        self.recorder.pick_up()

    def _let_go(self) -> None:
        if self._health is not None:
            self._health.close()
        with _LOCK:
            if _ATTACHED.get(self._session.key) is self:
                del _ATTACHED[self._session.key]
        self.release()
        self.recorder.stop(STOP_SECONDS)
        if self._teller.flush(STOP_SECONDS):
            self._teller.join(STOP_SECONDS)
        else:
            self.recorder.trouble("on_finding did not return in time: findings were not delivered")

    def _take(self, options: Options) -> None:
        """Take the wishes of a second call, except `keep`, `capacity` and a second `health`: a warning names them."""
        held, history = self._options, options.history or self._options.history
        if history not in (None, held.history):
            self.recorder.write_to(_written_to(history))
        if options.health is not None and held.health is None:
            self._health, held = Health(options.health, self.health), replace(held, health=options.health)
        self._options = replace(options, history=history, health=held.health)
        has = {"keep": self.recorder.store.keep, "capacity": self.recorder.worker.capacity, "health": held.health}
        wished = {name: getattr(options, name) for name in has}
        other = [
            f"{name}={has[name]}, not {name}={wish}" for name, wish in wished.items() if wish not in (None, has[name])
        ]
        if other:
            words = f"attach: this session already has an advisor, which goes on with {'; '.join(other)}"
            warnings.warn(f"{words}. Detach it first to change that.", stacklevel=4)

    def _look_after(self) -> None:
        """Spark Connect drops every listener when its stream of events breaks: come back."""
        if not self.recorder.detached and self._session.lost(self):
            self._session.add(self)
            self.recorder.trouble("the stream of events broke, the listener was added again")

    def _changed(self, id: str, run_id: str, ended: bool) -> None:
        self._news.tell(ended=ended)
        if ended:
            self._ends = (*self._ends[-9:], (id, run_id))
        now = time.monotonic()
        count, since = self._new.get(run_id, (0, now))
        due = ended or count + 1 >= FIRST_JUDGEMENT or now - since >= JUDGED_AFTER_SECONDS
        rested = self._still_owed() < CPU_AHEAD
        died = ended and self.recorder.store.died(id, run_id)
        judged = died or (due and rested)
        self._new[run_id] = (0, now) if judged else (count + 1, since)
        if ended:
            del self._new[run_id]
        if judged:
            self._judge(id, run_id, ended)

    def _judge(self, id: str, run_id: str, ended: bool) -> None:
        cpu = time.thread_time()
        try:
            self._watch(id, run_id, ended)
        finally:
            took = time.thread_time() - cpu
            self._watch_cpu_seconds += took
            self._owed = self._still_owed() + took
            self._owed_at = time.monotonic()

    def _still_owed(self) -> float:
        return max(0.0, self._owed - CPU_SHARE * (time.monotonic() - self._owed_at))

    def _watch(self, id: str, run_id: str, ended: bool) -> None:
        report = assemble(self.recorder.store.reading(id, JUDGED), self._options.catalogue, self._options.asked)
        watch = self._watches.setdefault(id, Watch())
        while len(self._watches) > WATCHED:
            self._watches.pop(next(iter(self._watches)))
        for entry in report.queries:
            if entry.run_id == run_id:
                self._tell(watch.see(entry, final=ended and entry.terminated is not None))

    def _tell(self, notices: Iterable[Notice]) -> None:
        """On a thread of its own: what is slow there holds up no event."""
        for notice in notices:
            if not self._teller.offer(notice):
                self.recorder.trouble("on_finding is slow: a finding was not delivered")

    def _tell_one(self, notice: Notice) -> None:
        try:
            (self._options.on_finding or _logged)(notice)
        except BaseException as error:  # the caller's own code, sys.exit() in it too
            self.recorder.trouble(f"on_finding: {words_of(error)}")


def _beside(
    reading: Reading, catalogue: Catalogue, asked: Asked, *, idle: Mapping[str, str], beside: Mapping[str, Any]
) -> contract.Report:
    """Return the report on what was read, with what only the session knows."""
    report = assemble(reading, catalogue, asked)
    queries = tuple(msgspec.structs.replace(one, idle_since=idle.get(one.run_id)) for one in report.queries)
    return msgspec.structs.replace(report, queries=queries, **beside)


def _in_short(stall: Stall | None) -> dict[str, Any]:
    """A run's word for a probe: its state, since when and what it does."""
    if stall is None:
        return {"status": "running", "since": None, "says": None}
    return {"status": stall.word, "since": stall.since, "says": redact(stall.says)}


def _logged(notice: Notice) -> None:
    _log.log(logging.INFO if notice.change == "gone" else logging.WARNING, "%s", redact(str(notice)))


def _written_to(directory: Path) -> History:
    """Return the history that is kept in this directory; UsageError where there can be none."""
    place = mounted(str(directory))
    if _ADDRESS.match(place):
        scheme = place.partition(":")[0]
        raise UsageError(f"history={scheme}:...", "is an address", "give a directory of the driver's own machine")
    try:
        return History(Path(place).absolute())  # the program may go on in another directory
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        raise UsageError(f"history={directory}", str(error), "give a directory that can be written") from None


def _per(seconds: float, events: int) -> float | None:
    return round(1000 * seconds / events, 3) if events else None
