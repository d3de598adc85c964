"""What a pasted text says around its records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.sources.sightings.paste import LONGEST, read_paste

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
        ("sources: KafkaV2[Subscribe[t]]\nsink: parquet", {"source": "kafka", "sink": "file"}),
        ("Spark 3.5.1, Kafka -> foreachBatch", {"spark_version": "3.5.1", "source": "kafka", "sink": "foreach_batch"}),
        ("kafka → delta, every batch takes 5 s", {"source": "kafka", "sink": "delta"}),
        ("my Kafka to Kafka query on Spark 3.5.", {"spark_version": "3.5", "source": "kafka", "sink": "kafka"}),
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
        ("--conf spark.executor.cores=4", {"conf:spark.executor.cores": "4"}),
        ('.master("local[2]") \n.config("spark.master", "local[2]")', {"conf:spark.master": "local[2]"}),
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


def test_a_log_is_no_paste(tmp_path: Path) -> None:
    path = tmp_path / "asked.txt"
    path.write_text(f"sink: kafka\n{DURATIONS}{' ' * LONGEST}\n", encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert query.value("sink") is None
