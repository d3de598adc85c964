"""The tables and the findings as Parquet in a directory, which later runs extend."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from advisor.batches import TABLES
from advisor.cluster.frames import KEY, KEYS, batches_frame, best, for_spark, opened_rows, sightings_frame, table_frame
from advisor.cluster.units import File, Log
from advisor.contract import FleetQuery, QueryEntry
from advisor.errors import InputError
from advisor.sources.random_access import opened

_HEAD = 256
_FINDINGS = (
    "query string, id string, run_id string, rule string, level string, confidence string, says string, "
    "explained_by string, last string, day string"
)
_FINDING = ("run_id", "rule", "last")
_DAY = "date_add(date'1970-01-01', cast(floor(unix_millis({time}) / 86400000) as int))"
_TOLD = ("log", "run_id", "fact", "value", "origin", "file", "offset")


class Table(NamedTuple):
    """Where tables are saved, and whether what stands there is extended or replaced."""

    place: str
    incremental: bool = False


class Seen(NamedTuple):
    """A file as it was when it was read: its size, and the digest of so many of its first bytes."""

    path: str
    size: int
    head_size: int
    head: str


def seen(file: File, head_size: int | None = None) -> Seen:
    """The file as it is now; without a digest where it cannot be read."""
    length = min(file.size, _HEAD) if head_size is None else head_size
    try:
        with opened(file.path) as place:
            head = hashlib.sha256(place.read(0, length)).hexdigest()
    except (OSError, InputError):
        head = ""
    return Seen(file.path, file.size, length, head)


def changed(log: Log, known: Mapping[str, Seen]) -> tuple[list[File], list[File]]:
    """(files of the log that are new or replaced, files that have only grown); others are as they were read."""
    new: list[File] = []
    grown: list[File] = []
    for file in log.files:
        before = known.get(file.path)
        if before is None or file.size < before.size or seen(file, before.head_size) != before._replace(size=file.size):
            new.append(file)
        elif file.size > before.size:
            grown.append(file)
    return new, grown


class Saved:
    """The tables in a directory."""

    def __init__(self, spark: Any, table: Table) -> None:
        self._spark = spark
        self._table = table

    def files(self) -> dict[str, Seen]:
        """The files that were read before, none where all is to be read."""
        frame = self._existing("files")
        rows = [] if frame is None else frame.select(*Seen._fields).collect()
        return {row.path: Seen(*row) for row in rows}

    def last_events(self, paths: Sequence[str]) -> dict[str, int]:
        """Where the last saved event of each of these files begins."""
        frame = self._existing("batches")
        if frame is None or not paths:
            return {}
        wanted = self._spark.createDataFrame([(path,) for path in paths], "file string")
        rows = frame.join(wanted.hint("broadcast"), "file").groupBy("file").agg({"offset": "max"}).collect()
        return {row[0]: row[1] for row in rows}

    def add(self, batches: Any, sightings: Any, partitions: int) -> None:
        """Save what rows of batches and of sightings hold that is not there yet."""
        frame = batches_frame(batches, partitions).selectExpr("*", f"{_DAY.format(time='timestamp')} as day")
        self._append("batches", frame, KEY)
        self._append("sightings", sightings_frame(sightings), _TOLD)

    def add_opened(self, rows: Any) -> None:
        """Save what rows of the tables that open addBatch hold that is not there yet."""
        for name, key in KEYS.items():
            table = table_frame(rows.filter(f"kind = '{name}'"), for_spark(TABLES[name]))
            self._append(name, best(table, name), key)

    def opened(self) -> Any:
        """Rows of both saved tables."""
        stages, parts = (opened_rows(self._read(name), name) for name in KEYS)
        return stages.union(parts)

    def batches(self) -> Any:
        """The saved table of batches."""
        return self._read("batches")

    def sightings(self) -> Any:
        """The saved table of sightings."""
        return self._read("sightings")

    def add_findings(self, entries: Iterable[QueryEntry | FleetQuery]) -> None:
        """Save the findings of these entries of the report, those of a run once for each last batch."""
        rows = [row for entry in entries for row in _findings(entry)]
        frame = self._spark.createDataFrame(rows, _FINDINGS)
        self._append("findings", frame.withColumn("day", frame["day"].cast("date")), _FINDING)

    def add_files(self, files: Iterable[Seen], known: Mapping[str, Seen]) -> None:
        """Remember which files were read, so far as they were read."""
        now = {**known, **{one.path: one for one in files if one.head}}
        frame = self._spark.createDataFrame(list(map(tuple, now.values())), _FILES)
        frame.coalesce(1).write.mode("overwrite").parquet(self._path("files"))

    def _append(self, name: str, frame: Any, key: Sequence[str]) -> None:
        old = self._existing(name)
        if old is not None:
            frame = _new(frame, old, key)
        writer = frame.write.mode("append" if self._table.incremental else "overwrite")
        (writer.partitionBy("day") if "day" in frame.columns else writer).parquet(self._path(name))

    def _existing(self, name: str) -> Any:
        if not self._table.incremental:
            return None
        from pyspark.errors import AnalysisException  # noqa: PLC0415

        try:
            return self._read(name)
        except AnalysisException:
            return None

    def _read(self, name: str) -> Any:
        frame = self._spark.read.parquet(self._path(name))
        if lacking := [column for column in _COLUMNS[name] if column not in frame.columns]:
            found = f"a table of another version, without the column {lacking[0]}"
            raise InputError(self._path(name), found, "save into a new directory")
        return frame

    def _path(self, name: str) -> str:
        return f"{self._table.place.rstrip('/')}/{name}"


_COLUMNS: Mapping[str, Sequence[str]] = {
    **{name: schema.names for name, schema in TABLES.items()},
    "files": Seen._fields,
    "findings": _FINDING,
}
"""The columns without which a saved table cannot be read, or extended."""
_FILES = "path string, size long, head_size int, head string"


def _new(frame: Any, old: Any, key: Sequence[str]) -> Any:
    """The rows of `frame` whose key is not in `old`."""
    from pyspark.sql import functions  # noqa: PLC0415

    there = old.select(*(functions.col(name).alias(f"old_{name}") for name in key))
    alike = [functions.col(name).eqNullSafe(functions.col(f"old_{name}")) for name in key]
    condition = alike[0]
    for each in alike[1:]:
        condition = condition & each
    return frame.join(there, condition, "left_anti")


def _findings(entry: QueryEntry | FleetQuery) -> list[tuple[str | None, ...]]:
    name, day = entry.name or entry.id, (entry.last or "")[:10] or None
    return [
        (name, entry.id, entry.run_id, f.rule, f.level, f.confidence, f.says, f.explained_by, entry.last, day)
        for f in entry.findings
    ]
