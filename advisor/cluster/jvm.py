"""Files that only the JVM's file systems reach: each as a whole, by Spark's reader of binary files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from advisor.batches import Broken
from advisor.cluster.part import read_unit
from advisor.cluster.rows import DDL, Done, Row, batches_of, broken_row, done_row
from advisor.cluster.session import settings
from advisor.cluster.units import File, Log, Unit
from advisor.cluster.workers import sparing

LARGEST = 256 << 20
"""Bytes of a file that the JVM, Arrow and Python can hold at once."""
_TOO_LARGE = f"only the JVM reaches it, which reads no file of more than {LARGEST >> 20} MB"
_FILE = "log string, number long, path string"
_ONE_BY_ONE = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}
_Content = tuple[str, int, str, bytes]


def listed(spark: Any, url: str) -> dict[str, int]:
    """The bytes of each file below a URL; nothing where the JVM does not reach it either."""
    try:
        return {row.path: row.length for row in _contents(spark, [url]).select("path", "length").collect()}
    except Exception:  # PySpark's own in all its forms, and what Py4J hands on from a file system
        return {}


def read_by_jvm(
    spark: Any,
    urls: Sequence[str],
    logs: Sequence[Log],
    partitions: int,
    *,
    sightings: bool = True,
    stages: bool = False,
) -> Any:
    """Return the rows of these logs, which lie below these URLs, read now; a task reads a log, its files in order."""
    files = [(log.log, file) for log in logs for file in log.files]
    wanted = spark.createDataFrame([(log, file.number, file.path) for log, file in files], _FILE).hint("broadcast")
    contents = _contents(spark, urls).filter(f"length <= {LARGEST}").select("path", "content")
    placed = contents.join(wanted, "path").select("log", "number", "path", "content").repartition(partitions, "log")

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches_of(_read(_one_by_one(batches), sightings, stages))

    refused = spark.createDataFrame([*_refused(file for _, file in files if file.size > LARGEST)], DDL)
    whole = placed.sortWithinPartitions("log", "number").mapInArrow(sparing(run), DDL).union(refused)
    with settings(spark, _ONE_BY_ONE):
        return whole.localCheckpoint()


def _refused(files: Iterable[File]) -> Iterator[Row]:
    for file in files:
        if row := broken_row([Broken(file.path, 0, 0, _TOO_LARGE)], file.number, 0):
            yield row
        yield done_row(Done(files=1))


def _contents(spark: Any, urls: Sequence[str]) -> Any:
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true").option("ignoreMissingFiles", "true")
    return reader.load(list(urls))


def _one_by_one(batches: Iterable[pa.RecordBatch]) -> Iterator[_Content]:
    for batch in batches:
        for nth in range(len(batch)):
            yield tuple(column[nth].as_py() for column in batch.columns)


def _read(contents: Iterable[_Content], sightings: bool, stages: bool) -> Iterator[Row]:
    for log, members in groupby(contents, key=lambda each: each[0]):
        with TemporaryDirectory(prefix="latency-advisor-") as folder:
            files = [_copied(folder, content) for content in members]
            yield from read_unit(Unit(log, tuple(files)), sightings, stages)


def _copied(folder: str, content: _Content) -> File:
    _, number, path, text = content
    copy = Path(folder) / str(number)
    copy.write_bytes(text)
    return File(number, path, len(text), copy=str(copy))
