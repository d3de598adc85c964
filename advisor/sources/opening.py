"""Read files as windows of decompressed bytes; only plain files on a disk can be read again at any part."""

from __future__ import annotations

import errno
import io
import lzma
import os
import select
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any, BinaryIO

from advisor.sources import random_access
from advisor.sources.codecs import UNPACKED, Source, Torn, blocks, is_packed, refuse_ratio
from advisor.sources.harvest import Stretch
from advisor.sources.paths import STDIN, file_system, from_store, in_zip, is_url
from advisor.sources.random_access import Place, on_disk

HISTORY = 4 << 20
WINDOW = 16 << 20
"""Bytes that are unpacked before they are looked at."""
LATER = 4 << 20
"""Bytes that are unpacked at a time behind the first window: malloc uses such buffers again."""
BEFORE = 64 << 10
"""Bytes of a plain file that stand in a window before what it is read for; all others can be read again."""
IN_CACHE = 1 << 20
"""Bytes of a plain file that are read at a time behind the first window: what is searched is still near."""
LONGEST_RECORD = 40 << 20
"""Bytes of one record that are kept while its end is looked for."""

WRITER_COMES_WITHIN = 10.0
"""Seconds in which somebody has to open a named pipe for writing."""

_DAMAGED = (
    zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, UnicodeDecodeError, lzma.LZMAError, struct.error,
    zlib.error,
)  # fmt: skip
"""What a zip archive raises."""
Feed = Callable[[Stretch], int]


def read_windows(path: str, feed: Feed, *, history: bool) -> int:
    """Feed a file to `feed`, window by window; how many bytes it held, decompressed.

    With `history` a window reaches some megabytes back. Raises Torn, after all that could be read was fed, when a
    compressed file is damaged or ends too early; OSError as open() does.
    """
    if path == STDIN:
        if sys.stdin is None:  # Python has none where the shell closed it
            raise OSError(errno.EBADF, "standard input is closed", "-")
        return _feed_blocks(Source(sys.stdin.buffer), feed, history)
    if is_url(path):
        return _feed_blocks(Source(_Stored(path)), feed, history)  # type: ignore[arg-type]
    if packed := in_zip(path):
        with _member(*packed) as stream:
            return _feed_blocks(Source(stream, most=UNPACKED), feed, history)
    if Path(path).is_fifo():
        with _pipe(path) as (stream, begun):
            return _feed_blocks(Source(stream, begun), feed, history)
    with Path(path).open("rb") as file:
        place = on_disk(file)
        if place.size and not is_packed(place.read(0, 16)):
            return _feed_place(place, feed)
        if place.size:
            file.seek(0)
        return _feed_blocks(Source(file), feed, history)


class _Stored:
    """A file of an object store, read from its beginning."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stream = from_store(url, self._opened)

    def _opened(self) -> Any:
        system, place = file_system(self._url)
        return system.open_input_stream(place, compression=None, buffer_size=LATER)

    def read(self, size: int) -> bytes:
        found: bytes = from_store(self._url, lambda: self._stream.read(size))
        return found


@lru_cache(maxsize=1)
def _archive(path: str, changed: int) -> zipfile.ZipFile:  # noqa: ARG001 - a file that changed is another one
    """The archive that was opened last, whose list of files is read once for all of them."""
    return zipfile.ZipFile(path)


@contextmanager
def _member(archive: str, name: str) -> Iterator[IO[bytes]]:
    """A file in a zip archive; Torn where the archive is damaged, locked, or unpacks to more than any log does."""
    try:
        opened = _archive(archive, Path(archive).stat().st_mtime_ns)
        with opened.open(name) as stream:
            info = opened.getinfo(name)
            refuse_ratio(info.file_size, info.compress_size)
            yield stream
    except _DAMAGED as error:
        raise Torn(f"damaged or locked: {error or 'it ends too early'}") from None


@contextmanager
def _pipe(path: str) -> Iterator[tuple[BinaryIO, bytes]]:
    """A named pipe and the first byte of it, if that was taken; OSError where nobody comes to write.

    To open it in the usual way would wait for a writer for ever. A writer that is there may take its time.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as raw:
        begun = raw.read(1)
        silent = begun is None  # there is a writer; b"" where there is none, yet
        if not (begun or silent or select.select([raw], [], [], WRITER_COMES_WITHIN)[0]):
            raise OSError(errno.EPIPE, "a named pipe into which nobody writes", path)
        os.set_blocking(raw.fileno(), True)
        yield io.BufferedReader(raw), begun or b""


def _feed_place(place: Place, feed: Feed) -> int:
    """Feed a plain file. It is not mapped: who cuts a mapped file off ends the process that reads it."""
    base, begin, high, step = 0, 0, 0, random_access.STEP
    while high < place.size:
        high = min(place.size, high + step)
        buffer = place.read(base, high)
        if len(buffer) < high - base:
            feed(Stretch(buffer, base, min(begin, len(buffer)), final=True, whole=place))
            raise Torn(f"cut off while it was read: of {place.size:,} bytes {base + len(buffer):,} were there")
        resume = feed(Stretch(buffer, base, begin, final=high == place.size, whole=place))
        if len(buffer) - resume > LONGEST_RECORD:
            resume = len(buffer)
        step = max(min(random_access.STEP, IN_CACHE), len(buffer) - resume)  # an open record is read few times
        kept = max(0, resume - BEFORE)
        base, begin = base + kept, resume - kept
    return place.size


def _feed_blocks(source: Source, feed: Feed, history: bool) -> int:
    rest = Stretch(b"", 0, 0, False)
    torn: list[Torn] = []
    for pieces, following in pairwise(chain(_together(blocks(source), torn), (None,))):
        window = rest._replace(buffer=b"".join([rest.buffer[:], *(pieces or ())]), final=following is None)
        rest = rest_of(window, feed(window), HISTORY if history else 0)
    if torn:
        raise torn[0]
    return rest.base + len(rest.buffer)


def rest_of(window: Stretch, resume: int, history: int) -> Stretch:
    """Return what the next window begins with: what is unread behind `resume`, and so many bytes before it."""
    if len(window.buffer) - resume > LONGEST_RECORD:
        resume = len(window.buffer)
    kept = max(0, resume - history)
    return Stretch(window.buffer[kept:], window.base + kept, resume - kept, final=False)


def _together(coming: Iterator[bytes], torn: list[Torn]) -> Iterator[list[bytes]]:
    """Yield pieces of WINDOW, then of LATER bytes together, but for the last; an error that ends them goes to `torn`.

    What unpacks gives some kilobytes at a time, and each window would copy its history for them.
    """
    pieces: list[bytes] = []
    missing = WINDOW
    try:
        for piece in coming:
            pieces.append(piece)
            missing -= len(piece)
            if missing <= 0:
                yield pieces
                pieces, missing = [], min(WINDOW, LATER)
    except Torn as error:
        torn.append(error)
    if pieces:
        yield pieces
