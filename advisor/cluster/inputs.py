"""The files behind paths: those that workers open by themselves, and those that only the JVM reaches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa

from advisor.batches import Broken
from advisor.cluster.reading import read_unit
from advisor.cluster.rows import DDL, Done, Row, batches_of, done_row, noted, sparing
from advisor.cluster.session import is_local, settings
from advisor.cluster.tablefolder import refuse_place
from advisor.cluster.units import File, Unit, cost, logs
from advisor.errors import InputError
from advisor.sources import saved
from advisor.sources.paths import (
    STDIN,
    Input,
    expand,
    holds_credential,
    in_order,
    is_address,
    is_url,
    log_of,
    refuse_missing,
    shown,
)
from advisor.sources.random_access import sizes

Paths = Sequence[str | os.PathLike[str]]


class Given(NamedTuple):
    """All files in their order, their logs; those of `urls` are read by the JVM."""

    inputs: list[Input]
    logs: list[Unit]
    by_jvm: list[Unit]
    urls: list[str]

    @property
    def cost(self) -> int:
        """What reading it all costs, in bytes."""
        return sum(map(cost, self.logs))


def refuse(paths: Paths, save_table: str | None = None) -> None:
    """What is certain before a session is there: InputError for standard input, and where on this machine nothing is.

    Nothing is listed, opened or fetched.
    """
    named = _named(paths)
    if addresses := [path for path in named if is_address(path)]:
        raise InputError(addresses[0], "a driver's address is read on this machine", "leave out the cluster")
    refuse_missing(named)
    if save_table is not None:
        refuse_place(save_table)


def given(spark: Any, paths: Paths) -> Given:
    """The files behind the paths, by names that mean the same in every worker's directory; InputError as `expand`."""
    inputs: dict[str, Input] = {}
    lengths: dict[str, int] = {}
    urls = []
    named = _named(paths)
    for path in named:
        is_named_alike = is_local(spark) or is_url(path) or path.startswith("dbfs:/")
        found, below = _found(spark, path if is_named_alike else os.path.abspath(path))  # noqa: PTH100
        lengths |= below
        urls += [path] if below else []
        for one in found:
            unfit = _only_local(one.path)
            inputs.setdefault(one.path, one._replace(unfit=unfit) if unfit else one)  # Spark holds names as UTF-8
    found_logs = logs(inputs.values(), sizes(path for path in inputs if path not in lengths) | lengths)
    near, far = ([log for log in found_logs if (log.files[0].path in lengths) is by_jvm] for by_jvm in (False, True))
    return Given(list(inputs.values()), near, far, urls)


def _only_local(path: str) -> str:
    """Return why a cluster does not read this file; nothing where it does."""
    why = "" if shown(path) == path else "its name is no UTF-8"
    why = "--save wrote it" if saved.is_saved(path) else why
    return why and f"{why}: only --engine local reads it"


def _named(paths: Paths) -> list[str]:
    """The paths as text; InputError for standard input."""
    named = [os.fspath(path) for path in paths]
    if STDIN in named:
        raise InputError(STDIN, "a cluster cannot read standard input", "use --engine local, or give files")
    return named


def _found(spark: Any, path: str) -> tuple[list[Input], dict[str, int]]:
    """(the files at a path, the bytes of each where only the JVM reaches them)."""
    try:
        return expand([path]), {}
    except InputError as error:
        if not is_url(path) or holds_credential(path):
            raise
        below = listed(spark, path)
        if not below:
            found = f"{error.found}, and the JVM finds no file there"
            raise InputError(path, found, "check the address and the credentials") from None
        return [Input(file, log_of(file), False) for file in in_order(below)], below


LARGEST = 256 << 20
"""Bytes of a file that the JVM, Arrow and Python can hold at once."""
_TOO_LARGE = f"only the JVM reaches it, which reads no file of more than {LARGEST >> 20} MB"
_FILE = "log string, number long, path string"
_ONE_BY_ONE = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}


def listed(spark: Any, url: str) -> dict[str, int]:
    """The bytes of each file below a URL; nothing where the JVM does not reach it either."""
    try:
        return {row.path: row.length for row in _contents(spark, [url]).select("path", "length").collect()}
    except Exception:  # PySpark's own in all its forms, and what Py4J hands on from a file system
        return {}


def read_by_jvm(spark: Any, found: Given, partitions: int, *, sightings: bool = True, stages: bool = False) -> Any:
    """Return the rows of the logs that only the JVM reaches, read now; a task reads a log, its files in order."""
    files = [(log.log, file) for log in found.by_jvm for file in log.files]
    wanted = spark.createDataFrame([(log, file.number, file.path) for log, file in files], _FILE).hint("broadcast")
    contents = _contents(spark, found.urls).filter(f"length <= {LARGEST}").select("path", "content")
    placed = contents.join(wanted, "path").select("log", "number", "path", "content").repartition(partitions, "log")

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches)
        yield from batches_of(_read(chain.from_iterable(rows), sightings, stages))

    refused = spark.createDataFrame([*_refused(file for _, file in files if file.size > LARGEST)], DDL)
    whole = placed.sortWithinPartitions("log", "number").mapInArrow(sparing(run), DDL).union(refused)
    with settings(spark, _ONE_BY_ONE):
        return whole.localCheckpoint()


def _refused(files: Iterable[File]) -> Iterator[Row]:
    for file in files:
        yield from noted("broken", [Broken(file.path, 0, 0, _TOO_LARGE)], file.number, 0)
        yield done_row(Done(files=1))


def _contents(spark: Any, urls: Sequence[str]) -> Any:
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true").option("ignoreMissingFiles", "true")
    return reader.load(list(urls))


def _read(contents: Iterable[tuple[str, int, str, bytes]], sightings: bool, stages: bool) -> Iterator[Row]:
    for log, members in groupby(contents, key=lambda each: each[0]):
        with TemporaryDirectory(prefix="latency-advisor-") as folder:
            files = []
            for _, number, path, text in members:
                copy = Path(folder) / str(number)
                copy.write_bytes(text)
                files.append(File(number, path, len(text), copy=str(copy)))
            yield from read_unit(Unit(log, tuple(files)), sightings, stages)
