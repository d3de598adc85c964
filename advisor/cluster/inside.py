"""The tables that open addBatch on the cluster: each batch by the log that tells most of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from advisor.batches import TABLES, Inside
from advisor.cluster.frames import for_spark, struct
from advisor.cluster.rows import Row, unpacked
from advisor.cluster.workers import sparing
from advisor.stages import best_parts, best_stages

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
    """Return the rows of each batch from the log that tells most of it, with what only another one tells."""
    schema = for_spark(TABLES[table])

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [pa.Table.from_batches([batch]).cast(schema) for batch in batches]
        yield from _BEST[table](pa.concat_tables([schema.empty_table(), *rows])).to_batches(_ROWS)

    return frame.select(schema.names).repartition(*_BATCH).mapInArrow(sparing(run), struct(schema))


_ROWS = 4096
