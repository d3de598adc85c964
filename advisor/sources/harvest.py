"""Search a file's bytes, and collect what is found there: events, broken records, stretches worth a second look."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import pyarrow as pa
import stringzilla

from advisor.batches import FRESH_EVENTS, Broken, Chunks, Overrun, instants
from advisor.progress import Partial, Progress
from advisor.redaction import redact
from advisor.sources.random_access import Place

LINE_UNKNOWN = -1
MOST_BROKEN = 10_000
"""Broken records that are listed for one file, the first; the others are counted."""
_COUNTED = 4 << 20
BEFORE_A_RUN = 4 << 20
_WIDE_KEY = "durationMs".encode("utf-16-le")[:-1]
"""The key of an event in text of two bytes a letter, in either order."""
_PACKED = (
    b"\n\x1f\x8b\x08", b"\n\x28\xb5\x2f\xfd", b"\n\x04\x22\x4d\x18", b"\nLZ4Block", b"\n\xfd7zXZ\0", b"\nBZh91AY&SY"
)  # fmt: skip
"""How packed data begins after a line: gzip, zstd, LZ4, xz, bzip2."""
A_BATCH = 1 << 20
"""Before the second event of a run: all lines of one batch, whose largest stage shows the task slots."""
BEFORE_AN_EVENT = 8 << 10
HEAD_OF_AN_EVENT = 640
"""Its ids and rates, which tell whose line stands before it, and of which version it is."""
AFTER_AN_EVENT = 4 << 10
FIRST_EVENTS = 10
EVERY = 100
_REACH = {0: BEFORE_A_RUN, 1: A_BATCH}


Buffer = bytes | Place
"""Bytes in memory, or a file of which only what is looked at is read."""

find: Callable[..., int] = stringzilla.find
"""As bytes.find, several times as fast, for bytes in memory alone: at a lone surrogate stringzilla ends the process."""


def places(buffer: Buffer, sub: bytes, begin: int = 0, end: int | None = None) -> Iterator[int]:
    """Where `sub` stands in [begin, end) of bytes in memory; none of them reaches into the next."""
    end = len(buffer) if end is None else end
    at = find(buffer, sub, begin, end)
    while at >= 0:
        yield at
        at = find(buffer, sub, at + len(sub), end)


class Stretch(NamedTuple):
    """A stretch of a file: `buffer` begins at byte `base` of it, bytes before `begin` have been read, `final` ends it.

    `whole` is the file, where any part of it can be read again.
    """

    buffer: Buffer
    base: int
    begin: int
    final: bool
    whole: Buffer | None = None


class Runs:
    """Marks the stretches around some events of each run; one per log, since a run goes on in the log's next file.

    Positions are bytes of the file that is being read.
    """

    def __init__(self) -> None:
        self.last_end = 0
        self._stretches: list[tuple[int, int]] = []
        self._seen: dict[str, int] = {}

    def saw(self, run_id: str, start: int, end: int) -> None:
        """An event of a run stands at [start, end)."""
        seen = self._seen.get(run_id, 0)
        self._seen[run_id] = seen + 1
        if seen < FIRST_EVENTS or seen % EVERY == 0:
            reach = _REACH.get(seen, BEFORE_AN_EVENT)
            before = max(min(self.last_end, start), start - reach)
            self._stretches += [(before, min(end, start + HEAD_OF_AN_EVENT)), (end, end + AFTER_AN_EVENT)]
        self.last_end = max(self.last_end, end)  # events of two forms do not come in order

    def take(self) -> list[tuple[int, int]]:
        """The stretches so far; they are forgotten here."""
        taken, self._stretches = self._stretches, []
        return taken

    def next_file(self) -> None:
        """Positions begin at 0 again."""
        self.last_end = 0
        self._stretches = []


def merged(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in order, those that touch as one."""
    together: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if together and start <= together[-1][1]:
            together[-1] = (together[-1][0], max(end, together[-1][1]))
        elif end > start:
            together.append((start, end))
    return together


