"""The directory of saved tables: one run at a time adds to it, and what it adds counts once its manifest is written."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import IO, Any, TypedDict

import msgspec

from advisor.errors import InputError, UsageError
from advisor.sources.listener.session import is_connect
from advisor.sources.paths import first_line, is_address, is_url, refuse_credential

_TIME = "%Y%m%dT%H%M%S%z"
_NEW = re.compile(r"_new-(\d{8}T\d{6}\+0000)-\w+")
_MANIFEST = re.compile(r"manifest-(\d+)\.json")
_OF_OTHERS = re.compile(r"^(?:_delta_log|metadata|\.hoodie|_SUCCESS)$|\.parquet$")
"""What lies in a table of another program: Delta, Iceberg, Hudi, Spark's own."""
_ABANDONED = timedelta(days=1)
"""Age of a run's folder that is removed where no lock shows whether the run still works."""
_WOULD_DO = "give a directory that can be written"


def refuse_place(place: str) -> None:
    """UsageError for what names no directory, InputError for an address with a credential."""
    if "\0" in place or not place.strip() or is_address(place):
        raise UsageError("save_table", "names no directory", "give the one in which the tables are to stand")
    if is_url(place):
        refuse_credential(place)


class Manifest(TypedDict):
    """Which run wrote last, the tables that it replaced, and how many rows some of them have."""

    added: str
    replaced: list[str]
    rows: dict[str, int]


class TableFolder:
    """A directory of tables.

    A run writes its tables into a folder of its own. The manifest, written last, makes them part of the directory.
    Then they are moved into their places; where a run was killed before that was done, the next one does it.
    """

    def __init__(self, spark: Any, place: str, tables: Sequence[str]) -> None:
        self._path = spark._jvm.org.apache.hadoop.fs.Path
        try:
            self._files = self._path(place).getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
            root = self._files.makeQualified(self._path(place))
        except Exception:  # whatever Py4J hands on: its words repeat a credential
            says = "this Spark has no file system for such a place, or its host is not known"
            raise UsageError("save_table", says, "give the directory in which the tables are to stand") from None
        self.place = root.toString().rstrip("/")
        self.on_disk = root.toUri().getPath() if self._files.getUri().getScheme() == "file" else None
        """Where it lies on this machine, if it does."""
        self._tables = tables
        self.name = f"{datetime.now(timezone.utc):{_TIME}}-{secrets.token_hex(4)}"
        self._committed = False
        self._number = 0
        self.manifest = Manifest(added="", replaced=[], rows={})

    def saved(self, table: str) -> str:
        """Return where a table stands."""
        return f"{self.place}/{table}"

    def new(self, table: str) -> str:
        """Return where this run writes what it adds to a table."""
        return f"{self.place}/_new-{self.name}/{table}"

    def begin(self) -> None:
        """Read the newest manifest, finish what a killed run had committed, and remove what it had not."""
        names = self._names()
        numbers = [int(found[1]) for name in names if (found := _MANIFEST.fullmatch(name))]
        if numbers:
            self._number = max(numbers)
            newest = self._at(f"manifest-{self._number}.json")
            try:
                with closing(self._files.open(newest)) as file:
                    self.manifest = msgspec.json.decode(file.readLine() or "", type=Manifest)
            except Exception as error:  # also what Py4J hands on from the file system
                says = f"no manifest of saved tables can be read: {first_line(error)}"
                raise InputError(newest.toString(), says, "save into a new directory") from None
            if f"_new-{self.manifest['added']}" in names:
                self._finish()
        elif strange := next((name for name in names if name in self._tables or _OF_OTHERS.search(name)), None):
            says = "a table without a manifest: another program or version wrote it"
            raise InputError(self.saved(strange), says, "save into a new directory")
        old = f"{datetime.now(timezone.utc) - (timedelta(0) if self.on_disk else _ABANDONED):{_TIME}}"
        for name in self._names():
            if (found := _NEW.fullmatch(name)) and found[1] <= old:
                self._files.delete(self._at(name), True)

    def commit(self, rows: Mapping[str, int], replaced: Sequence[str]) -> None:
        """Make what was written part of the tables, those of `replaced` without what they held before.

        `rows`: how many rows some of the tables have then.
        """
        self.manifest = Manifest(added=self.name, replaced=list(replaced), rows=dict(rows))
        written, place = self._path(self.new("manifest.json")), self._at(f"manifest-{self._number + 1}.json")
        with closing(self._files.create(written)) as file:
            file.writeBytes(json.dumps(self.manifest))
        self._committed = True  # a signal may come as the rename returns; what is then left the next run removes
        if self._files.exists(place) or not self._files.rename(written, place):
            self._committed = False
            raise UsageError("save_table", f"another run has written {self.place} meanwhile", "start this one again")
        self._number += 1
        self._finish()

    def drop(self) -> None:
        """Remove what this run wrote, unless it was committed."""
        if not self._committed:
            with suppress(Exception):  # a session that was stopped meanwhile
                self._files.delete(self._path(self.new("")), True)

    def _finish(self) -> None:
        """Move the tables of the manifest's run into their places, as far as that was not done."""
        added = self.manifest["added"]
        for table in self._tables:
            new, place = self._at(f"_new-{added}/{table}"), self._at(f"{table}/added={added}")
            waits = self._files.exists(new)
            if table in self.manifest["replaced"] and (waits or not self._files.exists(place)):
                self._files.delete(self._at(table), True)
            if waits and not (self._files.mkdirs(self._at(table)) and self._files.rename(new, place)):
                raise UsageError("save_table", f"{new.toString()} cannot be moved to {place.toString()}", _WOULD_DO)
        for name in self._names():
            if (found := _MANIFEST.fullmatch(name)) and int(found[1]) < self._number:
                self._files.delete(self._at(name), False)
        self._files.delete(self._at(f"_new-{added}"), True)

    def _at(self, name: str) -> Any:
        return self._path(f"{self.place}/{name}")

    def _names(self) -> list[str]:
        root = self._path(self.place)
        return [one.getPath().getName() for one in self._files.listStatus(root)] if self._files.exists(root) else []


@contextmanager
def table_folder(spark: Any, place: str, tables: Sequence[str]) -> Iterator[TableFolder]:
    """Yield the directory; on a disk of this machine no other run can write it meanwhile.

    UsageError while another run does.
    """
    if is_connect(spark):
        raise UsageError("save_table", "a client of Spark Connect cannot write it", "use a session that is no client")
    folder = TableFolder(spark, place, tables)
    with _held(folder.on_disk) if folder.on_disk else nullcontext():
        try:
            folder.begin()
            yield folder
        finally:
            folder.drop()


def _held(folder: str) -> IO[str]:
    """Hold a directory until the file that is returned is closed, if only by the end of this process."""
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        if (lock := Path(folder) / "_lock").is_fifo():  # to open it would wait
            raise UsageError("save_table", f"{lock} is a named pipe", "remove it")
        file = lock.open("a")  # whatever it is, it stays as it is
    except OSError as error:
        raise UsageError("save_table", f"{folder}: {error.strerror}", _WOULD_DO) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError("save_table", f"another run is writing {folder}", "start this one when it has ended") from None
    return file
