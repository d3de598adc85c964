"""The tables and the findings as Parquet in a directory, which later runs extend."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce
from operator import and_
from typing import Any, NamedTuple

from advisor.batches import TABLES
from advisor.cluster.rows import KEY, KEYS, batches_frame, for_spark, opened_frame, rows_again, struct, table_frame
from advisor.cluster.tablefolder import TableFolder, table_folder
from advisor.cluster.units import File, Unit
from advisor.contract import FleetQuery, QueryEntry
from advisor.errors import InputError
from advisor.sources.paths import first_line
from advisor.sources.random_access import opened

_HEAD, _TAIL = 256, 4096
"""Bytes at both ends of a file that tell it from another; the last ones hold an event's time and ids."""
_APART = re.compile(r"(.+)@(\d{8}T\d{6}\+0000-\w+)", re.DOTALL)
"""What a file that was replaced is called from then on: its path, and the run that found another one there."""
_GLOB = re.compile(r"[\\*?{}\[\]]")
"""Letters of a folder's name that Spark's reader takes for a pattern."""
_FINDINGS = (
    "query string, id string, run_id string, rule string, level string, confidence string, says string, "
    "explained_by string, last string, day string"
)
_FINDING = ("run_id", "rule", "last")
_DAY = "date_add(date'1970-01-01', cast(floor(unix_millis({time}) / 86400000) as int))"
_MEND = "mend what it names; the tables are as they were"
_TOLD = ("log", "run_id", "fact", "value", "origin", "file", "offset")


class Table(NamedTuple):
    """Where tables are saved, and whether what stands there is extended or replaced."""

    place: str
    incremental: bool = False


class Seen(NamedTuple):
    """A file as it was before it was read: its size, and the digest of so many of its first and of its last bytes.

    `rows`: how many rows of its log the tables have.
    """

    path: str
    size: int
    head_size: int
    head: str
    log: str = ""
    rows: int = 0

    def is_still(self, file: File | None) -> bool:
        """Whether the file begins as it did, and is not shorter."""
        if file is None or file.size < self.size:
            return False
        return seen(file._replace(size=self.size), self.head_size).head == self.head


def seen(file: File, head_size: int | None = None) -> Seen:
    """The file as it is now, up to this size; without a digest where it cannot be read."""
    length = min(file.size, _HEAD) if head_size is None else head_size
    try:
        with opened(file.path) as place:  # many logs begin alike
            ends = place.read(0, length) + place.read(max(length, file.size - _TAIL), file.size)
            head = hashlib.sha256(ends).hexdigest()
    except (OSError, InputError):
        head = ""
    return Seen(file.path, file.size, length, head)


def changed(log: Unit, known: Mapping[str, Seen]) -> tuple[list[File], list[File]]:
    """(files of the log that are new or replaced, files that have only grown); others are as they were read."""
    new: list[File] = []
    grown: list[File] = []
    for file in log.files:
        before = known.get(file.path)
        if before is None or not before.is_still(file):
            new.append(file)
        elif file.size > before.size:
            grown.append(file)
    return new, grown


