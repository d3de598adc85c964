"""Errors that a program printed end a query; those that a note, a runbook or a changelog names do not."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
from advisor.errors import InputError
from advisor.sources.sightings.query import said
from advisor.sources.sightings.quotes import missing_batch, named_error, told_error
from tests.made import event
from tests.sources.reading import told
from tests.sources.variants import pretty

REFUSED = "Sink ForeachBatchSink does not support async progress tracking"
NO_MEMORY = "java.lang.OutOfMemoryError: Java heap space"


@pytest.mark.parametrize(
    "text",
    [
        f"java.lang.IllegalArgumentException: {REFUSED}\n\tat org.apache.spark.sql.X.y(X.scala:1)",
        f"I start it and get IllegalArgumentException: {REFUSED}",
        f"My query ends at once:\n\n    {REFUSED}\n",
        f"```\n{REFUSED}\n```",
        f"> {REFUSED}",
        f"26/03/01 09:00:01 ERROR MicroBatchExecution: {NO_MEMORY}",
        f"Structured Streaming on Kubernetes\nCaused by: {NO_MEMORY}\n\t... 12 more",
        "A readStream job:\n    Last State:  Terminated\n      Reason:    OOMKilled\n      Exit Code: 137",
        "NAME  READY  STATUS\nstream-driver  0/1  OOMKilled  3  4m   # the Structured Streaming job",
        "[KAFKA_DATA_LOSS.TOPIC_PARTITION_OFFSETS] Some data may have been lost because they are not available",
        "AnalysisException: [STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE] Invalid streaming output mode: update.",
        "io.delta.exceptions.ConcurrentAppendException: Files were added to the root of the table",
        f"java.lang.IllegalArgumentException: {REFUSED}\n\nThis happens when I start it. What does the error mean?",
        f"## Error\n\njava.lang.IllegalArgumentException: {REFUSED}\n",
        f"# fails with IllegalArgumentException: {REFUSED}\nquery = df.writeStream.foreachBatch(f).start()",
        f"## {REFUSED}\n\n```\njava.lang.IllegalArgumentException: {REFUSED}\n\tat x.y(z.scala:1)\n```",
        f"26/03/01 09:00:01 ERROR Main: {NO_MEMORY} in writeStream\n\nCause: the state. Solution: RocksDB.",
    ],
)
def test_an_error_as_it_is_printed_is_what_ended_the_query(text: str) -> None:
    assert told_error(text) is not None
    assert named_error(text) is None


def test_of_a_quoted_error_its_own_words_are_told() -> None:
    told = told_error(
        f'    // Exception in thread "main" java.lang.IllegalArgumentException: {REFUSED}\n    // start()'
    )
    assert told is not None
    assert told[1] == f"java.lang.IllegalArgumentException: {REFUSED}"


@pytest.mark.parametrize(
    "text",
    [
        f"Two years ago another team got IllegalArgumentException: {REFUSED}, so nobody turned it on since.",
        f"We tried it once, and Spark refused ('{REFUSED}').",
        f"If you turn it on with foreachBatch you get:\n\n{REFUSED}\n",
        f"- {REFUSED}: documented now (#12)",
        f"## {REFUSED}\nThis means that the sink cannot have it.",
        "The stream died of java.lang.OutOfMemoryError in March; readStream has a limit since.",
        "When a pod of the Structured Streaming job is OOMKilled, the operator starts it anew.",
        "On `KAFKA_DATA_LOSS`, `[STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE]` and the like call the owner.",
        "| OffsetOutOfRangeException | retention too short |",
        "2.4.0: retries on ConcurrentAppendException",
        f"## IllegalArgumentException: {REFUSED}\nThe sink cannot have it.",
        f"# java.lang.IllegalArgumentException: {REFUSED}\n\nThe sink cannot have it.",
        f"IllegalArgumentException: {REFUSED}\n-----------\nTake the option out.",
        f"{REFUSED}\n\nThis happens when you set the option for a sink other than Kafka.",
        f"java.lang.IllegalArgumentException: {REFUSED}\n\n**Cause:** the option.\n**Solution:** take it out.",
        "### [KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED] Some data may have been lost because they are not available",
        "Q3: What is [STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE] Invalid output mode?\nA: The sink appends only.",
        f"| error | what to do |\n|---|---|\n| IllegalArgumentException: {REFUSED} | take the option out |",
        "- [PROJ-812] Handle io.delta.exceptions.ConcurrentAppendException: Files were added",
        f"Runbook\n\n1. java.lang.IllegalArgumentException: {REFUSED}\n   Meaning: the sink cannot have it.",
    ],
)
def test_an_error_that_a_text_names_ended_nothing(tmp_path: Path, text: str) -> None:
    assert told_error(text) is None
    assert "does not show that this query ended with it" in (named_error(text) or "")
    path = tmp_path / "note.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="the text names an error of Spark"):
        advisor.analyze(path)


def test_an_error_without_the_query_s_ids_is_told_by_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(
        "[3] a second start\n    exit 1: pyspark.errors.StreamingQueryException: [STREAM_FAILED]\n"
        "    Query [id = 7c1d-..., runId = 02be-...] terminated with exception: Multiple\n"
        "    streaming queries are concurrently using file:/ck/orders/commits.\n[4] one start alone\n",
        encoding="utf-8",
    )
    (query,) = advisor.analyze(path).typed.queries
    words = "Multiple streaming queries are concurrently using file:/ck/orders/commits."
    assert query.verdict.startswith(f"The query stopped with an error: {words}")
    assert query.best_step is not None
    assert query.best_step.rule == "ER001"


def test_a_warning_or_another_job_s_error_is_not_even_named() -> None:
    lost = "Some data may have been lost because they are not available in Kafka any more"
    assert named_error(f"26/03/01 09:00:01 WARN KafkaMicroBatchStream: {lost}") is None
    assert named_error("a report of mine died of java.lang.OutOfMemoryError") is None


def test_a_note_about_an_error_beside_a_record_ends_no_query(tmp_path: Path) -> None:
    record = pretty(event(7, 60_000, 10_000, {"triggerExecution": 900, "addBatch": 700, "walCommit": 60}))
    for text in (record, record[: record.index('"sources"')]):
        query = told(tmp_path, f"Last quarter we tried it and got '{REFUSED}'.\n{text}")
        assert query["state"] != "dead"
        assert query["window"]["batches"] == 1


@pytest.mark.parametrize("mark", ["## ", "### 4. ", "| "])
def test_a_failed_run_that_heads_a_chapter_is_only_named(tmp_path: Path, mark: str) -> None:
    ids = "[id = 6d8b2f1e-0000-4000-8000-000000000001, runId = 0b3c9a77-0000-4000-8000-000000000002]"
    line = f"{mark}[STREAM_FAILED] Query {ids} terminated with exception: {REFUSED} | no | yes |\n"
    path = tmp_path / "faq.md"
    path.write_text(f"{line}\nTake the option out.\n", encoding="utf-8")
    with pytest.raises(InputError):
        advisor.analyze(path)
    path.write_text(line.removeprefix(mark), encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert query.state == "dead"


def test_a_missing_batch_that_heads_a_chapter_is_only_named() -> None:
    assert missing_batch("## java.lang.IllegalStateException: batch 7 doesn't exist\nCopy the log's file.") is None


def test_a_missing_batch_counts_where_it_is_shown() -> None:
    shown = "java.lang.IllegalStateException: batch 41 doesn't exist"
    assert missing_batch(f"{shown}\n\tat x.y(z.scala:1)") == shown
    assert missing_batch(f"In the past I saw {shown} after a roll-back.") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('- Problem: the job crashed with "offset was changed from 412 to 9"', "the topic was made anew"),
        ("(`Partition ... offset was changed from N to 0`): Kafka has no volume here.", "the topic was made anew"),
        ("They fail with `Error reading delta file … does not exist`.", "or two queries on one checkpoint"),
        ("offsets 4711 doesn't exist, so the program cannot be started", "the offset files of the last two batches"),
        ("It stops: batch 12 doesn't exist.", "switched off leaves such a gap"),
    ],
)
def test_an_error_that_a_note_names_in_part_is_known(text: str, says: str) -> None:
    assert says in (named_error(text) or "")


@pytest.mark.parametrize("text", ["batch 12 does exist", "the table of batch 12 doesn't exist", "offset was changed"])
def test_words_near_those_of_an_error_name_none(text: str) -> None:
    assert named_error(text) is None


RECEIVER = (
    "com.microsoft.azure.eventhubs.ReceiverDisconnectedException: New receiver 'spark-3-9' with higher epoch of '0' is "
    "created hence current receiver 'spark-4-1' with epoch '0' is getting disconnected."
)


FAILED = "org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 3.0 failed 4 times"


def test_an_error_that_ends_tasks_shows_no_end_of_a_query_by_itself() -> None:
    text = f"Our readStream has this in every batch, and goes on:\n\n{RECEIVER}\n\tat com.made.Reader.go(Reader.java:9)"
    assert told_error(text) is None
    assert "Where tasks or a query ended with it: give each query a consumer group" in (named_error(text) or "")
    assert told_error(f"{text}\nThe job failed 3 times last week.") is None
    assert told_error(f"{FAILED}\nCaused by: {RECEIVER}") is not None


def test_of_a_job_that_failed_the_last_cause_is_told() -> None:
    stack = (
        f"\tat a.B.c(B.scala:1)\nCaused by: a.Wrapper: b\n\tat a.B.d(B.scala:2)\nCaused by: {RECEIVER}\n\t... 9 more"
    )
    assert said(f"{FAILED}.\n{stack}") == f"{FAILED}; caused by {RECEIVER}"
    assert said(f"java.lang.IllegalStateException: none\n{stack}") == "java.lang.IllegalStateException: none"
