"""What is kept of a session while it runs: two tables, bounded per query, and every event on disk."""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import shutil
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import IO, Final

import pyarrow as pa

from advisor.batches import SCHEMA, Broken, Reading, build, table_of_sightings
from advisor.facts import Sighting
from advisor.progress import Progress
from advisor.sources.sightings.line import Line, Told, sighting, torn
from advisor.writing import at_once, whole_file

CHUNK: Final = 250
"""Events that wait to become one chunk of the table: built one by one they would cost twenty times as much."""
RUNS_KEPT: Final = 20
"""Runs of a query whose facts are kept."""
QUERIES_KEPT: Final = 200
"""Ended queries that are kept; running ones always are."""
BROKEN_KEPT: Final = 100
FILE: Final = "session"
"""What stands in the place of a file's name."""
ROTATE_BYTES: Final = 64 << 20
"""A file that has grown so far is compressed, to about a twentieth."""
_LEFT_SECONDS: Final = 3600.0  # nobody writes a file of that age that is not whole


@dataclass
class _Query:
    """What is kept of one query: whole chunks, events that wait for theirs, facts by run."""

    chunks: deque[pa.Table] = field(default_factory=deque)
    events: list[Progress] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    rows: int = 0
    idle: Progress | None = None
    sightings: OrderedDict[str, list[Sighting]] = field(default_factory=OrderedDict)

    def add(self, event: Progress, offset: int) -> None:
        """Of a stretch of idle triggers the first is kept: a quiet day must not push out the batches before it."""
        if not (event.idle and self.idle is not None and self.idle.run_id == event.run_id):
            self.idle = event if event.idle else None
            self.events.append(event)
            self.offsets.append(offset)

    def build(self, log: str, keep: int) -> None:
        self.chunks.append(build(self.events, self.offsets, FILE, log))
        self.rows += len(self.events)
        self.events, self.offsets = [], []
        while self.rows - len(self.chunks[0]) >= keep:
            self.rows -= len(self.chunks.popleft())

    def sight(self, run_id: str, sightings: Sequence[Sighting]) -> None:
        self.sightings.setdefault(run_id, []).extend(sightings)
        while len(self.sightings) > RUNS_KEPT:
            self.sightings.popitem(last=False)