class Harvest:
    """What one file gave so far. Positions are handed in relative to the window that `move` announced."""

    def __init__(
        self, file: str, log: str, runs: Runs | None = None, chunks: Chunks | None = None, kept: range | None = None
    ) -> None:
        """Events go to `chunks`, which may hold those of other files, too.

        `kept`: where in the file a record must begin; then the lines of broken ones are not counted.
        """
        self.kept = kept
        self.file = file
        self.log = log
        self.runs = runs
        self.chunks = Chunks() if chunks is None else chunks
        self._listed: list[Broken] = []
        self._unlisted: dict[bool, Broken] = {}
        """One entry for the records that are not listed and not read, and one for the partial ones."""
        self.overruns: list[Overrun] = []
        """What lines without progress say of batches that took too long."""
        self.found = 0
        self.marked = False
        """Whether a driver's log announced an event."""
        self.spans: list[tuple[int, int]] | None = None
        """Where records stand that were read, kept or not, as long as somebody wants to know it."""
        self.torn: list[tuple[int, str, tuple[str, ...] | None]] | None = None
        """Records that are not whole, as long as they may still be read in another way: what `add_broken` is given."""
        self._moved = 0
        self._fresh: list[Progress] = []
        self._starts: list[int] = []
        self._partial: list[tuple[Progress, int, str]] = []
        self._window = Stretch(b"", 0, 0, False)
        self._lines = Lines()

    @property
    def base(self) -> int:
        """Where in the file the window begins."""
        return self._window.base

    @property
    def anything(self) -> bool:
        """Whether anything was found, broken or not."""
        return bool(self.found or self._fresh or self._listed)

    @property
    def broken(self) -> list[Broken]:
        """The records that are not whole; those not listed are one entry, and one for those read in part."""
        return [*self._listed, *(self._unlisted[partial] for partial in sorted(self._unlisted))]

    def move(self, window: Stretch) -> None:
        """From now on positions are those in `window`."""
        self.flush()
        if window.whole is None and self.kept is None:
            self._lines.leave(self._window.buffer, self._window.base, window.base)
        self._window = window
        since = max(window.begin, self._moved - window.base)
        wide = window.buffer.find(b"\0", since)  # text has none, and what is packed has many
        for mark in _PACKED if wide >= 0 else ():
            for at in places(window.buffer, mark, max(0, since - len(mark) + 1)):
                self.add_broken(at, "packed data behind text: not read; unpack it first")
        for at in places(window.buffer, _WIDE_KEY, max(0, wide - 1)) if wide >= 0 else ():
            self.add_broken(at, "UTF-16 among UTF-8: not read; write the file in one encoding")
        self._moved = window.base + len(window.buffer)

    def add(self, event: Progress, start: int, end: int) -> None:
        """Keep an event that stands at [start, end) of the window."""
        self.add_many([event], [start], [end])

    def add_many(self, events: Sequence[Progress], starts: Sequence[int], ends: Sequence[int]) -> None:
        """Keep events that stand at [start, end) of the window, in order; some hundreds at a time are best."""
        if self.spans is not None:
            self.spans += zip(starts, ends, strict=True)
        base, kept = self._window.base, self.kept
        if kept is not None and not all(inside := [base + start in kept for start in starts]):
            events = list(compress(events, inside))
            starts, ends = list(compress(starts, inside)), list(compress(ends, inside))
        if self.runs is not None:
            for event, start, end in zip(events, starts, ends, strict=True):
                self.runs.saw(event.run_id, base + start, base + end)
        self._fresh += events
        self._starts += starts
        if len(self._fresh) >= FRESH_EVENTS:
            self.flush()

    def add_partial(self, partial: Partial, start: int, end: int) -> None:
        """Note a record that was read as far as it goes; its event, if it has one, is kept apart from whole ones."""
        if self.spans is not None:
            self.spans.append((start, end))
        if not self._keeps(start):
            return
        self.add_broken(start, redact(partial.says), partial.lacks)
        if partial.event is None:
            return
        base = self._window.base
        if self.runs is not None:
            self.runs.saw(partial.event.run_id, base + start, base + end)
        self._partial.append((partial.event, start, ",".join(partial.lacks)))
        if len(self._partial) >= FRESH_EVENTS:
            self.flush()

    def add_broken(self, start: int, reason: str, lacks: tuple[str, ...] | None = None) -> None:
        """Note a record at `start` of the window that is not whole, with what it lacks if a part of it was read."""
        if not self._keeps(start):
            return
        partial, listed = lacks is not None, len(self._listed) < MOST_BROKEN
        if self.torn is not None:
            self.torn.append((start, reason, lacks))
        elif not listed and partial in self._unlisted:
            self._unlisted[partial] = self._unlisted[partial].and_more(1)
        else:
            line = self._lines.number(self._window, start) if self.kept is None else LINE_UNKNOWN
            found = Broken(self.file, start + self._window.base, line, reason, lacks)
            if listed:
                self._listed.append(found)
            else:
                self._unlisted[partial] = found

    def _keeps(self, start: int) -> bool:
        return self.kept is None or self._window.base + start in self.kept

    def so_far(self) -> pa.Table:
        """The rows of all events of this file and those before it."""
        self.flush()
        return self.chunks.so_far()

    def flush(self) -> None:
        """Hand over the events so far; those whose timestamp is none are broken."""
        if self._fresh:
            self._flush_whole()
        base, partial = self._window.base, self._partial
        self._partial = []
        for event, start, lacks in partial:
            self.chunks.add([event], instants([event.timestamp]), [base + start], self.file, self.log, [lacks])

    def _flush_whole(self) -> None:
        events, starts = self._fresh, self._starts
        self._fresh, self._starts = [], []
        times = instants([event.timestamp for event in events])
        if times.null_count:
            events, starts, times = self._timed(events, starts, times)
        self.found += len(events)
        base = self._window.base
        self.chunks.add(events, times, [base + start for start in starts] if base else starts, self.file, self.log)

    def _timed(
        self, events: Sequence[Progress], starts: Sequence[int], times: pa.Array
    ) -> tuple[list[Progress], list[int], pa.Array]:
        """The events that have a time, where they begin, and when.

        If none of several events has one, their writer left it out: these are partial records.
        """
        silent = len(events) > 1 and not self.found and times.null_count == len(events)
        known = times.is_valid().to_pylist()
        for event, start, timed in zip(events, starts, known, strict=True):
            if timed:
                continue
            if silent and event.batch_id is not None:
                event.timestamp = ""
                self.add_partial(Partial(event, ("timestamp",), "timestamp: no point in time"), start, start + 1)
            else:
                self.add_broken(start, "timestamp: no point in time")
        return list(compress(events, known)), list(compress(starts, known)), times.drop_null()


