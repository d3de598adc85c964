"""A Spark session, the queries that run in it and their events, classic or Connect, behind one face."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, Final, TypeVar

from advisor.batches import Doing
from advisor.batches.reading import job_in_words
from advisor.catalogue import waits
from advisor.errors import UsageError
from advisor.facts import from_confs, version_at_least
from advisor.sources.answering import within
from advisor.sources.listener.execution import Told, attempt, of_batch, of_start, separated, slots

LEAVING_SECONDS: Final = 30.0
_LOOKS: Final = 5
"""At a query's status, where one look does not show that it waits."""
ANSWER_SECONDS: Final = 10.0
"""How long a server of Spark Connect is waited for: PySpark asks one that is gone again for ten minutes."""
AGAIN_SECONDS: Final = 1.0
"""How long one that did not answer is waited for the next time."""
ADD_SECONDS: Final = 60.0
"""The same where a listener is added."""

_T = TypeVar("_T")


class _Classic:
    """A session whose JVM is reached through Py4J. Everything but `stopped` may take a while, and may raise."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self.key = f"classic:{spark._jsparkSession.sessionUUID()}"
        self.log = str(spark.sparkContext.applicationId)
        self._executions: dict[str, Any] = {}
        """Spark's own objects of the runs that were last seen to run."""

    def stopped(self) -> bool:
        """Whether the session is gone."""
        return self._spark.sparkContext._jsc is None

    def add(self, listener: Any) -> None:
        """Register a listener."""
        self._spark.streams.addListener(listener)

    def remove(self, listener: Any) -> None:
        """Take it away again; nothing calls it afterwards."""
        self._spark.streams.removeListener(listener)

    def lost(self, listener: Any) -> bool:  # noqa: ARG002
        """Whether the session has dropped the listener by itself: Spark keeps it for as long as the session lives."""
        return False

    def active(self) -> list[tuple[str, str, str | None]]:
        """(id, run id, name) of each query that runs."""
        return [(str(query.id), str(query.runId), query.name) for query in self._spark.streams.active]

    def recent(self, run_id: str) -> list[bytes]:
        """Its recent progress as JSON, oldest first."""
        execution = self._execution(run_id)  # PySpark would convert every entry field by field
        return [] if execution is None else [entry.json().encode() for entry in execution.recentProgress()]

    def facts_at_start(self, run_id: str) -> list[Told]:
        """What session and execution tell of a run that has just started."""
        execution = self._execution(run_id)
        if execution is None:  # it is over already, or of another session whose settings are not these
            return [_version(self._spark), *self._slots()]
        return [*_application(self._spark, self._confs), *self._slots(), *of_start(execution)]

    def jobs(self) -> tuple[bytes, bytes]:
        """The jobs and the stages that Spark still holds, as JSON of its status store; UsageError without a JVM.

        Two calls, and no job: Spark keeps both for its own page, whether that is on or not.
        """
        context = self._spark.sparkContext
        try:
            store, jvm = context._jsc.sc().statusStore(), context._jvm
            write = jvm.org.apache.spark.status.api.v1.JacksonMessageWriter().mapper().writeValueAsString
            none = context._gateway.new_array(jvm.double, 0)
            stages = store.stageList(None, False, False, none, jvm.java.util.ArrayList())
            return write(store.jobsList(None)).encode(), write(stages).encode()
        except Exception as error:  # Py4J raises what it likes
            why = "the session is stopped" if self.stopped() else f"Spark gives none ({type(error).__name__})"
            raise UsageError("stages", why, "analyze its event log, which holds them") from None

    def facts_at_batch(self, run_id: str) -> list[Told]:
        """Read what is known only once batches have run: what the checkpoint pins, and their jobs."""
        execution = self._execution(run_id)
        own = [] if execution is None else of_batch(execution, self._confs())
        return [*self._slots(), *own]

    def doing(self, run_id: str) -> Doing | None:
        """What the run does at this moment; None of one that the session does not know."""
        at = datetime.now(timezone.utc)
        execution = self._execution(run_id)
        if execution is None:
            return None
        last, status, thread = execution.lastProgress(), "", execution.queryExecutionThread()
        found = Doing(at, newest=None if last is None else int(last.batchId()))
        for _ in range(_LOOKS):  # between two waits it asks its source
            status = str(execution.status().message())
            if waits(status):
                return found._replace(thread=status, idle=found.at)
        text = self._spark._jvm.scala.runtime.ScalaRunTime.stringOf(thread.getStackTrace())  # one call, not one a frame
        frames = str(text).removeprefix("Array(").removesuffix(")").split(", ")
        return found._replace(thread="\n".join([*frames, status]), job=self._job(run_id))

    def _job(self, run_id: str) -> str:
        """The newest job of the run that runs, in words."""
        tracker = self._spark.sparkContext.statusTracker()
        running = sorted({*tracker.getJobIdsForGroup(run_id)} & {*tracker.getActiveJobsIds()})
        info = tracker.getJobInfo(running[-1]) if running else None
        stages = filter(None, map(tracker.getStageInfo, info.stageIds)) if info else ()
        done = [(one.numCompletedTasks, one.numTasks) for one in stages]
        return job_in_words(running[-1], sum(a for a, _ in done), sum(b for _, b in done)) if running else ""

    def _execution(self, run_id: str) -> Any:
        """Spark's own object of the run; None when it does not run any more."""
        kept = self._executions.get(run_id)
        if kept is None or not kept.isActive():  # a list of all takes several calls for each
            active = self._spark.streams.active
            self._executions = {str(query.runId): query._jsq.streamingQuery() for query in active}
        return self._executions.get(run_id)

    def _confs(self) -> dict[str, str]:
        return separated(self._spark._jsparkSession.conf().getAll())

    def _slots(self) -> list[Told]:
        return attempt(lambda: slots(self._spark.sparkContext._jsc.sc()))


