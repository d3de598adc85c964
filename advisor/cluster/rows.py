"""The rows that tasks hand on, chunks of the tables and what belongs to them, and the tables as Spark data frames."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import SCHEMA, TABLES, Broken, Inside, Overrun, deduplicate, table_of_sightings
from advisor.batches.columns import CUSTOM, OPERATOR
from advisor.facts import Sighting
from advisor.stages import best

_CODEC = "zstd"
T = TypeVar("T")


class Row(NamedTuple):
    """One row. `key`: what it belongs to (a run, a log, a component); `number`, `start`: its file and place, for order.

    `kind`: batches, sightings, stages, batch_parts, marks, broken, overruns, read, run, entry. `note` is JSON text; of
    batches their stretch.
    """

    kind: str
    key: str
    number: int = 0
    start: int = 0
    rows: int = 0
    note: str = ""
    payload: bytes = b""

    def said(self, kind: type[T]) -> T:
        """What the note says."""
        return msgspec.json.decode(self.note, type=kind)


DDL = "kind string, key string, number long, start long, rows long, note string, payload binary"
_TYPES = {"string": pa.string(), "long": pa.int64(), "binary": pa.binary()}
ROWS = pa.schema([(name, _TYPES[kind]) for name, kind in (column.split() for column in DDL.split(", "))])
"""DDL, as Arrow knows it."""
_BATCH_BYTES = 16 << 20
_ROWS = 4096


class Done(msgspec.Struct):
    """What a unit's reading came to."""

    files: int = 0
    bytes: int = 0
    events: int = 0


def portions(things: Iterable[T], most: int, size: Callable[[T], int]) -> Iterator[list[T]]:
    """Things that follow each other, together until they have a size."""
    held: list[T] = []
    filled = 0
    for thing in things:
        held.append(thing)
        filled += size(thing)
        if filled >= most:
            yield held
            held, filled = [], 0
    if held:
        yield held


