"""Leaves out sightings that repeat what the same place of a log said before."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.facts.sighting import Sighting


class Repeats:
    """Remembers the last value of each fact, so that a log of many batches gives few rows."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str | None, str | None, str, str], str] = {}

    def fresh(self, sightings: Iterable[Sighting]) -> list[Sighting]:
        """Those that say something else than the sighting before of the same fact, run, log and origin."""
        kept = []
        for each in sightings:
            key = (each.log, each.id, each.run_id, each.fact, each.origin)
            if self._last.get(key) != each.value:
                self._last[key] = each.value
                kept.append(each)
        return kept
