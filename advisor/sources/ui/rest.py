"""Spark's REST interface: an application's version, settings, executors, jobs and SQL executions, and its event log.

Of SQL executions a micro-batch has one or more: plan, settings, and what its state operators did. A History Server has
the event logs.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from advisor.errors import InputError
from advisor.facts import from_confs
from advisor.facts.inspection import source_kind
from advisor.redaction import redact
from advisor.sources.paths import Input, expand
from advisor.sources.sightings.line import Told
from advisor.sources.sightings.plan import read_execution
from advisor.sources.stages.statusstore import JOB_OF_BATCH
from advisor.sources.ui.web import SECONDS_OF_A_LOG, Absent, Server

HISTORY: Final = "History Server"
"""Stands on the pages of one."""
_LISTED: Final = 5
_OPERATORS: Final = {
    "StateStoreSave": "stateStoreSave",
    "SessionWindowStateStoreSave": "sessionWindowStateStoreSaveExec",
    "StreamingDeduplicate": "dedupe",
    "StreamingDeduplicateWithinWatermark": "dedupeWithinWatermark",
    "StreamingSymmetricHashJoin": "symmetricHashJoin",
    "StreamingGlobalLimit": "globalLimit",
    "FlatMapGroupsWithState": "flatMapGroupsWithState",
    "FlatMapGroupsInPandasWithState": "applyInPandasWithState",
    "TransformWithState": "transformWithStateExec",
    "TransformWithStateInPandas": "transformWithStateInPandasExec",
    "TransformWithStateInPySpark": "transformWithStateInPySparkExec",
}
"""How progress calls the operator behind a node that keeps state."""
_METRICS: Final = {
    "number of total state rows": "numRowsTotal",
    "number of updated state rows": "numRowsUpdated",
    "number of removed state rows": "numRowsRemoved",
    "number of rows which are dropped by watermark": "numRowsDroppedByWatermark",
    "time to update": "allUpdatesTimeMs",
    "time to remove": "allRemovalsTimeMs",
    "time to commit changes": "commitTimeMs",
    "memory used by state": "memoryUsedBytes",
    "number of state store instances": "numStateStoreInstances",
}
_CUSTOM: Final = {
    "count of cache hit on states cache in provider": "loadedMapCacheHitCount",
    "count of cache miss on states cache in provider": "loadedMapCacheMissCount",
    "RocksDB: total get call latency": "rocksdbGetLatency",
    "RocksDB: number of get calls": "rocksdbGetCount",
    "RocksDB: number of put calls": "rocksdbPutCount",
    "RocksDB: commit - flush time": "rocksdbCommitFlushLatency",
    "RocksDB: commit - compact time": "rocksdbCommitCompactLatency",
    "RocksDB: commit - checkpoint time": "rocksdbCommitCheckpointLatency",
    "RocksDB: commit - file sync to external storage time": "rocksdbCommitFileSyncLatencyMs",
}
"""How progress calls the metrics of a state store that our metrics read."""
_PARTITIONS: Final = re.compile(r"numPartitions = (\d{1,9})\]")
_AMOUNT: Final = re.compile(r"(?:total[^\n]*\n)?(-?\d[\d,]{0,30}(?:\.\d{1,30})?)\s*([A-Za-z]*)")
_UNITS: Final = {
    "": 1.0, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3,
    "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40, "PiB": 2.0**50,
}  # fmt: skip
_SCAN: Final = re.compile(r"^MicroBatchScan\b.* class [\w.]*\.([A-Z]\w*)", re.DOTALL)
_FILES: Final = " Location: InMemoryFileIndex"
"""What a file source reads, and a table of files; Delta's index of files has another name."""
_WRITER: Final = re.compile(r"\bMicroBatchWrite\[epoch: \d{1,18}, writer: (?:[\w.]*\.)?([A-Z]\w*)")
_WRITES: Final = ("WriteToDataSourceV2", "MicroBatchWrite")
"""In the plan of every batch that runs a job, but for sinks of the first interface: files, Delta, some connectors."""
_OLDER: Final = ["foreach_batch", "file", "delta", "other"]
_SINKS: Final = {"Noop": "noop", "Kafka": "kafka", "Console": "console", "Memory": "memory", "Foreach": "foreach"}
"""How the classes begin that write a batch."""


