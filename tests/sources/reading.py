"""Short ways to read a text in tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

import advisor
from advisor.batches import SCHEMA, Broken
from advisor.sources.harvest import Stretch
from advisor.sources.scan import Scan


class Scanned(NamedTuple):
    """Events in the order of the text, partial ones among them, and what was broken."""

    table: pa.Table
    broken: list[Broken]

    @property
    def batch_ids(self) -> list[int]:
        """Batches of whole events."""
        ids: list[int] = self.table.filter(pc.is_null(self.table["partial"]))["batch_id"].to_pylist()
        return ids

    @property
    def partial(self) -> list[tuple[int | None, str]]:
        """(batch, what is missing) of partial records that can be judged."""
        found = self.table.filter(pc.is_valid(self.table["partial"]))
        return list(zip(found["batch_id"].to_pylist(), found["partial"].to_pylist(), strict=True))

    @property
    def reasons(self) -> list[str]:
        return [broken.reason for broken in self.broken]


def scanned(raw: bytes, step: int | None = None) -> Scanned:
    """A text scanned in one piece, or in blocks of `step` bytes as a stream would be."""
    scan = Scan("some.log", "some.log")
    buffer, base, begin = b"", 0, 0
    for at in range(0, len(raw) or 1, step or len(raw) or 1):
        block = raw[at : at + (step or len(raw))]
        buffer += block
        resume = scan.feed(Stretch(buffer, base, begin, final=at + len(block) >= len(raw)))
        buffer, base, begin = buffer[resume:], base + resume, 0
    table = pa.Table.from_batches(scan.harvest.chunks.take(), SCHEMA)
    return Scanned(table.sort_by("offset"), scan.harvest.broken)


def told(folder: Path, text: str) -> dict[str, Any]:
    """The one query in the report on a text."""
    path = folder / "asked.txt"
    path.write_text(text, encoding="utf-8")
    (query,) = advisor.analyze(path).data["queries"]
    found: dict[str, Any] = query
    return found


@contextmanager
def unprivileged() -> Iterator[None]:
    """As a user whom files can refuse."""
    before = os.geteuid()
    os.seteuid(before or 65534)
    try:
        yield
    finally:
        os.seteuid(before)
