"""Queries that a case can name: sources, shapes and sinks, as plain functions on a Spark session."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import unseen
from pyspark.sql import Column, DataFrame, SparkSession, functions
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


def never_forgotten(frame: DataFrame, shape: Made) -> DataFrame:
    """Each value once, for ever: with a watermark, too, as long as the event time is no key."""
    rows = frame.withWatermark("timestamp", "1 second") if shape["watermark"] else frame
    return rows.dropDuplicates(["value"])


def windowed(frame: DataFrame, shape: Made) -> DataFrame:
    """A count of rows in windows of two seconds; the row `odd`, if there is one, says that it is ten years younger."""
    time = functions.col("timestamp")
    odd = functions.col("value") == functions.lit(shape.get("odd", -1))
    rows = frame.withColumn(
        "timestamp", functions.when(odd, time + functions.expr("INTERVAL 10 YEARS")).otherwise(time)
    )
    return rows.withWatermark("timestamp", shape["delay"]).groupBy(functions.window("timestamp", "2 seconds")).count()


def joined(frame: DataFrame, shape: Made) -> DataFrame:
    """The stream joined with a second one over a range of time."""
    rows = work_on_rows(frame, shape)
    left = rows.withWatermark("timestamp", "2 seconds").selectExpr("hash", "timestamp AS left_at")
    right = rows.withWatermark("timestamp", "2 seconds").selectExpr("hash AS other", "timestamp AS right_at")
    return left.join(
        right, functions.expr("hash = other AND right_at BETWEEN left_at AND left_at + INTERVAL 2 SECONDS")
    )


def wide(frame: DataFrame, shape: Made) -> DataFrame:
    """So many columns, which Spark plans anew in every batch."""
    made = [f"(value + {number}) % {number + 2} AS c{number}" for number in range(shape["columns"])]
    return frame.selectExpr(*made).where("c1 >= 0")


def with_ages(frame: DataFrame, shape: Made) -> DataFrame:
    """Columns with the batch's own time in them: their code is generated and compiled anew in every batch."""
    ages = [f"unix_micros(current_timestamp()) - {number} * value AS c{number}" for number in range(shape["columns"])]
    return frame.selectExpr(*ages).where("c1 > c2 - 1")


def in_python(frame: DataFrame, _: Made) -> DataFrame:
    """Every row through a Python function that does honest work."""

    def digits(value: int) -> int:
        return sum(int(digit) for digit in str(value) * 40)

    return frame.select(functions.udf(digits, "bigint")("value").alias("digits"))


def beside_static_side(frame: DataFrame, shape: Made) -> DataFrame:
    """Each row joined with a table that does not stream, which Spark reads and broadcasts in every batch."""
    path = shape["path"]
    static = frame.sparkSession.range(shape["rows"]).selectExpr("id AS key", "sha2(string(id), 256) AS name")
    static.write.mode("overwrite").parquet(path)
    table = frame.sparkSession.read.parquet(path)
    if shape.get("cached"):
        print(table.cache().count())
    table = functions.broadcast(table)
    return frame.withColumn("key", functions.expr(f"value % {shape['rows']}")).join(table, "key")


def sleeping(frame: DataFrame, shape: Made) -> DataFrame:
    """Each row for which `when` holds takes `ms` of its task's time, as a call of a slow service would."""
    nap = f"reflect('java.lang.Thread', 'sleep', {shape['ms']}L)"
    return frame.withColumn("slept", functions.expr(f"IF({shape['when']}, {nap}, '')"))


def in_folders(frame: DataFrame, shape: Made) -> DataFrame:
    """Rows with the number of one of so many folders."""
    return frame.withColumn("folder", functions.col("value") % shape["folders"])


def many_branches(frame: DataFrame, shape: Made) -> DataFrame:
    """A choice among so many cases, which Spark generates as one method."""
    branches = " ".join(f"WHEN value % 997 = {n} THEN value * {n + 3} + {n}" for n in range(shape["branches"]))
    return frame.selectExpr(f"CASE {branches} ELSE value END AS chosen").where("chosen > 5")


def shuffled(frame: DataFrame, shape: Made) -> DataFrame:
    """Rows scattered over shuffle partitions, without state; hashed first, or over a fixed number, as the case says."""
    rows = hashed(frame, shape["rounds"]) if "rounds" in shape else frame
    return rows.repartition(shape["into"], "value") if "into" in shape else rows.repartition("value")


SHAPES: dict[str, Callable[[DataFrame, Made], DataFrame]] = {
    shape.__name__: shape
    for shape in (
        plain, work_on_rows, to_kafka, count_by_key, without_duplicates, never_forgotten, windowed, joined,
        wide, with_ages, in_python, beside_static_side, sleeping, in_folders, many_branches, shuffled,
    )
} | unseen.SHAPES  # fmt: skip


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


