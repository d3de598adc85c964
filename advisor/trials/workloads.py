"""A query that runs anywhere, made for one run of a trial."""

from __future__ import annotations

from typing import Any, Final

from advisor.trials.setup import Setup

ROWS_PER_BATCH: Final = 1000


def rows(setup: Setup, per_batch: int = ROWS_PER_BATCH) -> Any:
    """Rows that are there for every batch: `value` counts them, `timestamp` moves by a second per batch."""
    reader = setup.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", per_batch)
    for key, value in setup.reader_options.items():
        reader = reader.option(key, value)
    return reader.load()


def rate_to_noop(setup: Setup) -> Any:
    """Rows that are there for every batch, without state, to nowhere."""
    return rows(setup).selectExpr("value", "value % 100 AS bucket").writeStream.format("noop")
