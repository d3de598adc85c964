"""What a pasted text says around its records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.errors import InputError
from advisor.sources.sightings.paste import read_paste
from advisor.sources.sightings.written import LONGEST, beside_the_log

PYTHON = """
df = spark.readStream.format("kafka").option("subscribe", "t").option("maxOffsetsPerTrigger", "5000").load()
query = (
    df.writeStream.foreachBatch(upsert)
    .trigger(processingTime="30 seconds")
    .option("checkpointLocation", "s3a://bucket/ck")
    .start()
)
"""
SCALA = """
val counts = events.groupBy(window($"at", "1 minute")).count()
counts.writeStream.format("delta").outputMode("append").trigger(Trigger.ProcessingTime(500)).start("/t")
"""
ASYNC = 'df.writeStream.format("kafka").option("asyncProgressTrackingEnabled", "true").start()'
DURATIONS = "addBatch: 412 ms\nwalCommit: 250 ms\ncommitOffsets: 220 ms\nlatestOffset: 5 ms\ntriggerExecution: 905 ms\n"


def told(text: str) -> dict[str, Any]:
    return {each.fact: each.value for each in read_paste(text)}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("sink: ForeachBatchSink", {"sink": "foreach_batch"}),
        ("sink=DeltaSink[/t]", {"sink": "delta"}),
        ("reads by FileStreamSource, writes by **ForeachBatchSink**.", {"source": "file", "sink": "foreach_batch"}),
        ('spark.readStream.format("eventhubs").options(**c).load()', {"source": "event_hubs"}),
        ("My forEachBatch function updates a table.", {"sink": "foreach_batch"}),
        ("It goes to a MemorySink; KafkaV2 reads.", {"source": "kafka", "sink": "memory"}),
        ("A DeltaSink or a MemorySink?", {}),
        ("  at org.apache.spark.sql.delta.DeltaSink.addBatch(DeltaSink.scala:40)", {}),
        ("sources: KafkaV2[Subscribe[t]]\nsink: parquet", {"source": "kafka", "sink": "file"}),
        ("Spark 3.5.1, Kafka -> foreachBatch", {"spark_version": "3.5.1", "source": "kafka", "sink": "foreach_batch"}),
        ("kafka → delta, every batch takes 5 s", {"source": "kafka", "sink": "delta"}),
        ("my Kafka to Kafka query on Spark 3.5.", {"spark_version": "3.5", "source": "kafka", "sink": "kafka"}),
        ("options: Map(kafka.bootstrap.servers -> kafka:9092, subscribe -> orders)", {}),
        ("Map(path -> memory, format -> delta)", {}),
        ("--kafka.bootstrap.servers => kafka.internal", {}),
        ("Spark version: 3.5.2", {"spark_version": "3.5.2"}),
        ("my foreachBatch takes 9 s", {"sink": "foreach_batch"}),
        ("It needs Spark 3.4, I was told", {}),
        ("Spark 3.4+ has it", {}),
        ("on Spark 3.3.2; on Spark 4.0.0 it is faster", {}),
        ('{"sink" : {"description" : "MemorySink"}}', {}),
        (".trigger(Trigger.ProcessingTime(10.seconds))", {"trigger": "processing_time", "trigger_interval_ms": 10_000}),
        (".trigger(availableNow=True)", {"trigger": "available_now"}),
        (".trigger(Trigger.Once())", {"trigger": "once"}),
        ('// .trigger(processingTime="2 seconds")', {}),
        ('.trigger(processingTime="0 seconds")', {"trigger": "unspecified"}),
        ("a.writeStream.format('delta').start()\nb.writeStream.format('console').start()", {}),
        ("df.groupBy('k').count()  # of a batch job", {}),
        ("state = stream.transformWithState(Processor())", {"stateful": True}),
        ("stream.flatMapGroupsWithState(append, timeout)(update)", {"stateful": True}),
        ("spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion -> 2", {}),
        ("executor resources: Map(vendor: , memory -> name: memory, amount: 1024)", {}),
        ("It runs on EMR, checkpoint on s3://bucket/chk, since May.", {"platform": "other", "checkpoint_scheme": "s3"}),
        ("Our checkpoints go to abfss://c@a.dfs.core.windows.net/ck.", {"checkpoint_scheme": "abfss"}),
        ("checkpointLocation: dbfs:/ck/orders", {"checkpoint_scheme": "dbfs"}),
        ("checkpoint dir = hdfs://nn/ck", {"checkpoint_scheme": "hdfs"}),
        ("We keep the checkpoint on HDFS and it is slow", {"checkpoint_scheme": "hdfs"}),
        ("the checkpoint lies in GCS", {"checkpoint_scheme": "gs"}),
        ("the checkpoint is on S3", {}),
        ("checkpointing to a table, data read from s3a://lake/in", {}),
        ("Should I move the checkpoint to hdfs://nn/ck?", {}),
        ("The checkpoint was on s3a://old/ck before", {}),
        ("checkpoint on s3://a/ck\ncheckpoint on hdfs://b/ck", {}),
        ("maxOffsetsPerTrigger was 200, now it is 4000", {"max_offsets_per_trigger": 4000}),
        ("I changed maxOffsetsPerTrigger from 200 to 4,000", {"max_offsets_per_trigger": 4000}),
        ("maxOffsetsPerTrigger: 200 -> 4000", {"max_offsets_per_trigger": 4000}),
        ("maxOffsetsPerTrigger=200 at first; then I raised it to 4k", {"max_offsets_per_trigger": 4000}),
        ("We had maxOffsetsPerTrigger set to 90k and reduced it to 20k", {"max_offsets_per_trigger": 20_000}),
        ("maxOffsetsPerTrigger is now 4000 (was 200)", {"max_offsets_per_trigger": 4000}),
        (".option('maxFilesPerTrigger', 20)", {"max_files_per_trigger": 20}),
        ("maxFilesPerTrigger was 5, now it is 20", {"max_files_per_trigger": 20}),
        ("max_files_per_trigger=1, maxOffsetsPerTrigger=300",
         {"max_files_per_trigger": 1, "max_offsets_per_trigger": 300}),
        ("we read at most maxBytesPerTrigger=10g", {}),
        ("increased maxOffsetsPerTrigger to 4000 from 200", {"max_offsets_per_trigger": 4000}),
        ("- .option('maxOffsetsPerTrigger', 2)\n+ .option('maxOffsetsPerTrigger', 4)", {"max_offsets_per_trigger": 4}),
        ("maxOffsetsPerTrigger=2000; partitions changed from 8 to 48", {"max_offsets_per_trigger": 2000}),
        ("maxOffsetsPerTrigger=200. Latency dropped to 300 ms", {"max_offsets_per_trigger": 200}),
        ("maxOffsetsPerTrigger is now 4000, executors from 4 to 8", {"max_offsets_per_trigger": 4000}),
        ("maxOffsetsPerTrigger from 200 to 4000 made it worse, so I went back to 200", {}),
        ("should I change maxOffsetsPerTrigger from 200 to 4000?", {}),
        ("The trigger was changed to 4000 rows", {}),
        ("trigger: 5000 records", {}),
        ("--conf spark.executor.cores=4", {"conf:spark.executor.cores": "4"}),
        ('.master("local[2]") \n.config("spark.master", "local[2]")', {"conf:spark.master": "local[2]"}),
        ("spark.executor.cores 4", {"conf:spark.executor.cores": "4"}),
        ('spark_conf:\n  spark.executor.cores: "4"', {"conf:spark.executor.cores": "4"}),
        ("SET spark.executor.cores = 4;", {"conf:spark.executor.cores": "4"}),
        ("spark.conf.set('spark.sql.shuffle.partitions', 16)",
         {"conf:spark.sql.shuffle.partitions": "16", "shuffle_partitions": 16}),
        ("I set spark.sql.shuffle.partitions=8 and restarted",
         {"conf:spark.sql.shuffle.partitions": "8", "shuffle_partitions": 8}),
        ("should I set spark.sql.shuffle.partitions=8 here?", {}),
        ("# spark.executor.cores=4", {}),
        ("of spark.executor.cores=4 and others", {}),
        ("spark.sql.shuffle.partitions=8\nspark.sql.shuffle.partitions=16", {}),
        ("spark-submit --master yarn --executor-cores 4 --num-executors 5 app.py",
         {"conf:spark.master": "yarn", "conf:spark.executor.cores": "4", "conf:spark.executor.instances": "5",
          "task_slots": 20}),
        ("spark.streaming.kafka.maxRatePerPartition=1000",
         {"ignored_dstreams_setting": "spark.streaming.kafka.maxRatePerPartition"}),
        ("Spark 3.5, that is pyspark==3.5.1", {"spark_version": "3.5.1"}),
        ("$ pip list | grep spark\npyspark                   3.3.2", {"spark_version": "3.3.2"}),
        ("--packages org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.1 job.py", {"spark_version": "3.5.1"}),
        ("/opt/spark-4.0.1-bin-hadoop3/bin/spark-submit job.py", {"spark_version": "4.0.1"}),
        ("# pyspark==3.5.1", {"spark_version": "3.5.1"}),
        ('df.writeStream.format("org.elasticsearch.spark.sql").start("idx/doc")', {"sink": "other"}),
        ('df.writeStream.option("checkpointLocation", ck).toTable("bronze.events")', {"sink": "other"}),
        ('df.writeStream.option("checkpointLocation", ck).start("/data/out")', {"sink": "other"}),
        ('df.writeStream.format("kafka").start()\nspark.read.parquet("/x")', {"sink": "kafka"}),
        ("| Sink Description | ForeachBatchSink |", {"sink": "foreach_batch"}),
        ('"sink" : {\n  "description" : "DeltaSink[s3a://lake/t]"\n}', {"sink": "delta"}),
        ('{"id": "q", "runId": "r"}, {"sink": {"description": "DeltaSink[s3a://lake/t]"}}', {}),
        ("must be executed with writeStream.start();\n\tat scala.collection.List.foreach(List.scala:392)", {}),
        ("Reading from Kafka and indexing into Elasticsearch.", {"source": "kafka", "sink": "other"}),
        ("We stream from Kafka into a Hudi table", {"source": "kafka", "sink": "other"}),
        ("Leio do Kafka e gravo no Delta", {"source": "kafka", "sink": "delta"}),
        ("It writes its checkpoint to S3", {}),
        ('df.distinct().writeStream.format("kafka").start()', {"sink": "kafka", "stateful": True}),
        ("spark.sql('SELECT a, count(*) FROM t GROUP BY a').writeStream.format('kafka').start()",
         {"sink": "kafka", "stateful": True}),
        ("a.join(b, expr('a.t BETWEEN b.t AND b.t + interval 1 hour')).writeStream.format('kafka').start()",
         {"sink": "kafka", "stateful": True}),
        ("df.join(dim, 'id').writeStream.format('kafka').start()", {"sink": "kafka"}),
        ("Spark 3.5.1 on Kubernetes", {"spark_version": "3.5.1", "platform": "open_source"}),
        ("moved from EMR to Databricks", {}),
        (ASYNC, {"sink": "kafka", "async_progress": True, "async_progress_interval_ms": 1000}),
    ],
)  # fmt: skip
def test_words_and_code_tell_facts(text: str, facts: dict[str, Any]) -> None:
    assert told(text) == facts


def test_the_code_of_a_query() -> None:
    assert told(PYTHON) == {
        "source": "kafka",
        "sink": "foreach_batch",
        "trigger": "processing_time",
        "trigger_interval_ms": 30_000,
        "checkpoint_scheme": "s3a",
        "max_offsets_per_trigger": 5000,
    }
    assert told(SCALA) == {
        "sink": "delta",
        "trigger": "processing_time",
        "trigger_interval_ms": 500,
        "stateful": True,
        "output_mode": "append",
    }


def test_asynchronous_tracking_is_not_advised_beside_a_sink_that_refuses_it(tmp_path: Path) -> None:
    path = tmp_path / "asked.txt"
    path.write_text(f"Kafka -> foreachBatch, Spark 3.5.1\n{DURATIONS}", encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert query.best_step is None
    assert [one.step for one in query.screen.refused] == ["async-progress"]


def test_what_progress_shows_counts_for_more_than_words(tmp_path: Path) -> None:
    path = tmp_path / "asked.txt"
    record = '{"id": "a", "runId": "b", "timestamp": "2026-03-01T02:00:00.000Z", "batchId": 7, "numInputRows": 5, ' \
             '"durationMs": {"triggerExecution": 905, "addBatch": 412}, "stateOperators": [], "sources": [], ' \
             '"sink": {"description": "DeltaSink[/t]"}}'  # fmt: skip
    path.write_text(f"At first it was sink: kafka\n{record}\n", encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert query.value("sink") == "delta"


_SETTING = "spark.sql.streaming.asyncLogPurge.enabled=false"


def test_a_setting_above_a_long_log_counts(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    lines = f"26/03/04 09:00:00 INFO Nothing: {' ' * 200}\n" * 400
    path.write_text(f"{_SETTING}\n{lines}{DURATIONS}", encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert query.value("async_log_purge") is False
    path.write_text(f"{lines}{_SETTING}\n{DURATIONS}", encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert query.value("async_log_purge") is None


@pytest.mark.parametrize(("set_to", "found"), [(16, True), (4, False)])
def test_what_the_checkpoint_keeps_is_told_beside_what_was_set(tmp_path: Path, set_to: int, found: bool) -> None:
    path = tmp_path / "asked.txt"
    state = '[{"operatorName": "dedupe", "numRowsTotal": 9, "numShufflePartitions": 4}]'
    record = '{"id": "a", "runId": "b", "timestamp": "2026-03-01T02:00:00.000Z", "batchId": 7, "numInputRows": 5, ' \
             '"durationMs": {"triggerExecution": 905, "addBatch": 412}, "sources": [], "stateOperators": ' \
             f'{state}, "sink": {{"description": "MemorySink"}}}}'  # fmt: skip
    path.write_text(f"spark.sql.shuffle.partitions={set_to}\n{record}\n", encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert ("CF003" in [finding.rule for finding in query.findings]) is found
    assert query.value("shuffle_partitions") == 4


@pytest.mark.parametrize(("words", "found"), [("Structured Streaming", True), ("Spark", False)])
def test_a_setting_of_dstreams_is_told_of_a_structured_query_without_progress(
    tmp_path: Path, words: str, found: bool
) -> None:
    path = tmp_path / "asked.txt"
    path.write_text(f"My {words} job: --conf spark.streaming.kafka.maxRatePerPartition=25000", encoding="utf-8")
    if not found:
        with pytest.raises(InputError, match="no streaming progress"):
            advisor.analyze(path)
        return
    (query,) = advisor.analyze(path).typed.queries
    assert [finding.rule for finding in query.findings] == ["CF006"]


def test_a_log_is_no_paste(tmp_path: Path) -> None:
    path = tmp_path / "asked.txt"
    path.write_text(f"sink: kafka\n{DURATIONS}{' ' * LONGEST}\n", encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert query.value("sink") is None


def test_of_a_log_only_what_may_name_source_or_sink_is_read_as_words() -> None:
    lines = [f"26/11/21 09:33:{n:02} INFO TaskSetManager: Finished task {n}.0 in 12 ms\n" for n in range(50)]
    named = "26/11/21 09:34:00 INFO MicroBatchExecution: Reading from sources [kafka]\n"
    words = "we write to kafka every 10 seconds\n"
    assert beside_the_log("".join([*lines, named, words])) == named + words
    few = "".join([*lines[:5], words])
    assert beside_the_log(few) == few


READER = 'df = spark.readStream.format("delta").load(src)\n'
WRITER = 'df.writeStream.option("maxFilesPerTrigger", "50").trigger(availableNow=True).foreachBatch(f).start()\n'


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        (READER + WRITER, "maxFilesPerTrigger on writeStream"),
        (
            'spark.conf.set("maxOffsetsPerTrigger", 200)\n' + READER,
            "maxOffsetsPerTrigger in the session's configuration",
        ),
        (
            'q = (df.writeStream\n  .option("path", str(p))\n  .option("maxFilesPerTrigger", 9)\n  .start())',
            "maxFilesPerTrigger on writeStream",
        ),
        (
            'SparkSession.builder.appName("a").config("maxOffsetsPerTrigger", "200").getOrCreate()',
            "maxOffsetsPerTrigger in the session's configuration",
        ),
        (
            'builder.config("maxOffsetsPerTrigger", "200").getOrCreate()',
            "maxOffsetsPerTrigger in the session's configuration",
        ),
    ],
)
def test_a_limit_that_no_source_reads_is_none(tmp_path: Path, code: str, limit: str) -> None:
    found = told(code)
    assert found["misplaced_limit"] == limit
    assert not {"max_files_per_trigger", "max_offsets_per_trigger"} & found.keys()
    path = tmp_path / "asked.txt"
    path.write_text(f"The limit of my stream does not work:\n{code}", encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert [finding.rule for finding in query.findings] == ["CF007"]


@pytest.mark.parametrize(
    "code",
    [
        'spark.readStream.option("maxFilesPerTrigger", "50").load(src).writeStream.option("path", "/t").start()',
        READER.replace(".load", '.option("maxFilesPerTrigger", "50").load') + WRITER,
        'a.writeStream.start()\nspark.readStream.option("maxFilesPerTrigger", "50").load(src)',
        'opts = {"maxFilesPerTrigger": "50"}',
        '# df.writeStream.option("maxFilesPerTrigger", "50")',
        'do we wonder why df.writeStream.option("maxFilesPerTrigger", "50") does nothing?',
        'def sink(df):\n  return df.writeStream\n\ndef source(r):\n  return r.option("maxFilesPerTrigger", 9).load()',
        's.writeStream.format("delta").toTable ("o")\nr = base.option("maxFilesPerTrigger", 5)',
        '"""df.writeStream"""\nreader.option("maxFilesPerTrigger", 5)',
        'spark.readStream.options(maxFilesPerTrigger=10)\ndf.writeStream.option("maxFilesPerTrigger", 10).start()',
        'job = JobConfig().config("maxFilesPerTrigger", 10).build()',
        'df.writeStream.foreachBatch(f).start()\ndef f(b, n):\n  spark.read.option("maxFilesPerTrigger", 5).load()',
    ],
)
def test_a_limit_on_the_reader_holds(code: str) -> None:
    assert "misplaced_limit" not in told(code)