class Saved:
    """The tables in a directory, with what this run adds."""

    def __init__(self, spark: Any, folder: TableFolder, incremental: bool) -> None:
        self._spark = spark
        self._folder = folder
        self._incremental = incremental
        self._listed: list[Seen] = []
        self._apart: dict[str, list[tuple[str, str, str]]] = {}
        """Of each path the files that stood there before: (run that found another one, its name, its log's name)."""
        self._moved: set[str] = set()
        """Names of files that stand elsewhere now, where they are read again."""
        self._rewritten: list[str] = []
        self._frames: dict[str, Any] = {}

    def files(self, logs: Iterable[Unit]) -> dict[str, Seen]:
        """The files that were read before and whose rows are all there; none where all is to be read.

        InputError where rows are gone that the files of these logs do not hold any more.
        """
        self._listed = [seen(file)._replace(log=log.log) for log in logs for file in log.files]
        if not self._incremental:
            return {}
        for name, rows in self._folder.manifest["rows"].items():
            frame = self._read(name)
            if (there := 0 if frame is None else int(frame.count())) != rows:
                raise InputError(self._folder.saved(name), _found(there, rows), _RESTORE)
        frame = self._read("files")
        known = [] if frame is None else [Seen(*row) for row in frame.select(*Seen._fields).collect()]
        for one in sorted(known):
            self._name_apart(one)
        rows_of = self._rows() if known else {}
        if strange := rows_of.get(None):
            raise InputError(self._folder.place, f"{strange:,} rows of no log, not written here", "remove their files")
        gone = {one for one in known if rows_of.get(one.log, 0) != one.rows}
        now = {file.path: file for log in logs for file in log.files} if gone else {}
        for one in gone:
            there = rows_of.get(one.log, 0)
            if there > one.rows or not one.is_still(now.get(one.path)):
                found = f"{_found(there, one.rows)}, and {one.path} cannot be read again as it was"
                raise InputError(self._folder.place, found, _RESTORE)
        return {one.path: one for one in known if one not in gone}

    def set_apart(self, parts: Iterable[tuple[Unit, list[File], Any]], known: Mapping[str, Seen]) -> dict[str, Seen]:
        """Return the known files, those that were replaced under names of their own.

        A log whose files are all others now is another log, too. `parts`: what has changed of each log.
        """
        now = dict(known)
        readable = {one.path for one in self._listed if one.head}
        for log, new, _ in parts:
            others = [now.pop(file.path) for file in new if file.path in now and file.path in readable]
            moved = [one for one in others if any(map(one.is_still, new))]
            goes_on = moved or any(file.path in now for file in log.files)
            for one in others:
                name = f"@{self._folder.name}"
                apart = one._replace(path=one.path + name, log=one.log if goes_on else one.log + name)
                now[apart.path] = apart
                self._name_apart(apart)
                self._moved |= {apart.path} if one in moved else set()
        return now

    def last_events(self, grown: Sequence[Seen]) -> dict[str, int]:
        """Where the last saved event of each file begins; 0 with torn records, and where another one stood before."""
        frame = self._read("batches")
        if frame is None or not grown:
            return {}
        wanted = self._spark.createDataFrame([(one.path,) for one in grown], "file string")
        rows = frame.join(wanted.hint("broadcast"), "file").groupBy("file").agg({"offset": "max"}).collect()
        last, torn = {row[0]: row[1] for row in rows}, self._torn
        sizes = {one.path: one.size for one in grown if one.path not in torn and one.path not in self._apart}
        return {path: offset for path, offset in last.items() if offset < sizes.get(path, 0)}

    def add(self, batches: Any, sightings: Any, partitions: int, again: set[str]) -> None:
        """Add what rows of batches and of sightings hold that is not there yet.

        `again`: files that were read whole; what was torn in them when they were read before may be whole now.
        """
        frame = batches_frame(batches, partitions).selectExpr("*", f"{_DAY.format(time='timestamp')} as day")
        self._add("batches", frame, KEY)
        mended = self._torn & (again | self._moved)
        self._add("sightings", table_frame(sightings, for_spark(TABLES["sightings"])), _TOLD, mended)

    def with_opened(self, rows: Any) -> Any:
        """Add what rows of the tables that open addBatch hold that is not there yet; return rows of both tables."""
        for name, key in KEYS.items():
            self._add(name, opened_frame(rows, name), key)
        stages, parts = (rows_again(self.table(name), name) for name in KEYS)
        return stages.union(parts)

    def table(self, name: str) -> Any:
        """A saved table with what was added to it."""
        schema = for_spark(TABLES[name])
        parts = [part.select(*schema.names) for part in self._parts(name)]
        return reduce(_union, parts) if parts else self._spark.createDataFrame([], struct(schema))

    def commit(self, entries: Iterable[QueryEntry | FleetQuery], known: Mapping[str, Seen]) -> None:
        """Add the findings of these entries, those of a run once for each last batch, and which files were read.

        With that all that was added becomes part of the tables.
        """
        rows = [row for entry in entries for row in _findings(entry)]
        frame = self._spark.createDataFrame(rows, _FINDINGS)
        self._add("findings", frame.withColumn("day", frame["day"].cast("date")), _FINDING)
        now, rows_of = {**known, **{one.path: one for one in self._listed if one.head}}, self._rows()
        files = [tuple(one._replace(rows=rows_of.get(one.log, 0))) for one in now.values()]
        self._write("files", self._spark.createDataFrame(files, _FILES).coalesce(1))
        counts = {"findings": sum(part.count() for part in self._parts("findings")), "files": len(files)}
        self._folder.commit(counts, ["files", *self._rewritten] if self._incremental else [*_COLUMNS])

    def _add(self, name: str, frame: Any, key: Sequence[str], mended: Iterable[str] = ()) -> None:
        """Add the rows that a table lacks; with `mended` files it is written again without their torn records."""
        old = self._read(name)
        if old is not None and mended:
            old = old.filter(~(old["file"].isin([*mended]) & (old["fact"] == _TORN)))
            frame = _new(frame, old, key).unionByName(old.select(frame.columns))
            self._rewritten.append(name)
        elif old is not None:
            frame = _new(frame, old, key)
        self._write(name, frame)

    def _write(self, name: str, frame: Any) -> None:
        """Write what this run adds to a table; InputError where the place takes no more."""
        writer = frame.write.partitionBy("day") if "day" in frame.columns else frame.write
        try:
            writer.parquet(self._folder.new(name))
        except Exception as error:  # what Py4J hands on from the file system
            raise InputError(self._folder.saved(name), f"cannot be written: {first_line(error)}", _MEND) from error

    @cached_property
    def _torn(self) -> set[str]:
        """Files in which earlier runs found torn records."""
        told = self._read("sightings")
        return set() if told is None else {one.file for one in told.filter(told["fact"] == _TORN).collect()}

    def _name_apart(self, one: Seen) -> None:
        if found := _APART.fullmatch(one.path):
            self._apart.setdefault(found[1], []).append((found[2], one.path, one.log))

    def _told_apart(self, frame: Any) -> Any:
        """The rows of a table, those of files that were replaced after they were read under their own names."""
        rows = self._spark.createDataFrame([*self._apart.items()], _NAMES).hint("broadcast")
        first = "get(filter(stood, one -> one.run > added), 0) as first"
        named = frame.join(rows, "file", "left").selectExpr("*", first)
        own = [f"coalesce(first.{one}, {one}) as {one}" if one in ("file", "log") else one for one in frame.columns]
        return named.selectExpr(*own)

    def has_stages(self) -> bool:
        """Whether a run has read stages into the tables, if only of some logs."""
        return self._read("stages") is not None

    def _rows(self) -> dict[str | None, int]:
        """How many rows of each log there are in all tables, with what was added."""
        logs = [part.select("log") for name in TABLES for part in self._parts(name)]
        return {row[0]: row[1] for row in reduce(_union, logs).groupBy("log").count().collect()} if logs else {}

    def _parts(self, name: str) -> list[Any]:
        """What stands in a table, and what was added to it, as far as there are rows."""
        return [part for part in (self._read(name), self._read(name, self._folder.new(name))) if part is not None]

    def _read(self, name: str, place: str | None = None) -> Any:
        """A table, or what was added to it at `place`; None where there is none, and of a table that is replaced."""
        from pyspark.errors import AnalysisException  # noqa: PLC0415

        if place is None and (not self._incremental or name in self._rewritten):
            return None
        try:
            frame = self._standing(place or self._folder.saved(name))
        except AnalysisException:
            return None
        if lacking := [column for column in _COLUMNS[name] if column not in frame.columns]:
            found = f"a table of another version, without the column {lacking[0]}"
            raise InputError(self._folder.saved(name), found, "save into a new directory")
        return self._told_apart(frame) if self._apart and "file" in frame.columns and place is None else frame

    def _standing(self, place: str) -> Any:
        """What stands at a place, asked once: Spark lists its files and runs a job to learn its columns."""
        if place not in self._frames:
            self._frames[place] = self._spark.read.parquet(_GLOB.sub(r"\\\g<0>", place))
        return self._frames[place]