def count_check_and_write(table: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the batch is counted, asked whether it is empty, written: the source is read for each."""

    def write(batch: DataFrame, number: int) -> None:
        if batch.isEmpty():
            return
        print(number, batch.count())
        batch.write.mode("append").parquet(f"{table}/all")
        batch.groupBy((functions.col("value") % 10).alias("digit")).count().write.mode("append").parquet(
            f"{table}/sums"
        )

    return write


def count_and_write(_: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the batch is counted and written, and each computes it."""

    def write(batch: DataFrame, number: int) -> None:
        print(number, batch.count())
        batch.write.format("noop").mode("append").save()

    return write


def write_then_wait(_: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the driver works alone, before and after the write, as one does that asks a service."""

    def write(batch: DataFrame, number: int) -> None:
        time.sleep(0.2)
        batch.write.format("noop").mode("append").save()
        time.sleep(0.3)

    return write


def count_then_wait(_: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the batch is counted, whose shuffle is a job of its own; then the driver works alone."""

    def write(batch: DataFrame, number: int) -> None:
        batch.count()
        batch.write.format("noop").mode("append").save()
        time.sleep(0.5)

    return write


def numbered(batch: DataFrame, number: Column) -> None:
    """Forty columns and the batch's number, to nowhere."""
    made = [f"(value + {column}) * {column + 3} AS c{column}" for column in range(40)]
    batch.selectExpr(*made).withColumn("batch", number).where("c1 > 2").write.format("noop").mode("append").save()


def with_batch_id(_: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the batch's id is a number in the expressions, so their code is generated anew in every batch."""
    return lambda batch, number: numbered(batch, functions.lit(number))


def with_batch_id_as_text(_: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the same as text, which generated code refers to and does not hold."""
    return lambda batch, number: numbered(batch, functions.lit(str(number)))


def persisted(several: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
    """The same work on a batch that is persisted first."""

    def write(batch: DataFrame, number: int) -> None:
        batch.persist()
        try:
            several(batch, number)
        finally:
            batch.unpersist()

    return write


def count_check_and_write_persisted(table: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: as `count_check_and_write`, and the batch is persisted first."""
    return persisted(count_check_and_write(table))


def count_and_write_persisted(table: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: as `count_and_write`, and the batch is persisted first."""
    return persisted(count_and_write(table))


FOREACH_BATCH = {
    function.__name__: function
    for function in (
        append_once, write_twice, send_row_by_row, count_check_and_write, count_check_and_write_persisted,
        count_and_write, count_and_write_persisted, write_then_wait, count_then_wait, with_batch_id,
        with_batch_id_as_text,
    )
} | unseen.FOREACH_BATCH  # fmt: skip


def register_slow_commit(spark: SparkSession, milliseconds: int) -> None:
    """The sink `slow_commit`, which takes rows at once and so long for its commit (Spark 4.0 and later)."""
    from pyspark.sql.datasource import DataSource, DataSourceStreamWriter, WriterCommitMessage

    class Writer(DataSourceStreamWriter):
        def write(self, iterator):
            for _ in iterator:
                pass
            return WriterCommitMessage()

        def commit(self, messages, batchId):  # noqa: N803 - Spark's name
            import time

            time.sleep(milliseconds / 1000)

    class Sink(DataSource):
        @classmethod
        def name(cls):
            return "slow_commit"

        def streamWriter(self, schema, overwrite):  # noqa: N802 - Spark's name
            return Writer()

    spark.dataSource.register(Sink)


HUDI_TABLE = {
    "hoodie.table.name": "events",
    "hoodie.datasource.write.recordkey.field": "value",
    "hoodie.datasource.write.precombine.field": "timestamp",
}


def write(frame: DataFrame, sink: Made, work: Path) -> DataStreamWriter:
    """A writer for a sink such as {"format": "noop"} or {"foreach_batch": "append_once"}."""
    table = str(work / "table")
    if "foreach_batch" in sink:
        return frame.writeStream.foreachBatch(FOREACH_BATCH[sink["foreach_batch"]](table))
    options = {key: value for key, value in sink.items() if key not in ("format", "ms")}
    if sink["format"] == "slow_commit":
        register_slow_commit(frame.sparkSession, sink["ms"])
    if sink["format"] == "iceberg":
        frame.sparkSession.sql(
            "CREATE TABLE IF NOT EXISTS lake.db.events (timestamp TIMESTAMP, value BIGINT) USING iceberg"
        )
        options = {"path": "lake.db.events", **options}
    if sink["format"] == "paimon":
        frame.sparkSession.sql("CREATE DATABASE IF NOT EXISTS lake.db")
        frame.sparkSession.sql("CREATE TABLE IF NOT EXISTS lake.db.events (timestamp TIMESTAMP, value BIGINT)")
        options = {"path": str(work / "lake/db.db/events"), **options}
    if sink["format"] == "hudi":
        options = {"path": table, **HUDI_TABLE, **options}
    if sink["format"] == "kafka":
        options = {"topic": "outgoing", **options}
    if sink["format"] in ("delta", "parquet", "json"):
        options = {"path": table, **options}
    writer = frame.writeStream.format(sink["format"])
    if "partitionBy" in options:
        writer = writer.partitionBy(options.pop("partitionBy"))
    return writer.options(**options)
