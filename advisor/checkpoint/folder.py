"""What a checkpoint is read through: folders that are listed once and files that are read, on any file system."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Protocol

from advisor.errors import InputError
from advisor.redaction import hide

MOST_BYTES: Final = 64 << 20
"""Longest file that is read: offset logs of a thousand partitions have 100 kB."""

WHERE: Final = "give the folder that checkpointLocation names"
_DIGITS: Final = 18


class Entry(NamedTuple):
    """One file or folder of a listing; `changed`: nanoseconds since 1970, where the file system tells."""

    name: str
    size: int
    is_folder: bool
    changed: int | None = None


class Folder(Protocol):
    """A folder on some file system. Nothing in it is ever written."""

    place: str

    def entries(self, below: str) -> Iterator[Entry]:
        """List a folder below this one, in any order; nothing where there is none."""

    def read(self, name: str) -> bytes:
        """Return what a file holds; OSError where it cannot be read."""


class DamagedError(Exception):
    """A file that Spark cannot read: which, and what is wrong."""

    def __init__(self, name: str, wrong: str) -> None:
        super().__init__(f"{hide(name)} {wrong}")


def number_of(text: str) -> int | None:
    """Return the number that a name or a setting is; None of any other, and of one that no Java long holds."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else None


def whole(folder: Folder, name: str) -> bytes:
    """Return a file; DamagedError where it is missing or empty, InputError where we alone may not read it.

    Spark ignores the check sums (.crc) beside it.
    """
    try:
        held = folder.read(name)
    except FileNotFoundError:
        raise DamagedError(name, "is missing") from None
    except OSError as error:
        if isinstance(error, PermissionError) or "ACCESS_DENIED" in str(error):  # of S3
            raise InputError(f"{folder.place}/{name}", "permission denied", "check the right to read it") from None
        raise DamagedError(name, f"cannot be read ({error.strerror or type(error).__name__})") from None
    if not held:
        raise DamagedError(name, "is empty")
    return held


def json_object(name: str, text: str) -> dict[str, Any]:
    """Return a JSON object of a file; DamagedError where the text is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise DamagedError(name, "is torn or garbled: its JSON does not end or does not read") from None
    if not isinstance(found, dict):
        raise DamagedError(name, "holds no JSON object where Spark expects one")
    return found
