"""The tables that open addBatch on the cluster: each log is read whole by one task, beside its progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import TABLES, Inside
from advisor.cluster.frames import by_key, for_spark, struct
from advisor.cluster.given import Given, Paths, given
from advisor.cluster.rows import Row, unpacked
from advisor.cluster.session import explained, ship
from advisor.cluster.workers import sparing
from advisor.errors import InputError
from advisor.sources import files
from advisor.stages import best_parts, best_stages

_BEST = {"stages": best_stages, "batch_parts": best_parts}
KEYS = {"stages": ("run_id", "batch_id", "job", "stage", "attempt"), "batch_parts": ("run_id", "batch_id")}
"""The tables, and what makes two rows of one the same stage or batch."""
_ROWS = 4096
_BATCH = ("id", "run_id", "batch_id")


def read_stages(spark: Any, paths: Paths, table: str) -> Any:
    """The table `stages` or `batch_parts` as a Spark data frame, read when it is asked for.

    Of a batch that several logs tell of, the one counts that tells most, as the local engine has it. Raises InputError
    for files that only the cluster's JVM reaches.
    """
    ship(spark)
    with explained():
        found = given(spark, paths)
        refuse_by_jvm(found)
        logs = [([file.path for file in log.files],) for log in found.logs]
        frame = spark.createDataFrame(logs, "paths array<string>").repartition(max(1, len(logs)))
        schema = for_spark(TABLES[table])

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for log in batch["paths"].to_pylist():
                    yield from _table(log, table).cast(schema).to_batches(_ROWS)

        return best(frame.mapInArrow(sparing(run), struct(schema)), table)


def refuse_by_jvm(found: Given) -> None:
    """InputError where only the JVM reaches a file."""
    if found.by_jvm:
        where = found.by_jvm[0].files[0].path
        raise InputError(where, "only the cluster's JVM can read it", "copy the log to storage that Python can read")


def opened(log: Sequence[str]) -> Iterator[Row]:
    """Rows of both tables of a log, by run; none of a log that cannot be read, which its batches' rows tell."""
    tables = _tables(log)
    for name in KEYS:
        named = tables[name].filter(pc.is_valid(tables[name]["run_id"]))
        yield from by_key(named, name, "run_id")


def inside_of(rows: Iterable[Row]) -> Inside | None:
    """What such rows tell of their runs, each batch by the source that tells most; None without rows."""
    told = {name: [TABLES[name].empty_table()] for name in KEYS}
    for row in rows:
        if row.kind in told:
            told[row.kind].append(unpacked(row.payload))
    parts, stages = (_BEST[name](pa.concat_tables(told[name])) for name in ("batch_parts", "stages"))
    return Inside(parts, stages) if len(parts) or len(stages) else None


def _tables(log: Sequence[str]) -> dict[str, pa.Table]:
    try:
        return dict(files.read(log, sightings=False, stages=True).tables)
    except InputError:
        return {name: TABLES[name].empty_table() for name in KEYS}


def _table(log: list[str], table: str) -> pa.Table:
    return _tables(log)[table]


def best(frame: Any, table: str) -> Any:
    """The rows of each batch that come from the source that tells most, with what only lines of another one tell."""
    schema = for_spark(TABLES[table])

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [pa.Table.from_batches([batch]).cast(schema) for batch in batches]
        yield from _BEST[table](pa.concat_tables([schema.empty_table(), *rows])).to_batches(_ROWS)

    return frame.select(schema.names).repartition(*_BATCH).mapInArrow(sparing(run), struct(schema))