class Store:
    """Batches and sightings of every query of a session, the newest `keep` batches of each; safe for threads."""

    def __init__(self, keep: int, log: str) -> None:
        self.keep = keep
        self.log = log
        self.bytes = 0
        self.broken: deque[Broken] = deque(maxlen=BROKEN_KEPT)
        self.unreadable = 0
        self._queries: OrderedDict[str, _Query] = OrderedDict()
        self._live: dict[str, str] = {}
        self._lock = threading.Lock()
        self._heard = 0

    def add(self, event: Progress, size: int) -> None:
        """Keep one event; of idle triggers in a row the first."""
        with self._lock:
            self.bytes += size
            query = self._query(event.id)
            query.add(event, self._next())
            if len(query.events) >= CHUNK:
                query.build(self.log, self.keep)

    def bad(self, reason: str) -> None:
        """Count an event that could not be read."""
        with self._lock:
            number = self._next()
            self.unreadable += 1
            self.broken.append(Broken(FILE, number, number, reason))

    def sight(self, id: str, run_id: str, found: Iterable[tuple[str, object, str]]) -> None:
        """Keep facts of a run, (fact, value, origin), without credentials."""
        with self._lock:
            place = Line("", "", self._next(), None, id, run_id)
            seen = [sighting(Told(*each), place, log=self.log, file=FILE, base=0) for each in found]
            self._query(id).sight(run_id, seen)

    def began(self, id: str, run_id: str) -> None:
        """A run is alive."""
        with self._lock:
            self._live[run_id] = id
            self._query(id)

    def ended(self, run_id: str) -> None:
        """A run is over; its batches stay."""
        with self._lock:
            self._live.pop(run_id, None)
            self._forget()

    def died(self, id: str, run_id: str) -> bool:
        """Whether an error ended this run."""
        with self._lock:
            return any(row.fact == "terminated_error" for row in self._query(id).sightings.get(run_id, ()))

    def idle_since(self) -> dict[str, str]:
        """Of each run that is alive and waits for data, when it first found none (ISO 8601)."""
        with self._lock:
            waiting = [one.idle for one in self._queries.values() if one.idle is not None]
            return {event.run_id: event.timestamp for event in waiting if event.run_id in self._live}

    def live(self) -> dict[str, str]:
        """Run id to query id of every run that is alive."""
        with self._lock:
            return dict(self._live)

    def reading(self, id: str | None = None, newest: int | None = None) -> Reading:
        """What is kept, of all queries or of one, at most the `newest` batches of each."""
        with self._lock:
            taken = [self._queries[id]] if id is not None else list(self._queries.values())
            parts = [(list(one.chunks), list(one.events), list(one.offsets)) for one in taken]
            seen = [row for one in taken for rows in one.sightings.values() for row in rows]
            oldest, newer = list(self.broken)[:1], list(self.broken)[1:]
            broken = *(one.and_more(self.unreadable - len(self.broken)) for one in oldest), *newer
        limit = self.keep if newest is None else newest
        chunks: list[pa.Table] = []
        for held, events, offsets in parts:
            chunks += _newest([*held, build(events, offsets, FILE, self.log)] if events else held, limit)
        return Reading.of(
            pa.concat_tables([SCHEMA.empty_table(), *chunks]),
            table_of_sightings([*seen, *torn(broken, self.log)]),
            broken=broken,
            size=self.bytes,
        )

    def memory_bytes(self) -> int:
        """What the kept chunks of the table take."""
        with self._lock:
            return sum(chunk.nbytes for one in self._queries.values() for chunk in one.chunks)

    def _query(self, id: str) -> _Query:
        query = self._queries.setdefault(id, _Query())
        self._queries.move_to_end(id)
        return query

    def _forget(self) -> None:
        alive = set(self._live.values())
        ended = [id for id in self._queries if id not in alive]
        for id in ended[: max(0, len(ended) - QUERIES_KEPT)]:
            del self._queries[id]

    def _next(self) -> int:
        """The number of what was heard, in place of an offset in a file."""
        self._heard += 1
        return self._heard


def _newest(chunks: list[pa.Table], limit: int) -> list[pa.Table]:
    taken: list[pa.Table] = []
    for chunk in reversed(chunks):
        room = limit - sum(map(len, taken))
        if room <= 0:
            break
        taken.append(chunk.slice(max(0, len(chunk) - room)))
    return taken[::-1]


class History:
    """JSON lines in a directory, one file at a time, for its owner's eyes. Each line is handed to the system at once.

    A crash of this process costs at most the line that was being written. A full file becomes a `.jsonl.gz`, which
    takes its name only when it is whole. No two histories share a name; a file that was removed is begun anew.
    """

    def __init__(self, directory: str | Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        for part in self.directory.glob(f".{'[0-9a-f]' * 16}.part"):  # of a process that was killed in `whole_file`
            with suppress(OSError):
                if time.time() - part.stat().st_mtime > _LEFT_SECONDS:
                    part.unlink()
        self._rotate_bytes = rotate_bytes
        self._number = 0
        self._begun = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-{os.getpid()}-{secrets.token_hex(4)}"

    @property
    def path(self) -> Path:
        """The file that is being written."""
        return self.directory / f"progress-{self._begun}-{self._number:05}.jsonl"

    def write(self, event: bytes) -> None:
        """Append one event. Raises OSError; a pipe in the file's place is one, too."""
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.path
        with open(path, "ab", buffering=0, opener=partial(at_once, mode=0o600)) as file:
            _append(file, event + b"\n")
            full = file.tell() >= self._rotate_bytes
        if full:
            self._number += 1
            with suppress(OSError):  # on a full disk it stays as it is
                _compress(path)


def _append(file: IO[bytes], line: bytes) -> None:
    """Write a whole line, or none of it: a disk that fills up takes the first part of one without a word."""
    begun = file.tell()
    if file.write(line) < len(line):
        file.truncate(begun)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _compress(full: Path) -> None:
    whole = full.with_name(full.name + ".gz")
    with full.open("rb") as plain, whole_file(whole, mode=0o600) as file, gzip.open(file, "wb", 1) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
    full.unlink()
