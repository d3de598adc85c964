"""The demonstration's stream, in its own process: `python -m advisor.demo.stream PLACE SECONDS`.

Writes PLACE/driver.log; prints the part of its time that is over and what was done, a line each second.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from advisor.demo.local import LOG

# PySpark's console prints nothing below WARN, whatever its level: progress goes to a file.
_LOGGING = """rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yy/MM/dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


def main(place: Path, seconds: int) -> None:
    """Run the stream for so long and stop it in good order."""
    spark = _session(place)
    query = _start(spark, place)
    _watch(query, seconds)
    query.stop()
    spark.stop()


def _session(place: Path) -> SparkSession:
    logging = place / "log4j2.properties"
    logging.write_text(_LOGGING.format(log=place / LOG))
    conf = {
        "spark.master": "local[2]",
        "spark.app.name": "latency-advisor-demo",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(place / "tmp"),
        "spark.sql.warehouse.dir": str(place / "warehouse"),
    }
    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _start(spark: SparkSession, place: Path) -> StreamingQuery:
    # rate-micro-batch has rows for every batch; rate releases them by whole seconds, and most triggers find none.
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "1000").load()
    writer = rows.selectExpr("value", "value % 100 AS bucket").writeStream.format("noop").queryName("demo")
    return writer.option("checkpointLocation", (place / "checkpoint").as_uri()).start()


def _watch(query: StreamingQuery, seconds: int) -> None:
    """Tell how far it is, counting from the first batch: how long Spark takes to begin depends on the machine."""
    begin = None
    while query.isActive:
        progress = query.lastProgress
        if progress and begin is None:
            begin = time.monotonic()
        over = (time.monotonic() - begin) / seconds if begin else 0.0
        if over >= 1:
            return
        print(f"{over:.3f} {progress['batchId'] + 1} batches" if progress else "0 starting Spark", flush=True)
        time.sleep(1)
    raise SystemExit(str(query.exception()).splitlines()[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
