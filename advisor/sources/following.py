"""Follow growing logs: read what is new since the last look, through rotation, truncation and new files."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import SCHEMA, Broken, Chunks, Doing, Reading, table_of_sightings
from advisor.errors import InputError, UsageError
from advisor.progress import UNNAMED
from advisor.sources import saved
from advisor.sources.codecs import NOT_READ, how_to_unpack, is_packed
from advisor.sources.envelopes import is_export
from advisor.sources.files import read
from advisor.sources.formats import HEAD
from advisor.sources.harvest import Stretch
from advisor.sources.opening import HISTORY, WINDOW, rest_of
from advisor.sources.paths import STDIN, Input, expand, in_zip, is_address, is_url, log_of, shown, why
from advisor.sources.scan import Scan, unread
from advisor.sources.sightings.line import torn
from advisor.sources.sightings.stretches import Memory

if TYPE_CHECKING:
    from advisor.sources.ui.driver import Watched

_IDLE: Final = (b"has been idle and waiting for new data", b"StreamingQueryListener$QueryIdleEvent")
"""What Spark 3.5 and later write into a driver log and an event log every ten seconds in which there is no data."""
KEPT: Final = 20_000
"""Events of a file that are kept, and of all that are gone, the newest: twice what is judged of a run."""
MOST_OPEN: Final = 32
"""Files that stay open between two looks."""
_SETTLED_S: Final = 2.0
"""By how much a file system's times may lag behind the clock."""
_QUICK: Final = 1.0
_SELDOM: Final = 10.0
"""Seconds for which stages may be read at each look; times as long passes between two readings that take longer."""
_COMPARED: Final = 4096
"""Bytes at the end of what was read that are looked at again: a file that was cut off has others there."""
_LOST: Final = "emptied between two looks: what was written after this place may be missing"


