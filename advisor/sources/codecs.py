"""UTF-8 in blocks of bounded size: of text, UTF-16, gzip, zstd, LZ4 frames, LZ4 blocks of event logs.

Files that are packed in another way are not read.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import IO, Any, Final

import pyarrow as pa

BLOCK = 1 << 20
_HEAD = 16
_PIECE = 8 << 10
"""Bytes that are unpacked at a time: those behind a stream are copied for the next one, those before damage lost."""
UNPACKED = 64 << 10
"""Bytes that are asked of what unpacks at a time: where the packed ones are damaged, it gives none of these."""
_GENEROUS = 1 << 30
_HIGHEST_RATIO = 500
_LONGEST_LZ4_BLOCK = 64 << 20
_LZ4_BLOCK = b"LZ4Block"
_LZ4_HEADER, _LZ4_SEED = 21, 0x9747B28C
_XXHASH: Any = import_module("xxhash") if find_spec("xxhash") else None
"""The extra [lz4]; without it blocks are read unchecked."""
_NARROW_LETTERS = re.compile(rb"[^\0]{256}")
"""More than stand together in text of two bytes a letter, and fewer than any event has."""


class Torn(Exception):  # noqa: N818 - named after what happened to the file
    """A compressed file that ends too early, is damaged, or unpacks to more than any log does."""


class Source:
    """A stream whose first bytes can be looked at, and whose bytes are counted."""

    closed = False

    def __init__(self, stream: IO[bytes], begun: bytes = b"", most: int = BLOCK) -> None:
        """`begun`: bytes that were taken from the stream already; `most`: how many to take at a time."""
        self._stream, self._most = stream, most
        self.head = begun + stream.read(_HEAD)
        self._unread = self.head
        self.taken = 0

    def read(self, size: int = BLOCK) -> bytes:
        """At most `size` bytes; none at the end."""
        found = self._unread[:size] if self._unread else self._stream.read(min(size, self._most))
        self._unread = self._unread[size:]
        self.taken += len(found)
        return found

    def close(self) -> None:
        """Nothing: who opened the stream closes it."""


def blocks(source: Source) -> Iterator[bytes]:
    """The decompressed bytes of a stream in blocks of at most some megabytes; Torn when they cannot all be had."""
    given = 0
    try:
        for block in _decoded(source):
            yield block
            given += len(block)
            refuse_ratio(given, source.taken)
    except (
        zlib.error, lzma.LZMAError, zipfile.BadZipFile, OSError, EOFError, ValueError, pa.ArrowException,
    ) as error:  # fmt: skip
        raise Torn(
            f"damaged or cut off: {str(error).splitlines()[0][:100] if str(error) else 'no more data'}"
        ) from None


def refuse_ratio(given: int, taken: int) -> None:
    """Raise Torn where so many bytes were packed in so few."""
    if given > max(_GENEROUS, _HIGHEST_RATIO * taken):
        raise Torn(f"unpacks to more than {_HIGHEST_RATIO} times its size: not read further")


def is_packed(head: bytes) -> bool:
    """Whether a file that begins with `head` is compressed or of wide letters."""
    return _unpacker(head) is not None or _decoder(head) is not None


_Unpack = Callable[[Source], Iterator[bytes]]
_Decode = Callable[[Iterator[bytes]], Iterator[bytes]]


def _decoded(source: Source) -> Iterator[bytes]:
    """What a stream holds, unpacked, in UTF-8."""
    unpack = _unpacker(source.head)
    coming = unpack(source) if unpack else iter(source.read, b"")
    head = b""
    while len(head) < _HEAD and (piece := next(coming, b"")):
        head += piece
    whole, decode = chain([head], coming), _decoder(head[:_HEAD])
    return decode(whole) if decode else whole


def _unpacker(head: bytes) -> _Unpack | None:
    return next((unpack for magic, unpack in _MAGIC if head.startswith(magic)), None)


def _decoder(head: bytes) -> _Decode | None:
    even, odd = any(head[::2]), any(head[1::2])  # plain English has a 0 in each letter of UTF-16
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _wide("utf-16")
    if even == odd or len(head) < 4:
        return None
    return _wide("utf-16-le" if even else "utf-16-be")


def _gzip(source: Source) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=source) as stream:  # type: ignore[call-overload]
        while block := stream.read1(UNPACKED):
            yield block


def _arrow(codec: str) -> _Unpack:
    """Return what reads a stream through pyarrow, with what it unpacks before an error."""

    def unpack(source: Source) -> Iterator[bytes]:
        with pa.CompressedInputStream(pa.PythonFile(_Sips(source), mode="r"), codec) as stream:
            size = UNPACKED
            while size:
                block = bytearray(b"\xff") * UNPACKED  # which no text in UTF-8 has
                try:
                    size = stream.readinto(block)
                except (pa.ArrowException, OSError):
                    yield bytes(block.rstrip(b"\xff"))
                    raise
                yield bytes(block[:size])

    return unpack


class _Sips(io.BytesIO):
    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source

    def read(self, size: int | None = -1) -> bytes:  # noqa: ARG002
        """Some bytes; none at the end."""
        if found := super().read(_PIECE):
            return found
        super().__init__(self._source.read())
        return super().read(_PIECE)


def _lz4_blocks(source: Source) -> Iterator[bytes]:
    """Java's LZ4BlockOutputStream: magic, token, packed and plain length, checksum, data; any number of streams."""
    codec = pa.Codec("lz4_raw")
    while header := _exactly(source, _LZ4_HEADER):
        packed, plain = int.from_bytes(header[9:13], "little"), int.from_bytes(header[13:17], "little")
        if header[:8] != _LZ4_BLOCK or max(packed, plain) > _LONGEST_LZ4_BLOCK:
            raise Torn("damaged: no LZ4 block where one should begin")
        data = _exactly(source, packed) if packed else b""
        if plain:
            found = data if header[8] & 0xF0 == 0x10 else codec.decompress(data, plain, asbytes=True)
            if _XXHASH and _XXHASH.xxh32_intdigest(found, _LZ4_SEED) & 0xFFFFFFF != int.from_bytes(
                header[17:], "little"
            ):
                raise Torn("damaged: the check sum of an LZ4 block is another one")
            yield found


