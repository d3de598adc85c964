"""A Spark of any version that runs queries on checkpoints: it reads one order a line as JSON, and answers in one line.

An order: {"query", "checkpoint", "confs", "options", "trigger", "batches"}; with "wait": false it answers when the
first batch has run and lets the query run on; {"stop": true} ends what runs. It imports nothing but PySpark.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST_S = 180.0


def rows(spark: Any, name: str = "") -> Any:
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 50).option("numPartitions", 2)
    stream = stream.name(name) if name else stream
    return stream.option("startTimestamp", 1_700_000_000_000).option("advanceMillisPerBatch", 1000).load()


def keyed(spark: Any) -> Any:
    return rows(spark).selectExpr("value % 20 AS key", "value", "timestamp")


def count(spark: Any, place: str) -> Any:
    return keyed(spark).groupBy("key").count().writeStream.outputMode("update").format("noop")


def dedup(spark: Any, place: str) -> Any:
    return rows(spark).dropDuplicates(["value"]).writeStream.format("noop")


def within(spark: Any, place: str) -> Any:
    late = rows(spark).withWatermark("timestamp", "5 seconds")
    return late.dropDuplicatesWithinWatermark(["value"]).writeStream.format("noop")


def window(spark: Any, place: str) -> Any:
    late = rows(spark).withWatermark("timestamp", "5 seconds")
    return late.groupBy("timestamp").count().writeStream.outputMode("append").format("noop")


def join(spark: Any, place: str) -> Any:
    left, right = (rows(spark).withWatermark("timestamp", "5 seconds").alias(name) for name in ("a", "b"))
    from pyspark.sql.functions import expr

    return left.join(right, expr("a.value = b.value AND a.timestamp = b.timestamp")).writeStream.format("noop")


def plain(spark: Any, place: str) -> Any:
    return rows(spark).writeStream.format("noop")


def shuffled(spark: Any, place: str) -> Any:
    return rows(spark).repartition("value").writeStream.format("noop")


def named(spark: Any, place: str) -> Any:
    return rows(spark, "clicks").writeStream.format("noop")


def files(spark: Any, place: str) -> Any:
    """Files to files, one a batch."""
    source = Path(place + ".in")
    if not source.is_dir():
        source.mkdir()
        for number in range(400):
            (source / f"{number:03}.json").write_text(f'{{"value": {number}}}\n')
    stream = spark.readStream.schema("value LONG").option("maxFilesPerTrigger", 1).json(str(source))
    return stream.writeStream.format("json").option("path", place + ".out")


def each(spark: Any, place: str) -> Any:
    return keyed(spark).groupBy("key").count().writeStream.outputMode("update").foreachBatch(lambda df, _: df.count())


QUERIES: dict[str, Callable[[Any, str], Any]] = {
    one.__name__: one for one in (count, dedup, within, window, join, plain, shuffled, named, files, each)
}


class Worker:
    def __init__(self, place: str) -> None:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        for key, value in {
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": f"{place}/tmp", "spark.sql.warehouse.dir": f"{place}/warehouse",
            "spark.driver.memory": "1g", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        }.items():  # fmt: skip
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")
        self.query: Any = None

    def order(self, order: dict[str, Any]) -> dict[str, Any]:
        if order.get("stop"):
            self.query.stop()
            return self._told()
        if "repartition" in order:
            for key, value in order.get("confs", {}).items():
                self.spark.conf.set(key, value)
            self.spark._streamingCheckpointManager.repartition(order["checkpoint"], order["repartition"])
            return {}
        session = self.spark.newSession()
        confs = {"spark.sql.shuffle.partitions": "2", "spark.sql.streaming.noDataProgressEventInterval": "1000"}
        for key, value in {**confs, **order.get("confs", {})}.items():
            session.conf.set(key, value)
        writer = QUERIES[order["query"]](session, order["checkpoint"])
        writer = writer.option("checkpointLocation", order["checkpoint"]).options(**order.get("options", {}))
        if order.get("trigger"):
            writer = writer.trigger(**order["trigger"])
        self.query = writer.start()
        wanted = order.get("batches", 1)
        until = time.monotonic() + LONGEST_S
        while self.query.isActive and time.monotonic() < until and self._ran() < wanted:
            time.sleep(0.02)
        if order.get("wait", True):
            self.query.stop()
        return self._told()

    def _ran(self) -> int:
        return len({p["batchId"] for p in self.query.recentProgress if "addBatch" in p["durationMs"]})

    def _told(self) -> dict[str, Any]:
        ran = {p["batchId"]: p["numInputRows"] for p in self.query.recentProgress if "addBatch" in p["durationMs"]}
        error = self.query.exception()
        return {"batches": list(ran), "rows": list(ran.values()), "id": str(self.query.id),
                "error": str(error) if error else None}  # fmt: skip


def main() -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(sys.argv[1])
    print(
        json.dumps({"pid": worker.spark.sparkContext._gateway.proc.pid, "version": worker.spark.version}),
        file=out,
        flush=True,
    )
    for line in sys.stdin:
        try:
            answer = worker.order(json.loads(line))
        except Exception as error:
            answer = {"error": str(error), "batches": [], "kind": type(error).__name__}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
