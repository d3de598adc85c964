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
"""A file that has grown so far is compressed, to about a twentieth."""


class History:
    """JSON lines in a directory, one file at a time, for its owner's eyes. Each line is handed to the system at once.

    A crash of this process costs at most the line that was being written. A full file becomes a `.jsonl.gz`, which
    takes its name only when it is whole. No two histories share a name; a file that was removed is begun anew.
    """

    def __init__(self, directory: str | Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._rotate_bytes = rotate_bytes
        self._number = 0
        self._begun = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-{os.getpid()}-{secrets.token_hex(4)}"

    @property
    def path(self) -> Path:
        """The file that is being written."""
        return self.directory / f"progress-{self._begun}-{self._number:05}.jsonl"

    def write(self, event: bytes) -> None:
        """Append one event. Raises OSError."""
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.path
        with open(path, "ab", buffering=0, opener=_for_its_owner) as file:
            _append(file, event + b"\n")
            full = file.tell() >= self._rotate_bytes
        if full:
            self._number += 1
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


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
