"""Read every sighting in a stretch of whole lines of a log, plain or structured, or of a history."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import msgspec

from advisor.facts import CONF, EXECUTOR, FACTS, ORIGINS, Sighting, check_value
from advisor.redaction import redact
from advisor.sources.harvest import find, places
from advisor.sources.sightings import application, query
from advisor.sources.sightings.line import Line, Told, lines_with, sighting
from advisor.sources.sightings.plan import read_plan

_WRITTEN: Final = r"Writing atomically to ([a-zA-Z][\w+.-]+):\S*?/(?:offsets|commits)/\d+ "
_PROFILE: Final = r"cores -> name: cores, amount: (\d{1,9}).{0,1000}?cpus -> name: cpus, amount: (\d{1,9})(?:\.0)?\b"
_LOCAL: Final = r"spark\.master[=,] ?(local\[\d{1,4}(?:,\d{1,4})?\])"
_WAIT: Final = r"fetch\.max\.wait\.ms = ([0-9]{1,9})\s*$"
_RECORDS: Final = r"max\.poll\.records = ([1-9][0-9]{0,8})\s*$"
_PYTHON_BATCHES: Final = re.compile(
    r"\b(?:(?:CoGrouped|RowInput)?ArrowPythonRunner|(?:MapIn|FlatMap(?:Co)?GroupsIn)Batch\w*)\b"
)
"""Spark 3.5 writes the first name for a pandas_udf, too."""
_MIN_BYTES: Final = r"fetch\.min\.bytes = ([0-9]{1,9})\s*$"
_PARTITION_BYTES: Final = r"max\.partition\.fetch\.bytes = ([0-9]{1,10})\s*$"
_FILES: Final = r"maxFilesPerBatch = (?:Some\((\d{1,18})\)|None(?!, maxBytesPerBatch = Some))"
_PRODUCER_BATCH: Final = r"(?m)^\s*batch\.size = ([0-9]{1,9})\s*$"
_SPLITS: Final = r"max size: ([0-9]{1,15}) bytes, open cost is considered as scanning 4194304 "  # the default
_VERSIONS: Final = r"max_versions_to_retain_in_memory=(-?[0-9]{1,9})\b"
Reader = Callable[[Line], list[Told]]


def _groups(pattern: str, *facts: str, convert: Callable[[str], Any] = str) -> Reader:
    """Return a reader of the facts that the groups of a pattern hold."""
    compiled = re.compile(pattern)

    def read(line: Line) -> list[Told]:
        match = compiled.search(line.text)
        return [Told(fact, convert(text)) for fact, text in zip(facts, match.groups(), strict=True)] if match else []

    return read


def _is(fact: str, value: Any, words: str = "") -> Reader:
    """Return a reader of a fact that has this value in lines with these words."""
    return lambda line: [Told(fact, value)] if words in line.text else []


_FACT: Final = b'{"latencyAdvisorFact":'


class _Kept(msgspec.Struct, rename={"fact": "latencyAdvisorFact", "origin": "from"}):
    fact: str
    value: Any
    origin: str
    of: str


def fact_line(id: str, run_id: str, fact: str, value: Any, origin: str) -> bytes:
    """Return a fact of a run as one line, without credentials; it names the run as Spark's own lines do."""
    value = redact(value) if isinstance(value, str) else value
    return msgspec.json.encode(_Kept(fact, value, origin, f"[id = {id}, runId = {run_id}]"))


def _read_fact(line: Line) -> list[Told]:
    """Read such a line; nothing of one that somebody changed."""
    try:
        kept = msgspec.json.decode(line.text, type=_Kept)
    except msgspec.MsgspecError:
        return []
    return [Told(kept.fact, kept.value, kept.origin)] if kept.origin in ORIGINS and _fits(kept) else []


