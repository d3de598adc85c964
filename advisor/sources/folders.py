"""Folders of this machine, of object stores and of HDFS, listed and read but never written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from advisor.checkpoint.folder import MOST_BYTES, Entry, Folder
from advisor.errors import InputError
from advisor.sources.paths import is_url, mounted, opened_address


def folder_at(path: str | os.PathLike[str]) -> Folder:
    """Return the folder at a path or address; InputError where there is none."""
    place = re.sub(r"^file:/+", "/", os.fspath(path))
    if is_url(place):
        system, below, info = opened_address(place)
        if info.type.name != "Directory":
            raise InputError(place, "is a file, not a folder", "give the folder that checkpointLocation names")
        return _Stored(place, system, below.rstrip("/"))
    local = Path(mounted(place))
    if not local.exists():
        raise InputError(place, "no such file or directory", "give the folder that checkpointLocation names")
    if not local.is_dir():
        raise InputError(place, "is a file, not a folder", "give the folder that checkpointLocation names")
    return _Local(place, local)


class _Local:
    """A folder on a disk."""

    def __init__(self, place: str, path: Path) -> None:
        self.place = place
        self._path = path

    def entries(self, below: str) -> Iterator[Entry]:
        """List a folder; what vanishes while it is listed is left out."""
        try:
            with os.scandir(self._path / below) as found:
                for one in found:
                    if one.is_dir():
                        yield Entry(one.name, 0, True)
                        continue
                    try:
                        told = one.stat()
                    except OSError:
                        continue
                    yield Entry(one.name, told.st_size, False, told.st_mtime)
        except (FileNotFoundError, NotADirectoryError):
            return

    def read(self, name: str) -> bytes:
        """Return what a file holds."""
        with (self._path / name).open("rb") as file:
            return file.read(MOST_BYTES)


class _Stored:
    """A folder in an object store, or on another file system that Arrow reads; each listing is one request a page."""

    def __init__(self, place: str, system: Any, path: str) -> None:
        self.place = place
        self._system = system
        self._path = path

    def entries(self, below: str) -> Iterator[Entry]:
        """List a folder."""
        from pyarrow import fs  # noqa: PLC0415 - a tenth of a second that local folders do not pay

        selector = fs.FileSelector(f"{self._path}/{below}".rstrip("/"), allow_not_found=True)
        for one in self._system.get_file_info(selector):
            is_folder = one.type == fs.FileType.Directory
            changed = one.mtime.timestamp() if one.mtime else None
            yield Entry(one.base_name, one.size or 0, is_folder, None if is_folder else changed)

    def read(self, name: str) -> bytes:
        """Return what a file holds."""
        with self._system.open_input_file(f"{self._path}/{name}") as file:
            held: bytes = file.read(MOST_BYTES)
        return held
