"""What people paste without progress: errors that are well known, misspelled options, texts of another kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.api import analyze, analyze_fleet
from advisor.errors import InputError
from advisor.sources.sightings.errors import ERRORS, OF_ANY_JOB, known_error

RUN = "[id = 6d8b2f1e-55c1-4a66-9e08-0c2f8f5d1a01, runId = 0b3c9a77-1111-4b6e-8a43-f0b4a6a2c901]"
PRINTED = {
    # by Spark 3.5.9
    "Sink ForeachBatchSink does not support async progress tracking": "this sink cannot have it",
    "Stateful streaming queries does not support async progress tracking at this moment.": "state cannot have it",
    "Async progress tracking cannot be used with Once trigger": "change the trigger",
    "Async progress tracking cannot be used with AvailableNow trigger": "change the trigger",
    "Append output mode not supported when there are streaming aggregations on streaming DataFrames/DataSets without "
    "watermark;": "Set a watermark",
    "Complete output mode not supported when there are no streaming aggregations on streaming DataFrames/Datasets;": (
        "Set the output mode to append"
    ),
    "Data source parquet does not support Update output mode.": "Set the output mode to append",
    'checkpointLocation must be specified either through option("checkpointLocation", ...) or SparkSession': "Name a",
    "Queries with streaming sources must be executed with writeStream.start();": "work on the batch that foreachBatch",
    "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated": "Sort in foreachBatch",
    "Stream-stream LeftOuter join between two streaming DataFrame/Datasets is not supported without a watermark in the "
    "join keys, or a watermark on the nullable side": "Set watermarks",
    "Join between two streaming DataFrames/Datasets is not supported in Update output mode, only in Append": (
        "Set the output mode to append"
    ),
    "Detected pattern of possible 'correctness' issue due to global watermark. The query contains": "Use one operator",
    "Continuous processing does not support Aggregate operations.;": "Use a micro-batch trigger",
    "'foreachBatch' is not supported with continuous trigger.": "Use a micro-batch trigger",
    "java.lang.IllegalStateException: Unknown type of trigger: ContinuousTrigger(1000)": "Use a micro-batch trigger",
    "Failed to find data source: kafka. Please deploy the application as per the": "Start Spark with",
    "assertion failed: There are [1] sources in the checkpoint offsets and now there are [2] sources requested by the "
    "query. Cannot continue.": "Undo the change of sources",
    "Error reading delta file file:/c/state/0/0/1.delta of HDFSStateStoreProvider[id = (op=0,part=0)]: "
    "file:/c/state/0/0/1.delta does not exist": "Restore the file",
    "TypeError: DataStreamWriter.trigger() got an unexpected keyword argument 'realTime'": "or upgrade to Spark 4.2",
    "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)": "see in the executor's log",
    "org.apache.spark.SparkException: Job 4 cancelled because SparkContext was shut down": "Stop the query before",
    "Multiple streaming queries are concurrently using file:/c/commits": "Stop the other query",
    "java.lang.IllegalStateException: file:/c/sources/0/12 doesn't exist": "Restore the file",
    # as people quote them
    "A schema mismatch detected when writing to the Delta table (Table ID: 7f0e).": "Write the columns",
    "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host": "Make the topic",
    "java.lang.UnsatisfiedLinkError: 'boolean org.apache.hadoop.io.nativeio.NativeIO$Windows.access0(": "Run it on",
    "org.apache.spark.SparkException: Task not serializable": "See whose class it is",
    # by Spark 4.3.0
    "[STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION] Invalid streaming output mode: append. This output mode is not "
    "supported for streaming aggregations without watermark on streaming DataFrames/DataSets.": "Set a watermark",
    "[STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION] Invalid streaming output mode: complete. This output mode is not "
    "supported for no streaming aggregations on streaming DataFrames/DataSets.": "Set the output mode to append",
    "[STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE] Invalid streaming output mode: update.": "Set the output mode to",
    "[NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING] Window function is not": "Call the function",
    "[STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE] Provided key schema does not match existing state key": "Undo the change",
    "[STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA] Streaming stateful operator name": "Undo the change",
    "[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function": "Mend the function",
    "[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function in foreach batch sink. "
    "Reason: Error while sending a command. SQLSTATE: 39000": "See why the Python program ended",
    "[STREAMING_REAL_TIME_MODE.INPUT_STREAM_NOT_SUPPORTED] Streaming real-time mode has the following limitation: The "
    "input stream org.apache.spark.sql.execution.streaming.sources.RateStreamMicroBatchStream": "Read from Kafka",
    "[STREAMING_REAL_TIME_MODE.OPERATOR_OR_SINK_NOT_IN_ALLOWLIST] Streaming real-time mode has the following "
    "limitation: The sink(s): org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink": "Use a micro-batch",
    "[STREAMING_REAL_TIME_MODE.OUTPUT_MODE_NOT_SUPPORTED] Streaming real-time": "Set the output mode to update",
    "[INVALID_STREAMING_REAL_TIME_MODE_TRIGGER_INTERVAL] The real-time trigger interval is set to": "Set a longer",
    # of the jar of Delta 4.0.0
    "[DELTA_SOURCE_TABLE_IGNORE_CHANGES] Detected a data update (for example a.parquet) in the source": "Skip such",
    "[DELTA_SCHEMA_CHANGED_WITH_VERSION] Detected schema change in version 7:": "Start the query again",
    "io.delta.exceptions.ConcurrentAppendException: Files were added to the root of the table": "Keep the",
    # of the jar of the Kafka connector 4.2.0
    "java.lang.IllegalStateException: Cannot find earliest offsets of Set(a). Some data may have been missed": "Accept",
    "[KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED] Some data may have been lost because they are not": "Accept the loss",
}
"""Texts as Spark printed them, and the cure."""


def only(report: Any) -> Any:
    """The one run of a report."""
    (query,) = report.typed.queries
    return query


def judged(tmp_path: Path, text: str) -> Any:
    """The one run of a report on this text."""
    path = tmp_path / "pasted.txt"
    path.write_text(text)
    return only(analyze(path))


@pytest.mark.parametrize(("printed", "cure"), PRINTED.items())
def test_what_spark_printed_is_known(printed: str, cure: str) -> None:
    found = known_error(printed)
    assert found is not None
    assert cure in found.cure


def test_each_known_error_says_what_it_means_in_sentences() -> None:
    for each in (*ERRORS, *OF_ANY_JOB):
        assert each.means.endswith(".")
        assert not each.cure.endswith(".")
        assert each.change


def test_what_follows_the_error_s_own_lines_is_not_read_as_it(tmp_path: Path) -> None:
    text = (
        f"25/03/01 09:00:01 ERROR MicroBatchExecution: Query pay {RUN} terminated with error\nmine.Error: no table x\n"
        "25/03/01 09:00:02 ERROR Main: java.lang.OutOfMemoryError: Java heap space\n"
    )
    assert judged(tmp_path, text).value("known_error") is None


@pytest.mark.parametrize(
    "text",
    [
        f"25/03/01 09:00:01 ERROR MicroBatchExecution: Query pay {RUN} terminated with error\n"
        "java.lang.IllegalArgumentException: Sink ForeachBatchSink does not support async progress tracking\n\tat x",
        "Traceback (most recent call last):\npyspark.errors.exceptions.captured.IllegalArgumentException: "
        "Sink ForeachBatchSink does not support async progress tracking\n",
        "\tat com.example.Pay.main(Pay.scala:41)\nCaused by: java.lang.IllegalArgumentException: Sink ForeachBatchSink "
        "does not support async progress tracking\n\tat org.apache.spark.sql.X.run(X.scala:1)\n\t... 12 more\n",
        f"pyspark.errors.StreamingQueryException: [STREAM_FAILED] Query {RUN} terminated with exception: "
        "Sink ForeachBatchSink does not support async progress tracking\n",
        "org.apache.spark.sql.streaming.StreamingQueryException: Sink ForeachBatchSink does not support async progress "
        f"tracking\n=== Streaming Query ===\nIdentifier: agg {RUN}\n",
    ],
    ids=["log", "traceback", "cause", "exception with the run", "exception above the run"],
)
def test_a_refusal_without_progress_is_told_with_its_cure(tmp_path: Path, text: str) -> None:
    query = judged(tmp_path, text)
    assert query.state == "dead"
    assert query.best_step.rule == "ER001"
    assert query.verdict.startswith("The query stopped with an error: ")
    assert "It accepts Kafka, console, memory and noop" in query.verdict
    assert "this sink cannot have it" in query.verdict


def test_two_queries_with_different_errors_need_different_changes(tmp_path: Path) -> None:
    for number, error in enumerate(
        ("Sink X does not support async progress tracking", "java.lang.OutOfMemoryError: x")
    ):
        run = RUN.replace("6d8b2f1e", f"6d8b2f1{number}").replace("0b3c9a77", f"0b3c9a7{number}")
        (tmp_path / f"{number}.log").write_text(
            f"ERROR MicroBatchExecution: Query {run} terminated with error\n{error}\n"
        )
    cures = {change.do for change in analyze_fleet(tmp_path).changes}
    assert cures == {
        "Leave asynchronous progress tracking out: this sink cannot have it",
        "First end the crash: more memory, or fewer rows per batch",
    }


def test_an_error_that_is_not_known_gets_no_cure(tmp_path: Path) -> None:
    query = judged(
        tmp_path, f"ERROR MicroBatchExecution: Query pay {RUN} terminated with error\nmine.Error: no table x"
    )
    assert query.terminated.error == "mine.Error: no table x"
    assert query.best_step is None


LOST = "Some data may have been lost because they are not available in Kafka any more; either the data was aged out"


@pytest.mark.parametrize(
    "text",
    [
        f"25/03/01 09:00:01 WARN KafkaMicroBatchStream: {LOST}\n",
        f"WARN KafkaMicroBatchStream: {LOST}\n",
        "java.lang.OutOfMemoryError: Java heap space\n\tat com.example.Report.run(Report.java:1)\n",
        "We fixed `IllegalArgumentException: Sink X does not support async progress tracking` last year.\n",
        '.option("asyncProgressTrackingEnabled", "true")  # IllegalArgumentException: Sink X does not support async '
        "progress tracking\n",
    ],
    ids=["warning", "bare warning", "another job", "prose", "code"],
)
def test_what_spark_but_warns_of_or_another_job_died_of_is_no_end(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.log"
    path.write_text(text)
    with pytest.raises(InputError, match="no streaming progress"):
        analyze(path)


def test_a_stack_trace_beside_a_log_is_no_query(tmp_path: Path) -> None:
    error = "java.lang.IllegalStateException: batch 41 doesn't exist\n"
    (tmp_path / "a.txt").write_text(error)
    (tmp_path / "b.log").write_text(f"25/03/01 09:00:01 ERROR MicroBatchExecution: Query p {RUN} terminated with error")
    assert only(analyze(tmp_path)).value("missing_batch") is None


def test_an_error_that_a_running_query_outlived_ends_nothing(tmp_path: Path) -> None:
    text = (
        f"25/03/01 09:00:00 INFO MicroBatchExecution: Starting pay {RUN}. Use file:/c to store the query checkpoint.\n"
        "25/03/01 09:00:01 ERROR Executor: Exception in task 0.0\njava.lang.OutOfMemoryError: Java heap space\n"
    )
    query = judged(tmp_path, text)
    assert query.state == "no_data"
    assert query.best_step is None


def test_options_in_spark_s_spelling_are_none_that_it_ignores(tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text('.option("asyncProgressTrackingEnabled", "true")\nAsyncProgressTrackingMicroBatchExecution: x\n')
    with pytest.raises(InputError):
        analyze(path)


@pytest.mark.parametrize(
    ("logger", "words"),
    [
        ("MicroBatchExecution", "\nI had asyncProgressTrackingEnabled=true on it until yesterday and removed it."),
        ("AsyncProgressTrackingMicroBatchExecution", ""),
    ],
)
def test_a_gap_after_asynchronous_tracking_is_cured_by_it(tmp_path: Path, logger: str, words: str) -> None:
    error = "java.lang.IllegalStateException: batch 41 doesn't exist\n\tat x.populateStartOffsets(x.scala:460)\n"
    text = f"25/03/01 09:00:01 ERROR {logger}: Query pay {RUN} terminated with error\n{error}{words}\n"
    assert judged(tmp_path, text).best_step.step == "async-progress-on-again"


def test_a_gap_of_which_nothing_is_known_is_a_missing_file(tmp_path: Path) -> None:
    query = judged(tmp_path, "java.lang.IllegalStateException: batch 41 doesn't exist\n")
    assert query.value("missing_batch") == 41
    assert query.best_step.step == "restore-checkpoint-files"


def test_an_event_log_whose_first_batch_still_runs_holds_no_broken_record(tmp_path: Path) -> None:
    started = {
        "Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryStartedEvent",
        "id": "11111111-1111-1111-1111-111111111111", "runId": "22222222-2222-2222-2222-222222222222",
        "name": "orders", "timestamp": "2026-11-23T16:59:24.374Z", "jobTags": [],
    }  # fmt: skip
    events = [{"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"}, started]
    (tmp_path / "events_1_app").write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events))
    report = analyze([tmp_path / "events_1_app"])
    (query,) = report.typed.queries
    assert not report.typed.input.broken
    assert "the first one may still have run" in query.verdict
