"""Take this machine out of recorded files: `python sanitise.py RAW KEPT REPLACEMENTS.json`, run where zstandard is."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import zstandard

BIG = 300_000
FRAME = 500_000


class Sanitiser:
    """Replaces words and paths that name this machine, and refuses a text that still holds one."""

    def __init__(self, replacements: list[tuple[str, str]]) -> None:
        self.table = {old.encode(): new.encode() for old, new in replacements if old}
        alternatives = sorted(self.table, key=len, reverse=True)
        paths = [old for old in alternatives if old.startswith(b"/")]
        self.private = re.compile(b"|".join(re.escape(path) + rb"\b" for path in paths))
        self.pattern = re.compile(b"|".join(rb"(?<![\w.-])" + re.escape(old) + rb"(?![\w-])" for old in alternatives))

    def clean(self, text: bytes) -> bytes:
        """The text with every private word replaced."""
        text = self.pattern.sub(lambda match: self.table[match.group()], text)
        if left := self.private.search(text):
            raise ValueError(f"a path of this machine is left: {text[left.start() - 40 : left.end() + 40]!r}")
        return text


def keep(source: Path, target: Path, sanitiser: Sanitiser) -> None:
    """One file, cleaned; big text files are compressed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    data = source.read_bytes()
    if source.name.endswith(".zstd"):
        target.write_bytes(b"".join(clean_frames(data, sanitiser)))
    elif len(data) > BIG:
        target.with_name(f"{target.name}.gz").write_bytes(gzip.compress(sanitiser.clean(data), 9, mtime=0))
    else:
        target.write_bytes(sanitiser.clean(data))


def clean_frames(data: bytes, sanitiser: Sanitiser) -> Iterator[bytes]:
    """Several zstd frames as Spark writes them, but larger ones, each ended at a line's end."""
    compressor, waiting = zstandard.ZstdCompressor(level=12), b""
    for frame in frames(data):
        waiting += frame
        if len(waiting) > FRAME and waiting.endswith(b"\n"):
            yield compressor.compress(sanitiser.clean(waiting))
            waiting = b""
    yield compressor.compress(sanitiser.clean(waiting))


def frames(data: bytes) -> Iterator[bytes]:
    """The content of each zstd frame; the last may be torn."""
    while data:
        reader = zstandard.ZstdDecompressor().decompressobj()
        yield reader.decompress(data)
        data = reader.unused_data


def main() -> None:
    """Clean a directory into another."""
    raw, kept = Path(sys.argv[1]), Path(sys.argv[2])
    sanitiser = Sanitiser([tuple(pair) for pair in json.loads(Path(sys.argv[3]).read_text())])
    for source in sorted(raw.rglob("*")):
        if source.is_file() and not source.name.endswith(".crc"):
            keep(source, kept / source.relative_to(raw), sanitiser)


if __name__ == "__main__":
    main()
