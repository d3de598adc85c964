"""Folders of this machine, of object stores and of HDFS, listed and read but never written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from advisor.checkpoint.folder import MOST_BYTES, WHERE, Entry, Folder
from advisor.config import listed
from advisor.errors import InputError
from advisor.sources.paths import LISTING_S, first_line, from_store, is_url, local, mounted, opened_address, special


def folder_at(path: str | os.PathLike[str]) -> Folder:
    """Return the folder at a path or address; InputError where there is none, UsageError for what is no path."""
    from pyarrow import fs  # noqa: PLC0415 - a tenth of a second that logs do not pay

    place = local(listed("checkpoint", [path], WHERE)[0])
    if is_url(place):
        system, below, info = opened_address(place)
    else:
        system, below = fs.LocalFileSystem(), os.path.abspath(mounted(place))  # noqa: PTH100 - links stay as they are
        info = _asked(place, system, below)
    if info.type == fs.FileType.NotFound:
        raise InputError(place, "no such file or directory", WHERE)
    if info.type != fs.FileType.Directory:
        raise InputError(place, "is a file, not a folder", WHERE)
    return _Stored(place, system, below.rstrip("/"))


def _asked(place: str, system: Any, what: Any) -> Any:
    """Return what the file system says of a path or a listing; InputError where it cannot be looked at."""
    try:
        return from_store(place, lambda: system.get_file_info(what), LISTING_S)
    except (OSError, ValueError) as error:  # Arrow's own ones are a ValueError
        raise InputError(place, first_line(error), "check the path and the right to read it") from None


def _name(info: Any) -> str:
    try:
        return str(info.base_name)
    except UnicodeDecodeError:  # Spark writes none
        return "\ufffd"


class _Stored:
    """A folder on any file system that Arrow reads; each listing is one request a page."""

    def __init__(self, place: str, system: Any, path: str) -> None:
        self.place = place
        self._system = system
        self._path = path

    def entries(self, below: str) -> Iterator[Entry]:
        """List a folder; InputError where it may not be listed."""
        from pyarrow import fs  # noqa: PLC0415

        listing = fs.FileSelector(f"{self._path}/{below}".rstrip("/"), allow_not_found=True)
        for one in _asked(f"{self.place}/{below}".rstrip("/"), self._system, listing):
            is_folder = one.type == fs.FileType.Directory
            yield Entry(_name(one), one.size or 0, is_folder, None if is_folder else one.mtime_ns)

    def read(self, name: str) -> bytes:
        """Return what a file holds, and of a long one its beginning; OSError where it is no file on a disk."""
        if what := not is_url(self.place) and special(f"{self._path}/{name}"):
            raise OSError(0, f"it is {what}")
        return from_store(self.place, lambda: self._held(f"{self._path}/{name}"))

    def _held(self, path: str) -> bytes:
        with self._system.open_input_file(path) as file:
            held: bytes = file.read(MOST_BYTES)
        return held