Batch = tuple[str, int]
"""A run and the number of its batch."""


_HANDED_OVER: Final = "Scan ExistingRDD"
"""The rows of a batch as foreachBatch hands them over; the batch's own execution has the plan without it."""


class Attempt(msgspec.Struct, rename="camel"):
    """One start of an application."""

    app_spark_version: str = ""
    last_updated_epoch: int = 0


class Application(msgspec.Struct):
    """An application as a driver or a History Server lists it."""

    id: str
    name: str = ""
    attempts: list[Attempt] = []

    def told(self) -> list[Told]:
        """Return its name and its version of Spark."""
        found = [Told("application", self.name)] if self.name else []
        version = self.attempts[0].app_spark_version if self.attempts else ""
        return [*found, Told("spark_version", version)] if version else found


class Environment(msgspec.Struct, rename="camel"):
    """The settings with which the application started."""

    spark_properties: list[tuple[str, str]] = []

    def told(self) -> list[Told]:
        """Return the facts that they settle: what is not among them was not set."""
        found = from_confs(dict(self.spark_properties), "ui")
        return [Told(fact, value, origin) for fact, (value, origin) in found.items()]


class Executor(msgspec.Struct, rename="camel"):
    """An executor; in local mode the driver is one."""

    id: str
    is_active: bool = True
    max_tasks: int = 0


class Frames(msgspec.Struct):
    """The frames of a thread, the innermost first."""

    elems: list[str] = []


class Thread(msgspec.Struct, rename="camel"):
    """A thread of the driver."""

    thread_name: str = ""
    stack_trace: Frames = msgspec.field(default_factory=Frames)


class _Metric(msgspec.Struct):
    name: str
    value: str


class _Node(msgspec.Struct, rename={"name": "nodeName"}):
    name: str
    metrics: list[_Metric] = []
    desc: str = ""


class Execution(msgspec.Struct, rename="camel"):
    """One SQL execution as the REST interface shows it."""

    id: int
    status: str = ""
    description: str = ""
    plan_description: str = ""
    nodes: list[_Node] = []
    modified_configs: dict[str, str] = {}
    success_job_ids: list[int] = []

    @property
    def batch(self) -> Batch | None:
        """(run, number) of the micro-batch that it belongs to; None for any other execution."""
        found = JOB_OF_BATCH.search(self.description)
        return (found[2], int(found[3])) if found else None


def operators_of(executions: Iterable[Execution]) -> dict[Batch, list[dict[str, Any]]]:
    """Return the state operators of each batch, as progress shows them: the sums over the executions that ran its jobs.

    A function of foreachBatch gives an execution for each of its actions. One that reads a cache adds zeros.
    """
    found: dict[Batch, list[dict[str, Any]]] = {}
    for one in executions:
        kept = [_operator(node) for node in one.nodes if node.name in _OPERATORS]
        if kept and one.batch and one.success_job_ids:
            before = found.get(one.batch, [])
            same = [each["operatorName"] for each in before] == [each["operatorName"] for each in kept[::-1]]
            found[one.batch] = [*map(_sum, before, kept[::-1])] if same else max(before, kept[::-1], key=len)
    return found  # nodes stand from the source to the sink, operators from the sink to the source