@contextmanager
def saved_tables(spark: Any, table: Table | None) -> Iterator[Saved | None]:
    """Yield the tables in a directory that nobody else writes meanwhile; None where none are saved."""
    if table is None:
        yield None
        return
    with table_folder(spark, table.place, [*_COLUMNS]) as folder:
        yield Saved(spark, folder, table.incremental)


_COLUMNS: Mapping[str, Sequence[str]] = {
    **{name: schema.names for name, schema in TABLES.items()},
    "files": Seen._fields,
    "findings": _FINDING,
}
"""The tables, and the columns without which one cannot be read or extended."""
_FILES = "path string, size long, head_size int, head string, log string, rows long"
_NAMES = "file string, stood array<struct<run: string, file: string, log: string>>"
_TORN = "records_torn"
_RESTORE = "put back the data files that are gone, or save into a new directory"


def _found(there: int, rows: int) -> str:
    return f"{there:,} rows where {rows:,} were saved"


def _union(one: Any, other: Any) -> Any:
    return one.union(other)


def _new(frame: Any, old: Any, key: Sequence[str]) -> Any:
    """The rows of `frame` whose key is not in `old`, and whole events of which `old` has only a part."""
    from pyspark.sql import functions  # noqa: PLC0415

    column = functions.col
    alike = [column(name).eqNullSafe(column(f"old_{name}")) for name in key]
    if key == KEY:
        key, alike = (*key, "partial"), [*alike, column("old_partial").isNull() | column("partial").isNotNull()]
    there = old.select(*(column(name).alias(f"old_{name}") for name in key))
    return frame.join(there, reduce(and_, alike), "left_anti")


def _findings(entry: QueryEntry | FleetQuery) -> list[tuple[str | None, ...]]:
    name, day = entry.name or entry.id, (entry.last or "")[:10] or None
    return [
        (name, entry.id, entry.run_id, f.rule, f.level, f.confidence, f.says, f.explained_by, entry.last, day)
        for f in entry.findings
    ]
