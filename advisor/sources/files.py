"""Read whatever holds streaming progress: files, directories, patterns, standard input, object stores."""

from __future__ import annotations

import gc
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa

from advisor.batches import SCHEMA, Broken, Chunks, Overrun, Reading, table_of_sightings
from advisor.errors import PROGRESS_NEEDS_INFO, InputError
from advisor.facts import Sighting
from advisor.sources import saved
from advisor.sources.codecs import NOT_READ
from advisor.sources.paths import Input, expand, is_address, shown
from advisor.sources.scan import Scan
from advisor.sources.sightings.line import torn
from advisor.sources.sightings.stretches import Memory
from advisor.sources.stages.stagetables import StageTables

__all__ = ["Input", "expand", "read"]

Progress = Callable[[int], None]
SIGHTINGS_PER_PIECE = 16384


def read(
    paths: Sequence[str | os.PathLike[str]],
    *,
    sightings: bool = True,
    stages: bool = False,
    progress: Progress | None = None,
    inputs: Sequence[Input] | None = None,
) -> Reading:
    """All progress in `paths`: files, directories, patterns, `-` for standard input, object stores, a driver's address.

    With `sightings` also what the files reveal besides progress, with `stages` what ran inside addBatch. `progress` is
    called with the number of bytes read so far. `inputs`: the files behind the paths, where the caller knows them.
    A file that cannot be read, or only in part, becomes an entry of `broken`. Raises InputError for a path where there
    is nothing, and when there is nothing to be found in all of them.
    """
    if inputs is None and (addresses := [os.fspath(path) for path in paths if is_address(os.fspath(path))]):
        return _with_addresses(addresses, paths, sightings=sightings, stages=stages, progress=progress)
    inputs = expand(paths) if inputs is None else inputs
    memories: defaultdict[str, Memory] = defaultdict(Memory)
    left = Counter(one.log for one in inputs)
    parts = _Parts(progress or (lambda _: None), StageTables() if stages else None)
    with without_collector():
        for one in inputs:
            parts.read(one, memories[one.log] if sightings else None)
            left[one.log] -= 1
            if not left[one.log]:
                memories.pop(one.log, None)
        reading = parts.reading()
    names_a_run = reading.sightings["run_id"].null_count < len(reading.sightings)
    if names_a_run or not is_empty(reading):
        return reading
    if not (pasted := parts.pasted_error()):
        raise InputError(*nothing_found(paths, reading, *parts.instead()))
    return replace(reading, sightings=pa.concat_tables([table_of_sightings(pasted), reading.sightings]))


def _with_addresses(addresses: Sequence[str], paths: Sequence[str | os.PathLike[str]], **how: Any) -> Reading:
    """What the pages at these addresses show, and what the other paths hold."""
    from advisor.sources.ui.driver import read as read_pages  # noqa: PLC0415 - files need no web client

    others = [path for path in paths if os.fspath(path) not in addresses]
    ways = [(one, lambda inputs, one=one: read([one], inputs=inputs, **how)) for one in addresses]
    found = [read_pages(one, read_log, stages=how["stages"]) for one, read_log in ways]
    return Reading.merge([*found, *([read(others, **how)] if others else [])])


@contextmanager
def without_collector() -> Iterator[None]:
    """Events hold no cycles, and the collector's search for some takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Parts:
    def __init__(self, progress: Progress, opened: StageTables | None) -> None:
        self._progress = progress
        self._opened = opened
        self._chunks = Chunks()
        self._sightings: list[Sighting] = []
        self._told: list[pa.Table] = []
        self._broken: list[Broken] = []
        self._overruns: list[Overrun] = []
        self._pasted: list[list[Sighting]] = []
        self._heads: list[bytes] = []
        self._saved: list[Reading] = []
        self._files = 0
        self._bytes = 0

    def read(self, one: Input, memory: Memory | None) -> None:
        """Read one file; whatever is wrong with it becomes an entry of `broken`."""
        name = one.name or shown(one.path)
        if one.unfit:
            self._broken.append(Broken(name, 0, 0, one.unfit))
            return
        if saved.is_saved(one.path):
            self._saved.append(saved.read(one.path, stages=self._opened is not None))
            return
        scan, before = Scan(name, one.log, memory, self._chunks, self._opened), self._bytes
        self._bytes += scan.read(one.path, history=memory is not None, reached=lambda at: self._progress(before + at))
        self._files += 1
        self._broken += scan.broken
        self._tell([*scan.sightings, *(torn(scan.broken, one.log) if memory else [])])
        self._overruns += scan.harvest.overruns
        self._pasted += [scan.pasted_error] if scan.pasted_error else []
        self._heads += [scan.head] if scan.head else []

    def _tell(self, sightings: Iterable[Sighting]) -> None:
        """Take a file's sightings; as a table they need a third of the memory."""
        self._sightings += sightings
        if len(self._sightings) >= SIGHTINGS_PER_PIECE:
            self._told.append(table_of_sightings(self._sightings))
            self._sightings = []

    def instead(self) -> tuple[str | None, str | None]:
        """(what the one file that holds nothing seems to be, what to give instead), as far as something shows it."""
        from advisor.catalogue import clue_alone  # noqa: PLC0415 - few inputs need what a quarter of a second imports

        return clue_alone(self._heads[0]) if len(self._heads) == 1 else (None, None)

    def pasted_error(self) -> list[Sighting]:
        """Return how the query ended whose stack trace one file holds; of several nobody knows whether they are one."""
        return self._pasted[0] if len(self._pasted) == 1 else []

    def reading(self) -> Reading:
        """All parts together."""
        events = pa.Table.from_batches(self._chunks.take(), SCHEMA)
        reading = Reading.of(
            events,
            pa.concat_tables([*self._told, table_of_sightings(self._sightings)]),
            broken=self._broken,
            files=self._files,
            size=self._bytes,
            overruns=self._overruns,
        )
        if self._opened is not None:
            inside = self._opened.tables(reading.batches, events)
            reading = replace(reading, inside=inside, broken=(*reading.broken, *self._opened.broken))
        return Reading.merge([reading, *self._saved]) if self._saved else reading


def is_empty(reading: Reading) -> bool:
    """Whether nothing was found but files of which nothing is read."""
    read = [one for one in reading.broken if not one.reason.startswith(NOT_READ)]
    return not (reading.events or len(reading.batches) or reading.overruns or read)


def nothing_found(
    paths: Sequence[str | os.PathLike[str]], reading: Reading, says: str | None = None, give: str | None = None
) -> tuple[str, str, str]:
    """Place, finding and remedy of the error for paths that hold nothing.

    `says`: what they seem to be; `give`: what to give instead of the usual advice.
    """
    where = ", ".join(os.fspath(path) for path in paths[:3]) + (", …" if len(paths) > 3 else "")
    files = "1 file" if reading.files == 1 else f"{reading.files} files"
    if not reading.bytes and not says:
        empty = "is empty" if reading.files == 1 else "hold nothing" if len(paths) > 1 else "holds no log"
        return where, empty, "give a log with progress: docs/get-a-log.md"
    if packed := [one.reason for one in reading.broken if one.reason.startswith(NOT_READ)]:
        says, _, give = packed[0].partition("; ")
    found = f"no streaming progress in {files} ({reading.bytes:,} bytes){f': {says}' if says else ''}"
    usual = "give a driver log, an event log, or lines of progress JSON (query.lastProgress, not query.status)"
    return where, found, give or f"{usual}. {PROGRESS_NEEDS_INFO}"
