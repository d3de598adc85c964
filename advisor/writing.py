"""Write a user's file whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: str | Path, *, mode: int | None = None) -> Iterator[IO[bytes]]:
    """Yield a file that takes the name `path` once all of it is on the disk; until then what stood there stays.

    It gets the permissions `mode`, else those of the file that it replaces. A device, a pipe and a file that this
    process has open, as /dev/stdout, are written as they are, a pipe only where somebody reads it.
    Raises OSError that names `path`.
    """
    place = Path(path)
    try:
        if place.exists() and (descriptor := _descriptor(place)) is not None:
            with os.fdopen(os.dup(descriptor), "wb") as file:
                yield file
        elif place.exists() and not place.is_file():
            with open(place, "wb", opener=at_once) as file:
                yield file
        else:
            yield from _beside(Path(os.path.realpath(path)), mode)  # a link stays a link
    except OSError as error:  # a full disk does not say its name, and the file beside has another one
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _descriptor(place: Path) -> int | None:
    """Return the number of the open file for which a name under /dev or /proc stands; None for any other name."""
    while os.path.realpath(place.parent) not in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
        if not place.is_symlink():
            return None
        place = place.parent / place.readlink()
    return int(place.name)


def at_once(name: str, flags: int, mode: int = 0o777) -> int:
    """Open a file, a device or a pipe; OSError where nobody reads the pipe, which would wait without an end."""
    try:
        opened = os.open(name, flags | os.O_NONBLOCK, mode)
    except OSError as error:
        raise OSError(error.errno, "nobody reads this pipe") if error.errno == errno.ENXIO else error from None
    os.set_blocking(opened, True)
    return opened


def _beside(place: Path, mode: int | None) -> Iterator[IO[bytes]]:
    if place.exists():
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = stat.S_IMODE(place.stat().st_mode) if mode is None else mode
    part = place.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o666 if mode is None else mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            part.chmod(mode)  # what the umask took away
        part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(path: str | Path, text: Iterable[str]) -> None:
    """Write a text, or its pieces, into a file, as `whole_file` does."""
    with whole_file(path) as file:
        for piece in [text] if isinstance(text, str) else text:
            file.write(piece.encode("utf-8"))
