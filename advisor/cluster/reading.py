"""Reads one unit, and looks again at a log whose ranges were read apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import SCHEMA, Broken, Chunks, deduplicate
from advisor.cluster.rows import Done, Row, by_key, compressed, decompressed, done_row, noted, packed, sightings_row
from advisor.cluster.units import File, Unit
from advisor.errors import InputError
from advisor.facts import Sighting
from advisor.sources import formats, random_access
from advisor.sources.files import without_collector
from advisor.sources.formats import records
from advisor.sources.harvest import Buffer, Harvest, Runs, Stretch, places
from advisor.sources.random_access import Place, opened
from advisor.sources.scan import Scan, unread
from advisor.sources.sightings import stretches
from advisor.sources.sightings.line import torn
from advisor.sources.stages.stagetables import StageTables

LOOK_BACK = 1 << 20
"""Bytes before a range in which the event that reaches into it is looked for, and the beginning of a line."""
SLACK = 256 << 10
"""Bytes behind a range that are read with it, so that its last event is whole; doubled while it is not."""
_STRETCH = 12
"""Batches whose ids are equal but for that many bits make a stretch of a run, which can be put together apart."""


_NEAR = stretches.around(0)[1] - stretches.around(0)[0]


def read_unit(unit: Unit, sightings: bool = True, stages: bool = False) -> Iterator[Row]:
    """Read a unit: chunks of batches by run, sightings or what they are made from, broken records, counts.

    With `stages`, for which the unit must be a whole log, also the tables that open addBatch, by run.
    """
    with without_collector():
        yield from _whole(unit, sightings, stages) if unit.format is None else _divided(unit, sightings)


def _whole(unit: Unit, sightings: bool, stages: bool) -> Iterator[Row]:
    """Read a log, file by file, as it is read where there is no cluster."""
    memory = stretches.Memory() if sightings else None
    opened = StageTables() if stages else None
    events = Chunks()
    done = Done()
    for file in unit.files:
        scan = Scan(file.path, unit.log, memory, events, opened)
        done.bytes += scan.read(file.copy or file.path, history=sightings)
        if opened is None:
            yield from chunks(scan.harvest, file, 0)
        if seen := [*scan.sightings, *torn(scan.broken, unit.log)]:
            yield sightings_row(unit.log, file.number, seen)
        yield from noted("broken", scan.broken, file.number, 0)
        yield from noted("overruns", scan.harvest.overruns, file.number, 0)
        done.files += 1
        done.events += scan.harvest.found
    if opened is not None:
        yield from _with_stages(unit, events, opened)
    yield done_row(done)


def _with_stages(unit: Unit, events: Chunks, opened: StageTables) -> Iterator[Row]:
    """Return the rows of a log's events, which its stages were read with, and those of its stages."""
    table = pa.Table.from_batches(events.take(), SCHEMA)
    for file in unit.files:
        yield from _by_run(table.filter(pc.equal(table["file"], file.path)), file, 0)
    for name, rows in opened.tables(deduplicate(table)[0], table).items():
        yield from by_key(rows.filter(pc.is_valid(rows["run_id"])), name, "run_id")
    yield from noted("broken", opened.broken, unit.files[0].number, 0)


def _divided(unit: Unit, sightings: bool) -> Iterator[Row]:
    """Read a range of a plain file."""
    file = unit.files[0]
    part = _Part(unit, sightings)
    done = Done(files=int(unit.start == file.begin))
    failed: list[Broken] = []
    try:
        done.bytes = part.read_range()
    except (OSError, InputError) as error:
        failed = [unread(file.path, error)]
    part.harvest.flush()
    done.events = part.harvest.found
    yield from chunks(part.harvest, file, unit.start)
    if sightings:
        marks = compressed(msgspec.msgpack.encode(part.marks))
        yield Row("marks", unit.log, file.number, unit.start, payload=marks)
    if seen := torn(broken := [*failed, *part.harvest.broken], unit.log):
        yield sightings_row(unit.log, file.number, seen)
    yield from noted("broken", broken, file.number, unit.start)
    yield from noted("overruns", part.harvest.overruns, file.number, unit.start)
    yield done_row(done)


