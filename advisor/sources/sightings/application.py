"""Lines that speak of the application: its Spark, its name, its executors, the way it writes checkpoints."""

from __future__ import annotations

import re
from typing import Final

from stringzilla import find

from advisor.facts import CONF, EXECUTOR, from_conf, platform_of
from advisor.sources.sightings.line import Line, lines_with
from advisor.sources.sightings.query import Told

_VERSION: Final = re.compile(r"Running Spark version (\d[\w.\-]*)")
_SUBMITTED: Final = re.compile(r"Submitted application: (.+)")
_PROFILE: Final = re.compile(
    r"cores -> name: cores, amount: (\d{1,9}).{0,1000}?cpus -> name: cpus, amount: (\d{1,9})(?:\.0)?\b"
)
_GRANTED: Final = re.compile(r"Granted executor ID \S{0,100}?(\d{1,18}) on .{1,300}? with (\d{1,9}) core")
_REGISTERED: Final = re.compile(r"Registered executor .{1,500}? with ID (\d{1,18})\b")
_LOST: Final = re.compile(r"Lost executor (\d+) on ")
_RUNTIME_TAG: Final = re.compile(r"spark\.databricks\.clusterUsageTags\.sparkVersion\W{1,6}([\w.\-]+)")
_RUNTIME: Final = re.compile(r"Databricks Runtime(?: Version)?:? (\d+\.\d+[\w.\-]*)")
_RENAMES: Final = 5
_SINK_LOG: Final = "_spark_metadata"


def read_version(line: Line) -> list[Told]:
    """Of `Running Spark version X`."""
    match = _VERSION.search(line.text)
    return [Told("spark_version", match[1])] if match else []


def read_application(line: Line) -> list[Told]:
    """Of `Submitted application: NAME`."""
    match = _SUBMITTED.search(line.text)
    return [Told("application", match[1].strip())] if match else []


def read_profile(line: Line) -> list[Told]:
    """Of `Default ResourceProfile created`: cores of an executor, processors of a task."""
    match = _PROFILE.search(line.text)
    if match is None:
        return []
    return [Told(CONF + "spark.executor.cores", match[1]), Told(CONF + "spark.task.cpus", match[2])]


def read_executor(line: Line) -> list[Told]:
    """Cores of an executor that came (None where the line names none), 0 for one that went."""
    granted = _GRANTED.search(line.text)
    if granted:
        return [Told(EXECUTOR + granted[1], int(granted[2]))]
    registered = _REGISTERED.search(line.text)
    if registered:
        return [Told(EXECUTOR + registered[1], None)]
    lost = _LOST.search(line.text)
    return [Told(EXECUTOR + lost[1], 0)] if lost else []


def read_local_mode(line: Line) -> list[Told]:
    """Of `Starting executor ID driver on host …`: the driver runs the tasks itself."""
    return [Told("local_mode", value=True)] if "Starting executor ID driver" in line.text else []


def read_runtime(line: Line) -> list[Told]:
    """The version of the Databricks Runtime, where a line prints it."""
    match = _RUNTIME_TAG.search(line.text) or _RUNTIME.search(line.text)
    return [Told("databricks_runtime", match[1]), Told("platform", "databricks")] if match else []


def read_property(line: Line) -> list[Told]:
    """Of Spark's own list of its properties at the start (spark.logConf): `spark.key=value`."""
    return [
        Told(fact, value)
        for key, text in re.findall(r"^(spark\.[\w.\-]+)=(.*)$", line.after, re.MULTILINE)
        for fact, value in from_conf(key, text)
    ]


def platform(region: bytes) -> list[Told]:
    """Whose Spark started here: a start on Databricks names Databricks many times, one elsewhere never."""
    at = find(region, b"Running Spark version ")
    match = _VERSION.search(region[at : at + 80].decode("ascii", "replace")) if at >= 0 else None
    if match is None or region.count(b"atabricks") > region.count(b"spark.databricks.delta."):
        return []
    return [Told("platform", platform_of(match[1]), "inferred")]


def checkpoint_manager(region: bytes) -> list[Told]:
    """Read how checkpoint files are written: the renaming manager logs it, the abortable one of S3A logs nothing."""
    renamed = lines_with(region, b"Renamed temp file ", _RENAMES)
    if any(_SINK_LOG not in line.text for line in renamed):
        return [Told("checkpoint_manager", "rename")]
    start = find(region, b"Use s3a://")
    silent = start >= 0 and find(region, b"Committed offsets for batch ", start) >= 0
    return [Told("checkpoint_manager", "abortable", "inferred")] if silent else []