class Lines:
    """Counts lines up to a position, each byte once, and only when a broken record asks for it."""

    def __init__(self) -> None:
        self._marks: list[tuple[int, int]] = [(0, 1)]

    def number(self, window: Stretch, start: int) -> int:
        """The line, from 1, of position `start` in the window; 0 where the file no longer reaches as far as it did."""
        buffer, base, whole = window.buffer, window.base, window.whole
        position = base + start
        if whole is not None and self._marks[-1][0] < base:
            if not whole[base - 1 : base]:
                return 0
            self.leave(whole, 0, base)
        self.leave(buffer, base, position)
        before, lines = self._marks[bisect.bisect_right(self._marks, (position, 1 << 62)) - 1]
        if before < base:
            return lines
        return lines + _newlines(buffer, before - base, start)

    def leave(self, buffer: Buffer, base: int, position: int) -> None:
        """Count the lines in `buffer`, which begins at `base` of the file, before a position in the file."""
        at, lines = self._marks[-1]
        if position > at >= base:
            self._marks.append((position, lines + _newlines(buffer, at - base, position - base)))


def _newlines(buffer: Buffer, start: int, end: int) -> int:
    """Count the line ends in [start, end), piece by piece: a buffer may be a distant file."""
    return sum(stringzilla.count(buffer[at : min(end, at + _COUNTED)], b"\n") for at in range(start, end, _COUNTED))
