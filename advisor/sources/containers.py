"""Files that are packed in a way that is not read."""

from __future__ import annotations

from typing import Final

NOT_READ: Final = "not read: it is packed"
HEAD: Final = 512
"""How many bytes at the beginning of a file show whether it is packed."""
_UNPACK: Final = "unpack it, and give the log in it"
_OTHER_CODEC: Final = "write event logs with spark.eventLog.compression.codec=zstd, which can be read"
_PACKED: Final = (
    b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\xfd7zXZ\x00", b"\x1f\x9d",
    b"\xff\x06\x00\x00sNaPpY", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd",  # the last two: inside a packed one
    *(b"%c\x2a\x4d\x18" % number for number in range(0x50, 0x60)),  # what zstd skips
)  # fmt: skip
_BY_SPARK: Final = (b"\x82SNAPPY\x00", b"ZV\x00", b"ZV\x01")
"""Snappy and LZF."""


def packed(head: bytes) -> str | None:
    """Return what to do with a file that begins with `head`, decompressed; None where it may be a log."""
    if head.startswith(_BY_SPARK):
        return _OTHER_CODEC
    return _UNPACK if head.startswith(_PACKED) or head[257:262] == b"ustar" else None
