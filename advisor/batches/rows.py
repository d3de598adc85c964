"""Events to rows of the table, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Raw
from msgspec.structs import astuple

from advisor.batches.collect import Counts, Maps, Numbers, Texts, Words, flattened, nothing
from advisor.batches.columns import CUSTOM, OPERATOR, PHASES, SCHEMA, SOURCE
from advisor.batches.offsets import Offsets, rows_between, rows_per_step
from advisor.column import TIME
from advisor.progress import Progress
from advisor.progress.decoding import as_instant
from advisor.progress.shapes import ABSENT, Durations, EventTime, Sink

FRESH_EVENTS = 256
"""Events that are best taken apart at a time, as long as they are near (see Rows)."""
EVENTS_PER_CHUNK = 16384
_INT, _FLOAT, _TEXT = pa.int64(), pa.float64(), pa.string()
_NO_TIMES, _NO_SINK = EventTime(), Sink()
_ADD_BATCH = Durations.__struct_fields__.index("add_batch")
assert [f"{name}_ms" for name in Durations.__struct_fields__[:-1]] == [column.name for column in PHASES]


class Rows:
    """Takes events apart while they are fresh, and makes columns of many.

    An event is some fifty objects. Kept alive by the thousand they fall out of the processor's cache before anything
    is made of them, which costs more than all the rest; so `add` wants some hundreds at a time.
    """

    def __init__(self) -> None:
        self._words = Words(4)
        self._times: list[pa.Array] = []
        self._event_times = Texts(4)
        self._numbers = Numbers(4 + len(PHASES), _INT)
        self._rates = Numbers(2, _FLOAT)
        self._other: list[Any] = []
        self._real_time: list[bool] = []
        self._latencies = Numbers(2, _FLOAT)
        self._operators = _Operators()
        self._sources = _Sources()

    def add(self, events: Iterable[Progress], times: pa.Array) -> None:
        """Take some events (at least one) more, and the instants of their timestamps."""
        (ids, runs, _, names, numbers, rows, spans, arriving, processed, phases, event_times, operators, sources,
         sinks, rtm, latencies) = zip(*map(astuple, events), strict=True)  # fmt: skip
        *durations, other = _fields(phases)
        sink_names, sink_rows = _fields([sink or _NO_SINK for sink in sinks])
        self._words.add(ids, runs, names, sink_names)
        self._times.append(times)
        if event_times.count(None) == len(times):
            self._event_times.add_none(len(times))
        else:
            self._event_times.add(*_fields([time or _NO_TIMES for time in event_times]))
        self._numbers.add(numbers, rows, spans, [None if n == -1 else n for n in sink_rows], *durations)
        self._rates.add(arriving, processed)
        self._other += other
        self._real_time += (present := _any_present(rtm, latencies))
        if any(present):
            self._latencies.add(*zip(*map(_end_to_end, rtm, latencies), strict=True))
        else:
            nothing = (None,) * len(times)
            self._latencies.add(nothing, nothing)
        self._operators.add(operators)
        self._sources.add(sources)

    def arrays(self) -> list[pa.Array]:
        """All columns but those of the place."""
        ids, runs, names, sinks = self._words.columns()
        number, rows, span, sink_rows, *durations = self._numbers.columns()
        other = Maps(SCHEMA.field("other_phases").type)
        other.add(self._other)
        return [
            ids, runs, names, number, pa.concat_arrays(self._times), durations[_ADD_BATCH].is_null(), rows,
            *self._rates.columns(), span, *durations, other.column(), *map(_cast, self._event_times.columns()), sinks,
            sink_rows, self._operators.column(), self._sources.column(), pa.array(self._real_time, pa.bool_()),
            *self._latencies.columns(),
        ]  # fmt: skip


class Chunks:
    """Takes events, of many files if need be: a chunk is some hundred arrays, however few its events are."""

    def __init__(self) -> None:
        self._done: list[pa.RecordBatch] = []
        self._rows = Rows()
        self._fresh: list[Progress] = []
        self._times: list[pa.Array] = []
        self._starts: list[int] = []
        self._lacks: list[str | None] = []
        self._files: list[tuple[str, str, int]] = []

    def add(
        self,
        events: Sequence[Progress],
        times: pa.Array,
        starts: Sequence[int],
        file: str,
        log: str,
        lacks: Sequence[str] | None = None,
    ) -> None:
        """Take events of a file of a log, which begin at these times, and at these bytes of it.

        `lacks`: what each partial record lacks.
        """
        self._fresh += events
        self._times.append(times)
        self._starts += starts
        self._lacks += lacks or [None] * len(starts)
        self._files.append((file, log, len(starts)))
        if len(self._fresh) >= FRESH_EVENTS:
            self._take_apart()
            if len(self._starts) >= EVENTS_PER_CHUNK:
                self._end_chunk()

    def take(self) -> list[pa.RecordBatch]:
        """The chunks of all events so far; in each the rows of a run stand together."""
        self.so_far()
        taken, self._done = self._done, []
        return taken

    def so_far(self) -> pa.Table:
        """The rows of all events so far, which stay here, in the order in which they will be taken."""
        if self._starts:
            self._take_apart()
            self._end_chunk()
        return pa.Table.from_batches(self._done, SCHEMA)

    def _take_apart(self) -> None:
        if self._fresh:
            self._rows.add(self._fresh, pa.concat_arrays(self._times))
            self._fresh, self._times = [], []

    def _end_chunk(self) -> None:
        files, logs, counts = zip(*self._files, strict=True)
        each = pa.array(np.repeat(np.arange(len(files)), counts))
        partial, starts = pa.array(self._lacks, pa.string()), pa.array(self._starts, pa.int64())
        where = [partial, pa.array(files).take(each), starts, pa.array(logs).take(each)]
        chunk = pa.RecordBatch.from_arrays([*self._rows.arrays(), *where], schema=SCHEMA)
        self._done.append(_by_run(chunk))
        self._rows, self._starts, self._lacks, self._files = Rows(), [], [], []


def _by_run(chunk: pa.RecordBatch) -> pa.RecordBatch:
    """The chunk with the rows of a run together, in order; whole stretches of it can then be put in order."""
    coded = chunk["run_id"].dictionary_encode()
    runs = np.asarray(coded.indices)
    together = np.count_nonzero(np.diff(runs)) < len(coded.dictionary)
    return chunk if together else chunk.take(pa.array(np.argsort(runs, kind="stable")))


def build(
    events: Sequence[Progress], offsets: Sequence[int], file: str, log: str, lacks: Sequence[str] | None = None
) -> pa.Table:
    """Return the table of batches of events that begin at these bytes of a file; a timestamp that is none is null."""
    chunks = Chunks()
    if events:
        chunks.add(events, instants([event.timestamp for event in events]), offsets, file, log, lacks)
    return chunks.so_far()


class _Operators:
    def __init__(self) -> None:
        self._counts = Counts()
        self._names = Words(1)
        self._numbers = Numbers(len(OPERATOR) - 2, _INT)
        self._custom = Maps(CUSTOM)

    def add(self, groups: Sequence[Sequence[Any]]) -> None:
        self._counts.add(groups)
        if flat := flattened(groups):
            names, *numbers, custom = _fields(flat)
            self._names.add(names)
            self._numbers.add(*numbers)
            self._custom.add(custom)

    def column(self) -> pa.Array:
        members = [*self._names.columns(), *self._numbers.columns(), self._custom.column()]
        return pa.ListArray.from_arrays(
            self._counts.starts(), pa.StructArray.from_arrays(members, fields=list(OPERATOR))
        )


class _Sources:
    def __init__(self) -> None:
        self._counts = Counts()
        self._names = Words(1)
        self._rows = Numbers(1, _INT)
        self._rates = Numbers(2, _FLOAT)
        self._offsets = Offsets()
        self._metrics = Maps(SOURCE.field("metrics").type)

    def add(self, groups: Sequence[Sequence[Any]]) -> None:
        self._counts.add(groups)
        if flat := flattened(groups):
            names, start, end, latest, rows, arriving, processed, metrics = _fields(flat)
            self._names.add(names)
            self._offsets.add(start, end, latest)
            self._rows.add(rows)
            self._rates.add(arriving, processed)
            self._metrics.add(metrics)

    def column(self) -> pa.Array:
        start, end, latest = self._offsets.columns()
        (names,) = self._names.columns()
        steps = rows_per_step(names)
        members = [
            names, start.texts, end.texts, latest.texts, *self._rows.columns(), *self._rates.columns(),
            rows_between(start, end, steps), rows_between(end, latest, steps), self._metrics.column(),
        ]  # fmt: skip
        return pa.ListArray.from_arrays(self._counts.starts(), pa.StructArray.from_arrays(members, fields=list(SOURCE)))


def _any_present(*columns: Sequence[Any]) -> list[bool]:
    """For each event whether any of the columns has something."""
    size = len(columns[0])
    if all(column.count(ABSENT) == size for column in columns):
        return [False] * size
    return [any(each is not ABSENT for each in row) for row in zip(*columns, strict=True)]


def _end_to_end(*latencies: Raw) -> tuple[float | None, float | None]:
    """Return median and p99 of the record latency from Databricks' real-time events; None without them."""
    for each in latencies:
        values = _of_name(msgspec.json.decode(each), "e2elatency")
        if isinstance(values, dict):
            by_name = {name.lower(): value for name, value in values.items() if isinstance(value, int | float)}
            return by_name.get("p50"), by_name.get("p99")
    return None, None


def _of_name(found: object, begins: str) -> object:
    """What JSON holds by a name that begins so, in capitals or not; None where nothing has one."""
    for name, value in found.items() if isinstance(found, dict) else ():
        inner = value if name.lower().startswith(begins) else _of_name(value, begins)
        if inner is not None:
            return inner
    return None


def _fields(records: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Columns of at least one record."""
    return list(zip(*map(astuple, records), strict=True))


def instants(texts: Sequence[str]) -> pa.Array:
    """Times; null where a text is none."""
    return _cast(pa.array(texts, _TEXT))


def _cast(texts: pa.Array) -> pa.Array:
    """Times; null where a text is none. Watermarks may lie behind the year 9999."""
    if texts.null_count == len(texts):
        return nothing(len(texts), TIME)
    try:
        return texts.cast(TIME)
    except pa.ArrowInvalid:
        return pa.array([as_instant(text) for text in texts.to_pylist()], _TEXT).cast(TIME)
