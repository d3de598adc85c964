"""Random access to the bytes of a file, on a disk or in an object store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from advisor.sources.paths import file_system, from_store, is_url

STEP = 16 << 20
"""Bytes that are best read at a time: such as hold many events to decode together, and are worth a request."""
_SEARCHED = 8 << 10


class Place:
    """A file whose bytes can be read anywhere; as a buffer only what is looked at of it is read."""

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        """`read(start, end)` gives these bytes, as far as the file holds them."""
        self.read = read
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: slice) -> bytes:
        start, end, _ = key.indices(self.size)
        return self.read(start, end)

    def find(self, sub: bytes, start: int = 0, end: int | None = None, /) -> int:
        """Return where `sub`, a single byte, begins in [start, end), or -1."""
        stop = self.size if end is None else min(end, self.size)
        for at in range(start, stop, _SEARCHED):
            found = self.read(at, min(at + _SEARCHED, stop)).find(sub)
            if found >= 0:
                return at + found
        return -1

    def rfind(self, sub: bytes, start: int = 0, end: int | None = None, /) -> int:
        """Return where the last `sub`, a single byte, begins in [start, end), or -1."""
        stop = self.size if end is None else min(end, self.size)
        while stop > start:
            at = max(start, stop - _SEARCHED)
            found = self.read(at, stop).rfind(sub)
            if found >= 0:
                return at + found
            stop = at
        return -1


def on_disk(file: BinaryIO) -> Place:
    """Return the place of a file that is open."""

    def read(start: int, end: int) -> bytes:
        file.seek(start)
        return file.read(max(0, end - start))

    return Place(read, os.fstat(file.fileno()).st_size)


@contextmanager
def opened(path: str) -> Iterator[Place]:
    """Open the file for reading; OSError as open() does."""
    if is_url(path):
        file, size = from_store(path, lambda: _stored(path))

        def read(start: int, end: int) -> bytes:
            return from_store(path, lambda: bytes(file.read_at(max(0, min(end, size) - start), start)))

        yield Place(read, size)
        file.close()
        return
    with Path(path).open("rb") as file:
        yield on_disk(file)


def _stored(url: str) -> tuple[Any, int]:
    system, place = file_system(url)
    file = system.open_input_file(place)
    return file, int(file.size())


def _size(url: str) -> int | None:
    system, place = file_system(url)
    size: int | None = system.get_file_info(place).size
    return size


def sizes(paths: Iterable[str]) -> dict[str, int]:
    """Return the bytes of each file; one of unknown size is left out."""
    found: dict[str, int] = {}
    for path in paths:
        if is_url(path):
            size = from_store(path, partial(_size, path))
            found |= {path: int(size)} if size is not None else {}
        else:
            with suppress(OSError):
                found[path] = Path(path).stat().st_size
    return found