def _fits(kept: _Kept) -> bool:
    """Whether the fact is known and its value one that it may have."""
    values = kept.value if isinstance(kept.value, list) else [kept.value]
    plain = all(isinstance(value, str | int | float | None) for value in values)
    if not plain or kept.fact.startswith((CONF, EXECUTOR)):
        return plain
    return kept.fact in FACTS and check_value(FACTS[kept.fact], kept.value)


_DEBUG: Final = re.compile(
    r"^[^A-Za-z]{8,40} DEBUG \S{0,99}\b(?:Task|Block|DAGScheduler|MicroBatch|CodeGenerator)\w{0,40}:"
)
"""A line at DEBUG of Spark itself: what other libraries write there costs less."""


_LOADING: Final = re.compile(r"total = (\d{1,9}), boot = (-\d{1,9}), init = (\d{1,9})")
"""Of a worker that has waited for its task: that time is below zero, and part of the next one."""
_LONG_LOADING_MS: Final = 300


def _read_worker(line: Line) -> list[Told]:
    found = _LOADING.search(line.text)
    total, boot, init = map(int, found.groups()) if found else (0, 0, 0)
    loads = [Told("python_loads", value=True)] * (init + boot >= max(_LONG_LOADING_MS, total / 2))
    batches = [Told("python_batches", value=True)] if _PYTHON_BATCHES.search(line.logger or line.text) else []
    return [Told("runs_python", value=True), *batches, *loads]


_WITHOUT_AQE: Final = (
    ("stateful workloads", Told("stateful", value=True)),
    ("Real-time Mode", Told("trigger", "real_time")),
    ("continuous mode", Told("trigger", "continuous")),
)