class _Part:
    """Reads a range of a plain file."""

    def __init__(self, unit: Unit, sightings: bool) -> None:
        self._unit = unit
        self._sightings = sightings
        self._format = formats.named(unit.format or "")
        file = unit.files[0]
        self.marks = Marks(file.path, file.size)
        """What the second look at the log will need."""
        runs = Seen(self.marks) if sightings else None
        self.harvest = Harvest(file.path, unit.log, runs, kept=range(unit.start, unit.end))
        self._mentions = Mentions(self.marks, unit.start, unit.end)

    def read_range(self) -> int:
        """Read [start, end) of a plain file, and on to the end of the event that begins last in it."""
        start, end = self._unit.start, self._unit.end
        with opened(self._unit.files[0].path) as place:
            size = min(place.size, self._unit.files[0].size)
            if not start and end >= size:
                return self._read_file(place.read(0, size))
            self._read_windows(place, size)
        return end - start

    def _read_windows(self, place: Place, size: int) -> None:
        """Windows of a size that memory is used again for; only behind the range are they as long as its last event."""
        start, end = self._unit.start, self._unit.end
        self.harvest.marked = True  # only such texts are read in ranges
        base, slack = max(0, start - LOOK_BACK), SLACK
        high = min(size, start + random_access.STEP, end + slack)
        buffer = place.read(base, high)
        begin = self._format.begins(buffer, start - base)
        while True:
            window = Stretch(buffer, base, begin, final=high >= size)
            kept, resume = self._mention(window), self._feed(window)
            if window.final or (base + resume >= end and high >= end + SLACK):
                return
            slack *= 2 if high >= end else 1
            high = min(size, high + random_access.STEP, end + slack)
            kept = min(kept, records.line_of(buffer, resume, 0))
            base, begin = base + kept, resume - kept
            buffer = place.read(base, high)

    def _feed(self, window: Stretch) -> int:
        self.harvest.move(window)
        return self._format.reads(window.buffer, window.begin, window.final, self.harvest)

    def _read_file(self, buffer: bytes) -> int:
        """Read a file that lies in the range as a whole, as it is read where there is no cluster."""
        scan = Scan(self.harvest.file, self.harvest.log)
        scan.harvest = self.harvest
        window = Stretch(buffer, 0, 0, final=True)
        scan.feed(window)
        self._mention(window)
        return len(buffer)

    def _mention(self, window: Stretch) -> int:
        """Note where lines name a run; from where on the window is needed for that once more."""
        return self._mentions.look(window.buffer, window.base, window.final) if self._sightings else len(window.buffer)


def chunks(harvest: Harvest, file: File, start: int) -> Iterator[Row]:
    """Return the events of a harvest by run and stretch, as rows."""
    return _by_run(pa.Table.from_batches(harvest.chunks.take(), SCHEMA), file, start)


def _by_run(table: pa.Table, file: File, start: int) -> Iterator[Row]:
    if not len(table):
        return
    for run_id, stretch, part in _apart(table):
        yield Row("batches", run_id, file.number, start, len(part), str(stretch), packed(part))


def _apart(table: pa.Table) -> Iterator[tuple[str, int, pa.Table]]:
    """(run, stretch, its rows); a batch that is logged twice is in the same stretch both times."""
    stretch = pc.shift_right(pc.fill_null(table["batch_id"], 0), _STRETCH)
    runs, stretches = pc.unique(table["run_id"]).to_pylist(), pc.unique(stretch).to_pylist()
    if len(runs) == len(stretches) == 1:  # as in most files; to group takes as long as to read a small file
        yield runs[0], stretches[0], table
        return
    places = pa.table([table["run_id"], stretch], names=["run", "stretch"])
    for each in places.group_by(["run", "stretch"]).aggregate([]).to_pylist():
        mine = pc.and_(pc.equal(places["run"], each["run"]), pc.equal(stretch, each["stretch"]))
        yield each["run"], each["stretch"], table.filter(mine)


