"""Queries of the lab, each made for one run of a trial."""

from __future__ import annotations

from typing import Any, Final

from advisor.bench.setup import Setup

ROWS_PER_BATCH: Final = 1000
COSTLY: Final = 200  # digests of digests, so that computing a row twice is felt


def _rows(setup: Setup, per_batch: int = ROWS_PER_BATCH) -> Any:
    reader = setup.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", per_batch)
    for key, value in setup.reader_options.items():
        reader = reader.option(key, value)
    return reader.load()


def rate_to_noop(setup: Setup) -> Any:
    """Rows that are there for every batch, without state, to nowhere."""
    return _rows(setup).selectExpr("value", "value % 100 AS bucket").writeStream.format("noop")


def rate_counted(setup: Setup) -> Any:
    """A count by 5,000 keys."""
    counts = _rows(setup).selectExpr("value % 5000 AS bucket").groupBy("bucket").count()
    return counts.writeStream.format("noop").outputMode("update")


def rate_to_files(setup: Setup) -> Any:
    """Rows to Parquet files of the run."""
    return _rows(setup).writeStream.format("parquet").option("path", setup.path("files"))


def rate_to_delta(setup: Setup) -> Any:
    """Rows to a Delta table of the run; the session needs Delta."""
    return _rows(setup).writeStream.format("delta").option("path", setup.path("table"))


def rate_written_twice(setup: Setup) -> Any:
    """Each batch appended to two sets of files; with persist-in-foreach-batch it is computed once.

    Its sink writes below the run's own place alone: to be vouched for with safe_sink.
    """
    persists = setup.makes("persist-in-foreach-batch")
    digest = "aggregate(sequence(1, {}), cast(value AS string), (digest, _) -> sha2(digest, 256)) AS digest"
    rows = _rows(setup).selectExpr("value", digest.format(COSTLY))

    def write(batch: Any, _: int) -> None:
        if persists:
            batch.persist()
        try:
            for name in ("one", "other"):
                batch.write.mode("append").parquet(setup.path(name))
        finally:
            if persists:
                batch.unpersist()

    return rows.writeStream.foreachBatch(write)
