"""The queries of a report, compressed, so that the memory for very many stays small."""

from __future__ import annotations

import zlib
from typing import TypeAlias

import msgspec

from advisor.contract import QueryEntry, encoded

_SORTED_AND_LISTED = ("trigger_execution_ms", "record_latency_ms")
"""Metrics that a line about a query shows, or that decide where it stands."""
_PIECE, _AROUND = 12_000, 3_000
"""Bytes that are compressed together, by so many more around them in the first entry: zlib looks back 32 kB."""
Pieces: TypeAlias = tuple[bytes, ...]


class Packed:
    """The whole entry of each run as JSON, compressed by what it shares with the first; a report then holds what a line
    about it shows.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Pieces] = {}
        self._first = b""

    def pack(self, entry: QueryEntry) -> tuple[QueryEntry, Pieces]:
        """Return the entry without what only its own screen and its JSON show, and the whole to `hold`."""
        whole = encoded(entry)
        self._first = self._first or whole
        shown = msgspec.structs.replace(
            entry,
            facts={name: fact for name, fact in entry.facts.items() if name == "start_time"},
            metrics={name: entry.metrics[name] for name in _SORTED_AND_LISTED if name in entry.metrics},
            skipped=(),
            passed=(),
            not_applicable=(),
            worst=(),
            budget={},
        )
        return shown, tuple(self._piece(whole, at) for at in range(0, len(whole), _PIECE))

    def _piece(self, whole: bytes, at: int) -> bytes:
        packer = zlib.compressobj(3, zdict=self._beside(at))
        return packer.compress(whole[at : at + _PIECE]) + packer.flush()

    def _beside(self, at: int) -> bytes:
        return self._first[max(0, at - _AROUND) : at + _PIECE + _AROUND]

    def hold(self, packed: tuple[QueryEntry, Pieces]) -> QueryEntry:
        """Return the entry that a line shows; hold the whole."""
        entry, self._entries[entry.run_id] = packed
        return entry

    def whole(self, entry: QueryEntry) -> QueryEntry:
        """Return the whole entry."""
        return msgspec.json.decode(self._encoded(entry), type=QueryEntry)

    def written(self, entry: QueryEntry) -> str:
        """Return the whole entry as JSON of many lines."""
        return msgspec.json.format(self._encoded(entry), indent=2).decode()

    def _encoded(self, entry: QueryEntry) -> bytes:
        pieces = enumerate(self._entries[entry.run_id])
        return b"".join(zlib.decompressobj(zdict=self._beside(nth * _PIECE)).decompress(piece) for nth, piece in pieces)
