"""The queries of a report, compressed, so that the memory for very many stays small."""

from __future__ import annotations

import zlib

import msgspec

from advisor.contract import QueryEntry, encoded

_SORTED_AND_LISTED = ("trigger_execution_ms", "record_latency_ms")
"""Metrics that a line about a query shows, or that decide where it stands."""


class Packed:
    """The whole entry of each run as JSON, compressed by what it shares with the first; a report then holds what a line
    about it shows.
    """

    def __init__(self) -> None:
        self._entries: dict[str, bytes] = {}
        self._first = b""

    def pack(self, entry: QueryEntry) -> tuple[QueryEntry, bytes]:
        """Return the entry without what only its own screen and its JSON show, and the whole to `hold`."""
        whole = encoded(entry)
        self._first = self._first or whole
        packer = zlib.compressobj(1, zdict=self._first)
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
        return shown, packer.compress(whole) + packer.flush()

    def hold(self, packed: tuple[QueryEntry, bytes]) -> QueryEntry:
        """Return the entry that a line shows; hold the whole."""
        entry, self._entries[entry.run_id] = packed
        return entry

    def whole(self, entry: QueryEntry) -> QueryEntry:
        """Return the whole entry."""
        whole = zlib.decompressobj(zdict=self._first).decompress(self._entries[entry.run_id])
        return msgspec.json.decode(whole, type=QueryEntry)
