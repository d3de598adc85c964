"""The tables as Spark data frames, and back to the rows that tasks hand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa

from advisor.batches import TABLES, Inside, deduplicate
from advisor.cluster.rows import DDL, Row, as_plain, batches_of, by_key, plain_schema, rows_of, sparing, unpacked
from advisor.stages import best_parts, best_stages

KEY = ("id", "run_id", "batch_id", "timestamp")
"""What makes two rows of the table of batches the same batch."""
_ROWS = 4096
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
        for table in _in_portions(rows_of(batches)):
            yield from as_plain(deduplicate(table)[0]).cast(BATCHES).to_batches(_ROWS)

    place = ("key", "note")
    chosen = rows.filter("kind = 'batches'").repartition(partitions, *place)
    return chosen.sortWithinPartitions(*place, "number", "start").mapInArrow(sparing(run), struct(BATCHES))


def _in_portions(rows: Iterable[Row]) -> Iterator[pa.Table]:
    """Tables of some thousand rows, of whole stretches."""
    held: list[pa.Table] = []
    for _, members in groupby(rows, key=lambda row: (row.key, row.note)):
        held += [unpacked(row.payload) for row in members]
        if sum(map(len, held)) >= _ROWS:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


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
        yield from batches_of(row for table in _gathered(batches, schema) for row in by_key(table, kind, key))

    return frame.select(*schema.names).repartition(key).mapInArrow(sparing(run), DDL)


def _gathered(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Small batches together."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += len(batch)
        if size >= _ROWS:
            yield pa.Table.from_batches(held).cast(schema)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held).cast(schema)


def struct(schema: pa.Schema) -> Any:
    """The schema as Spark's own."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415

    return from_arrow_schema(schema)


_BEST = {"stages": best_stages, "batch_parts": best_parts}
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
    parts, stages = (_BEST[name](pa.concat_tables(tables[name])) for name in ("batch_parts", "stages"))
    return Inside(parts, stages) if len(parts) or len(stages) else None


def best(frame: Any, table: str) -> Any:
    """Return the rows of each batch from its fullest log, completed by what only another one holds."""
    schema = for_spark(TABLES[table])

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [pa.Table.from_batches([batch]).cast(schema) for batch in batches]
        yield from _BEST[table](pa.concat_tables([schema.empty_table(), *rows])).to_batches(_ROWS)

    return frame.select(schema.names).repartition(*_BATCH).mapInArrow(sparing(run), struct(schema))
