"""Lines of event logs that reveal more than progress."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from typing import Final

import msgspec
from msgspec import field

from advisor.facts import EXECUTOR, Sighting, from_confs
from advisor.sources.sightings.errors import error
from advisor.sources.sightings.line import Line, Told, sighting
from advisor.sources.sightings.plan import read_execution

_BATCH: Final = re.compile(r"id = ([0-9a-f-]{36})\nrunId = ([0-9a-f-]{36})\nbatch = ")


class _ExecutorInfo(msgspec.Struct):
    cores: int | None = field(name="Total Cores", default=None)


class _Event(msgspec.Struct):
    event: str = field(name="Event")
    spark_version: str | None = field(name="Spark Version", default=None)
    properties: dict[str, str] | list[tuple[str, str]] | None = field(name="Spark Properties", default=None)
    application: str | None = field(name="App Name", default=None)
    time: int | None = field(name="Timestamp", default=None)
    executor_id: str | None = field(name="Executor ID", default=None)
    executor: _ExecutorInfo | None = field(name="Executor Info", default=None)
    id: str | None = None
    run_id: str | None = field(name="runId", default=None)
    start_time: str | None = field(name="timestamp", default=None)
    query_name: str | None = field(name="name", default=None)
    exception: str | None = None
    description: str | None = None
    plan: str | None = field(name="physicalPlanDescription", default=None)
    operators: msgspec.Raw = field(name="sparkPlanInfo", default_factory=msgspec.Raw)
    confs: dict[str, str] = field(name="modifiedConfigs", default_factory=dict)


_DECODER: Final = msgspec.json.Decoder(_Event)


def sight_event_log(raw: bytes, *, log: str, file: str, base: int) -> list[Sighting]:
    """Return the sightings in one line of an event log, at byte `base` of `file`; none when it is broken."""
    try:
        event = _DECODER.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []
    read = _READERS.get(re.split(r"[.$]", event.event)[-1])
    if read is None:
        return []
    time = None
    with suppress(OverflowError, OSError, ValueError):
        time = None if event.time is None else datetime.fromtimestamp(event.time / 1000, timezone.utc)
    batch = _BATCH.search(event.description or "")
    id, run_id = batch.groups() if batch else (event.id, event.run_id)
    line = Line("", "", 0, None, id, run_id, time)
    return [sighting(each._replace(origin="event_log"), line, log=log, file=file, base=base) for each in read(event)]


def _said(*facts: str) -> Callable[[_Event], Iterator[Told]]:
    """Return a reader of facts that have the names of an event's fields, where it has them."""
    return lambda event: (Told(fact, value) for fact in facts if (value := getattr(event, fact)))


def _environment(event: _Event) -> Iterator[Told]:
    """Read all Spark properties: what is not among them was not set when the application started."""
    properties = dict(event.properties or {})
    return (Told(fact, value) for fact, (value, _) in from_confs(properties, "event_log").items())


def _executor(event: _Event) -> Iterator[Told]:
    """Read the cores of an executor, 0 for one that is gone."""
    if event.executor_id:
        gone = event.event.endswith("Removed")
        yield Told(EXECUTOR + event.executor_id, 0 if gone else event.executor.cores if event.executor else None)


def _ended(event: _Event) -> Iterator[Told]:
    yield from error(event.exception) if event.exception else [Told("stopped", value=True)]


def _execution(event: _Event) -> Iterator[Told]:
    if _BATCH.search(event.description or ""):
        yield from read_execution(event.plan or "", event.confs, event.operators)


_READERS: Final[dict[str, Callable[[_Event], Iterator[Told]]]] = {
    "SparkListenerLogStart": _said("spark_version"),
    "SparkListenerApplicationStart": _said("application"),
    "SparkListenerApplicationEnd": _ended,
    "SparkListenerEnvironmentUpdate": _environment,
    "SparkListenerExecutorAdded": _executor,
    "SparkListenerExecutorRemoved": _executor,
    "QueryStartedEvent": _said("start_time", "query_name"),
    "QueryTerminatedEvent": _ended,
    "SparkListenerSQLExecutionStart": _execution,
}
