"""Files that hold other files, or no text at all: what they are, and what to give instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from advisor.sources import saved

NOT_READ: Final = "not read: it is"
HEAD: Final = 512
"""How many bytes at the beginning of a file show its kind."""
_UNPACK: Final = "unpack it, and give the log in it"
_OTHER_CODEC: Final = "write event logs with spark.eventLog.compression.codec=zstd, which can be read"
_DECRYPT: Final = "decrypt it, and give the log in it"
_LOG: Final = "give the log itself, as text"
_LOGS: Final = "tables are not read: give the logs that they were made of"
_ZIPPED: Final = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OFFICE: Final = "an office document"
_OF_OFFICE: Final = (b"[Content_Types].xml", b"_rels/", b"word/", b"xl/", b"ppt/", b"mimetypeapplication/vnd.oasis")
_KINDS: Final[Mapping[str, tuple[str, tuple[tuple[int, bytes], ...]]]] = {
    "a zip archive": (_UNPACK, tuple((0, mark) for mark in _ZIPPED)),
    "a tar archive": (_UNPACK, ((257, b"ustar"),)),
    "a 7z archive": (_UNPACK, ((0, b"7z\xbc\xaf\x27\x1c"),)),
    "a RAR archive": (_UNPACK, ((0, b"Rar!\x1a\x07"),)),
    "an xz file": (_UNPACK, ((0, b"\xfd7zXZ\x00"),)),
    "a file of compress": (_UNPACK, ((0, b"\x1f\x9d"),)),
    "a Snappy file": (_UNPACK, ((0, b"\xff\x06\x00\x00sNaPpY"),)),
    "a packed file": (  # inside a packed one, or behind what zstd skips
        _UNPACK,
        ((0, b"\x1f\x8b\x08"), (0, b"\x28\xb5\x2f\xfd"), *((0, b"%c\x2a\x4d\x18" % n) for n in range(0x50, 0x60))),
    ),
    "compressed with Snappy": (_OTHER_CODEC, ((0, b"\x82SNAPPY\x00"),)),
    "compressed with LZF": (_OTHER_CODEC, ((0, b"ZV\x00"), (0, b"ZV\x01"))),
    _OFFICE: ("save it as text or as CSV, and give that", ((0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), (0, b"{\\rtf"))),
    "a PDF file": ("copy its text into a file, and give that", ((0, b"%PDF-"),)),
    "an image": (
        "copy the text from where the image was taken, and give that",
        ((0, b"\x89PNG\r\n\x1a\n"), (0, b"\xff\xd8\xff"), (0, b"GIF8"), (0, b"II*\x00"), (0, b"MM\x00*"),
         (8, b"WEBPVP8"), (4, b"ftyphei")),
    ),
    "a Parquet file": (_LOGS, ((0, b"PAR1"), (0, b"PARE"))),
    "an ORC file": (_LOGS, ((0, b"ORC"),)),
    "an Avro file": (_LOGS, ((0, b"Obj\x01"),)),
    "an Arrow file": (_LOGS, ((0, b"ARROW1\x00\x00"),)),
    "an SQLite database": (_LOGS, ((0, b"SQLite format 3\x00"),)),
    "an HDF5 file": (_LOGS, ((0, b"\x89HDF\r\n\x1a\n"),)),
    "a report of latency-advisor": (
        "it holds no batches: give what it was made of, or what analyze --save wrote then",
        ((0, b'{\n  "schema_version"'),),
    ),
    "a file that --save wrote": ("give it, as a file of this machine, to analyze or compare", ((0, saved.MARK),)),
    "a pickle": ("write what it holds as JSON lines, and give that", ((0, b"\x80\x04\x95"), (0, b"\x80\x05\x95"))),
    "a program": (_LOG, ((0, b"\x7fELF"), (0, b"\xca\xfe\xba\xbe"), (0, b"MZ\x90\x00"))),
    "a Java heap dump": (_LOG, ((0, b"JAVA PROFILE 1.0"),)),
    "a Java flight recording": (_LOG, ((0, b"FLR\x00"),)),
    "encrypted": (
        _DECRYPT,
        ((0, b"-----BEGIN PGP MESSAGE-----"), (0, b"Salted__"), (0, b"age-encryption.org/")),
    ),
}  # fmt: skip
"""What to give instead of each kind, and where which bytes show it."""


def container(head: bytes) -> str | None:
    """What a file is that begins with `head`, decompressed: `a zip archive`; None where it may be a log."""
    if head.startswith(_ZIPPED) and any(name in head for name in _OF_OFFICE):
        return _OFFICE
    return next((kind for kind, (_, marks) in _KINDS.items() if any(head.startswith(m, at) for at, m in marks)), None)


def packed(kind: str | None) -> str | None:
    """Why a file of this kind, which may hold a log, was not read, and what would do; None of any other file."""
    give = _KINDS[kind][0] if kind else None
    return f"{NOT_READ} {kind}; {give}" if give in (_UNPACK, _OTHER_CODEC, _DECRYPT) else None


def all_of(kinds: Sequence[str | None]) -> tuple[str | None, str | None]:
    """(what is said of files of these kinds, what to give instead): nothing where one of them may be a log."""
    first = kinds[0] if kinds and all(kinds) else None
    if first is None:
        return None, None
    return f"{'this' if len(kinds) == 1 else 'the first of them'} is {first}", _KINDS[first][0]