class Following:
    """The files behind paths, followed by what they are and not by their names.

    A file that was renamed goes on where it was; one that was cut off, or has another in its place, begins anew. What
    was read stays: a batch that is read again counts once.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        """Raises UsageError for what cannot be followed, InputError for a path where there is nothing."""
        for path in paths:
            if path == STDIN or is_url(path) or Path(path).is_fifo():
                raise UsageError(
                    f"watch {path}",
                    "only local files can be watched",
                    "give local files or directories, or the address of a driver",
                )
        self._paths = paths
        self._growing: dict[tuple[int, int], _Plain | _Packed] = {}
        self._gone = Reading.of(SCHEMA.empty_table())
        """What was read of files that are gone, the newest of it."""
        self._open: dict[tuple[int, int], None] = {}
        """The files that are open, in the order in which they grew last."""
        self._unread: dict[str, Broken] = {}
        """The files that could not be read at the last look."""
        self._looked = 0.0
        """When all files were looked at last."""
        self._met: dict[str, tuple[int | None, datetime]] = {}
        """The newest batch of each run, if there is one, and when it was first seen."""
        self._inside: Mapping[str, pa.Table] = {}
        self._read_at = 0.0, 0.0
        """When stages were read, and for how many seconds."""
        if any(in_zip(one.path) for path in paths if not Path(path).is_dir() for one in expand([path])):
            raise UsageError("watch", "a zip archive does not grow", "give the log that grows")

    def poll(self) -> bool:
        """Read what is new; whether there was anything."""
        before, self._looked, self._unread = self._looked, time.time(), {}
        there = dict(self._there())
        if before and any(key not in self._growing for key in there):
            there |= dict(_rotated([one for one in there.values() if one.named], before - _SETTLED_S))
        gone = [key for key in self._growing if key not in there]
        for key, one in there.items():
            if key in self._growing:
                self._growing[key].path = one.path  # it may have been renamed
                continue
            try:
                self._growing[key] = _followed(one)
            except InputError as error:
                if one.named and not before:  # else it may be there again at the next look
                    raise
                self._unread[one.path] = unread(shown(one.path), error)
        grown = [key for key, one in self._growing.items() if self._grows(key, one)]  # of a gone file the rest, too
        if gone:
            parts = [self._growing.pop(key) for key in gone]
            for part in parts:
                part.finish()
            self._gone = _newest(self._gone, *(part.reading() for part in parts))
            for part in parts:
                part.close()
        plain = [(key in grown, one) for key, one in self._growing.items() if isinstance(one, _Plain)]
        newest = {one.log: one.changed for _, one in sorted(plain, key=lambda pair: pair[1].changed)}
        for grows, file in plain:
            if not grows and file.changed < newest[file.log]:  # its log goes on in another file
                file.finish()
        return bool(grown)

    def _grows(self, key: tuple[int, int], one: _Plain | _Packed) -> bool:
        """Read what is new of a file; whether there was anything. Of those that did not grow lately none stays open."""
        if not one.grow():
            return False
        self._open = {other: None for other in self._open if other != key} | {key: None}
        for quiet in list(self._open)[:-MOST_OPEN]:
            self._open.pop(quiet)
            if quiet in self._growing:
                self._growing[quiet].close()
        return True

    def reading(self, *, stages: bool = False) -> Reading:
        """Return all that was read so far; with `stages` also what ran inside addBatch, of the files that are there."""
        closed = replace(self._gone, broken=(*self._gone.broken, *self._unread.values()))
        found = Reading.merge([closed, *(part.reading() for part in self._growing.values())])
        found = replace(found, doing=self._doing(found))
        return replace(found, inside=self._stages()) if stages else found

    def _doing(self, found: Reading) -> dict[str, Doing]:
        """What the logs show now of each query's last run: whether one of them lately said that it is idle.

        Also when its newest batch was first seen, or the run where no batch of it has ended.
        """
        now, names = datetime.now(timezone.utc), ["id", "run_id"]
        ids, runs = (found.batches[name].to_pylist() for name in names)
        seen = found.sightings.select(names).drop_null().group_by(names, use_threads=False).aggregate([])
        ended, last = {*runs, UNNAMED}, dict(zip(*(seen[name].to_pylist() for name in names), strict=True))
        begun = {query: run for query, run in last.items() if run not in ended}
        last_of = dict(zip(runs, found.batches["batch_id"].to_pylist(), strict=True))
        for run in {*last_of, *begun.values()}:
            if run not in self._met or self._met[run][0] != last_of.get(run):
                self._met[run] = last_of.get(run), now
        newest = dict(zip(ids, runs, strict=True)) | begun
        idle = max((part.idle for part in self._growing.values() if part.idle is not None), default=None)
        return {run: Doing(now, idle=idle, met=self._met[run][1]) for run in newest.values()}

    def _stages(self) -> Mapping[str, pa.Table]:
        """Return what ran inside addBatch: read from the beginning, as jobs end long after they begin.

        Where that takes long, it stays as it is for ten times as long.
        """
        since, took = self._read_at
        if took < _QUICK or time.monotonic() - since >= _SELDOM * took:
            begin = time.monotonic()
            try:
                self._inside = read(self._paths, sightings=False, stages=True).inside
            except InputError:  # there is no event yet, or no file between the old one and the new one
                self._inside = {}
            self._read_at = time.monotonic(), time.monotonic() - begin
        return self._inside

    def close(self) -> None:
        """Let go of all files."""
        for one in self._growing.values():
            one.close()

    def _there(self) -> Iterator[tuple[tuple[int, int], Input]]:
        """Every file that can be opened, by what it is."""
        for path in self._paths:
            with suppress(InputError):  # between the old file and the new one there may be none
                inputs = expand([path])
                self._unread |= {one.path: Broken(shown(one.path), 0, 0, one.unfit) for one in inputs if one.unfit}
                yield from _regular(inputs)


def _newest(*readings: Reading) -> Reading:
    """Return these readings as one, the newest batches of it and what was noted last."""
    found = Reading.merge(readings)
    newest = found.batches.combine_chunks().take(pc.sort_indices(found.batches["timestamp"])[-KEPT:])
    return replace(found, batches=newest, broken=found.broken[-KEPT:], overruns=found.overruns[-KEPT:])


def _regular(inputs: Iterable[Input], since: float = 0.0) -> Iterator[tuple[tuple[int, int], Input]]:
    """The plain files that were written since a time."""
    for one in inputs:
        with suppress(OSError):
            found = Path(one.path).stat()
            if not one.unfit and stat.S_ISREG(found.st_mode) and found.st_mtime >= since:
                yield (found.st_dev, found.st_ino), one


def _rotated(named: Sequence[Input], since: float) -> Iterator[tuple[tuple[int, int], Input]]:
    """The files that had the names of these since a time, and have others now."""
    logs = {one.log for one in named}
    for place in {Path(one.path).parent for one in named}:
        with suppress(OSError):
            beside = [Input(path, log_of(shown(path)), False) for path in map(str, place.iterdir())]
            yield from _regular([one for one in beside if one.log in logs], since)


def followed(paths: Sequence[str], *, stages: bool) -> Following | Watched:
    """Return what follows these paths, or the driver at an address; UsageError where an address is not alone."""
    if not any(map(is_address, paths)):
        return Following(paths)
    if len(paths) > 1:
        raise UsageError(f"watch {' '.join(paths)}", "one address at a time can be watched", "give it alone")
    from advisor.sources.ui.driver import Watched  # noqa: PLC0415 - files need no web client

    return Watched(paths[0], stages=stages)


def _followed(one: Input) -> _Plain | _Packed:
    try:
        with Path(one.path).open("rb") as file:
            head = file.read(HISTORY)
    except OSError as error:
        raise InputError(one.path, why(error), "give files that can be read") from None
    if is_packed(head[:16]) or saved.is_saved(one.path) or is_export(head):
        return _Packed(one)
    if (give := how_to_unpack(head)) and one.named:
        raise InputError(shown(one.path), f"{NOT_READ}it is packed", give)
    return _Plain(one)


class _Plain:
    """A file that is read on where it was read last. Half a record at its end is read again with the rest."""

    def __init__(self, one: Input) -> None:
        self._name, self.log, self.path = shown(one.path), one.log, one.path
        self.changed = 0
        """When it was written, at the last look at it, in nanoseconds."""
        self.idle: datetime | None = None
        """When a line was read that says that a query is idle."""
        self._file: BinaryIO | None = None
        self._seen: os.stat_result | None = None
        self._old = Reading.of(SCHEMA.empty_table())
        """What it held before it was cut off, the newest of it."""
        self._lost: tuple[Broken, ...] = ()
        """Where it was last cut off."""
        self._begin_anew()

    def grow(self) -> bool:
        """Read what is new; whether there was anything."""
        file = self._file = self._file or self._opened()
        if file is None:
            return False
        self._seen = os.fstat(file.fileno())
        self.changed = self._seen.st_mtime_ns
        if grown := self._is_cut_off(file):  # and written from its beginning
            self._lost = (Broken(self._name, self._size, 0, _LOST),)
            self.finish()
            self._old = _newest(self._old, replace(self._now(), files=0))
            self._begin_anew()
        file.seek(self._size)
        while block := file.read(WINDOW):
            self._feed(block)
            grown = True
        if not self._size:
            self.close()
        return grown

    def _opened(self) -> BinaryIO | None:
        """Open it where it has changed; None where it has not, or another has its name."""
        with suppress(OSError):
            found, seen = Path(self.path).stat(), self._seen
            as_it_was = seen and (found.st_size, found.st_mtime_ns) == (self._size, seen.st_mtime_ns)
            if not seen or (found.st_ino == seen.st_ino and not as_it_was):
                return Path(self.path).open("rb")
        return None

    def _is_cut_off(self, file: BinaryIO) -> bool:
        """Whether it is shorter than what was read, or holds something else there: it may have grown again since."""
        if os.fstat(file.fileno()).st_size < self._size:
            return True
        last = self._buffer[-_COMPARED:]
        file.seek(self._size - len(last))
        return file.read(len(last)) != last

    def reading(self) -> Reading:
        """Return what was read."""
        found = Reading.merge([self._old, self._now()])
        return replace(found, broken=(*self._lost, *found.broken))

    def _now(self) -> Reading:
        """Return what it holds; in a file that is read as a whole, a record that is cut off may still be written."""
        found = self._scan.harvest.broken
        broken = [one for one in found if self._size >= HEAD or not one.reason.startswith("cut off")]
        return Reading.of(
            pa.Table.from_batches([*self._rows, *self._short], SCHEMA),
            table_of_sightings([*self._scan.sightings, *torn(broken, self.log)]),
            broken=broken,
            files=1,
            size=self._size,
            overruns=self._scan.harvest.overruns,
        )

    def close(self) -> None:
        """Let go of the file; what was read stays."""
        if self._file:
            self._file.close()
            self._file = None

    def _begin_anew(self) -> None:
        self._size = 0
        self._is_finished = False
        self._buffer, self._base, self._begin = b"", 0, 0
        self._rows: deque[pa.RecordBatch] = deque()
        self._short: list[pa.RecordBatch] = []
        self._scan_anew()

    def _scan_anew(self) -> None:
        self._chunks = Chunks()
        self._scan = Scan(self._name, self.log, Memory(), self._chunks)

    def finish(self) -> None:
        """Read half a record at the end as far as it goes: no more of it will come."""
        if self._size >= HEAD and not self._is_finished:
            self._is_finished = True
            self._scan.feed(Stretch(self._buffer, self._base, self._begin, final=True))
            self._keep()

    def _feed(self, block: bytes) -> None:
        self._buffer += block
        self._size += len(block)
        self._is_finished = False
        if any(mark in block for mark in _IDLE):
            self.idle = datetime.now(timezone.utc)
        if self._size < HEAD:  # too short to tell its format for good: read as a whole, and once more when it has grown
            self._scan_anew()
            self._scan.feed(Stretch(self._buffer, 0, 0, final=True))
            self._short = self._chunks.take()
            return
        if self._size - len(block) < HEAD:
            self._short = []
            self._scan_anew()
        window = Stretch(self._buffer, self._base, self._begin, final=False)
        resume = self._scan.feed(window)
        self._scan.look_at_end(window)
        self._keep()
        rest = rest_of(window, resume, HISTORY)
        self._buffer, self._base, self._begin = rest.buffer[:], rest.base, rest.begin

    def _keep(self) -> None:
        """Take the events over, the newest of them."""
        self._scan.harvest.flush()
        self._rows += self._chunks.take()
        while self._rows and sum(map(len, self._rows)) - len(self._rows[0]) >= KEPT:
            self._rows.popleft()


class _Packed:
    """A compressed file, a saved one or an export, which is read as a whole whenever it has changed."""

    def __init__(self, one: Input) -> None:
        self.path = one.path
        self.idle = None
        self._seen: os.stat_result | None = None
        self._reading = Reading.of(SCHEMA.empty_table(), files=1)

    def grow(self) -> bool:
        """Read it where it has changed; whether it had."""
        try:
            now, seen = Path(self.path).stat(), self._seen
            if seen and (now.st_ino != seen.st_ino or now.st_mtime_ns == seen.st_mtime_ns):
                return False  # another file has its name, or it is as it was
            self._seen = now
            found = read([self.path])
            self._reading = replace(found, batches=_newest(self._reading, found).batches)  # an inode is used again
        except (OSError, InputError):
            return False
        return True

    def finish(self) -> None:
        """Nothing: it was read to its end."""

    def reading(self) -> Reading:
        """Return what was read."""
        return self._reading

    def close(self) -> None:
        """Nothing is open."""
