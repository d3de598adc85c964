"""Lines about the application: its Spark, its executors, the way it writes checkpoints."""

from __future__ import annotations

import re
from typing import Final

from stringzilla import find

from advisor.facts import EXECUTOR, from_conf, platform_of
from advisor.sources.sightings.line import Line, Told, lines_with

VERSION: Final = re.compile(r"Running Spark version (\d[\w.\-]*)")
_GRANTED: Final = re.compile(r"Granted executor ID \S{0,100}?(\d{1,18}) on .{1,300}? with (\d{1,9}) core")
_REGISTERED: Final = re.compile(r"Registered executor .{1,500}? with ID (\d{1,18})\b")
_LOST: Final = re.compile(r"Lost executor (\d+) on ")
_RUNTIME: Final = re.compile(
    r"spark\.databricks\.clusterUsageTags\.sparkVersion\W{1,6}([\w.\-]+)"
    r"|Databricks Runtime(?: Version)?:? (\d+\.\d+[\w.\-]*)"
)
_RENAMES: Final = 5
_SINK_LOG: Final = "_spark_metadata"


def read_executor(line: Line) -> list[Told]:
    """Read the cores of an executor that came (None where the line names none), or 0 for one that went."""
    if granted := _GRANTED.search(line.text):
        return [Told(EXECUTOR + granted[1], int(granted[2]))]
    if registered := _REGISTERED.search(line.text):
        return [Told(EXECUTOR + registered[1], None)]
    lost = _LOST.search(line.text)
    return [Told(EXECUTOR + lost[1], 0)] if lost else []


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
    at = find(region, b"Running Spark version ")
    match = VERSION.search(region[at : at + 80].decode("ascii", "replace")) if at >= 0 else None
    if match is None or region.count(b"atabricks") > region.count(b"spark.databricks.delta."):
        return []
    return [Told("platform", platform_of(match[1]), "inferred")]


def checkpoint_manager(region: bytes) -> list[Told]:
    """Return how checkpoint files are written: the manager that renames logs it, the abortable one of S3A does not."""
    renamed = lines_with(region, b"Renamed temp file ", _RENAMES)
    if any(_SINK_LOG not in line.text for line in renamed):
        return [Told("checkpoint_manager", "rename")]
    start = find(region, b"Use s3a://")
    silent = start >= 0 and find(region, b"Committed offsets for batch ", start) >= 0
    return [Told("checkpoint_manager", "abortable", "inferred")] if silent else []