def batches_of(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """The rows as batches of a size that Spark takes well."""
    for some in portions(rows, _BATCH_BYTES, lambda row: len(row.payload) + _BATCH_BYTES // _ROWS):
        columns = [pa.array(column, field.type) for column, field in zip(zip(*some, strict=True), ROWS, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=ROWS)


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """The rows in batches that Spark hands over."""
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in ROWS.names]
        yield from map(Row._make, zip(*columns, strict=True))


def packed(table: pa.Table) -> bytes:
    """A table as compressed bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return compressed(sink.getvalue())


def unpacked(payload: bytes) -> pa.Table:
    """The table again."""
    return pa.ipc.open_stream(decompressed(payload)).read_all()


def compressed(raw: pa.Buffer | bytes) -> bytes:
    """Bytes as a payload: how many they are, then zstd."""
    return len(raw).to_bytes(8, "little") + bytes(pa.compress(raw, codec=_CODEC, asbytes=True))


def decompressed(payload: bytes) -> pa.Buffer:
    """The bytes again."""
    size = int.from_bytes(payload[:8], "little")
    return pa.decompress(memoryview(payload)[8:], decompressed_size=size, codec=_CODEC)


def by_key(table: pa.Table, kind: str, key: str) -> Iterator[Row]:
    """A row for each value of that column, with the table's rows that have it."""
    for value in table[key].unique().to_pylist():
        part = table.filter(pc.equal(table[key], value))
        note = named_pairs(zip(part["id"].to_pylist(), part["run_id"].to_pylist(), strict=True))
        yield Row(kind, value, rows=len(part), note=note if kind == "sightings" else "", payload=packed(part))


def named_pairs(pairs: Iterable[tuple[str | None, str | None]]) -> str:
    """JSON of the pairs (query, run) that are named, each once."""
    return msgspec.json.encode(sorted({(one or "", run or "") for one, run in pairs if one or run})).decode()


def sightings_row(log: str, number: int, sightings: list[Sighting]) -> Row:
    """Sightings of one file as a row; the note names the queries and runs that they speak of."""
    note = named_pairs((one.id, one.run_id) for one in sightings)
    return Row("sightings", log, number, 0, len(sightings), note, packed(table_of_sightings(sightings)))


def noted(kind: str, things: Sequence[Broken] | Sequence[Overrun], number: int, start: int) -> Iterator[Row]:
    """Broken records of one file, or what its lines say of batches that took too long, as one row; none without any."""
    if things:
        yield Row(kind, "", number, start, len(things), _text(things))


def _text(thing: object) -> str:
    return msgspec.json.encode(thing).decode("utf-8", "replace")


def done_row(done: Done) -> Row:
    """What a unit came to, as a row."""
    return Row("read", "", note=_text(done))


def plain_schema() -> pa.Schema:
    """SCHEMA as Spark can hold it: names of state metrics as text, not as numbers into a dictionary."""
    custom = pa.map_(pa.string(), CUSTOM.item_type)
    operator = pa.struct([field.with_type(custom) if field.name == "custom" else field for field in OPERATOR])
    return pa.schema([field.with_type(pa.list_(operator)) if field.name == "operators" else field for field in SCHEMA])


Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def sparing(task: Task) -> Task:
    """The same task. PySpark collects garbage after each, which takes as long as there are objects of modules."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from task(batches)
        _freeze(len(sys.modules))

    return run


@cache
def _freeze(modules: int) -> None:  # noqa: ARG001 - once, and once more when a task has imported others
    gc.freeze()


KEY = ("id", "run_id", "batch_id", "timestamp")
"""What makes two rows of the table of batches the same batch."""
_TIME = pa.timestamp("us", "UTC")


def for_spark(schema: pa.Schema) -> pa.Schema:
    """The schema with times as Spark has them."""
    return pa.schema([field.with_type(_TIME) if pa.types.is_timestamp(field.type) else field for field in schema])


BATCHES = for_spark(plain_schema())


def batches_frame(rows: Any, partitions: int) -> Any:
    """The table of batches of rows of batches, each batch once: of equal ones the first file's.

    Equal ones are of one run and stretch, so that these can be apart; packed rows are shuffled, a few bytes per batch.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        groups = groupby(rows_of(batches), key=lambda row: (row.key, row.note))
        stretches = (pa.concat_tables([unpacked(row.payload) for row in members]) for _, members in groups)
        for some in portions(stretches, _ROWS, len):  # a stretch is never cut
            yield from deduplicate(pa.concat_tables(some))[0].cast(BATCHES).to_batches(_ROWS)

    place = ("key", "note")
    chosen = rows.filter("kind = 'batches'").repartition(partitions, *place)
    return chosen.sortWithinPartitions(*place, "number", "start").mapInArrow(sparing(run), struct(BATCHES))


def table_frame(rows: Any, schema: pa.Schema) -> Any:
    """The table of this schema that these rows hold."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            yield from unpacked(row.payload).cast(schema).to_batches(_ROWS)

    return rows.mapInArrow(sparing(run), struct(schema))


def rows_again(frame: Any, kind: str) -> Any:
    """Rows of a saved table again: of sightings by log, of the others by run."""
    key = "log" if kind == "sightings" else "run_id"
    schema = plain_schema() if kind == "batches" else TABLES[kind]

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = (pa.Table.from_batches(some).cast(schema) for some in portions(batches, _ROWS, len))
        yield from batches_of(row for table in tables for row in by_key(table, kind, key))

    return frame.select(*schema.names).repartition(key).mapInArrow(sparing(run), DDL)


def struct(schema: pa.Schema) -> Any:
    """The schema as Spark's own."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415

    return from_arrow_schema(schema)


KEYS = {"stages": ("run_id", "batch_id", "job", "stage", "attempt"), "batch_parts": ("run_id", "batch_id")}
"""The tables, and what makes two rows of one the same stage or batch."""
KINDS = f"kind in {tuple(KEYS)}"
"""The rows of these tables, among all rows."""
_BATCH = ("id", "run_id", "batch_id")


def inside_of(rows: Iterable[Row]) -> Inside | None:
    """Return both tables of some runs from their rows; None without rows."""
    tables = {name: [TABLES[name].empty_table()] for name in KEYS}
    for row in rows:
        if row.kind in tables:
            tables[row.kind].append(unpacked(row.payload))
    parts, stages = (best(pa.concat_tables(tables[name]), name) for name in ("batch_parts", "stages"))
    return Inside(parts, stages) if len(parts) or len(stages) else None


def opened_frame(rows: Any, table: str) -> Any:
    """Return such a table: of each batch the rows of its fullest log, completed by what only another one holds."""
    schema = for_spark(TABLES[table])
    frame = table_frame(rows.filter(f"kind = '{table}'"), schema)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [pa.Table.from_batches([batch]).cast(schema) for batch in batches]
        yield from best(pa.concat_tables([schema.empty_table(), *rows]), table).to_batches(_ROWS)

    return frame.select(schema.names).repartition(*_BATCH).mapInArrow(sparing(run), struct(schema))
