"""The queries of the matrix on real Spark, with what a step changes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from pyspark.sql import functions as F  # noqa: N812

from tests.legality.cells import Query
from tests.record.cases import CHANGELOG, ROCKSDB

TOPICS: Final = {"kafka": "narrow", "kafka_wide": "wide"}
TOPIC_OUT: Final = "out"
STORES: Final[dict[str, dict[str, str]]] = {"hdfs": {}, "rocksdb": ROCKSDB, "changelog": CHANGELOG}
ASYNC: Final = {"asyncProgressTrackingEnabled": "true", "asyncProgressTrackingCheckpointIntervalMs": "60000"}
INTERVAL: Final = "100 milliseconds"
DELAY: Final = "10 seconds"
FILES: Final = 60


def settings(query: Query) -> dict[str, str]:
    """The session's settings with which the query was written."""
    return {"spark.sql.shuffle.partitions": str(query.partitions), **STORES[query.store]}


def rows(spark: Any, query: Query, bootstrap: str | None, files: Path, options: dict[str, str]) -> Any:
    """The stream that the query reads: `value`, `timestamp` and `key`."""
    if query.source in TOPICS:
        given = {"kafka.bootstrap.servers": bootstrap, "subscribe": TOPICS[query.source], "startingOffsets": "earliest"}
        limit = {"maxOffsetsPerTrigger": "50"} if query.options == "limited" else {}
        read = spark.readStream.format("kafka").options(**(given | limit | options)).load()
        read = read.select(F.col("value").cast("string").cast("long").alias("value"), "timestamp")
    elif query.source == "file":
        kept = {"maxFilesPerTrigger": "1"} | options
        read = spark.readStream.schema("value BIGINT, timestamp TIMESTAMP").options(**kept).json(str(files))
    elif query.source == "steady":
        read = spark.readStream.format("rate").options(rowsPerSecond="100", numPartitions="2", **options).load()
    else:
        given = {"rowsPerBatch": "100", "numPartitions": "2"}
        read = spark.readStream.format("rate-micro-batch").options(**(given | options)).load()
    return read.withColumn("key", F.col("value") % 100)


def write_files(place: Path) -> None:
    """Files of one row each."""
    place.mkdir(parents=True)
    for number in range(FILES):
        row = {"value": number, "timestamp": f"2026-01-01T00:00:{number % 60:02}.000Z"}
        (place / f"{number:03}.json").write_text(json.dumps(row))


def shaped(read: Callable[[], Any], query: Query, code: str) -> tuple[Any, str]:
    """The frame that is written, and its output mode; `code`: the step that changes the code, if one does."""
    frame = read()
    if code == "watermark-in-aggregation":
        late = frame.withWatermark("timestamp", DELAY)
        return late.groupBy(F.window("timestamp", "1 second"), "key").count(), "update"
    if code == "drop-duplicates-within-watermark" or query.workload == "dedup_within":
        return frame.withWatermark("timestamp", DELAY).dropDuplicatesWithinWatermark(["key"]), _mode(query)
    if query.workload == "dedup":
        return frame.dropDuplicates(["key"]), _mode(query)
    if query.workload == "shuffle":
        return frame.repartition("key"), "append"
    if query.workload == "join":
        return _joined(frame, read()), "append"
    if query.workload == "complete":
        return frame.groupBy("key").count(), "complete"
    if query.workload == "aggregation":
        if query.sink in ("file", "delta"):
            late = frame.withWatermark("timestamp", DELAY)
            return late.groupBy(F.window("timestamp", "1 second"), "key").count(), "append"
        return frame.groupBy("key").count(), "update"
    return frame, "append"


def _mode(query: Query) -> str:
    return "update" if query.sink == "kafka" else "append"


def _joined(left: Any, right: Any) -> Any:
    left = left.withWatermark("timestamp", DELAY).select(F.col("value").alias("id"), F.col("timestamp").alias("at"))
    right = right.withWatermark("timestamp", DELAY)
    near = (F.col("id") == F.col("value")) & (F.col("at") <= F.col("timestamp") + F.expr("INTERVAL 5 SECONDS"))
    return left.join(right, near & (F.col("at") >= F.col("timestamp") - F.expr("INTERVAL 5 SECONDS")))


def writer(frame: Any, query: Query, mode: str, place: Path, bootstrap: str | None, options: dict[str, str]) -> Any:
    """The stream's writer, without its trigger; what it writes lies in `place`."""
    own = ASYNC if query.options == "async" else {}
    made = _to(frame, query.sink, place, bootstrap).outputMode(mode)
    return made.option("checkpointLocation", (place / "checkpoint").as_uri()).options(**(own | options))


def _to(frame: Any, sink: str, place: Path, bootstrap: str | None) -> Any:
    if sink == "kafka":
        frame = frame.select(F.to_json(F.struct("*")).alias("value"))
        return frame.writeStream.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("topic", TOPIC_OUT)
    stream = frame.writeStream
    if sink == "foreach":
        return stream.foreach(_nothing)
    if sink == "foreach_batch":
        return stream.foreachBatch(_to_noop)
    if sink == "foreach_delta":
        return stream.foreachBatch(partial(_to_delta, (place / "out").as_uri()))
    if sink in ("file", "delta"):
        return stream.format("parquet" if sink == "file" else sink).option("path", (place / "out").as_uri())
    return stream.format(sink).queryName("in_memory") if sink == "memory" else stream.format(sink)


def _nothing(row: Any) -> None:
    return None


def _to_noop(frame: Any, batch: int) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _to_delta(path: str, frame: Any, batch: int) -> None:
    """Append a batch once, however often it runs: Delta looks its number up in the table's snapshot."""
    frame.write.format("delta").mode("append").option("txnAppId", "a").option("txnVersion", batch).save(path)


def trigger(spark: Any, kind: str, interval: str = INTERVAL) -> Any:
    """Java's trigger of this kind; None for the default one. Python has no real-time trigger before 4.2."""
    triggers = spark._jvm.org.apache.spark.sql.streaming.Trigger
    made = {
        "processing_time": lambda: triggers.ProcessingTime(interval),
        "once": triggers.Once,
        "available_now": triggers.AvailableNow,
        "continuous": lambda: triggers.Continuous("200 milliseconds"),
        "real_time": lambda: triggers.RealTime(interval if interval != INTERVAL else "1000 milliseconds"),
    }
    return made[kind]() if kind in made else None
