"""Random access to the bytes of a file, on a disk or in an object store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from advisor.sources.paths import file_system, is_url

ON_DISK, IN_STORE = 16 << 20, 16 << 20
"""Bytes that are best read at a time: such as hold many events to decode together; such as are worth a request."""
_STEP = 8 << 10


class Place(Protocol):
    """A file whose bytes can be read anywhere."""

    size: int
    step: int
    """Bytes that are best read at a time."""

    def read(self, start: int, end: int) -> bytes:
        """The bytes [start, end), as far as the file holds them."""


class OnDisk:
    """A file that is open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = os.fstat(file.fileno()).st_size
        self.step = ON_DISK

    def read(self, start: int, end: int) -> bytes:
        """The bytes [start, end), as far as the file holds them."""
        self._file.seek(start)
        return self._file.read(max(0, end - start))


class _InStore:
    def __init__(self, file: Any) -> None:
        self._file = file
        self.size = int(file.size())
        self.step = IN_STORE

    def read(self, start: int, end: int) -> bytes:
        return bytes(self._file.read_at(max(0, min(end, self.size) - start), start))


@contextmanager
def opened(path: str) -> Iterator[Place]:
    """The file, open for reading; OSError as open() does."""
    if is_url(path):
        system, place = file_system(path)
        with closing(system.open_input_file(place)) as file:
            yield _InStore(file)
        return
    with Path(path).open("rb") as file:
        yield OnDisk(file)


def sizes(paths: Iterable[str]) -> dict[str, int]:
    """Bytes of each file; one of unknown size is left out."""
    found = {}
    for path in paths:
        if is_url(path):
            system, place = file_system(path)
            size = system.get_file_info(place).size
        else:
            size = _on_disk(path)
        if size is not None:
            found[path] = int(size)
    return found


def _on_disk(path: str) -> int | None:
    try:
        return Path(path).stat().st_size
    except OSError:
        return None


class Distant:
    """A file as a buffer of which only what is looked at is read."""

    def __init__(self, place: Place, size: int) -> None:
        self._place = place
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, key: slice) -> bytes:
        start, end, _ = key.indices(self._size)
        return self._place.read(start, end)

    def find(self, sub: bytes, start: int = 0, end: int | None = None, /) -> int:
        """Where `sub`, a single byte, begins in [start, end), or -1."""
        stop = self._size if end is None else min(end, self._size)
        for at in range(start, stop, _STEP):
            found = self._place.read(at, min(at + _STEP, stop)).find(sub)
            if found >= 0:
                return at + found
        return -1

    def rfind(self, sub: bytes, start: int = 0, end: int | None = None, /) -> int:
        """Where the last `sub`, a single byte, begins in [start, end), or -1."""
        stop = self._size if end is None else min(end, self._size)
        while stop > start:
            at = max(start, stop - _STEP)
            found = self._place.read(at, stop).rfind(sub)
            if found >= 0:
                return at + found
            stop = at
        return -1