def _exactly(source: Source, size: int) -> bytes:
    """That many bytes, or none at the end of the stream."""
    parts: list[bytes] = []
    missing = size
    while missing and (part := source.read(missing)):
        parts.append(part)
        missing -= len(part)
    if missing and parts:
        raise Torn("cut off: the end of its LZ4 data is missing")
    return b"".join(parts)


def _wide(encoding: str) -> _Decode:
    """Text of two bytes a character: a shell of Windows writes it where a command's output goes into a file."""

    def decode(coming: Iterator[bytes]) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        for block in coming:
            narrow = _NARROW_LETTERS.search(block)
            yield decoder.decode(block[: narrow and narrow.start()]).encode("utf-8", "replace")
            if narrow:
                raise Torn("UTF-8 behind UTF-16: not read; write the file in one encoding")
        yield decoder.decode(b"", final=True).encode()

    return decode


_MAGIC: tuple[tuple[bytes, _Unpack], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"\x28\xb5\x2f\xfd", _arrow("zstd")),
    (b"\x04\x22\x4d\x18", _arrow("lz4")),
    (_LZ4_BLOCK, _lz4_blocks),
)
NOT_READ: Final = "not read: "
PACKED_HEAD: Final = 512
"""How many bytes at the beginning of a file show whether it is packed."""
_UNPACK: Final = "unpack it, and give the log in it"
_OTHER_CODEC: Final = "write event logs with spark.eventLog.compression.codec=zstd, which can be read"
_NOT_READ: Final = (
    b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\xfd7zXZ\x00", b"\x1f\x9d",
    b"\xff\x06\x00\x00sNaPpY", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd",  # the last two: inside a packed one
    *(b"%c\x2a\x4d\x18" % number for number in range(0x50, 0x60)),  # what zstd skips
    *(b"BZh%d1AY&SY" % level for level in range(1, 10)),
)  # fmt: skip
_BY_SPARK: Final = (b"\x82SNAPPY\x00", b"ZV\x00", b"ZV\x01")
"""Snappy and LZF."""


def how_to_unpack(head: bytes) -> str | None:
    """Return what to do with a file that begins with `head`, decompressed; None where it may be a log."""
    if head.startswith(_BY_SPARK):
        return _OTHER_CODEC
    return _UNPACK if head.startswith(_NOT_READ) or head[257:262] == b"ustar" else None
