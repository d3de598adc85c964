"""Lines of event logs that reveal more than progress."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, Final

import msgspec

from advisor.facts import EXECUTOR, Sighting, from_conf, from_confs, in_order
from advisor.redaction import redact
from advisor.sources.sightings.line import Told
from advisor.sources.sightings.plan import read_physical_plan
from advisor.sources.sightings.query import error, limits

_BATCH: Final = re.compile(r"id = ([0-9a-f-]{36})\nrunId = ([0-9a-f-]{36})\nbatch = ")


class _ExecutorInfo(msgspec.Struct, rename={"cores": "Total Cores"}):
    cores: int | None = None


class _Event(msgspec.Struct, rename={
    "event": "Event",
    "spark_version": "Spark Version",
    "properties": "Spark Properties",
    "app_name": "App Name",
    "time": "Timestamp",
    "executor_id": "Executor ID",
    "executor": "Executor Info",
    "run_id": "runId",
    "started": "timestamp",
    "plan": "physicalPlanDescription",
    "confs": "modifiedConfigs",
}):  # fmt: skip
    event: str
    spark_version: str | None = None
    properties: dict[str, str] | list[tuple[str, str]] | None = None
    app_name: str | None = None
    time: int | None = None
    executor_id: str | None = None
    executor: _ExecutorInfo | None = None
    id: str | None = None
    run_id: str | None = None
    started: str | None = None
    name: str | None = None
    exception: str | None = None
    description: str | None = None
    plan: str | None = None
    confs: dict[str, str] = msgspec.field(default_factory=dict)


_DECODER: Final = msgspec.json.Decoder(_Event)


def sight_event_log(line: bytes, *, log: str, file: str, base: int) -> list[Sighting]:
    """The sightings in one line of an event log, which begins at byte `base` of `file`; none when it is broken."""
    try:
        event = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []
    kind = re.split(r"[.$]", event.event)[-1]
    if kind not in _READERS:
        return []
    query, run = _query(event)
    return [
        Sighting(query, run, log, redact(each.fact), _json(each.value), each.origin, file, base, _time(event.time))
        for each in _READERS[kind](event)
    ]


def _query(event: _Event) -> tuple[str | None, str | None]:
    match = _BATCH.search(event.description or "")
    return (match[1], match[2]) if match else (_safe(event.id), _safe(event.run_id))


def _safe(id: str | None) -> str | None:
    return redact(id) if id else id


def _json(value: Any) -> str:
    return msgspec.json.encode(redact(value) if isinstance(value, str) else value).decode()


def _time(milliseconds: int | None) -> datetime | None:
    try:
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    except (OverflowError, OSError, ValueError):
        return None


def _log_start(event: _Event) -> list[Told]:
    return [Told("spark_version", event.spark_version, "event_log")] if event.spark_version else []


def _application(event: _Event) -> list[Told]:
    return [Told("application", event.app_name, "event_log")] if event.app_name else []


def _environment(event: _Event) -> list[Told]:
    """All Spark properties: what is not among them was not set when the application started."""
    properties = dict(event.properties or {})
    return [Told(fact, value, origin) for fact, (value, origin) in from_confs(properties, "event_log").items()]


def _executor_added(event: _Event) -> list[Told]:
    cores = event.executor.cores if event.executor else None
    return [Told(EXECUTOR + event.executor_id, cores, "event_log")] if event.executor_id else []


def _executor_removed(event: _Event) -> list[Told]:
    return [Told(EXECUTOR + event.executor_id, 0, "event_log")] if event.executor_id else []


def _started(event: _Event) -> list[Told]:
    found = [Told("start_time", event.started, "event_log")] if event.started else []
    return [*found, Told("query_name", event.name, "event_log")] if event.name else found


def _terminated(event: _Event) -> list[Told]:
    if not event.exception:
        return _ended(event)
    return [each._replace(origin="event_log") for each in error(event.exception)]


def _ended(event: _Event) -> list[Told]:  # noqa: ARG001 - a query or the application: who it was stands beside it
    return [Told("stopped", value=True, origin="event_log")]


def _execution(event: _Event) -> list[Told]:
    """One batch's plan, and the settings that the session changed after the application started."""
    if not _BATCH.search(event.description or ""):
        return []
    found = read_physical_plan(event.plan or "") + limits(event.plan or "")
    confs = [Told(*each) for key, text in in_order(event.confs.items()) for each in from_conf(key, text)]
    return [each._replace(origin="event_log") for each in found + confs]


_READERS: Final[dict[str, Callable[[_Event], list[Told]]]] = {
    "SparkListenerLogStart": _log_start,
    "SparkListenerApplicationStart": _application,
    "SparkListenerApplicationEnd": _ended,
    "SparkListenerEnvironmentUpdate": _environment,
    "SparkListenerExecutorAdded": _executor_added,
    "SparkListenerExecutorRemoved": _executor_removed,
    "QueryStartedEvent": _started,
    "QueryTerminatedEvent": _terminated,
    "SparkListenerSQLExecutionStart": _execution,
}
