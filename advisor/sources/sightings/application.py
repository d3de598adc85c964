"""Lines about the application: its Spark, its executors and task slots, the way it writes checkpoints."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from advisor.facts import EXECUTOR, from_conf, platform_of
from advisor.sources.harvest import find, places
from advisor.sources.sightings.line import Line, Told, lines_with

STARTS: Final = b"Running Spark version "
RUNS: Final = b"Adding task set "
VERSION: Final = re.compile(r"Running Spark version (\d[\w.\-]*)")
_GRANTED: Final = re.compile(r"Granted executor ID \S{0,100}?(\d{1,18}) on .{1,300}? with (\d{1,9}) core")
_REGISTERED: Final = re.compile(r"Registered executor .{1,500}? with ID (\d{1,18})\b")
_LOST: Final = re.compile(r"Lost executor (\d{1,18}) on |Executor (\d{1,18}) on \S{1,300} killed by driver")
_RUNTIME: Final = re.compile(
    r"spark\.databricks\.clusterUsageTags\.sparkVersion\W{1,6}([\w.\-]+)"
    r"|Databricks Runtime(?: Version)?:? (\d+\.\d+[\w.\-]*)"
)
_STAGES: Final = 8
_REACH: Final = 1 << 17
_ADDED: Final = re.compile(rb"Adding task set (\d+)\.\d+ with (\d{1,9}) tasks")
_TASK: Final = re.compile(
    rb" task (?<=(Starting|Finished) task )\d+\.\d+ in stage (\d+)\.\d+ \(TID (\d+)\)"
    rb"(?: \([^()\s]*, ?executor (driver)\b)?"
)
_COMMITTED: Final = b"Committed offsets for batch "
_SNAPSHOT: Final = b"DELTA: Compute snapshot"
_DELTA: Final = (_SNAPSHOT, b" DeltaLog: ", b'"DeltaLog"')
_RENAMES: Final = 5
_SINK_LOG: Final = "_spark_metadata"


def read_executor(line: Line) -> list[Told]:
    """Read the cores of an executor that came (None where the line names none), or 0 for one that went."""
    if granted := _GRANTED.search(line.text):
        return [Told(EXECUTOR + granted[1], int(granted[2]))]
    if registered := _REGISTERED.search(line.text):
        return [Told(EXECUTOR + registered[1], None)]
    lost = _LOST.search(line.text)
    return [Told(EXECUTOR + (lost[1] or lost[2]), 0)] if lost else []


def read_runtime(line: Line) -> list[Told]:
    """Read the version of the Databricks Runtime, where a line prints it."""
    match = _RUNTIME.search(line.text)
    return [Told("databricks_runtime", match[1] or match[2]), Told("platform", "databricks")] if match else []


def read_property(line: Line) -> list[Told]:
    """Read Spark's own list of its properties at the start (spark.logConf): `spark.key=value`."""
    return [
        Told(fact, value)
        for key, text in re.findall(r"^(spark\.[\w.\-]+)=(.*)$", line.after, re.MULTILINE)
        for fact, value in from_conf(key, text)
    ]


def platform(region: bytes) -> list[Told]:
    """Return whose Spark started here: a start on Databricks names Databricks many times, one elsewhere never."""
    at = find(region, STARTS)
    match = VERSION.search(region[at : at + 80].decode("ascii", "replace")) if at >= 0 else None
    began = match or find(region, b"Added a local log appender at") >= 0  # Spark 4.0 writes its version before that
    if not began or region.count(b"atabricks") > region.count(b"spark.databricks.delta."):
        return []
    return [Told("platform", platform_of(match[1]) if match else "open_source", "inferred")]


def checkpoint_manager(region: bytes) -> list[Told]:
    """Return how checkpoint files are written: the manager that renames logs it, the abortable one of S3A does not."""
    renamed = lines_with(region, b"Renamed temp file ", _RENAMES)
    if any(_SINK_LOG not in line.text for line in renamed):
        return [Told("checkpoint_manager", "rename")]
    start = find(region, b"Use s3a://")
    silent = start >= 0 and find(region, b"Committed offsets for batch ", start) >= 0
    return [Told("checkpoint_manager", "abortable", "inferred")] if silent else []


def slots(region: bytes) -> list[Told]:
    """Return the task slots, and the most tasks of one stage that were seen to run at once.

    Slots are the tasks of a stage that start before its first one ends. Only a stage with more tasks than slots shows
    them; of several stages the largest number, since other jobs may hold slots. A lower bound.
    """
    added = (_ADDED.match(region, at) for at in places(region, RUNS))
    first = islice((one for one in added if one and int(one[2]) > 1), _STAGES)
    bursts = [(count, int(one[2])) for one in first if (count := _burst(region, one))]
    counts = {"task_slots": [count for count, tasks in bursts if count < tasks]}
    counts["task_slots_at_least"] = [count for count, _ in bursts]
    return [Told(fact, max(some), "inferred") for fact, some in counts.items() if some]


def snapshot_tasks(region: bytes) -> list[Told]:
    """Return in how many tasks Delta rebuilds its snapshot as the first work of a batch; None where it does not.

    The last batch of the region decides. A snapshot later in a batch belongs to Delta's own checkpoint, which is rare.
    """
    found: list[Told] = []
    start = find(region, _COMMITTED) if any(find(region, mark) >= 0 for mark in _DELTA) else -1
    while start >= 0:
        end = find(region, b"made progress: ", start)
        stop = end if end >= 0 else len(region)
        snapshot = region.find(_SNAPSHOT, start, stop)
        if snapshot >= 0 and region.find(RUNS, start, snapshot) < 0:
            done = region.find(b"DELTA: Done", snapshot, stop)  # the region may end before that
            if counts := [int(added[2]) for added in _ADDED.finditer(region, snapshot, max(done, snapshot))]:
                found = [Told("delta_snapshot_tasks", max(counts), "inferred")]
        elif end >= 0:
            found = [Told("delta_snapshot_tasks", None, "inferred")]
        start = find(region, _COMMITTED, start + 1)
    return found


def _burst(region: bytes, added: re.Match[bytes]) -> int | None:
    """The stage's tasks that started before its first one ended; None when none ended here.

    In local mode the executor itself logs first that a task ended. On a cluster the driver may log the next start
    before the end that made room for it: there only starts that stand together count, those of one round of offers.
    """
    started: set[bytes] = set()  # by number: a log may hold each line twice
    last = 0
    for task in _TASK.finditer(region, added.end(), added.end() + _REACH):
        if task[2] != added[1]:
            continue
        if task[1] == b"Finished":
            return len(started) or None
        if started and not task[4] and region.count(b"\n", last, task.start()) > 1:  # other lines stand between
            return len(started)
        started.add(task[3])
        last = task.end()
    return None