def _sum(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return an operator that two executions of a batch computed."""
    found = one | {key: one.get(key, 0) + number for key, number in other.items() if isinstance(number, int | float)}
    if "numShufflePartitions" in other:
        found["numShufflePartitions"] = other["numShufflePartitions"]
    custom = {key: one["customMetrics"].get(key, 0) + number for key, number in other["customMetrics"].items()}
    return found | {"customMetrics": one["customMetrics"] | custom}


def _operator(node: _Node) -> dict[str, Any]:
    """Return a node as an operator of progress; metrics that it lacks stay unknown."""
    amounts = {each.name: _amount(each.value) for each in node.metrics}
    read = {name: amount for name, amount in amounts.items() if amount is not None}
    found: dict[str, Any] = {"operatorName": _OPERATORS[node.name]}
    found |= {key: round(read[name]) for name, key in _METRICS.items() if name in read}
    if partitions := _PARTITIONS.search(node.desc):
        found["numShufflePartitions"] = int(partitions[1])
    found["customMetrics"] = {key: read[name] for name, key in _CUSTOM.items() if name in read}
    return found


def _amount(text: str) -> float | None:
    """Return a metric's value as Spark prints it: `1,400`, `total (min, med, max ...)\\n1.6 s (217 ms, ...)`."""
    found = _AMOUNT.match(text)
    if found is None or found[2] not in _UNITS:
        return None
    return float(found[1].replace(",", "")) * _UNITS[found[2]]


def of_plans(executions: Sequence[Execution]) -> list[Told]:
    """Return the facts that the plans and the settings of one batch's executions show."""
    found = [each for one in executions for each in _of_one(one)]
    scans = [any(node.name == _HANDED_OVER for node in one.nodes) for one in executions]
    if any(scans) and not all(scans):
        found.append(Told("sink", "foreach_batch"))
    elif any(
        one.success_job_ids and not any(word in one.plan_description for word in _WRITES)
        for one in executions
        if one.batch
    ):
        found.append(Told("sink_one_of", _OLDER))
    if source := _source([node for one in executions for node in one.nodes]):
        found.append(Told("source", source))
    return found


def _of_one(one: Execution) -> list[Told]:
    plan = one.plan_description
    found = read_execution(plan, one.modified_configs)
    if "EventTimeWatermark" in plan:
        found.append(Told("watermarked", value=True))
    partitions = set(_PARTITIONS.findall(plan))
    if len(partitions) == 1:  # before Spark 4.3 no node shows them
        found.append(Told("shuffle_partitions", int(partitions.pop())))
    if writer := _WRITER.search(plan):
        found += [Told("sink", kind) for mark, kind in _SINKS.items() if writer[1].startswith(mark)]
    return found


def _source(nodes: Sequence[_Node]) -> str | None:
    """Return the kind of source that a batch reads, where its plan names its class, or reads nothing but files."""
    classes = {found[1] for node in nodes if (found := _SCAN.match(node.desc))}
    kinds = {source_kind(name) for name in classes} - {"other"}
    scans = [node.desc for node in nodes if "Scan" in node.name]
    if scans and all(scan.startswith("FileScan ") and _FILES in scan for scan in scans):
        return "file"
    return None if not kinds else kinds.pop() if len(kinds) == 1 else "several"


def no_application(server: Server, found: list[Application]) -> InputError:
    """Return the error for the address of a History Server that names none of its applications."""
    newest = sorted(found, key=lambda one: max((each.last_updated_epoch for each in one.attempts), default=0))[::-1]
    listed = ", ".join(f"{one.id} ({redact(one.name)})" for one in newest[:_LISTED])
    says = (
        f"a History Server with {len(found):,} application{'s' * (len(found) > 1)}, the newest: {listed}"
        if found
        else "an empty History Server"
    )
    return InputError(server.address, says, "let `analyze` read one: add --app ID, or give .../history/ID")


@contextmanager
def event_log(server: Server, application: str, address: str) -> Iterator[list[Input]]:
    """Yield the files of an application's event log, named as in an archive at this address, as long as it is read."""
    with tempfile.TemporaryDirectory(prefix="latency-advisor-") as folder:
        place = Path(folder) / "log.zip"
        server.begin(SECONDS_OF_A_LOG)
        try:
            with place.open("wb") as file:
                server.save(f"applications/{application}/logs", file)
        except Absent:
            raise InputError(
                server.address, f"has no application {application}", "see its list of applications"
            ) from None
        archive = str(place)
        inputs = expand([archive]) if zipfile.is_zipfile(place) else []
        if not inputs or inputs[0].unfit:
            server.refuse_page(place)
            give = "open applications/ID/logs below /api/v1 there: an archive comes; a driver's address has no --app"
            why = f": {inputs[0].unfit}" if inputs else ""
            raise InputError(server.address, f"gives no event log of {application}{why}", give)
        names = ((one, one.path.replace(archive, address)) for one in inputs)
        yield [one._replace(log=one.log.replace(archive, address), name=name) for one, name in names]