class Marks(msgspec.Struct):
    """What is found in one range of a log: events (number of the run, [start, end)), and where lines name a run."""

    path: str
    size: int
    runs: list[str] = msgspec.field(default_factory=list)
    events: list[tuple[int, int, int]] = msgspec.field(default_factory=list)
    mentions: list[tuple[bytes, int, bool]] = msgspec.field(default_factory=list)


class Seen(Runs):
    """Keeps every event's place."""

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self._marks = marks
        self._numbers: dict[str, int] = {}

    def saw(self, run_id: str, start: int, end: int) -> None:
        """An event of a run stands at [start, end)."""
        number = self._numbers.setdefault(run_id, len(self._numbers))
        if number == len(self._marks.runs):
            self._marks.runs.append(run_id)
        self._marks.events.append((number, start, end))


class Mentions:
    """Finds where the lines of a range name a run: the first of each name, and all that tell of a turn.

    Where every line names one, turns between two that are near are left out: what is looked at is the same.
    """

    def __init__(self, marks: Marks, start: int, end: int) -> None:
        self._found = marks.mentions
        self._next = start
        self._end = end
        self._counted: dict[bytes, int] = {}
        self._turns = 0

    def look(self, buffer: Buffer, base: int, final: bool) -> int:
        """Search what has not been searched; the position in `buffer` from which on the next look needs it."""
        stop = self._end - base if final else min(self._end - base, len(buffer) - stretches.AFTER_A_NAME)
        for position in places(buffer, stretches.NAMED, self._next - base, stop + len(stretches.NAMED) - 1):
            self._note(buffer, base, position)
        self._next = max(self._next, base + stop)
        return max(0, stop - stretches.BEFORE_A_NAME)

    def _note(self, buffer: Buffer, base: int, position: int) -> None:
        name, turn = stretches.mention(buffer, position)
        self._counted[name] = count = self._counted.get(name, 0) + 1
        if count <= stretches.MENTIONS:
            self._found.append((name, base + position, turn))
            self._turns = 0
        elif turn:
            if self._turns >= 2 and base + position - self._found[-2][1] <= _NEAR:
                self._found.pop()
                self._turns -= 1
            self._found.append((name, base + position, True))
            self._turns += 1


def look_again(rows: Iterable[Row]) -> Iterator[Row]:
    """Return rows of sightings from rows of marks, which come log by log in order of place."""
    for log, parts in groupby(rows, key=lambda row: row.key):
        memory = stretches.Memory()
        for number, ranges in groupby(parts, key=lambda row: row.number):
            marks = [msgspec.msgpack.decode(decompressed(row.payload), type=Marks) for row in ranges]
            if sightings := _of_log(log, marks, memory):
                yield sightings_row(log, number, sightings)


def _of_log(log: str, parts: list[Marks], memory: stretches.Memory) -> list[Sighting]:
    look = stretches.SecondLook(parts[0].path, log, memory)
    for part in parts:
        for run, start, end in part.events:
            memory.runs.saw(part.runs[run], start, end)
    with suppress(OSError, InputError), opened(parts[0].path) as place:  # its ranges hold why it cannot be read
        size = min(place.size, parts[0].size)
        look.at_log(Stretch(Place(place.read, size), 0, 0, final=True), _mentions(parts, memory))
    return look.sightings


def _mentions(parts: Iterable[Marks], memory: stretches.Memory) -> Iterator[tuple[int, int]]:
    """Stretches around names of runs, without a search."""
    for part in parts:
        for name, position, turn in part.mentions:
            if memory.is_worth_a_look(name, turn):
                yield stretches.around(position)
