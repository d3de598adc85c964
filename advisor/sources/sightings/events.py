"""Lines of event logs that reveal more than progress."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from typing import Final

import msgspec

from advisor.facts import EXECUTOR, Sighting, from_conf, from_confs, in_order
from advisor.sources.sightings.line import Line, Told, sighting
from advisor.sources.sightings.plan import read_physical_plan
from advisor.sources.sightings.query import error, limits

_BATCH: Final = re.compile(r"id = ([0-9a-f-]{36})\nrunId = ([0-9a-f-]{36})\nbatch = ")


class _ExecutorInfo(msgspec.Struct, rename={"cores": "Total Cores"}):
    cores: int | None = None


class _Event(msgspec.Struct, rename={
    "event": "Event",
    "spark_version": "Spark Version",
    "properties": "Spark Properties",
    "application": "App Name",
    "time": "Timestamp",
    "executor_id": "Executor ID",
    "executor": "Executor Info",
    "run_id": "runId",
    "start_time": "timestamp",
    "query_name": "name",
    "plan": "physicalPlanDescription",
    "confs": "modifiedConfigs",
}):  # fmt: skip
    event: str
    spark_version: str | None = None
    properties: dict[str, str] | list[tuple[str, str]] | None = None
    application: str | None = None
    time: int | None = None
    executor_id: str | None = None
    executor: _ExecutorInfo | None = None
    id: str | None = None
    run_id: str | None = None
    start_time: str | None = None
    query_name: str | None = None
    exception: str | None = None
    description: str | None = None
    plan: str | None = None
    confs: dict[str, str] = msgspec.field(default_factory=dict)


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
    """Read one batch's plan, and the settings that the session changed after the application started."""
    if _BATCH.search(event.description or ""):
        yield from read_physical_plan(event.plan or "") + limits(event.plan or "")
        for key, text in in_order(event.confs.items()):
            yield from (Told(*each) for each in from_conf(key, text))


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