class _Connect:
    """A Spark Connect session: what the client can ask, nothing of the execution."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self.key = f"connect:{spark.session_id}"
        self.log = f"connect-{spark.session_id}"
        self._asked: dict[object, float] = {}
        """When each question was asked that has no answer yet."""
        self._silent = False
        """Whether the last question got no answer in time: later ones then wait a moment only."""

    def _answered(self, ask: Callable[[], _T], seconds: float | None = None) -> _T:
        """Return what `ask` gives; TimeoutError where it takes too long, at once while an earlier question does."""
        late = TimeoutError("the server of Spark Connect does not answer; what it sent before is kept")
        question, now = object(), time.monotonic()
        if any(self._silent or now - begun >= ANSWER_SECONDS for begun in list(self._asked.values())):
            raise late
        self._asked[question] = now

        def asked() -> _T:
            try:
                found = ask()
                self._silent = False
                return found
            finally:
                del self._asked[question]

        try:
            return within(asked, AGAIN_SECONDS if self._silent else seconds or ANSWER_SECONDS, late)
        except TimeoutError:
            self._silent = True
            raise

    def stopped(self) -> bool:
        return bool(self._spark.is_stopped)

    def add(self, listener: Any) -> None:
        """Register a listener; after a dead thread of events, those again that it leaves without any."""
        self._answered(lambda: self._add(listener), max(ADD_SECONDS, ANSWER_SECONDS))

    def _add(self, listener: Any) -> None:
        """This one first: what kills the thread in another one does so behind it."""
        bus = self._spark.streams._sqlb
        left: list[Any] = []
        if _is_dead(bus):
            with bus._lock:
                left, bus._listener_bus[:] = [one for one in bus._listener_bus if one is not listener], []
                bus._execution_thread = None
            self._tell_server()
        for one in (listener, *left):
            self._spark.streams.addListener(one)

    def remove(self, listener: Any) -> None:
        """Take it away again.

        Not by PySpark's removeListener: for the last listener that waits, with a lock in hand, for the thread of events
        to end, which waits for the same lock as soon as one more event comes (4.0 to 4.3).
        """
        self._answered(lambda: self._remove(listener))

    def _remove(self, listener: Any) -> None:
        bus = self._spark.streams._sqlb
        with bus._lock:
            there = listener in bus._listener_bus
            bus._listener_bus[:] = [other for other in bus._listener_bus if other is not listener]
            events = None if bus._listener_bus else bus._execution_thread
        if there and events is not None:
            self._end(bus, events)

    def _tell_server(self) -> None:
        """Ask the server to send no more events."""
        from pyspark.sql.connect import proto  # noqa: PLC0415 - needs gRPC

        command = proto.Command()
        command.streaming_query_listener_bus_command.remove_listener_bus_listener = True
        self._spark.client.execute_command(command)

    def _end(self, bus: Any, events: Any) -> None:
        self._tell_server()
        events.join(LEAVING_SECONDS)
        with bus._lock:
            if bus._execution_thread is events:
                bus._execution_thread = None

    def lost(self, listener: Any) -> bool:
        """Whether a broken stream has cost the client its listeners, or sys.exit() in one of them all events."""
        bus = self._spark.streams._sqlb
        return listener not in bus._listener_bus or _is_dead(bus)

    def active(self) -> list[tuple[str, str, str | None]]:
        running = self._answered(lambda: list(self._spark.streams.active))
        return [(str(query.id), str(query.runId), query.name) for query in running]

    def _found(self, run_id: str) -> list[Any]:
        return [query for query in self._spark.streams.active if str(query.runId) == run_id]

    def recent(self, run_id: str) -> list[bytes]:
        return self._answered(lambda: [as_json(one) for query in self._found(run_id) for one in query.recentProgress])

    def facts_at_start(self, run_id: str) -> list[Told]:  # noqa: ARG002 - the same of every run
        return self._answered(lambda: _application(self._spark, lambda: dict(self._spark.conf.getAll)))

    def jobs(self) -> tuple[bytes, bytes]:
        raise UsageError("stages", "a Spark Connect client sees no jobs", "analyze its event log, which holds them")

    def doing(self, run_id: str) -> Doing:
        """Its status alone: a client sees no threads and no jobs."""
        said = self._answered(lambda: [str(query.status["message"]) for query in self._found(run_id)])
        return Doing(datetime.now(timezone.utc), thread="".join(said))

    def facts_at_batch(self, run_id: str) -> list[Told]:  # noqa: ARG002
        """Nothing: a client does not see what the checkpoint pins."""
        return []


Session = _Classic | _Connect
"""What the listener asks."""


def _is_dead(bus: Any) -> bool:
    """Whether the thread that brings events to a client's listeners has ended, and left them where they are."""
    return bool(bus._listener_bus) and bus._execution_thread is not None and not bus._execution_thread.is_alive()


