"""Queries that a case can name: sources, shapes and sinks, as plain functions on a Spark session."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.streaming import DataStreamWriter

Made = dict[str, Any]


def read(spark: SparkSession, source: Made, work: Path) -> DataFrame:
    """The streaming frame of a source such as {"format": "rate-micro-batch", "rowsPerBatch": "1000"}."""
    options = {key: value for key, value in source.items() if key not in ("format", "feed")}
    if source["format"] == "files":
        return spark.readStream.schema("value string").options(**options).text(str(work / "incoming"))
    if source["format"] == "kafka":
        options = {"startingOffsets": "latest", "subscribe": "incoming", **options}
    frame = spark.readStream.format(source["format"]).options(**options).load()
    return frame.selectExpr("CAST(value AS STRING) AS value", "timestamp") if source["format"] == "kafka" else frame


def hashed(frame: DataFrame, rounds: int) -> DataFrame:
    """Honest work: each row hashed `rounds` times."""
    column = functions.col("value").cast("string")
    for _ in range(rounds):
        column = functions.sha2(column, 512)
    return frame.withColumn("hash", column)


def plain(frame: DataFrame, _: Made) -> DataFrame:
    """Every row as it came."""
    return frame


def work_on_rows(frame: DataFrame, shape: Made) -> DataFrame:
    """Every row hashed; one in 256 is kept."""
    return hashed(frame, shape["rounds"]).where("hash LIKE '00%'")


def to_kafka(frame: DataFrame, shape: Made) -> DataFrame:
    """Rows as a Kafka sink wants them, hashed first where the case says so."""
    return hashed(frame, shape.get("rounds", 0)).selectExpr("hash AS value")


def count_by_key(frame: DataFrame, shape: Made) -> DataFrame:
    """A count for each of `keys` keys, scattered over the rows; after hashing where the case says so."""
    if shape.get("rounds"):
        frame = work_on_rows(frame, shape)
    return frame.groupBy(functions.pmod(functions.hash("value"), functions.lit(shape["keys"])).alias("key")).count()


def without_duplicates(frame: DataFrame, shape: Made) -> DataFrame:
    """Rows seen for the first time within the watermark."""
    rows = work_on_rows(frame, shape).withWatermark("timestamp", "10 seconds")
    return rows.dropDuplicates(["value", "timestamp"])


def joined(frame: DataFrame, shape: Made) -> DataFrame:
    """The stream joined with a second one over a range of time."""
    rows = work_on_rows(frame, shape)
    left = rows.withWatermark("timestamp", "2 seconds").selectExpr("hash", "timestamp AS left_at")
    right = rows.withWatermark("timestamp", "2 seconds").selectExpr("hash AS other", "timestamp AS right_at")
    return left.join(
        right, functions.expr("hash = other AND right_at BETWEEN left_at AND left_at + INTERVAL 2 SECONDS")
    )


SHAPES: dict[str, Callable[[DataFrame, Made], DataFrame]] = {
    shape.__name__: shape for shape in (plain, work_on_rows, to_kafka, count_by_key, without_duplicates, joined)
}


def append_once(table: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: one append to a Delta table."""
    return lambda batch, _: batch.write.format("delta").mode("append").save(table)


def write_twice(table: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the batch is read twice, as nobody persists it."""

    def write(batch: DataFrame, number: int) -> None:
        batch.write.mode("append").parquet(f"{table}/all")
        batch.where("value LIKE '%7%'").write.mode("append").parquet(f"{table}/sevens")

    return write


def send_row_by_row(_: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: every row is collected to the driver and sent alone, 1 ms each, as to a remote service."""

    def write(batch: DataFrame, number: int) -> None:
        for _ in batch.collect():
            time.sleep(0.001)

    return write


FOREACH_BATCH = {function.__name__: function for function in (append_once, write_twice, send_row_by_row)}


def write(frame: DataFrame, sink: Made, work: Path) -> DataStreamWriter:
    """A writer for a sink such as {"format": "noop"} or {"foreach_batch": "append_once"}."""
    table = str(work / "table")
    if "foreach_batch" in sink:
        return frame.writeStream.foreachBatch(FOREACH_BATCH[sink["foreach_batch"]](table))
    options = {key: value for key, value in sink.items() if key != "format"}
    if sink["format"] == "kafka":
        options = {"topic": "outgoing", **options}
    if sink["format"] in ("delta", "parquet"):
        options = {"path": table, **options}
    return frame.writeStream.format(sink["format"]).options(**options)
