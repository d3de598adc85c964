"""Every event on disk as it comes, credentials hidden: JSON lines, rotated, full files compressed."""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Final

from advisor.writing import whole_file

ROTATE_BYTES: Final = 64 << 20
"""A file that has grown so far is closed and compressed, to about a twentieth."""


class History:
    """JSON lines in a directory, one file at a time, for its owner's eyes. Each line is handed to the system at once.

    A crash of this process costs at most the line that was being written. A full file becomes a `.jsonl.gz`, which
    takes its name only when it is whole. No two histories share a name.
    """

    def __init__(self, directory: str | Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._rotate_bytes = rotate_bytes
        self._file: IO[bytes] | None = None
        self._number = 0
        self._begun = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-{os.getpid()}-{secrets.token_hex(4)}"

    @property
    def path(self) -> Path:
        """The file that is being written."""
        return self.directory / f"progress-{self._begun}-{self._number:05}.jsonl"

    def write(self, event: bytes) -> bool:
        """Append one event; whether the file had been removed and was written anew. Raises OSError."""
        if self._file is None:
            self._file = self._begin()
        _append(self._file, event + b"\n")
        restored = self._restored()
        if self._file.tell() >= self._rotate_bytes:
            self._rotate()
        return restored

    def close(self) -> None:
        """Close the file, written anew where it had been removed; it stays readable as it is. Raises OSError."""
        if self._file is not None:
            try:
                self._restored()
            finally:
                self._file.close()
                self._file = None

    def _begin(self) -> IO[bytes]:
        self.directory.mkdir(parents=True, exist_ok=True)
        return _created(self.path)

    def _restored(self) -> bool:
        """Whether the file had lost its name: what it held, which is there while it is open, gets a new one."""
        lost = self._file
        if lost is None or os.fstat(lost.fileno()).st_nlink:
            return False
        self._number += 1
        found = self._begin()
        lost.seek(0)
        shutil.copyfileobj(lost, found, 1 << 20)
        lost.close()
        self._file = found
        return True

    def _rotate(self) -> None:
        full = self.path
        self.close()
        self._number += 1
        _compress(full)


def _created(path: Path) -> IO[bytes]:
    """A file that was not there before, which only its owner reads."""
    return open(path, "x+b", buffering=0, opener=_for_its_owner)


def _append(file: IO[bytes], line: bytes) -> None:
    """Write a whole line, or none of it: a disk that fills up takes the first part of one without a word."""
    begun = file.tell()
    if file.write(line) < len(line):
        file.truncate(begun)
        file.seek(begun)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _compress(full: Path) -> None:
    whole = full.with_name(full.name + ".gz")
    with full.open("rb") as plain, whole_file(whole, mode=0o600) as file, gzip.open(file, "wb", 1) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
    full.unlink()


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
