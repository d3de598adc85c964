"""How far behind its latest offsets a source is, by a record of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

FURTHEST: Final = "maxOffsetsBehindLatest"
"""The metric of Kafka: offsets of the partition that is furthest behind."""
MEAN: Final = "avgOffsetsBehindLatest"
"""The metric of Kafka: offsets that a partition is behind on average."""


def offsets_behind(end: object, latest: object) -> int | None:
    """Offsets from the end of a batch to the latest, over the partitions that both name; None without any."""
    ends, newest = dict(_partitions(end)), dict(_partitions(latest))
    both = ends.keys() & newest.keys()
    return sum(max(0, newest[each] - ends[each]) for each in both) if both else None


def _partitions(offsets: object) -> Iterator[tuple[tuple[str, str], int]]:
    for topic, partitions in offsets.items() if isinstance(offsets, Mapping) else ():
        for partition, offset in partitions.items() if isinstance(partitions, Mapping) else ():
            if isinstance(offset, int):
                yield (topic, partition), offset
