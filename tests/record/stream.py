"""Run one case inside the environment of its Spark: `python stream.py CASE.json RUN WORK`."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import feeds
import queries
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

LOG4J = """rootLogger.level = info
{refs}
appender.text.type = File
appender.text.name = text
appender.text.fileName = {raw}/driver.log
appender.text.layout.type = PatternLayout
appender.text.layout.pattern = %d{{yy/MM/dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""
AGAIN = """appender.again.type = File
appender.again.name = again
appender.again.fileName = {raw}/driver.log
appender.again.layout.type = PatternLayout
appender.again.layout.pattern = %d{{yy/MM/dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""
MILLIS = """appender.millis.type = File
appender.millis.name = millis
appender.millis.fileName = {raw}/driver-ms.log
appender.millis.layout.type = PatternLayout
appender.millis.layout.pattern = %d{{yy/MM/dd HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
"""
STRUCTURED = """appender.structured.type = File
appender.structured.name = structured
appender.structured.fileName = {raw}/structured.log
appender.structured.layout.type = JsonTemplateLayout
appender.structured.layout.eventTemplateUri = classpath:org/apache/spark/SparkLayout.json
"""
SUBMITTED = "LATENCY_ADVISOR_RECORDER_SUBMITTED"
LAYOUTS = {"text": LOG4J, "again": AGAIN, "millis": MILLIS, "structured": STRUCTURED}


def main() -> None:
    """Start the query, wait for its batches, stop it."""
    case = json.loads(Path(sys.argv[1]).read_text())
    run, work = case["runs"][int(sys.argv[2])], Path(sys.argv[3])
    if case["submitted"] and SUBMITTED not in os.environ:
        submit(settings(case, run, work), work)
    spark = session(settings(case, run, work))
    if case["bootstrap"] and sys.argv[2] == "0":
        feeds.make_topics(case["bootstrap"], case["source"].get("feed", {}).get("partitions", 2))
    query = start(spark, case, run, work)
    if case["beside"]:
        start(spark, case | case["beside"] | {"name": f"{case['name']}-beside"}, run, work)
    feed = feeds.start(case["source"].get("feed", {}), case["bootstrap"], work)
    wait(query, run["until_batch"], run["seconds"])
    keep_recent_progress(spark, query, work / "raw")
    for running in spark.streams.active:
        running.stop()
    if feed:
        feed.stop()
    spark.stop()


def submit(conf: dict[str, str], work: Path) -> NoReturn:
    """Start this script again with spark-submit: only so does Spark fill the context of its structured log."""
    (work / "spark.conf").write_text("".join(f"{key} {value}\n" for key, value in conf.items()))
    os.environ[SUBMITTED] = "yes"
    command = [str(Path(sys.executable).parent / "spark-submit"), "--properties-file", str(work / "spark.conf")]
    os.execv(command[0], [*command, *sys.argv])


def session(conf: dict[str, str]) -> SparkSession:
    """A session with these settings."""
    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def settings(case: dict[str, Any], run: dict[str, Any], work: Path) -> dict[str, str]:
    """A local Spark that logs into WORK/raw and keeps every path below WORK; an empty value leaves Spark's default."""
    java = f"-Dlog4j2.configurationFile={log4j(case, work)} -Duser.name=spark -Djava.io.tmpdir={work}/tmp"
    conf = {
        "spark.master": "local[2]",
        "spark.app.name": case["name"].split("/")[1],
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"{java} -Duser.home={work}",
        "spark.local.dir": f"{work}/tmp",
        "spark.sql.warehouse.dir": f"{work}/warehouse",
        "spark.sql.shuffle.partitions": "2",
        **appended(case, work),
        **{
            key: value.replace("{s3}", str(case["s3"])).replace("{work}", str(work))
            for key, value in (case["conf"] | run["conf"]).items()
        },
    }
    return {key: value for key, value in conf.items() if value}


def appended(case: dict[str, Any], work: Path) -> dict[str, str]:
    """The settings that only some cases need: jars, structured logging, an event log."""
    conf = {}
    if case["jars"]:
        conf["spark.driver.extraClassPath"] = conf["spark.executor.extraClassPath"] = ":".join(case["jars"])
    if "structured" in case["keep"]:
        conf["spark.log.structuredLogging.enabled"] = "true"
    if "eventlog" in case["keep"]:
        conf |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file:{work}/raw"}
    return conf


def log4j(case: dict[str, Any], work: Path) -> Path:
    """The log4j2 file with the appenders of this case."""
    names = [name for name in case["keep"] if name in LAYOUTS] or ["text"]
    if "again" in names:
        names = ["text", "again"]
    refs = "\n".join(f"rootLogger.appenderRef.{name}.ref = {name}" for name in names)
    texts = [LAYOUTS[name].format(raw=work / "raw", refs=refs) for name in names]
    if "text" not in names:
        texts.insert(0, f"rootLogger.level = info\n{refs}\n")
    path = work / "log4j2.properties"
    path.write_text("".join(texts))
    return path


def start(spark: SparkSession, case: dict[str, Any], run: dict[str, Any], work: Path) -> StreamingQuery:
    """The case's query, started on the case's checkpoint."""
    address = {"kafka.bootstrap.servers": case["bootstrap"]} if case["bootstrap"] else {}
    reaches = {name: address if case[name].get("format") == "kafka" else {} for name in ("source", "sink")}
    frame = queries.read(spark, case["source"] | reaches["source"], work)
    frame = queries.SHAPES[case["shape"]["name"]](frame, case["shape"] | {"path": str(work / "static")})
    writer = queries.write(frame, case["sink"] | reaches["sink"], work).outputMode(case["output_mode"])
    writer = writer.options(**(case["options"] | run["options"]))
    if case["trigger"]:
        writer = writer.trigger(processingTime=case["trigger"])
    name = case["name"].split("/")[1]
    base = "s3a://bucket/checkpoints" if case["s3"] else f"file:{work}/checkpoints"
    return writer.queryName(name).option("checkpointLocation", f"{base}/{name}").start()


def wait(query: StreamingQuery, until_batch: int, seconds: int) -> None:
    """Return at the batch, at the end of the seconds, or when the query has died."""
    end = time.monotonic() + seconds
    while query.isActive and time.monotonic() < end:
        last = query.lastProgress
        if last and last["batchId"] >= until_batch:
            return
        time.sleep(0.5)


def keep_recent_progress(spark: SparkSession, query: StreamingQuery, raw: Path) -> None:
    """What the query itself still remembers, one JSON line each, as Spark writes it."""
    lines = [progress.json() for progress in query._jsq.recentProgress()]
    with (raw / "progress.jsonl").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
