"""Text of any kind: a driver's log if it holds the marker, else whatever holds events or lines about batches."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.sources.formats import driverlog, records
from advisor.sources.formats.overruns import overruns
from advisor.sources.harvest import Buffer, Harvest, Stretch

MIXED = 16 << 20
"""Bytes of a text that is searched for events without marker even though it has some with it."""


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest the marked events of a range; where to go on once more of the file is there."""
    return driverlog.read(buffer, begin, final, harvest)


class Text:
    """Reads one text; once a marked event was seen the others are expected to be marked, too."""

    def __init__(self) -> None:
        self._marked = False

    def __call__(self, window: Stretch, harvest: Harvest) -> int:
        """Where to go on once more of the file is there."""
        buffer, begin, final = window.buffer, window.begin, window.final
        self._marked = self._marked or driverlog.marks_events(buffer, begin)
        if not self._marked:
            resume = records.read(buffer, begin, final, harvest)
            harvest.add_overruns(overruns(buffer, begin, resume, harvest.file, window.base))
            return resume
        harvest.overruns.clear()  # the progress itself shows it
        if window.base or begin or not final or len(buffer) > MIXED:
            return driverlog.read(buffer, begin, final, harvest)
        return _read_mixed(buffer, harvest)


def _read_mixed(buffer: Buffer, harvest: Harvest) -> int:
    """Read a short text, in which events may stand without the marker, too."""
    spans: list[tuple[int, int]] = []
    harvest.spans = spans
    resume = driverlog.read(buffer, 0, True, harvest)
    harvest.spans = None
    read: list[tuple[int, int]] = []
    for begin, end in _between(spans, len(buffer)):
        for found in records.find_events(buffer, begin, end):
            if found.event is not None:
                harvest.add(found.event, found.start, found.end)
                read.append((buffer.rfind(b"\n", 0, found.start) + 1, found.end))
            elif found.partial is not None and found.partial.event is not None:
                harvest.add_partial(found.partial, found.start, found.end)
    harvest.read_after_all(read)
    return resume


def _between(spans: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """The stretches of a text of that size that lie between spans."""
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), size]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]
