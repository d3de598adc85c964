"""The tables that open addBatch on the cluster: each log is read whole by one task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from advisor.batches import TABLES
from advisor.cluster.frames import for_spark, struct
from advisor.cluster.given import Paths, given
from advisor.cluster.session import explained, ship
from advisor.cluster.workers import sparing
from advisor.errors import InputError
from advisor.sources import files
from advisor.stages import ORIGINS

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
        if found.by_jvm:
            where = found.by_jvm[0].files[0].path
            raise InputError(where, "only the cluster's JVM reaches it", "copy the log to where Python reads it")
        logs = [([file.path for file in log.files],) for log in found.logs]
        frame = spark.createDataFrame(logs, "paths array<string>").repartition(max(1, len(logs)))
        schema = for_spark(TABLES[table])

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for log in batch["paths"].to_pylist():
                    yield from _table(log, table).cast(schema).to_batches(_ROWS)

        return _best(frame.mapInArrow(sparing(run), struct(schema)))


def _table(log: list[str], table: str) -> pa.Table:
    try:
        return files.read(log, sightings=False, stages=True).tables[table]
    except InputError:
        return TABLES[table].empty_table()


def _best(frame: Any) -> Any:
    """The rows of each batch that come from the source that tells most."""
    from pyspark.sql import Window, functions  # noqa: PLC0415

    order = functions.array_position(functions.array(*map(functions.lit, ORIGINS)), frame["origin"])
    ranked = frame.withColumn("order", functions.struct(order, functions.col("log")))
    best = functions.min("order").over(Window.partitionBy(*_BATCH))
    return ranked.withColumn("best", best).filter("order = best").drop("order", "best")
