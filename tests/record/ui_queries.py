"""Streaming queries whose driver is asked for its pages: `python ui_queries.py WORKLOAD PORT WORK`, with any PySpark.

It prints a line once the queries run, and ends when its standard input is closed. WORK gets the event log.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyspark.sql.functions as fn
from pyspark.sql import DataFrame, SparkSession

ROWS = 200
EVERY = "300 milliseconds"


def rate(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").option("rowsPerSecond", ROWS).load()


def by_key(rows: DataFrame) -> DataFrame:
    return rows.withWatermark("timestamp", "5 seconds").groupBy(fn.window("timestamp", "5 seconds"), "key").count()


def keyed(spark: SparkSession) -> DataFrame:
    return rate(spark).withColumn("key", fn.col("value") % 50)


def stateless(spark: SparkSession, work: Path) -> list[Any]:
    return [keyed(spark).writeStream.format("noop").queryName("stateless")]


def kafka(spark: SparkSession, work: Path) -> list[Any]:
    """Reads the topic `incoming` of the broker in the file `bootstrap`, and writes to `outgoing`."""
    servers = (work / "bootstrap").read_text()
    rows = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", "incoming")
    written = rows.load().select("value").writeStream.format("kafka").option("kafka.bootstrap.servers", servers)
    return [written.option("topic", "outgoing").queryName("kafka")]


def aggregation(spark: SparkSession, work: Path) -> list[Any]:
    return [by_key(keyed(spark)).writeStream.outputMode("update").format("noop").queryName("orders-by-key")]


def join(spark: SparkSession, work: Path) -> list[Any]:
    left = keyed(spark).withWatermark("timestamp", "2 seconds").select("value", fn.col("timestamp").alias("at"))
    right = keyed(spark).withWatermark("timestamp", "2 seconds")
    near = fn.expr("l.value = r.value AND r.timestamp BETWEEN l.at AND l.at + interval 1 second")
    return [left.alias("l").join(right.alias("r"), near).writeStream.format("noop").queryName("joined")]


def foreach_batch(spark: SparkSession, work: Path) -> list[Any]:
    def write(rows: DataFrame, batch: int) -> None:
        rows.persist()
        rows.count()
        rows.write.mode("append").parquet(str(work / "out"))
        rows.unpersist()

    return [keyed(spark).writeStream.foreachBatch(write).queryName("to-parquet")]


def files(spark: SparkSession, work: Path) -> list[Any]:
    (work / "incoming").mkdir()

    def feed() -> None:
        for number in range(100_000):
            part = work / f"part-{number}"
            part.write_text("".join(f"{row}\n" for row in range(100)))
            part.rename(work / "incoming" / f"{number}.txt")
            time.sleep(0.3)

    threading.Thread(target=feed, daemon=True).start()
    rows = spark.readStream.format("text").option("maxFilesPerTrigger", 3).load(str(work / "incoming"))
    return [rows.writeStream.format("parquet").option("path", str(work / "out")).queryName("files")]


def two(spark: SparkSession, work: Path) -> list[Any]:
    return [*aggregation(spark, work), *foreach_batch(spark, work)]


WORKLOADS = {
    made.__name__.replace("_", "-"): made for made in (stateless, kafka, aggregation, join, foreach_batch, files, two)
}


def session(port: str, work: Path, jars: str = "") -> SparkSession:
    events = work / "events"
    events.mkdir(parents=True, exist_ok=True)
    confs = {
        "spark.ui.port": port, "spark.ui.showConsoleProgress": "false", "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(), "spark.eventLog.compress": "false", "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.jars": jars,
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]").appName("orders")
    for key, value in confs.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def main() -> None:
    """Run one workload until nobody reads any more."""
    name, port, place, *jars = sys.argv[1:]
    work = Path(place)
    spark = session(port, work, *jars)
    running = []
    for writer in WORKLOADS[name](spark, work) if name != "none" else []:
        checkpoint = str(work / f"checkpoint-{len(running)}")
        running.append(writer.trigger(processingTime=EVERY).option("checkpointLocation", checkpoint).start())
    print(spark.sparkContext.uiWebUrl, flush=True)
    sys.stdin.read()
    for query in running:
        query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
