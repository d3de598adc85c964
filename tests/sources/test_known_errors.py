"""What people paste without progress: errors that are well known, misspelled options, texts of another kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.api import analyze, analyze_fleet
from advisor.errors import CatalogueError, InputError
from advisor.sources.sightings.errors import known_error, known_errors

RUN = "[id = 6d8b2f1e-55c1-4a66-9e08-0c2f8f5d1a01, runId = 0b3c9a77-1111-4b6e-8a43-f0b4a6a2c901]"
TERMINATED = f"25/03/01 09:00:01 ERROR MicroBatchExecution: Query pay {RUN} terminated with error\n"
REFUSED = "Sink ForeachBatchSink does not support async progress tracking"
PRINTED: list[list[str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def only(report: Any) -> Any:
    """The one run of a report."""
    (query,) = report.typed.queries
    return query


def judged(tmp_path: Path, text: str) -> Any:
    """The one run of a report on this text."""
    path = tmp_path / "pasted.txt"
    path.write_text(text)
    return only(analyze(path))


@pytest.mark.parametrize(("printed", "cure"), PRINTED)
def test_what_spark_printed_is_known(printed: str, cure: str) -> None:
    found = known_error(printed)
    assert found is not None
    assert cure in found.cure


def test_each_known_error_says_what_it_means_in_sentences() -> None:
    for each in known_errors():
        assert each.means.endswith(".")
        assert not each.cure.endswith(".")
        assert each.change


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {matches: ['('], means: A., cure: B, change: c}", "unterminated subpattern"),
        ("- {matches: [x], means: A., cure: B}", "missing required field `change`"),
        ("- {matches: [x], means: A., cure: B, change: c, cures: d}", "unknown field `cures`"),
    ],
)
def test_a_file_of_known_errors_that_is_not_right_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    (tmp_path / "errors.yaml").write_text(text)
    monkeypatch.setattr(sys.modules["advisor.catalogue.load"], "rules_directory", lambda: tmp_path)
    with pytest.raises(CatalogueError, match=said):
        known_errors.__wrapped__()


@pytest.mark.parametrize(
    "text",
    [
        f"{TERMINATED}java.lang.IllegalArgumentException: {REFUSED}\n\tat x",
        f"Traceback (most recent call last):\npyspark.errors.exceptions.captured.IllegalArgumentException: {REFUSED}\n",
        f"\tat com.example.Pay.main(Pay.scala:41)\nCaused by: java.lang.IllegalArgumentException: {REFUSED}\n"
        "\tat org.apache.spark.sql.X.run(X.scala:1)\n\t... 12 more\n",
        f"pyspark.errors.StreamingQueryException: [STREAM_FAILED] Query {RUN} terminated with exception: {REFUSED}\n",
        f"org.apache.spark.sql.streaming.StreamingQueryException: {REFUSED}\n=== Streaming Query ===\n"
        f"Identifier: agg {RUN}\n",
    ],
    ids=["log", "traceback", "cause", "exception with the run", "exception above the run"],
)
def test_a_refusal_without_progress_is_told_with_its_cure(tmp_path: Path, text: str) -> None:
    query = judged(tmp_path, text)
    assert (query.state, query.best_step.rule) == ("dead", "ER001")
    for words in ("The query stopped with an error: ", "It accepts Kafka, console, memory and noop", "cannot have it"):
        assert words in query.verdict


def test_two_queries_with_different_errors_need_different_changes(tmp_path: Path) -> None:
    for number, error in enumerate(
        ("Sink X does not support async progress tracking", "java.lang.OutOfMemoryError: x")
    ):
        run = RUN.replace("6d8b2f1e", f"6d8b2f1{number}").replace("0b3c9a77", f"0b3c9a7{number}")
        (tmp_path / f"{number}.log").write_text(f"{TERMINATED.replace(RUN, run)}{error}\n")
    cures = {change.do for change in analyze_fleet(tmp_path).changes}
    assert cures == {
        "Leave asynchronous progress tracking out: this sink cannot have it",
        "First end the crash: more memory, or fewer rows per batch",
    }


def test_an_error_that_is_not_known_gets_no_cure_and_what_follows_its_lines_is_not_read_as_it(tmp_path: Path) -> None:
    later = "25/03/01 09:00:02 ERROR Main: java.lang.OutOfMemoryError: Java heap space\n"
    query = judged(tmp_path, f"{TERMINATED}mine.Error: no table x\n{later}")
    assert query.terminated.error == "mine.Error: no table x"
    assert (query.value("known_error"), query.best_step) == (None, None)


LOST = "Some data may have been lost because they are not available in Kafka any more; either the data was aged out"


@pytest.mark.parametrize(
    "text",
    [
        f"25/03/01 09:00:01 WARN KafkaMicroBatchStream: {LOST}\n",
        f"WARN KafkaMicroBatchStream: {LOST}\n",
        "java.lang.OutOfMemoryError: Java heap space\n\tat com.example.Report.run(Report.java:1)\n",
        f"We fixed `IllegalArgumentException: {REFUSED}` last year.\n",
        f'.option("asyncProgressTrackingEnabled", "true")  # IllegalArgumentException: {REFUSED}\n',
        '.option("asyncProgressTrackingEnabled", "true")\nAsyncProgressTrackingMicroBatchExecution: x\n',
    ],
    ids=["warning", "bare warning", "another job", "prose", "code", "an option in Spark's spelling"],
)
def test_what_spark_but_warns_of_or_another_job_died_of_is_no_end(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="no streaming progress"):
        judged(tmp_path, text)


def test_a_stack_trace_beside_a_log_is_no_query(tmp_path: Path) -> None:
    error = "java.lang.IllegalStateException: batch 41 doesn't exist\n"
    (tmp_path / "a.txt").write_text(error)
    (tmp_path / "b.log").write_text(TERMINATED.rstrip())
    assert only(analyze(tmp_path)).value("missing_batch") is None


@pytest.mark.parametrize(
    ("logger", "words"),
    [
        ("MicroBatchExecution", "\nI had asyncProgressTrackingEnabled=true on it until yesterday and removed it."),
        ("AsyncProgressTrackingMicroBatchExecution", ""),
    ],
)
def test_a_gap_after_asynchronous_tracking_is_cured_by_it(tmp_path: Path, logger: str, words: str) -> None:
    error = "java.lang.IllegalStateException: batch 41 doesn't exist\n\tat x.populateStartOffsets(x.scala:460)\n"
    text = f"{TERMINATED.replace('MicroBatchExecution', logger)}{error}{words}\n"
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


SHUT_DOWN = f"{TERMINATED}org.apache.spark.SparkException: Job 88 cancelled because SparkContext was shut down\n"
BEHIND = (
    "26/01/20 11:4%d:00 WARN ProcessingTimeExecutor: Current batch is falling behind. The trigger interval is 10000 "
    "milliseconds, but spent %d milliseconds\n"
)
STARTED = (
    f"25/03/01 09:00:00 INFO MicroBatchExecution: Starting pay {RUN}. Use file:/c to store the query checkpoint.\n"
)
OUTLIVED = "25/03/01 09:00:01 ERROR Executor: Exception in task 0.0\njava.lang.OutOfMemoryError: Java heap space\n"
UNWRITTEN = (
    "2026-01-30 15:02:11 [main] INFO  org.apache.spark.SparkContext - Running Spark version 3.4.2\n"
    "2026-01-30 15:02:15 [main] ERROR o.a.s.s.e.streaming.StreamMetadata - Error writing stream metadata "
    "StreamMetadata(6d8b2f1e-55c1-4a66-9e08-0c2f8f5d1a01) to file:/C:/tmp/metadata\n"
    "java.lang.RuntimeException: java.io.FileNotFoundException: HADOOP_HOME and hadoop.home.dir are unset.\n"
)


@pytest.mark.parametrize(
    ("text", "state", "rule", "says"),
    [
        (STARTED + OUTLIVED, "no_data", None, ""), (SHUT_DOWN, "no_data", "ER002", ""),
        (BEHIND % (1, 29_000) + BEHIND % (2, 50_000) + SHUT_DOWN, "no_data", None, "longer than their interval of"),
        (UNWRITTEN, "dead", "ER001", ""),  # it never started
    ],
    ids=["outlived", "shut down in a batch", "falling behind comes first", "metadata that could not be written"],
)  # fmt: skip
def test_how_a_log_without_progress_ends(tmp_path: Path, text: str, state: str, rule: str | None, says: str) -> None:
    query = judged(tmp_path, text)
    assert (query.state, query.best_step and query.best_step.rule) == (state, rule)
    assert says in query.verdict and RUN[6:42] == query.id
    assert (query.value("terminated_error") is None) == (state != "dead")


def test_a_call_that_failed_tells_its_last_cause(tmp_path: Path) -> None:
    text = (
        f"{TERMINATED}py4j.Py4JException: An exception was raised by the Python Proxy. Return Message: Traceback (most "
        "recent call last):\n"
        '  File "/srv/visits.py", line 88, in write\n'
        "py4j.protocol.Py4JJavaError: An error occurred while calling o95.save.\n: org.apache.spark.SparkException: x\n"
        "Caused by: org.postgresql.util.PSQLException: ERROR: value too long for type character varying(4)\n"
    )
    query = judged(tmp_path, text)
    assert "caused by org.postgresql.util.PSQLException: ERROR: value too long" in query.terminated.error
    assert query.best_step.advice.do == "Mend what the database refuses"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"Event":"SparkListenerLogStart","Spark Version":"3.5.2"}\n'
            '{"Event":"SparkListenerApplicationStart","App Name":"nightly","App ID":"local-1"}\n',
            r"event log of an application \(nightly\) that shows no streaming query; give the event log of an",
        ),
        (
            "26/02/17 03:40:05 WARN RetryTolerableRenameFSDataOutputStream: Failed to rename temp file "
            "dbfs:/m/_delta_log/__tmp_path_dir/.00000000000000008841.json.0d2c.tmp to "
            "dbfs:/m/_delta_log/00000000000000008841.json because file exists\n",
            "another writer had committed that version",
        ),
    ],
)
def test_what_a_text_without_progress_shows_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(InputError, match=said):
        analyze(tmp_path / "x.txt")