_READERS: Final[tuple[tuple[bytes, Reader, int], ...]] = (
    (_FACT, _read_fact, 1000),
    (b"Running Spark version ", _groups(application.VERSION.pattern, "spark_version"), 8),
    (b"Submitted application: ", _groups(r"Submitted application: (.+)", "application", convert=str.strip), 8),
    (b"Default ResourceProfile created", _groups(_PROFILE, CONF + "spark.executor.cores", CONF + "spark.task.cpus"), 8),
    (b"spark.master", _groups(_LOCAL, CONF + "spark.master"), 2),
    (b"reated default pool: ", _is(CONF + "spark.scheduler.mode", "FAIR", "FairSchedulableBuilder"), 8),
    (b"Granted executor ID ", application.read_executor, 1000),
    (b"Registered executor ", application.read_executor, 1000),
    (b"Lost executor ", application.read_executor, 1000),
    (b" killed by driver", application.read_executor, 1000),
    (b"clusterUsageTags.sparkVersion", application.read_runtime, 2),
    (b"Databricks Runtime", application.read_runtime, 4),
    (b"Spark configuration:", application.read_property, 2),
    (b" resolved to ", query.read_checkpoint_root, 100),
    (b" to store the query checkpoint", query.read_start, 1000),
    (b"Finish initializing with logical plan:", read_plan, 100),
    (b"Metadata OffsetSeqMetadata", query.read_pinned, 4),
    (b"Updating the value of conf '", query.read_conf_update, 100),
    (b"BatchIds found from listing: ", query.read_listing, 20),
    (b"Using Source [", lambda line: query.limits(line.text), 20),
    (b"AQE is not supported ", lambda line: [told for words, told in _WITHOUT_AQE if words in line.text], 100),
    (b" in real time mode", _is("trigger", "real_time", "Delay offset logging"), 2),
    (b"terminating this Trigger.", _is("trigger", "available_now", "Trigger.AvailableNow query"), 2),
    (b"Streaming query made progress: ", query.read_progress_header, 2),
    (b"async offset log write", _is("async_progress", value=True, words="Submitting async"), 2),
    (
        b"No Partition Defined for Window operation",
        _is("window_in_one_partition", value=True, words="to a single partition"),
        2,
    ),
    (b" DEBUG ", lambda line: [Told("debug_log", value=True)] if _DEBUG.search(line.text) else [], 4),
    (b"falling behind", query.read_falling_behind, 4),
    (b" terminated with error", query.read_termination, 1000),
    (b" terminated with exception: ", query.read_failure, 100),
    (b"Error writing stream metadata ", query.read_refused_start, 4),
    (b"StreamingQueryException: ", query.read_exception, 100),
    (b" was stopped", query.read_stop, 1000),
    (b"SparkContext: Successfully stopped SparkContext", query.read_stop, 8),
    (b"Starting executor ID driver on host", _is("local_mode", value=True, words="Starting executor ID driver"), 2),
    (b"CheckpointFileManager: Writing atomically to ", _groups(_WRITTEN, "checkpoint_scheme", convert=str.lower), 2),
    (b"maxFilesPerBatch = ", _groups(_FILES, "max_files_per_trigger", convert=lambda of: int(of) if of else None), 4),
    (b"'latestFirst' is true.", _is("latest_first", value=True, words="New files will be processed first"), 4),
    (b" file(s) in ", _groups(r"Listed (\d{1,12}) file\(s\) in", "listed_files", convert=int), 20),
    (b"fetch.max.wait.ms = ", _groups(_WAIT, "kafka_fetch_max_wait_ms", convert=int), 1),
    (b"partition.fetch.bytes = ", _groups(_PARTITION_BYTES, "kafka_partition_fetch_bytes", convert=int), 1),
    (b"fetch.min.bytes = ", _groups(_MIN_BYTES, "kafka_fetch_min_bytes", convert=int), 1),
    (b"max.poll.records = ", _groups(_RECORDS, "kafka_max_poll_records", convert=int), 1),
    (b"batch.size = ", _groups(_PRODUCER_BATCH, "kafka_batch_size", convert=int), 1),
    (b"_to_retain_in_memory=", _groups(_VERSIONS, CONF + "spark.sql.streaming.maxBatchesToRetainInMemory"), 1),
    (b"Planning scan with bin packing", _groups(_SPLITS, "split_bytes", convert=int), 4),
    (b"CodecConfig: Compression: ", _groups(r"Compression: (\w{1,20})", "file_codec", convert=str.lower), 1),
    (b"Times: total = ", _read_worker, 20),
    (b"FileScanRDD: Reading File path: ", _is("reads_gzip", value=True, words=".gz, range: 0-"), 20),
    (b".expand_doConsume", _is("long_expand", value=True, words="too long to be JIT compiled"), 4),
    (b" Committed delta #", _is("writes_delta", value=True), 1),
)
"""Each kind of line that reveals a fact: marker, reader, how many are read at most."""
_OF_THE_WHOLE: Final = (
    application.platform, application.checkpoint_manager, application.slots, query.async_before,
    application.snapshot_tasks,
)  # fmt: skip
"""What reads facts from all lines of a stretch."""


def sight(region: bytes, *, log: str, file: str, base: int) -> list[Sighting]:
    """Return the sightings in `region`, which begins at byte `base` of `file`, in order of place; no repeats.

    A sighting names the query and run that its line names, else none. Values are JSON text without credentials.
    """
    found = [
        (line, told)
        for marker, read, most in _READERS
        for line in lines_with(region, marker, most)
        for told in read(line)
    ]
    begins, looked = [0], 0  # of each application, if the one before ran something
    for at in places(region, application.STARTS):
        if any(find(region, mark, looked, at) >= 0 for mark in (application.RUNS, b"made progress: ")):
            begins.append(region.rfind(b"\n", 0, at) + 1)
        looked = at
    for begin, end in pairwise([*begins, len(region)]):
        part, start = region[begin:end], Line("", "", begin)
        found += [(start, told) for read in _OF_THE_WHOLE for told in read(part)]
    rows: list[Sighting] = []
    last: dict[tuple[str | None, ...], Any] = {}
    for line, told in sorted(found, key=lambda each: each[0].offset):
        key = told.fact, told.origin, told.id or line.id, told.run_id or line.run_id
        if key not in last or last[key] != told.value:
            last[key] = told.value
            rows.append(sighting(told, line, log=log, file=file, base=base))
    return rows
