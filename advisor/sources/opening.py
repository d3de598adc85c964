"""Files as windows of decompressed bytes: mapped where they lie plain on a disk, else read in blocks."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from advisor.sources.codecs import BLOCK, Source, Torn, blocks, is_packed
from advisor.sources.harvest import Window
from advisor.sources.paths import STDIN, file_system, is_url

HISTORY = 4 << 20
LONGEST_RECORD = 40 << 20
"""Bytes of one record that are kept while its end is looked for."""

Feed = Callable[[Window], int]


def read_windows(path: str, feed: Feed, *, history: bool) -> int:
    """Feed a file to `feed`, window by window; how many bytes it held, decompressed.

    With `history` a window reaches some megabytes back. Raises Torn, after all that could be read was fed, when a
    compressed file is damaged or ends too early; OSError as open() does.
    """
    if path == STDIN:
        return _feed_blocks(Source(sys.stdin.buffer), feed, history)
    if is_url(path):
        system, place = file_system(path)
        with system.open_input_stream(place, compression=None, buffer_size=BLOCK) as stream:
            return _feed_blocks(Source(stream), feed, history)
    with Path(path).open("rb", buffering=0) as file:
        mapped = _mapped(file)
        if mapped is None:
            return _feed_blocks(Source(file), feed, history)
        with mapped:
            feed(Window(mapped, 0, 0, final=True))
            return len(mapped)


def _mapped(file: BinaryIO) -> mmap.mmap | None:
    """The file in the address space; None when it is compressed, or no file of a disk."""
    with suppress(OSError, ValueError):  # pipes, empty files, and file systems that cannot map
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if not is_packed(mapped[:16]):
            return mapped
        mapped.close()
    return None


def _feed_blocks(source: Source, feed: Feed, history: bool) -> int:
    coming = _Ahead(blocks(source))
    buffer, base, begin = b"", 0, 0
    while (block := coming.take()) is not None:
        buffer += block
        resume = feed(Window(buffer, base, begin, final=coming.ended))
        if len(buffer) - resume > LONGEST_RECORD:
            resume = len(buffer)
        kept = max(0, resume - HISTORY) if history else resume
        buffer, base, begin = buffer[kept:], base + kept, resume - kept
    if coming.torn:
        raise coming.torn
    return base + len(buffer)


class _Ahead:
    """Blocks of at least BLOCK bytes, but for the last; knows, one block ahead, whether more is coming.

    What unpacks gives some kilobytes at a time, and each window would copy its history for them.
    """

    def __init__(self, coming: Iterator[bytes]) -> None:
        self._coming = coming
        self.torn: Torn | None = None
        self._next = self._pull()

    @property
    def ended(self) -> bool:
        """Whether no block is left."""
        return self._next is None

    def take(self) -> bytes | None:
        """The next block; None at the end."""
        block = self._next
        self._next = self._pull() if block is not None else None
        return block

    def _pull(self) -> bytes | None:
        pieces: list[bytes] = []
        missing = BLOCK
        try:
            while missing > 0 and (piece := next(self._coming, None)) is not None:
                pieces.append(piece)
                missing -= len(piece)
        except Torn as torn:
            self.torn = torn
        return b"".join(pieces) if pieces else None