def session_of(spark: Any) -> Session:
    """Return the session behind one face; UsageError for what is none, or where a listener hears nothing."""
    if not hasattr(spark, "streams"):
        found = f"{type(spark).__name__} is not a Spark session"
        raise UsageError("attach", found, "give the session that runs the queries")
    if spark.is_stopped if is_connect(spark) else spark.sparkContext._jsc is None:
        raise UsageError("attach", "the session is stopped", "give the session that runs the queries")
    if not is_connect(spark):
        return _Classic(spark)
    import pyspark  # noqa: PLC0415

    if not version_at_least(pyspark.__version__, "4.0"):
        found = f"Spark Connect {pyspark.__version__} runs listeners on the server, where nothing comes back"
        raise UsageError("attach", found, "use PySpark 4.0 or later, or analyze the driver's log")
    return _Connect(spark)


def is_connect(spark: Any) -> bool:
    """Whether this is a session of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _application(spark: Any, confs: Callable[[], dict[str, str]]) -> list[Told]:
    known = attempt(lambda: [*from_confs(confs(), "session").items()])
    return [_version(spark), *((fact, value, origin) for fact, (value, origin) in known)]


def _version(spark: Any) -> Told:
    return "spark_version", str(spark.version), "session"


def started_of(event: Any) -> tuple[str, str, str | None, str]:
    """Return (id, run id, name, when) of a run that began: as ISO 8601, nothing where no text came."""
    return *_ids(event), _text(_of(event, "name")), _text(_of(event, "timestamp")) or ""


def progress_of(event: Any) -> bytes:
    """Return the progress of an event as JSON; of Java's in two round trips."""
    return as_json(_of(event, "progress"))


def idle_of(event: Any) -> tuple[str, str, Any]:
    """Return (id, run id, since when) of a query that waits for data: as ISO 8601 if right, and whatever came."""
    return *_ids(event), _of(event, "timestamp")


def ended_of(event: Any) -> tuple[str, str, str | None]:
    """Return (id, run id, the error's whole text, None without one) of a run that ended; Java's is Scala's option."""
    error = _of(event, "exception")
    if hasattr(error, "isDefined"):
        error = error.get() if error.isDefined() else None
    return *_ids(event), None if error is None else str(error)


def as_json(progress: Any) -> bytes:
    """Return a progress as JSON: a plain dict in PySpark before 4.0, else an object that knows its JSON."""
    text: str = json.dumps(progress) if type(progress) is dict else _of(progress, "json")
    return text.encode()


def _of(thing: Any, name: str) -> Any:
    """Return what Java's objects give by a method, a round trip, and PySpark's as an attribute."""
    found = getattr(thing, name)
    return found() if callable(found) else found


def _ids(event: Any) -> tuple[str, str]:
    return str(_of(event, "id")), str(_of(event, "runId"))


def _text(thing: Any) -> str | None:
    """Return a text as it is; of anything else nothing, which a client may be sent, too."""
    return thing if isinstance(thing, str) else None
