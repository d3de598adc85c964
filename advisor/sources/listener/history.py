"""Every event on disk as it comes: JSON lines, rotated, full files compressed."""

from __future__ import annotations

import gzip
import os
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Final

ROTATE_BYTES: Final = 64 << 20
"""A file that has grown so far is closed and compressed, to about a twentieth."""


class History:
    """JSON lines in a directory, one file at a time. Each line is handed to the system at once.

    A crash of this process costs at most the line that was being written. A full file becomes a `.jsonl.gz`, which
    takes its name only when it is whole.
    """

    def __init__(self, directory: str | Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._rotate_bytes = rotate_bytes
        self._file: IO[bytes] | None = None
        self._number = 0
        self._begun = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-{os.getpid()}"

    @property
    def path(self) -> Path:
        """The file that is being written."""
        return self.directory / f"progress-{self._begun}-{self._number:05}.jsonl"

    def write(self, event: bytes) -> None:
        """Append one event; raises OSError."""
        if self._file is None:
            self._file = self.path.open("ab", buffering=0)
        self._file.write(event + b"\n")
        if self._file.tell() >= self._rotate_bytes:
            self._rotate()

    def close(self) -> None:
        """Close the file; it stays readable as it is."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _rotate(self) -> None:
        full = self.path
        self.close()
        self._number += 1
        _compress(full)


def _compress(full: Path) -> None:
    whole = full.with_name(full.name + ".gz")
    part = whole.with_name(f".{whole.name}.part")
    with full.open("rb") as plain, gzip.open(part, "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
    part.replace(whole)
    full.unlink()
