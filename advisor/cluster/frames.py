"""The tables as Spark data frames, and back to the rows that tasks hand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa

from advisor.batches import TABLES, Inside, deduplicate
from advisor.cluster.rows import DDL, Row, batches_of, by_key, plain_schema, portions, rows_of, sparing, unpacked
from advisor.stages import best

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
            yield from deduplicate(table)[0].cast(BATCHES).to_batches(_ROWS)

    place = ("key", "note")
    chosen = rows.filter("kind = 'batches'").repartition(partitions, *place)
    return chosen.sortWithinPartitions(*place, "number", "start").mapInArrow(sparing(run), struct(BATCHES))


def _in_portions(rows: Iterable[Row]) -> Iterator[pa.Table]:
    """Tables of some thousand rows, of whole stretches."""
    groups = groupby(rows, key=lambda row: (row.key, row.note))
    stretches = (pa.concat_tables([unpacked(row.payload) for row in members]) for _, members in groups)
    yield from map(pa.concat_tables, portions(stretches, _ROWS, len))


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
